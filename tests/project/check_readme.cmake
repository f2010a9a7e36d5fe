# SPDX-License-Identifier: BSD-3-Clause
# The README's C example is, character for character, the file that the consumer tests build and run, but for the line of its licence.
# cmake -DREADME=… -DEXAMPLE=… -P check_readme.cmake
cmake_minimum_required(VERSION 3.22)

file(READ ${README} readme)
file(READ ${EXAMPLE} example)
string(REGEX REPLACE "^/\\* SPDX[^\n]*\n" "" example "${example}")
string(FIND "${readme}" "```c\n${example}```\n" position)
if(position EQUAL -1)
  message(FATAL_ERROR "${README} does not contain ${EXAMPLE} as it is, between ```c and ```")
endif()
