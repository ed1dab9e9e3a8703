# Runs the compiler twice on FILE: the control has to compile, the misuse has to be refused for the
# reason in the file's first line ("// refused: REGEX"). Writes nothing.
file(STRINGS "${FILE}" first LIMIT_COUNT 1)
if(NOT first MATCHES "^// refused: (.+)$")
  message(FATAL_ERROR "${FILE}: the first line must be '// refused: REGEX'")
endif()
set(reason "${CMAKE_MATCH_1}")
file(STRINGS "${FILE}" guarded REGEX "^#ifdef PINFOLD_MISUSE$")
if(NOT guarded)
  message(FATAL_ERROR "${FILE}: nothing stands behind PINFOLD_MISUSE")
endif()

set(ENV{LC_ALL} C)
list(TRANSFORM INCLUDES PREPEND "-I")
execute_process(COMMAND "${COMPILER}" ${FLAGS} ${INCLUDES} "${FILE}"
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the control does not compile:\n${output}")
endif()

execute_process(COMMAND "${COMPILER}" ${FLAGS} ${INCLUDES} -DPINFOLD_MISUSE "${FILE}"
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(result EQUAL 0)
  message(FATAL_ERROR "the misuse compiles")
endif()
if(NOT output MATCHES "${reason}")
  message(FATAL_ERROR "the misuse is refused, but not for '${reason}':\n${output}")
endif()
