# SPDX-License-Identifier: BSD-3-Clause
# Optional components. Each is used if it is found, and the build does not fail without it. Sets
# BISAI_HAVE_THREADS, BISAI_HAVE_ARCHIVE, BISAI_HAVE_ZLIB, BISAI_HAVE_METIS, BISAI_HAVE_UMFPACK,
# BISAI_HAVE_JANSSON, BISAI_HAVE_CMOCKA, BISAI_HAVE_PETSC, BISAI_HAVE_FORTRAN, BISAI_HAVE_CUDA,
# BISAI_HAVE_NCCL, BISAI_HAVE_CUSPARSE, and BISAI_PRIVATE_LIBRARIES: what the library itself links to.

# bisai_find_library(NAME header library [folder]): target bisai_NAME and BISAI_HAVE_<NAME in capitals>.
function(bisai_find_library name header library)
  string(TOUPPER ${name} upper)
  find_path(BISAI_${upper}_INCLUDE_DIR ${header} PATH_SUFFIXES ${ARGN})
  find_library(BISAI_${upper}_LIBRARY ${library})
  mark_as_advanced(BISAI_${upper}_INCLUDE_DIR BISAI_${upper}_LIBRARY)
  set(have OFF)
  if(BISAI_${upper}_INCLUDE_DIR AND BISAI_${upper}_LIBRARY)
    set(have ON)
    add_library(bisai_${name} INTERFACE)
    target_include_directories(bisai_${name} SYSTEM INTERFACE ${BISAI_${upper}_INCLUDE_DIR})
    target_link_libraries(bisai_${name} INTERFACE ${BISAI_${upper}_LIBRARY})
  endif()
  set(BISAI_HAVE_${upper} ${have} PARENT_SCOPE)
endfunction()

set(BISAI_HAVE_THREADS OFF)
set(BISAI_HAVE_ARCHIVE OFF)
set(BISAI_HAVE_ZLIB OFF)
set(BISAI_HAVE_CUDA OFF)
set(BISAI_PRIVATE_LIBRARIES m)

# Only lines of the libraries are counted, so that tests and the program stay fast. Threads may
# lose counts of each other, but a line that was reached stays reached. Atomic counts take twice the
# time.
set(BISAI_COVERAGE_FLAGS "")
if(BISAI_COVERAGE)
  set(BISAI_COVERAGE_FLAGS --coverage -fprofile-update=single)
  list(APPEND BISAI_PRIVATE_LIBRARIES ${BISAI_COVERAGE_FLAGS})
endif()

if(BISAI_THREADS)
  set(THREADS_PREFER_PTHREAD_FLAG ON)
  find_package(Threads)
  if(CMAKE_USE_PTHREADS_INIT)
    set(BISAI_HAVE_THREADS ON)
    list(APPEND BISAI_PRIVATE_LIBRARIES Threads::Threads)
  endif()
endif()

if(BISAI_ARCHIVES)
  find_package(LibArchive QUIET)
  if(LibArchive_FOUND)
    set(BISAI_HAVE_ARCHIVE ON)
    list(APPEND BISAI_PRIVATE_LIBRARIES LibArchive::LibArchive)
  endif()
  # libarchive reads gzip too, but it does not check the checksums.
  find_package(ZLIB QUIET)
  if(ZLIB_FOUND)
    set(BISAI_HAVE_ZLIB ON)
    list(APPEND BISAI_PRIVATE_LIBRARIES ZLIB::ZLIB)
  endif()
endif()

set(BISAI_HAVE_METIS OFF)
if(BISAI_METIS)
  bisai_find_library(metis metis.h metis)
  if(BISAI_HAVE_METIS)
    list(APPEND BISAI_PRIVATE_LIBRARIES ${BISAI_METIS_LIBRARY})
  endif()
endif()

# Debian has the headers of SuiteSparse in a folder of their own.
set(BISAI_HAVE_UMFPACK OFF)
if(BISAI_UMFPACK)
  bisai_find_library(umfpack umfpack.h umfpack suitesparse)
  if(BISAI_HAVE_UMFPACK)
    list(APPEND BISAI_PRIVATE_LIBRARIES ${BISAI_UMFPACK_LIBRARY})
  elseif(NOT BISAI_UMFPACK STREQUAL "AUTO")
    message(FATAL_ERROR "BISAI_UMFPACK is ${BISAI_UMFPACK}, but UMFPACK was not found:"
      " libsuitesparse-dev, or switch it OFF")
  endif()
endif()

