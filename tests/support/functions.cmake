# SPDX-License-Identifier: BSD-3-Clause
# What the CMakeLists.txt of the rooms call.

# Large machines get four threads by default. Tests that look for races ask for more themselves.
set(environment BISAI_MATRICES=${BISAI_MATRICES} BISAI_TESTS=${CMAKE_CURRENT_SOURCE_DIR}
  OMP_NUM_THREADS=4)
if(BISAI_CUDA_EMULATED)
  list(APPEND environment BISAI_TEST_SHORT=1)
endif()
# A single process of MPI needs no daemon. Several processes may share a core, and containers often
# run them as root.
if(BISAI_HAVE_PETSC)
  list(APPEND environment OMPI_MCA_ess_singleton_isolated=1 OMPI_ALLOW_RUN_AS_ROOT=1
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
endif()
if(CMAKE_C_FLAGS MATCHES "-fsanitize=thread")
  list(APPEND environment TSAN_OPTIONS=halt_on_error=1)
endif()
if(TARGET bisai_program)
  list(APPEND environment BISAI_PROGRAM=$<TARGET_FILE:bisai_program>)
endif()

# Sanitizers cost a factor of ten and more, and so does an emulated device.
set(seconds 600)
if(CMAKE_C_FLAGS MATCHES "-fsanitize" OR BISAI_CUDA_EMULATED)
  set(seconds 6000)
endif()

# Each test has a folder of its own for Open MPI. Processes without a daemon otherwise share one
# folder, which the first to end removes while another one begins. Names of sockets must be short.
function(bisai_test_properties)
  foreach(test ${ARGN})
    set(own ${environment})
    if(BISAI_HAVE_PETSC)
      string(MD5 folder ${test})
      string(SUBSTRING ${folder} 0 8 folder)
      list(APPEND own OMPI_MCA_orte_tmpdir_base=${PROJECT_BINARY_DIR}/mpi/${folder})
    endif()
    set_tests_properties(${test} PROPERTIES ENVIRONMENT "${own}" TIMEOUT ${seconds})
  endforeach()
endfunction()

# For programs that start MPI, which frees less than it allocates, out of modules that are closed
# when LeakSanitizer looks. petsc/petsc.c (petsc_fixture.h) and PETSc's own accounts
# (petsc_frees_all_its_memory) look for our own leaks.
function(bisai_leave_leaks_to_mpi name)
  if(CMAKE_C_FLAGS MATCHES "-fsanitize=address")
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
  endif()
endfunction()

# NAME_on_cuda, with arguments NAME_ARGUMENTS_on_cuda: the same program with its contexts on a
# device. It is skipped where there is none.
function(bisai_run_on_cuda name)
  if(BISAI_HAVE_CUDA)
    string(JOIN _ test ${name} ${ARGN} on_cuda)
    add_test(NAME ${test} COMMAND test_${name} ${ARGN})
    bisai_test_properties(${test})
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT BISAI_TEST_BACKEND=cuda)
    set_tests_properties(${test} PROPERTIES SKIP_RETURN_CODE 77 LABELS cuda)
  endif()
endfunction()

# bisai_add_test(NAME [INTERNAL] [ON_CUDA] [REAL] [SLOW] [SUPPORT name…] [LIBRARIES target…]): test
# NAME, the program test_NAME. Its source is NAME.c without the room's own name in front: krylov_ends
# is krylov/ends.c.
#   INTERNAL   everything under src/ is in reach, otherwise only the public interface
#   ON_CUDA    the same on a device, NAME_on_cuda
#   REAL       `test_NAME real` is test NAME_real: on real matrices
#   SLOW       `test_NAME slow` is test NAME_slow, labelled slow
#   SUPPORT    more files of tests/support
function(bisai_add_test name)
  cmake_parse_arguments(arg "INTERNAL;ON_CUDA;REAL;SLOW" "" "SUPPORT;LIBRARIES" ${ARGN})
  get_filename_component(room ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  string(REGEX REPLACE "^${room}_" "" file ${name})
  list(TRANSFORM arg_SUPPORT REPLACE "(.+)" "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/\\1.c")
  add_executable(test_${name} ${file}.c ${arg_SUPPORT})
  set_target_properties(test_${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(test_${name} PRIVATE bisai_test_support bisai_cmocka bisai_flags
    $<IF:$<BOOL:${arg_INTERNAL}>,bisai_internal,bisai> ${arg_LIBRARIES} m)
  target_compile_definitions(test_${name} PRIVATE
    $<$<BOOL:${BISAI_HAVE_THREADS}>:BISAI_HAVE_THREADS=1>)
  add_test(NAME ${name} COMMAND test_${name})
  bisai_test_properties(${name})
  set(modes "")
  if(arg_REAL)
    add_test(NAME ${name}_real COMMAND test_${name} real)
    bisai_test_properties(${name}_real)
    set_tests_properties(${name}_real PROPERTIES SKIP_RETURN_CODE 77)
    list(APPEND modes real)
  endif()
  if(arg_SLOW)
    add_test(NAME ${name}_slow COMMAND test_${name} slow)
    bisai_test_properties(${name}_slow)
    set_tests_properties(${name}_slow PROPERTIES LABELS slow)
    list(APPEND modes slow)
  endif()
  if(arg_ON_CUDA)
    bisai_run_on_cuda(${name})
    if(NOT BISAI_CUDA_EMULATED) # an emulated device takes minutes for a real matrix
      foreach(mode IN LISTS modes)
        bisai_run_on_cuda(${name} ${mode})
      endforeach()
    endif()
  endif()
endfunction()
