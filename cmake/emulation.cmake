# SPDX-License-Identifier: BSD-3-Clause
# BISAI_CUDA=EMULATED compiles the CUDA sources for the CPU (tests/emulation/emulation.cpp), so that
# tests run them on machines without a GPU. The language differs in two places, which are rewritten:
# launches, and dynamic shared memory.

if(NOT BISAI_CUDA_EMULATED)
  function(bisai_emulate target)
  endfunction()
  return()
endif()

enable_language(CXX)
set(emulation ${PROJECT_SOURCE_DIR}/tests/emulation)
set(emulated ${PROJECT_BINARY_DIR}/emulated)

add_library(bisai_emulation SHARED ${emulation}/emulation.cpp)
target_include_directories(bisai_emulation PRIVATE ${emulation})
target_compile_options(bisai_emulation PRIVATE -Wall -Wextra)
set_target_properties(bisai_emulation PROPERTIES CXX_STANDARD 17)
target_link_libraries(bisai_emulation PUBLIC Threads::Threads)

# Writes the copies again if a source has changed.
file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
  ${PROJECT_SOURCE_DIR}/src/*.cu ${PROJECT_SOURCE_DIR}/src/*.cuh
  ${PROJECT_SOURCE_DIR}/tests/*.cu ${PROJECT_SOURCE_DIR}/tests/*.cuh)
list(FILTER sources EXCLUDE REGEX "^tests/emulation/|/ptx.cuh$")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
foreach(source IN LISTS sources)
  file(READ ${source} text)
  string(REGEX REPLACE "extern __shared__ (__align__\\([0-9]+\\) )?([a-z0-9_]+) ([a-z]+)\\[\\]"
    "\\2 *const \\3 = emulation::shared_memory<\\2>()" text "${text}")
  string(REGEX REPLACE "([a-z_]+(<[A-Za-z0-9_, ]*>)?)[ \n]*<<<" "emulation::kernel(\\1)(" text
    "${text}")
  string(REPLACE ">>>(" ")(" text "${text}")
  string(REGEX REPLACE "\\.cu$" ".cpp" copy ${source})
  file(CONFIGURE OUTPUT ${emulated}/${copy} CONTENT "#line 1 \"${PROJECT_SOURCE_DIR}/${source}\"
@text@" @ONLY)
endforeach()

# Replaces the CUDA sources of a target by their copies.
function(bisai_emulate target)
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  set(copies "")
  foreach(source IN LISTS sources)
    if(source MATCHES "\\.cu$")
      get_filename_component(source ${source} ABSOLUTE BASE_DIR ${folder})
      file(RELATIVE_PATH source ${PROJECT_SOURCE_DIR} ${source})
      string(REGEX REPLACE "\\.cu$" ".cpp" source ${emulated}/${source})
      list(APPEND copies ${source})
    endif()
  endforeach()
  list(FILTER sources EXCLUDE REGEX "\\.cu$")
  set_target_properties(${target} PROPERTIES SOURCES "${sources};${copies}" CXX_STANDARD 17)
  set_source_files_properties(${copies} TARGET_DIRECTORY ${target} PROPERTIES
    COMPILE_DEFINITIONS __CUDACC__
    COMPILE_OPTIONS "-include;cuda_runtime.h;-w;-mfma;-ffp-contract=fast;-fno-strict-aliasing"
    INCLUDE_DIRECTORIES "${emulation};${emulated}/src;${folder}")
  # GCC contracts the same sums in some kernels of products and not in others, unlike nvcc, and
  # tests compare their bits.
  set(products ${copies})
  list(FILTER products INCLUDE REGEX "/multigrid/spgemm/")
  set_property(SOURCE ${products} TARGET_DIRECTORY ${target} APPEND PROPERTY
    COMPILE_OPTIONS -ffp-contract=off)
endfunction()
