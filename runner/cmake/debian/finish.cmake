# Between installing and packing: Debian has manual pages and changelogs compressed, the licence as
# "copyright", and one changelog. Run by CPack.
file(GLOB_RECURSE plain "${CPACK_TEMPORARY_DIRECTORY}/*.1" "${CPACK_TEMPORARY_DIRECTORY}/changelog"
  "${CPACK_TEMPORARY_DIRECTORY}/changelog.Debian")
foreach(file IN LISTS plain)
  execute_process(COMMAND gzip -9n "${file}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(GLOB_RECURSE twice "${CPACK_TEMPORARY_DIRECTORY}/LICENSE" "${CPACK_TEMPORARY_DIRECTORY}/CHANGELOG.md")
if(NOT plain OR NOT twice)
  message(FATAL_ERROR "nothing to finish in ${CPACK_TEMPORARY_DIRECTORY}")
endif()
file(REMOVE ${twice})
