# A resolver that is known to be wrong must be caught: the replay has to end as a crash that names
# the broken promise.
#   cmake -DPROGRAM=... -DINPUTS=... -DSAYS=... -P caught.cmake
execute_process(COMMAND "${PROGRAM}" ${INPUTS}
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE complaint)
if(result EQUAL 0)
  message(FATAL_ERROR "it was not caught:\n${output}")
endif()
if(NOT complaint MATCHES "BROKEN: ${SAYS}")
  message(FATAL_ERROR "it ended with ${result}, but not as caught:\n${complaint}")
endif()
