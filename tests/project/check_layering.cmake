# SPDX-License-Identifier: BSD-3-Clause
# Includes go down the layers only (docs/design.md): what each room under src/ and each plug-in under
# plugins/ may include, CUDA headers and src/gpu in *_cuda.cu alone, and public headers alone
# elsewhere. Every room may include public headers, but call only those of their functions that rooms
# below it implement.
# cmake -DROOT=… -P check_layering.cmake
cmake_minimum_required(VERSION 3.22)

set(src core gpu io order lu direct factor pattern solve apply bjacobi multigrid cpr schur study precond krylov text choice)
set(core_may core)
set(gpu_may gpu core/context/backend.h core/context/context_impl.h)
set(io_may core io)
set(order_may core order)
set(lu_may core order lu)
set(direct_may core direct)
set(factor_may core factor apply/apply_ops.h)
set(pattern_may core pattern)
set(apply_may core apply)
set(bjacobi_may core bjacobi)
set(solve_may core factor pattern solve)
set(multigrid_may core apply multigrid factor/factor_ops.h
  factor/factor_impl.h # the memory of a smoother's factors
  factor/inversion_record_cuda.cuh) # its kernel reports on inversions as that of factor
set(cpr_may core cpr)
set(schur_may core schur apply/apply_ops.h)
set(study_may core study)
set(precond_may core order lu direct factor pattern solve apply bjacobi multigrid cpr schur precond)
set(krylov_may krylov core/context/backend.h core/vector/chunks_host.h core/block/column.h core/context/context_impl.h core/matrix/matrix_ops.h core/csr/block_vectors.h
  core/context/option_table.h core/threads/parallel.h core/context/staging.h core/context/words.h apply/apply_ops.h
  precond/application.h) # the application that tells a device what the solver keeps in its cache
set(text_may text core/context/context_impl.h precond krylov)
set(choice_may choice core order lu factor study krylov precond text)
# Libraries of their own on top of the public headers.
set(plugins petsc cusparse nccl)
set(petsc_may petsc nccl)
set(nccl_may nccl)
set(cusparse_may cusparse)

set(problems "")

# includes_of(file quoted angled): the names inside #include "…" and #include <…>.
function(includes_of file quoted angled)
  file(STRINGS ${file} lines REGEX "^[ \t]*#[ \t]*include")
  set(in_quotes "")
  set(in_angles "")
  foreach(line IN LISTS lines)
    if(line MATCHES "include[ \t]*\"([^\"]+)\"")
      list(APPEND in_quotes ${CMAKE_MATCH_1})
    elseif(line MATCHES "include[ \t]*<([^>]+)>")
      list(APPEND in_angles ${CMAKE_MATCH_1})
    endif()
  endforeach()
  set(${quoted} "${in_quotes}" PARENT_SCOPE)
  set(${angled} "${in_angles}" PARENT_SCOPE)
endfunction()

macro(complain text)
  string(APPEND problems "  ${text}\n")
endmacro()

set(seen 0)

