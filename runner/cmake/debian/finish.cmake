# Between installing and packing: Debian has manual pages and changelogs compressed, the licence as
# "copyright", and one changelog. Run by CPack.
file(GLOB_RECURSE plain "${CPACK_TEMPORARY_DIRECTORY}/*/man/man1/*.1"
  "${CPACK_TEMPORARY_DIRECTORY}/*/doc/*/changelog" "${CPACK_TEMPORARY_DIRECTORY}/*/doc/*/changelog.Debian")
foreach(file IN LISTS plain)
  execute_process(COMMAND gzip -9n "${file}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(GLOB_RECURSE twice "${CPACK_TEMPORARY_DIRECTORY}/*/doc/pinfold/LICENSE"
  "${CPACK_TEMPORARY_DIRECTORY}/*/doc/pinfold/CHANGELOG.md")
if(twice)
  file(REMOVE ${twice})
endif()
