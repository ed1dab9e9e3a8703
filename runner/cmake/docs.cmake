# The target `docs`, where Doxygen is there: the reference of the public headers, in
# BUILD/reference/html. Included by the top level.
find_program(DOXYGEN_PROGRAM doxygen)
if(DOXYGEN_PROGRAM)
  configure_file(runner/cmake/Doxyfile.in "${PROJECT_BINARY_DIR}/reference/Doxyfile" @ONLY)
  set(make_reference ${CMAKE_COMMAND} "-DDOXYGEN=${DOXYGEN_PROGRAM}"
    "-DDOXYFILE=${PROJECT_BINARY_DIR}/reference/Doxyfile"
    "-DLOG=${PROJECT_BINARY_DIR}/reference/warnings.txt"
    -P "${CMAKE_CURRENT_LIST_DIR}/reference.cmake")
  add_custom_target(docs COMMAND ${make_reference} VERBATIM)
  if(PINFOLD_TESTS AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    add_test(NAME docs COMMAND ${make_reference})
    set_tests_properties(docs PROPERTIES TIMEOUT 300)
  endif()
endif()
