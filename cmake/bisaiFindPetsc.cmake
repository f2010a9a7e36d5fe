# SPDX-License-Identifier: BSD-3-Clause
# Finds a PETSc of version 3.18 or later: BISAI_PETSC_MODULE_FOUND, BISAI_PETSC_MODULE_VERSION, the
# target bisai::petsc_module, and BISAI_PETSC_MODULE_MISSING, why there is none. The build and the
# installed package include this. pkg-config finds it in PKG_CONFIG_PATH and in PETSC_DIR with
# PETSC_ARCH, which PETSc's users set. A machine may have no pkg-config: then the header and the
# library in these folders do.
set(bisai_petsc_folders "")
if(DEFINED ENV{PKG_CONFIG_PATH})
  string(REPLACE ":" ";" bisai_petsc_paths "$ENV{PKG_CONFIG_PATH}")
  foreach(folder IN LISTS bisai_petsc_paths)
    get_filename_component(folder "${folder}/../.." ABSOLUTE)
    list(APPEND bisai_petsc_folders ${folder})
  endforeach()
endif()
if(NOT PETSC_DIR)
  set(PETSC_DIR "$ENV{PETSC_DIR}")
  set(PETSC_ARCH "$ENV{PETSC_ARCH}")
endif()
if(PETSC_DIR)
  list(APPEND bisai_petsc_folders ${PETSC_DIR}/${PETSC_ARCH} ${PETSC_DIR})
endif()

set(BISAI_PETSC_MODULE_MISSING
  "PETSc 3.18 or later not found: libpetsc-real-dev, PKG_CONFIG_PATH, or PETSC_DIR and PETSC_ARCH")
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  set(bisai_petsc_paths "$ENV{PKG_CONFIG_PATH}")
  foreach(folder IN LISTS bisai_petsc_folders)
    set(ENV{PKG_CONFIG_PATH} "$ENV{PKG_CONFIG_PATH}:${folder}/lib/pkgconfig")
  endforeach()
  pkg_check_modules(BISAI_PETSC_MODULE QUIET PETSc>=3.18)
  set(ENV{PKG_CONFIG_PATH} "${bisai_petsc_paths}")
else()
  # An installed PETSc has one folder of headers; in its own source folder petscconf.h is apart.
  find_path(BISAI_PETSC_INCLUDE_DIR petscversion.h HINTS ${bisai_petsc_folders}
    PATH_SUFFIXES include)
  find_path(BISAI_PETSC_CONF_DIR petscconf.h HINTS ${bisai_petsc_folders} PATH_SUFFIXES include)
  find_library(BISAI_PETSC_LIBRARY NAMES petsc petsc_real HINTS ${bisai_petsc_folders}
    PATH_SUFFIXES lib)
  mark_as_advanced(BISAI_PETSC_INCLUDE_DIR BISAI_PETSC_CONF_DIR BISAI_PETSC_LIBRARY)
  set(BISAI_PETSC_MODULE_FOUND OFF)
  if(BISAI_PETSC_INCLUDE_DIR AND BISAI_PETSC_CONF_DIR AND BISAI_PETSC_LIBRARY)
    file(STRINGS ${BISAI_PETSC_INCLUDE_DIR}/petscversion.h bisai_petsc_lines
      REGEX "define PETSC_VERSION_(MAJOR|MINOR|SUBMINOR)")
    string(REGEX REPLACE "[^0-9]*([0-9]+)[^0-9]*([0-9]+)[^0-9]*([0-9]+).*" "\\1.\\2.\\3"
      BISAI_PETSC_MODULE_VERSION "${bisai_petsc_lines}")
    set(BISAI_PETSC_MODULE_INCLUDE_DIRS ${BISAI_PETSC_INCLUDE_DIR} ${BISAI_PETSC_CONF_DIR})
    set(BISAI_PETSC_MODULE_LINK_LIBRARIES ${BISAI_PETSC_LIBRARY})
    if(BISAI_PETSC_MODULE_VERSION VERSION_GREATER_EQUAL 3.18)
      set(BISAI_PETSC_MODULE_FOUND ON)
    endif()
  endif()
endif()
if(BISAI_PETSC_MODULE_FOUND AND NOT TARGET bisai::petsc_module)
  add_library(bisai::petsc_module INTERFACE IMPORTED GLOBAL)
  target_include_directories(bisai::petsc_module INTERFACE ${BISAI_PETSC_MODULE_INCLUDE_DIRS})
  target_compile_options(bisai::petsc_module INTERFACE ${BISAI_PETSC_MODULE_CFLAGS_OTHER})
  target_link_libraries(bisai::petsc_module INTERFACE ${BISAI_PETSC_MODULE_LINK_LIBRARIES})
endif()
