# SPDX-License-Identifier: BSD-3-Clause
# MAGMA's kernel of batched LU beside the inversions of bench_batches, with -DBISAI_MAGMA=FOLDER, an
# unpacked archive of MAGMA 2. Only two of its files are compiled: all of MAGMA takes an hour. They
# are in complex double there, from which MAGMA's own scripts make the other types.
set(made ${CMAKE_CURRENT_BINARY_DIR}/magma)
file(READ ${BISAI_MAGMA}/magmablas/zgetrf_batched_smallsq_noshfl.cu kernel)
string(REGEX REPLACE "#include \"(magma_templates.h|shuffle.cuh|batched_kernel_param.h)\"" "" kernel
  "${kernel}")
string(REPLACE "magmaDoubleComplex" "double" kernel "${kernel}")
string(REPLACE "MAGMA_Z_" "MAGMA_D_" kernel "${kernel}")
string(REPLACE "zgetrf" "dgetrf" kernel "${kernel}")
file(CONFIGURE OUTPUT ${made}/dgetrf_batched.cu CONTENT "${kernel}" @ONLY)
file(READ ${BISAI_MAGMA}/control/get_ntcol.cpp shapes)
file(CONFIGURE OUTPUT ${made}/get_ntcol.cu CONTENT "${shapes}" @ONLY)
file(CONFIGURE OUTPUT ${made}/magma_internal.h CONTENT "#include \"magma_internal.cuh\"\n")
add_library(bench_magma STATIC ${made}/dgetrf_batched.cu ${made}/get_ntcol.cu)
target_include_directories(bench_magma SYSTEM PRIVATE ${BISAI_MAGMA}/magmablas)
target_include_directories(bench_magma BEFORE PUBLIC ${CMAKE_CURRENT_LIST_DIR} ${made})
target_link_libraries(bench_magma PRIVATE CUDA::cudart_static)