# A program needs the sanitizer of its C when it is linked, which only a compiler of the same family
# brings.
set(BISAI_HAVE_FORTRAN OFF)
set(BISAI_FORTRAN_MISSING "switched off (BISAI_FORTRAN)")
if(BISAI_FORTRAN AND CMAKE_C_FLAGS MATCHES "-fsanitize" AND NOT CMAKE_C_COMPILER_ID STREQUAL "GNU")
  set(BISAI_FORTRAN_MISSING "not with the sanitizers of ${CMAKE_C_COMPILER_ID}")
elseif(BISAI_FORTRAN)
  if(CMAKE_C_FLAGS MATCHES "-fsanitize")
    set(CMAKE_Fortran_FLAGS_INIT "${CMAKE_C_FLAGS}")
  endif()
  include(CheckLanguage)
  check_language(Fortran)
  if(CMAKE_Fortran_COMPILER)
    enable_language(Fortran)
    set(BISAI_HAVE_FORTRAN ON)
  elseif(BISAI_FORTRAN STREQUAL "AUTO")
    set(BISAI_FORTRAN_MISSING "no Fortran compiler found: gfortran, or FC")
  else()
    message(FATAL_ERROR "BISAI_FORTRAN is ${BISAI_FORTRAN}, but no Fortran compiler was found:"
      " set FC or CMAKE_Fortran_COMPILER, or switch it OFF")
  endif()
endif()

bisai_find_library(jansson jansson.h jansson)
bisai_find_library(cmocka cmocka.h cmocka)
if(BISAI_TESTS AND NOT BISAI_HAVE_CMOCKA)
  message(WARNING "cmocka was not found: the tests written in C are left out"
    " (Debian, Ubuntu: libcmocka-dev)")
endif()

# PETSc must be real and in double precision, and have the header for preconditioner types. MPI must
# be the one that PETSc was built with.
set(BISAI_HAVE_PETSC OFF)
set(BISAI_PETSC_MISSING "switched off (BISAI_PETSC)")
if(BISAI_PETSC AND CMAKE_C_FLAGS MATCHES "-fsanitize=thread")
  set(BISAI_PETSC_MISSING "not with ThreadSanitizer, which does not see what MPI does")
elseif(BISAI_PETSC)
  include(bisaiFindPetsc)
  set(BISAI_PETSC_MISSING "${BISAI_PETSC_MODULE_MISSING}")
  if(BISAI_PETSC_MODULE_FOUND)
    find_package(MPI QUIET COMPONENTS C)
    add_library(bisai_petsc_itself INTERFACE)
    target_link_libraries(bisai_petsc_itself INTERFACE bisai::petsc_module
      $<TARGET_NAME_IF_EXISTS:MPI::MPI_C>)
    set(libraries bisai::petsc_module)
    if(TARGET MPI::MPI_C)
      list(APPEND libraries MPI::MPI_C)
    endif()
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/petsc_usable.c "
      #include <petsc/private/pcimpl.h>
      #if defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE)
      #error PETSc is not real in double precision
      #endif
      int main(void) { return (int)PetscInitializeNoArguments(); }")
    if(NOT BISAI_PETSC_USABLE)
      try_compile(BISAI_PETSC_USABLE ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/petsc_usable
        ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/petsc_usable.c LINK_LIBRARIES ${libraries}
        OUTPUT_VARIABLE output)
      string(REGEX MATCH "[^\n]*(error|undefined|cannot find)[^\n]*" output "${output}")
      string(STRIP "PETSc ${BISAI_PETSC_MODULE_VERSION} cannot be used: ${output}"
        BISAI_PETSC_MISSING)
    endif()
    set(BISAI_HAVE_PETSC ${BISAI_PETSC_USABLE})
  endif()
endif()

# The CUDA backend is built if there is nvcc, unless BISAI_CUDA says otherwise. Its runtime is
# linked into the library, which therefore loads without a driver.
set(BISAI_CUDA_MISSING "switched off (BISAI_CUDA)")
set(BISAI_CUDA_EMULATED OFF)
if(BISAI_CUDA STREQUAL "EMULATED")
  if(NOT BISAI_HAVE_THREADS OR BUILD_SHARED_LIBS OR BISAI_BENCH)
    message(FATAL_ERROR "BISAI_CUDA is EMULATED, which needs BISAI_THREADS and a static library"
      " (BUILD_SHARED_LIBS=OFF), and is not for benchmarks")
  endif()
  set(BISAI_CUDA_EMULATED ON)
  set(BISAI_CUDA_RUNTIME bisai_emulation)
  list(APPEND BISAI_PRIVATE_LIBRARIES $<BUILD_INTERFACE:bisai_emulation> stdc++)
