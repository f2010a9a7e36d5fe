# SPDX-License-Identifier: BSD-3-Clause
# bisai inside a PETSc program: loaded by -dll_append, on one process and on two, or linked.
find_program(BISAI_MPIEXEC NAMES ${MPIEXEC_EXECUTABLE} mpiexec mpirun)
mark_as_advanced(BISAI_MPIEXEC)

add_executable(petsc_program petsc_program.c)
target_link_libraries(petsc_program PRIVATE bisai_petsc_itself)
add_executable(petsc_program_linked petsc_program.c)
target_compile_definitions(petsc_program_linked PRIVATE LINKED)
target_link_libraries(petsc_program_linked PRIVATE bisai_petsc)

# bisai_add_petsc_test(NAME PROCESSES PROGRAM option…)
function(bisai_add_petsc_test name processes program)
  set(command $<TARGET_FILE:${program}> ${ARGN})
  if(program STREQUAL petsc_program)
    list(APPEND command -dll_append $<TARGET_FILE:bisai_petsc>)
  endif()
  if(processes GREATER 1)
    if(NOT BISAI_MPIEXEC)
      return()
    endif()
    list(PREPEND command ${BISAI_MPIEXEC} --oversubscribe -n ${processes})
  endif()
  add_test(NAME petsc_${name} COMMAND ${command})
  bisai_test_properties(petsc_${name})
  bisai_leave_leaks_to_mpi(petsc_${name})
endfunction()

# With exact solves, bisai must need the iterations of PETSc's own block ILU, and with its ISAI it must converge.
set(ilu -t_pc_type bisai -t_pc_bisai_type ilu -r_pc_type ilu -same)
if(BUILD_SHARED_LIBS)
  foreach(bs 1 2 3 5 9)
    bisai_add_petsc_test(loads_bisai_for_blocks_of_${bs} 1 petsc_program -bs ${bs} ${ilu})
  endforeach()
  bisai_add_petsc_test(loads_bisai_for_scalar_matrices 1 petsc_program -bs 4 -mat_type aij ${ilu})
  bisai_add_petsc_test(loads_bisai_with_levels 1 petsc_program -bs 3 ${ilu} -t_pc_bisai_level 1 -r_pc_factor_levels 1)
  bisai_add_petsc_test(loads_isai 1 petsc_program -t_pc_type bisai -t_pc_bisai_k 2 -t_pc_bisai_relax 1 -t_pc_bisai_storage fp32
    -t_pc_bisai_threads 2 -t_ksp_view -t_ksp_error_if_not_converged)
  set_tests_properties(petsc_loads_isai PROPERTIES
    PASS_REGULAR_EXPRESSION "type: bisai.*isai k=2 relax=1 storage=fp32.*threads of each process: 2.*\n0 failed")
  bisai_add_petsc_test(loads_sweeps 1 petsc_program -t_pc_type bisai -t_pc_bisai_type sweeps -t_pc_bisai_sweeps 2)
  bisai_add_petsc_test(loads_bjacobi 1 petsc_program -t_pc_type bisai -t_pc_bisai_type bjacobi -r_pc_type pbjacobi -same)
  bisai_add_petsc_test(sees_a_singular_block 1 petsc_program -t_pc_type bisai -singular -t_ksp_converged_reason)
  set_tests_properties(petsc_sees_a_singular_block PROPERTIES PASS_REGULAR_EXPRESSION
    "tested: DIVERGED_PC_FAILED, 0 iterations")
  bisai_add_petsc_test(error_names_the_block_row 1 petsc_program -t_pc_type bisai -singular -t_ksp_error_if_not_converged
    -on_error_abort 0)
  set_tests_properties(petsc_error_names_the_block_row PROPERTIES PASS_REGULAR_EXPRESSION "bisai: .*block row 0")
  bisai_add_petsc_test(error_stack_names_functions_and_files_of_the_project 1 petsc_program -t_pc_type bisai -singular
    -t_ksp_error_if_not_converged -on_error_abort 0)
  set_tests_properties(petsc_error_stack_names_functions_and_files_of_the_project PROPERTIES PASS_REGULAR_EXPRESSION
    "#1 PCSetUp_BISAI\\(\\) at (\\.\\./)*plugins/petsc/pc\\.c:")
  bisai_add_petsc_test(view_names_the_singular_block 1 petsc_program -t_pc_type bisai -singular -t_ksp_view)
  set_tests_properties(petsc_view_names_the_singular_block PROPERTIES PASS_REGULAR_EXPRESSION
    "type: bisai.*set-up failed: [^\n]*block row 0")
  bisai_add_petsc_test(info_names_the_singular_block 1 petsc_program -t_pc_type bisai -singular -info)
  set_tests_properties(petsc_info_names_the_singular_block PROPERTIES PASS_REGULAR_EXPRESSION
    "PCSetUp_BISAI\\(\\): bisai: [^\n]*block row 0")
  bisai_add_petsc_test(refuses_options_of_other_kinds 1 petsc_program -t_pc_type bisai -t_pc_bisai_type ilu -t_pc_bisai_k 2
    -on_error_abort 0)
  set_tests_properties(petsc_refuses_options_of_other_kinds PROPERTIES PASS_REGULAR_EXPRESSION
    "bisai: -pc_bisai_k is not an option of -pc_bisai_type ilu")
  bisai_add_petsc_test(refuses_parallel_matrices 2 petsc_program -t_pc_type bisai)
  if(TEST petsc_refuses_parallel_matrices)
    set_tests_properties(petsc_refuses_parallel_matrices PROPERTIES PASS_REGULAR_EXPRESSION
      "a Mat of type mpibaij.*-sub_pc_type bisai")
  endif()
  foreach(outer bjacobi asm)
    bisai_add_petsc_test(${outer}_on_two_processes 2 petsc_program -t_pc_type ${outer} -t_sub_pc_type bisai
      -t_sub_pc_bisai_type ilu -r_pc_type ${outer} -r_sub_pc_type ilu -same)
    bisai_add_petsc_test(${outer}_with_isai_on_two_processes 2 petsc_program -bs 4 -mat_type aij -t_pc_type ${outer}
      -t_sub_pc_type bisai -r_pc_type ${outer} -r_sub_pc_type ilu)
  endforeach()
endif()
bisai_add_petsc_test(linked 1 petsc_program_linked ${ilu})
