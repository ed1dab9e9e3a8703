# Makes the reference with Doxygen and fails on every warning. Doxygen asks for docstrings only where
# it does not extract everything, so a second run does that, and one kind of its warnings is let pass:
# a member whose name says it all needs no sentence of its own; a type does.
#   cmake -DDOXYGEN=... -DDOXYFILE=... -DLOG=... -P reference.cmake
function(warnings_of doxyfile result_variable)
  file(REMOVE "${LOG}")
  execute_process(COMMAND "${DOXYGEN}" "${doxyfile}" RESULT_VARIABLE result OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT result EQUAL 0 OR NOT EXISTS "${LOG}")
    message(FATAL_ERROR "doxygen: ${result}\n${output}")
  endif()
  file(STRINGS "${LOG}" lines)
  set(${result_variable} "${lines}" PARENT_SCOPE)
endfunction()

warnings_of("${DOXYFILE}" wrong)
file(WRITE "${DOXYFILE}.strict" "@INCLUDE = \"${DOXYFILE}\"\nEXTRACT_ALL = NO\nGENERATE_HTML = NO\n")
warnings_of("${DOXYFILE}.strict" lacking)
list(FILTER lacking EXCLUDE REGEX "warning: Member .* is not documented")
if(wrong OR lacking)
  list(JOIN wrong "\n" wrong)
  list(JOIN lacking "\n" lacking)
  message(FATAL_ERROR "${wrong}\n${lacking}")
endif()
