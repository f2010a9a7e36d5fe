# SPDX-License-Identifier: BSD-3-Clause
# Tests that a user can build against the installed library, by the project in this folder and by pkg-config. The tree is installed
# into one folder and moved to another, so that nothing in it may remember where it was installed.
set(consumer ${CMAKE_CURRENT_LIST_DIR})
set(prefix ${PROJECT_BINARY_DIR}/tests/consumer/prefix)
set(script_arguments -DBUILD=${PROJECT_BINARY_DIR} -DCONFIG=$<CONFIG> -DSTAGING=${PROJECT_BINARY_DIR}/tests/consumer/staging
  -DPREFIX=${prefix} -DSOURCE=${consumer} -DEXAMPLE=${PROJECT_SOURCE_DIR}/examples/solve.c
  -DWORK=${PROJECT_BINARY_DIR}/tests/consumer/work -DLIBDIR=${CMAKE_INSTALL_LIBDIR} -DBINDIR=${CMAKE_INSTALL_BINDIR}
  -DCC=${CMAKE_C_COMPILER} "-DCFLAGS=${CMAKE_C_FLAGS}" -DSHARED=${BUILD_SHARED_LIBS} -DTOOLS=$<TARGET_EXISTS:bisai_program>
  -DPETSC=$<TARGET_EXISTS:bisai_petsc> -DCUSPARSE=$<TARGET_EXISTS:bisai_cusparse> -DROOT=${PROJECT_SOURCE_DIR}
  -DDOCDIR=${CMAKE_INSTALL_DOCDIR} -DSOVERSION=${BISAI_SOVERSION}
  -DGENERATOR=${CMAKE_GENERATOR})

add_test(NAME install_into_a_prefix_and_move_it COMMAND ${CMAKE_COMMAND} ${script_arguments} -DSTEP=install
  -P ${consumer}/consume.cmake)
add_test(NAME consumer_finds_the_package COMMAND ${CMAKE_COMMAND} ${script_arguments} -DSTEP=package
  -P ${consumer}/consume.cmake)
add_test(NAME installed_program_runs COMMAND ${CMAKE_COMMAND} ${script_arguments} -DSTEP=program
  -P ${consumer}/consume.cmake)
add_test(NAME missing_components_are_named COMMAND ${CMAKE_COMMAND} ${script_arguments} -DSTEP=components
  -P ${consumer}/consume.cmake)
add_test(NAME uninstall_removes_what_was_installed COMMAND ${CMAKE_COMMAND} ${script_arguments} -DSTEP=uninstall
  -P ${consumer}/consume.cmake)
bisai_test_properties(consumer_finds_the_package installed_program_runs missing_components_are_named)
set_tests_properties(install_into_a_prefix_and_move_it PROPERTIES FIXTURES_SETUP installed)
set_tests_properties(consumer_finds_the_package installed_program_runs missing_components_are_named
  uninstall_removes_what_was_installed PROPERTIES FIXTURES_REQUIRED installed)

find_program(BISAI_PKG_CONFIG NAMES pkg-config pkgconf)
mark_as_advanced(BISAI_PKG_CONFIG)
if(BISAI_PKG_CONFIG)
  add_test(NAME consumer_compiles_with_pkg_config COMMAND ${CMAKE_COMMAND} ${script_arguments} -DSTEP=pkg_config
    -DPKG_CONFIG=${BISAI_PKG_CONFIG} -P ${consumer}/consume.cmake)
  bisai_test_properties(consumer_compiles_with_pkg_config)
  set_tests_properties(consumer_compiles_with_pkg_config PROPERTIES FIXTURES_REQUIRED installed)
endif()
