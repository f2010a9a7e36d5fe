# SPDX-License-Identifier: BSD-3-Clause
# Installs headers, library, program, manual page, licence, CMake package and pkg-config file.
# Target `uninstall` removes them.

set(BISAI_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/bisai)

install(DIRECTORY include/bisai TYPE INCLUDE FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN petsc.h EXCLUDE
  PATTERN cusparse.h EXCLUDE)
install(FILES ${PROJECT_BINARY_DIR}/include/bisai/version.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/bisai)
install(TARGETS bisai EXPORT bisai_targets)
install(EXPORT bisai_targets NAMESPACE bisai:: FILE bisaiTargets.cmake
  DESTINATION ${BISAI_PACKAGE_DIR})
if(TARGET bisai_petsc)
  install(FILES include/bisai/petsc.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/bisai)
  install(FILES cmake/bisaiFindPetsc.cmake DESTINATION ${BISAI_PACKAGE_DIR})
  install(TARGETS bisai_petsc EXPORT bisai_petsc_targets)
  install(EXPORT bisai_petsc_targets NAMESPACE bisai:: FILE bisaiPetscTargets.cmake
    DESTINATION ${BISAI_PACKAGE_DIR})
endif()
if(TARGET bisai_cusparse)
  install(FILES include/bisai/cusparse.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/bisai)
  install(TARGETS bisai_cusparse EXPORT bisai_cusparse_targets)
  install(EXPORT bisai_cusparse_targets NAMESPACE bisai:: FILE bisaiCusparseTargets.cmake
    DESTINATION ${BISAI_PACKAGE_DIR})
endif()
if(TARGET bisai_fortran)
  install(TARGETS bisai_fortran EXPORT bisai_fortran_targets)
  install(EXPORT bisai_fortran_targets NAMESPACE bisai:: FILE bisaiFortranTargets.cmake
    DESTINATION ${BISAI_PACKAGE_DIR})
endif()

install(FILES LICENSE README.md CHANGELOG.md docs/guide.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(PROJECT_IS_TOP_LEVEL AND NOT TARGET uninstall)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND}
    -DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
    -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake
    COMMENT "Removing what the last installation wrote" VERBATIM)
endif()

configure_package_config_file(cmake/bisaiConfig.cmake.in ${PROJECT_BINARY_DIR}/bisaiConfig.cmake
  INSTALL_DESTINATION ${BISAI_PACKAGE_DIR})
# Before 1.0 a minor version may break its callers.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/bisaiConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/bisaiConfig.cmake ${PROJECT_BINARY_DIR}/bisaiConfigVersion.cmake
  DESTINATION ${BISAI_PACKAGE_DIR})

# The pkg-config file finds the prefix relative to its own folder, so that the installed tree can be
# moved.
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
  set(PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  set(PC_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
  set(PC_INCLUDEDIR ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
  file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  string(REGEX REPLACE "/$" "" up ${up})
  set(PC_PREFIX "\${pcfiledir}/${up}")
  set(PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
# Only callers of a static library must link these. libarchive is given by its name, because
# Requires.private would require libarchive's pkg-config file of every caller.
set(PC_LIBS_PRIVATE "-lm")
if(BISAI_HAVE_ZLIB)
  string(PREPEND PC_LIBS_PRIVATE "-lz ")
endif()
if(BISAI_HAVE_ARCHIVE)
  string(PREPEND PC_LIBS_PRIVATE "-larchive ")
endif()
if(BISAI_HAVE_UMFPACK)
  string(PREPEND PC_LIBS_PRIVATE "-lumfpack ")
endif()
if(BISAI_HAVE_METIS)
  string(PREPEND PC_LIBS_PRIVATE "-lmetis ")
endif()
if(BISAI_HAVE_CUDA)
  string(PREPEND PC_LIBS_PRIVATE
    "-L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt -ldl -lpthread -lstdc++ ")
endif()
if(BISAI_HAVE_THREADS)
  string(PREPEND PC_LIBS_PRIVATE "-pthread ")
endif()
configure_file(cmake/bisai.pc.in ${PROJECT_BINARY_DIR}/bisai.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/bisai.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(TARGET bisai_petsc)
  # PETSc's own pkg-config file leaves MPI to mpicc.
  list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND "-I" OUTPUT_VARIABLE PC_MPI_CFLAGS)
  list(JOIN PC_MPI_CFLAGS " " PC_MPI_CFLAGS)
  list(JOIN MPI_C_LIBRARIES " " PC_MPI_LIBS)
  configure_file(plugins/petsc/bisai_petsc.pc.in ${PROJECT_BINARY_DIR}/bisai_petsc.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/bisai_petsc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
if(TARGET bisai_fortran)
  configure_file(fortran/bisai_fortran.pc.in ${PROJECT_BINARY_DIR}/bisai_fortran.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/bisai_fortran.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

# `cpack` packs what is installed: bisai-0.2.0-Linux-x86_64.tar.gz.
if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_GENERATOR TGZ)
  set(CPACK_PACKAGE_VENDOR "The bisai developers")
  set(CPACK_PACKAGE_FILE_NAME
    ${PROJECT_NAME}-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
  set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_VERBATIM_VARIABLES ON)
  include(CPack)
endif()
