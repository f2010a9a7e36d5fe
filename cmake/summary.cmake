# SPDX-License-Identifier: BSD-3-Clause
# Prints, at the end of configuring, which components were found.
function(bisai_summary what have found missing)
  if(have)
    message(STATUS "  ${what}: ${found}")
  else()
    message(STATUS "  ${what}: ${missing}")
  endif()
endfunction()

set(kind static)
if(BUILD_SHARED_LIBS)
  set(kind shared)
endif()
set(processor "any ${CMAKE_SYSTEM_PROCESSOR}")
if(BISAI_NATIVE)
  set(processor "this machine (-march=native)")
endif()
message(STATUS "bisai ${PROJECT_VERSION}: ${kind} library, ${CMAKE_BUILD_TYPE},"
  " ${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}, for ${processor}")
bisai_summary("threads         " "${BISAI_HAVE_THREADS}" "POSIX"
  "none, one thread only (switched off or not found)")
string(CONCAT missing "not readable, nothing compressed is written"
  " (libarchive switched off or not found: libarchive-dev)")
bisai_summary(".tar, .xz files " "${BISAI_HAVE_ARCHIVE}" "libarchive ${LibArchive_VERSION}"
  "${missing}")
bisai_summary(".gz files       " "${BISAI_HAVE_ZLIB}" "zlib ${ZLIB_VERSION_STRING}"
  "not readable (zlib switched off or not found: zlib1g-dev)")
bisai_summary("orderings       " "${BISAI_HAVE_METIS}" "all (METIS)"
  "no nested dissection (METIS switched off or not found: libmetis-dev)")
bisai_summary("direct solves   " "${BISAI_HAVE_UMFPACK}" "UMFPACK (GPL)"
  "without (UMFPACK switched off or not found: libsuitesparse-dev)")
bisai_summary("PETSc           " "${BISAI_HAVE_PETSC}" "${BISAI_PETSC_MODULE_VERSION}"
  "without (${BISAI_PETSC_MISSING})")
bisai_summary("Fortran         " "${BISAI_HAVE_FORTRAN}"
  "${CMAKE_Fortran_COMPILER_ID} ${CMAKE_Fortran_COMPILER_VERSION}"
  "without (${BISAI_FORTRAN_MISSING})")
if(BISAI_TOOLS)
  bisai_summary("program bisai   " "${BISAI_HAVE_JANSSON}" "with --json (jansson)"
    "without --json (jansson not found: libjansson-dev)")
else()
  message(STATUS "  program bisai   : not built (BISAI_TOOLS)")
endif()
if(BISAI_TESTS)
  bisai_summary("tests           " "${BISAI_HAVE_CMOCKA}" "cmocka"
    "without those in C (cmocka not found: libcmocka-dev)")
  bisai_summary("real matrices   " "${BISAI_MATRICES_FOUND}" "${BISAI_MATRICES}"
    "none under ${BISAI_MATRICES}, their tests are skipped (BISAI_MATRICES)")
else()
  message(STATUS "  tests           : not built (BISAI_TESTS)")
endif()
bisai_summary("reference       " "${DOXYGEN_FOUND}" "target docs (Doxygen ${DOXYGEN_VERSION})"
  "none (Doxygen 1.9.4 or later not found: doxygen)")
string(REPLACE ";" " " architectures "${CMAKE_CUDA_ARCHITECTURES}")
set(compiler "CUDA ${CMAKE_CUDA_COMPILER_VERSION}, for ${architectures}")
if(BISAI_CUDA_EMULATED)
  set(compiler "emulated on the CPU, for tests")
endif()
bisai_summary("GPU             " "${BISAI_HAVE_CUDA}" "${compiler}"
  "without (${BISAI_CUDA_MISSING})")
if(BISAI_HAVE_CUDA)
  set(missing "")
  foreach(name BSRILU02 BSRSV2 BSRMV)
    if(NOT BISAI_HAVE_${name})
      string(TOLOWER ", without ${name}" without)
      string(APPEND missing ${without})
    endif()
  endforeach()
  bisai_summary("NCCL            " "${BISAI_HAVE_NCCL}" "between GPUs of several processes"
    "without (BISAI_NCCL is off, or it was not found)")
  bisai_summary("cuSPARSE        " "${BISAI_HAVE_CUSPARSE}"
    "to compare with (libbisai_cusparse)${missing}"
    "without (BISAI_CUSPARSE is off, or it was not found)")
endif()