elseif(BISAI_CUDA)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(BISAI_HAVE_CUDA ON)
  elseif(NOT BISAI_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "BISAI_CUDA is ${BISAI_CUDA}, but no CUDA compiler was found:"
      " set CUDACXX or CMAKE_CUDA_COMPILER, or switch it OFF")
  else()
    set(BISAI_CUDA_MISSING "no CUDA compiler found: nvcc, or CUDACXX")
  endif()
endif()
if(BISAI_HAVE_CUDA)
  # The architectures must be set before the language is enabled, because CMake would choose one
  # then.
  # Plain numbers mean machine code and PTX.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
    execute_process(COMMAND nvidia-smi --list-gpus RESULT_VARIABLE no_gpu OUTPUT_QUIET ERROR_QUIET)
    if(BISAI_CUDA_EVERY_GPU)
      set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 89-real 90)
    elseif(no_gpu EQUAL 0 AND CMAKE_VERSION VERSION_GREATER_EQUAL 3.24)
      set(CMAKE_CUDA_ARCHITECTURES native)
    else()
      set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
    endif()
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  # stdc++: a user of the static library may link as C.
  set(BISAI_CUDA_RUNTIME CUDA::cudart_static)
  list(APPEND BISAI_PRIVATE_LIBRARIES ${BISAI_CUDA_RUNTIME} stdc++)
endif()
if(BISAI_CUDA_EMULATED)
  set(BISAI_HAVE_CUDA ON)
endif()
include(emulation)

# NCCL, by which GPUs of several processes exchange vectors: BISAI_NCCL_SOURCE and
# BISAI_NCCL_LIBRARIES are for those that link MPI too. Python's package of NCCL has no libnccl.so.
set(BISAI_HAVE_NCCL OFF)
set(BISAI_NCCL_SOURCE ${PROJECT_SOURCE_DIR}/plugins/nccl/missing.c)
set(BISAI_NCCL_LIBRARIES "")
if(BISAI_HAVE_CUDA AND BISAI_NCCL AND BUILD_SHARED_LIBS AND NOT BISAI_CUDA_EMULATED)
  find_path(BISAI_NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  find_library(BISAI_NCCL_LIBRARY NAMES nccl libnccl.so.2 HINTS ${CUDAToolkit_LIBRARY_DIR})
  mark_as_advanced(BISAI_NCCL_INCLUDE_DIR BISAI_NCCL_LIBRARY)
  if(BISAI_NCCL_INCLUDE_DIR AND BISAI_NCCL_LIBRARY)
    set(BISAI_HAVE_NCCL ON)
    add_library(bisai_nccl INTERFACE)
    target_include_directories(bisai_nccl SYSTEM INTERFACE ${BISAI_NCCL_INCLUDE_DIR}
      ${CUDAToolkit_INCLUDE_DIRS})
    target_link_libraries(bisai_nccl INTERFACE ${BISAI_NCCL_LIBRARY} ${BISAI_CUDA_RUNTIME})
    set(BISAI_NCCL_SOURCE ${PROJECT_SOURCE_DIR}/plugins/nccl/nccl.c)
    set(BISAI_NCCL_LIBRARIES $<BUILD_INTERFACE:bisai_nccl>)
  endif()
endif()

# cuSPARSE, to compare with. Functions that NVIDIA has marked for removal are used if the toolkit
# has them.
set(BISAI_HAVE_CUSPARSE OFF)
if(BISAI_HAVE_CUDA AND BISAI_CUSPARSE AND NOT BISAI_CUDA_EMULATED)
  find_package(CUDAToolkit QUIET)
  if(TARGET CUDA::cusparse)
    set(BISAI_HAVE_CUSPARSE ON)
    include(CheckCSourceCompiles)
    set(CMAKE_REQUIRED_LIBRARIES CUDA::cusparse CUDA::cudart)
    foreach(routine bsrilu02 bsrsv2_solve bsrmv)
      string(REGEX REPLACE "_.*" "" name ${routine})
      string(TOUPPER BISAI_HAVE_${name} result)
      check_c_source_compiles("
        #include <cusparse.h>
        int main(void) { void *here = (void *)cusparseD${routine}; return here == 0; }" ${result})
    endforeach()
    unset(CMAKE_REQUIRED_LIBRARIES)
  endif()
endif()