# check_folder(TOP ROOM): the files of TOP/ROOM include what ROOM_may lists.
macro(check_folder top room)
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${top}/${room}/*.c ${ROOT}/${top}/${room}/*.h
    ${ROOT}/${top}/${room}/*.cu ${ROOT}/${top}/${room}/*.cuh)
  foreach(file IN LISTS files)
    math(EXPR seen "${seen} + 1")
    includes_of(${ROOT}/${file} quoted angled)
    foreach(name IN LISTS quoted)
      if(NOT name MATCHES "^([a-z0-9_]+)/")
        complain("${file}: \"${name}\" is not written as \"room/file\"")
      elseif(CMAKE_MATCH_1 STREQUAL gpu AND NOT ${room} STREQUAL gpu AND ${top} STREQUAL src)
        # It wraps what kernels need, in the rooms' files for a GPU.
        if(NOT file MATCHES "_cuda\\.cuh?$")
          complain("${file}: ${name} belongs in *_cuda.cu")
        endif()
      elseif(NOT CMAKE_MATCH_1 IN_LIST ${room}_may AND NOT name IN_LIST ${room}_may)
        complain("${file}: ${room} must not include ${name}")
      endif()
    endforeach()
    foreach(name IN LISTS angled)
      if(name MATCHES "^(cuda|cub/|cooperative_groups|cusparse|cublas|thrust/|nvtx)"
         AND NOT file MATCHES "^src/gpu/|_cuda\\.cuh?$")
        complain("${file}: ${name} belongs in *_cuda.cu")
      endif()
    endforeach()
  endforeach()
endmacro()

# code_of(file text): a file of C without comments and strings, and without semicolons and brackets,
# which have a meaning in lists.
function(code_of file text)
  file(READ ${file} code)
  string(REGEX REPLACE "[][;]" "," code "${code}")
  string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" " " code "${code}")
  string(REGEX REPLACE "//[^\n]*" " " code "${code}")
  string(REGEX REPLACE "\"([^\"\\\n]|\\\\.)*\"" " " code "${code}")
  set(${text} "${code}" PARENT_SCOPE)
endfunction()

# find_homes(ROOM): home_NAME becomes ROOM for each public function bisai_NAME() that it implements.
macro(find_homes room)
  file(GLOB_RECURSE files ${ROOT}/src/${room}/*.c ${ROOT}/src/${room}/*.cu)
  foreach(file IN LISTS files)
    code_of(${file} code)
    string(REGEX MATCHALL "\n[a-z][a-z0-9_ *]*[ *]bisai_[a-z0-9_]+\\([^,{}()]*(,[^,{}()]*)*\\)[ \n]*{" found
      "\n${code}")
    list(TRANSFORM found REPLACE "^[^(]*[ *]bisai_([a-z0-9_]+)\\(.*" "\\1")
    foreach(name IN LISTS found)
      set(home_${name} ${room})
    endforeach()
    # Macros that define functions (core: words.h).
    string(REGEX MATCHALL "\nBSI_DEFINE_(STRING|WORDS)\\([a-z_]+" found "${code}")
    list(TRANSFORM found REPLACE ".*\\(" "")
    foreach(name IN LISTS found)
      set(home_${name}_string ${room})
      set(home_${name}_parse ${room})
    endforeach()
  endforeach()
endmacro()

# check_calls(ROOM): ROOM calls public functions of rooms below it only.
macro(check_calls room)
  set(below ${${room}_may})
  list(TRANSFORM below REPLACE "/.*" "")
  if(${room} STREQUAL krylov)
    set(below ${src}) # it is above all of them
  endif()
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/src/${room}/*.c ${ROOT}/src/${room}/*.h
    ${ROOT}/src/${room}/*.cu ${ROOT}/src/${room}/*.cuh)
  foreach(file IN LISTS files)
    code_of(${ROOT}/${file} code)
    string(REGEX MATCHALL "bisai_[a-z0-9_]+" names "${code}")
    list(REMOVE_DUPLICATES names)
    foreach(name IN LISTS names)
      string(REPLACE "bisai_" "" name ${name})
      if(DEFINED home_${name} AND NOT home_${name} IN_LIST below)
        complain("${file}: ${room} must not call bisai_${name}, which ${home_${name}} implements")
      endif()
    endforeach()
  endforeach()
endmacro()

foreach(top src plugins)
  file(GLOB folders LIST_DIRECTORIES true RELATIVE ${ROOT}/${top} ${ROOT}/${top}/*)
  foreach(folder IN LISTS folders)
    if(IS_DIRECTORY ${ROOT}/${top}/${folder} AND NOT folder IN_LIST ${top})
      complain("${top}/${folder}: not a room that the design knows")
    endif()
  endforeach()
  foreach(room IN LISTS ${top})
    check_folder(${top} ${room})
  endforeach()
endforeach()

foreach(room IN LISTS src)
  find_homes(${room})
endforeach()
foreach(room IN LISTS src)
  check_calls(${room})
endforeach()
# A public function without a home would be called from anywhere.
file(GLOB headers RELATIVE ${ROOT} ${ROOT}/include/bisai/*.h)
list(FILTER headers EXCLUDE REGEX "/(petsc|cusparse)\\.h$") # those of the plug-ins
foreach(header IN LISTS headers)
  code_of(${ROOT}/${header} code)
  string(REGEX MATCHALL "BISAI_API[^,()]*[ *]bisai_[a-z0-9_]+\\(" names "${code}")
  list(TRANSFORM names REPLACE ".*bisai_([a-z0-9_]+)\\($" "\\1")
  foreach(name IN LISTS names)
    if(NOT DEFINED home_${name})
      complain("${header}: no room implements bisai_${name}")
    endif()
  endforeach()
endforeach()

file(GLOB_RECURSE outside RELATIVE ${ROOT} ${ROOT}/include/*.h ${ROOT}/tools/*.c ${ROOT}/tools/*.h
  ${ROOT}/cases/*.c ${ROOT}/cases/*.h ${ROOT}/bench/*.c ${ROOT}/bench/*.h ${ROOT}/bench/*.cu
  ${ROOT}/bench/*.cuh ${ROOT}/examples/*.c)
# They time kernels, the levels of multigrid and the plug-in's exchanges by NCCL, which have no
# public functions.
list(FILTER outside EXCLUDE REGEX
  "^bench/((block-jacobi|isai)/.*\\.cuh?|multigrid/(levels|ranks)\\.c)$")
list(JOIN src "|" any_room)
list(JOIN plugins "|" any_plugin)
foreach(file IN LISTS outside)
  math(EXPR seen "${seen} + 1")
  includes_of(${ROOT}/${file} quoted angled)
  foreach(name IN LISTS quoted angled)
    if(name MATCHES "^(\\.\\./)*((src/)?(${any_room})|(plugins/)?(${any_plugin}))/")
      complain("${file}: private header ${name}")
    endif()
  endforeach()
endforeach()

if(seen EQUAL 0)
  message(FATAL_ERROR "no source files under ${ROOT}")
endif()
if(problems)
  message(FATAL_ERROR "\nagainst the layers:\n${problems}")
endif()
message(STATUS "${seen} files, every include and call goes down")
