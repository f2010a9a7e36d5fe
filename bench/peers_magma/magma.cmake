# SPDX-License-Identifier: BSD-3-Clause
# MAGMA's batched LU and inversion beside the inversions of bench_batches, with -DBISAI_MAGMA=FOLDER,
# an unpacked archive of MAGMA 2. Only six of its files are compiled: all of MAGMA takes an hour. They
# are in complex double there, from which MAGMA's own scripts make the other types.
set(made ${CMAKE_CURRENT_BINARY_DIR}/magma)

# Writes a file of MAGMA in double as NAME. magma_internal.cuh has what it needs of four headers. The
# text before FIRST, if it is given, is left out.
function(magma_in_double file name)
  file(READ ${BISAI_MAGMA}/${file} text)
  if(ARGC GREATER 2)
    string(FIND "${text}" "${ARGV2}" at)
    if(at LESS 0)
      message(FATAL_ERROR "${BISAI_MAGMA}/${file} does not have \"${ARGV2}\"")
    endif()
    string(SUBSTRING "${text}" ${at} -1 text)
  endif()
  string(REGEX REPLACE
    "#include \"(magma_templates.h|shuffle.cuh|batched_kernel_param.h|gemm_template_device_defs.cuh)\""
    "" text "${text}")
  string(REPLACE "magmaDoubleComplex" "double" text "${text}")
  string(REPLACE "MAGMA_Z_" "MAGMA_D_" text "${text}")
  string(REPLACE "ZTRSM" "DTRSM" text "${text}")
  string(REGEX REPLACE "z(getr|trsm|laset|laswp)" "d\\1" text "${text}")
  file(CONFIGURE OUTPUT ${made}/${name} CONTENT "#include \"magma_internal.cuh\"\n${text}" @ONLY)
endfunction()

file(CONFIGURE OUTPUT ${made}/magma_internal.h CONTENT "#include \"magma_internal.cuh\"\n")
file(READ ${BISAI_MAGMA}/control/get_ntcol.cpp shapes)
file(CONFIGURE OUTPUT ${made}/get_ntcol.cu CONTENT "${shapes}" @ONLY)

magma_in_double(magmablas/zgetrf_batched_smallsq_noshfl.cu dgetrf_batched.cu)
magma_in_double(src/zgetri_outofplace_batched.cpp dgetri_batched.cu)
magma_in_double(magmablas/zlaset.cu dlaset.cu)
magma_in_double(magmablas/zlaswp_batched.cu dlaswp.cu "// serial swap that does swapping one")
magma_in_double(magmablas/ztrsm_small_batched.cu dtrsm_small_batched.cu)
magma_in_double(magmablas/trsm_template_kernel_batched.cuh trsm_template_kernel_batched.cuh)
add_library(bench_magma STATIC ${made}/dgetrf_batched.cu ${made}/get_ntcol.cu
  ${made}/dgetri_batched.cu ${made}/dlaset.cu ${made}/dlaswp.cu ${made}/dtrsm_small_batched.cu)
target_include_directories(bench_magma SYSTEM PRIVATE ${BISAI_MAGMA}/magmablas)
target_include_directories(bench_magma BEFORE PUBLIC ${CMAKE_CURRENT_LIST_DIR} ${made})
target_link_libraries(bench_magma PRIVATE CUDA::cudart_static)
