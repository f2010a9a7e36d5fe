# SPDX-License-Identifier: BSD-3-Clause
# Target `docs`: the reference of the public headers in HTML, if Doxygen is found.
find_package(Doxygen 1.9.4 QUIET)
if(DOXYGEN_FOUND)
  configure_file(docs/Doxyfile.in Doxyfile @ONLY)
  add_custom_target(docs COMMAND Doxygen::doxygen ${PROJECT_BINARY_DIR}/Doxyfile
    COMMENT "Reference in ${PROJECT_BINARY_DIR}/docs/html/index.html" VERBATIM)
endif()
