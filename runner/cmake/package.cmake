# `cpack -G DEB`: the packages pinfold (the program, its manual, completions) and libpinfold-dev (what
# embedding programs need). Included by the top level. Meant for a build with the prefix /usr, which
# the preset `package` has.
set(PINFOLD_MAINTAINER "pinfold maintainers <maintainers@pinfold.invalid>" CACHE STRING
  "Who answers for packages made here, as Debian writes it")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME pinfold)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_CONTACT "${PINFOLD_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # else it stands before each package's own
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # says nothing of the static executable
set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_DIR}/debian/finish.cmake")

set(debian_packages libpinfold-dev)
set(CPACK_COMPONENTS_ALL development)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libpinfold-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "librange-v3-dev (>= 0.12), libboost-filesystem-dev (>= 1.74)")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "bubblewrap (>= 0.8)")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS pinfold)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
  "confine a coding agent to one folder - development files
Headers of the engine, which decides on an agent's paths, commands and network
and opens what it checked, the static library of the runner, which confines
commands by bubblewrap, and files for CMake and pkg-config.")

if(PINFOLD_RUNNER)
  list(APPEND debian_packages pinfold)
  list(APPEND CPACK_COMPONENTS_ALL program)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME pinfold)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION utils)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "bubblewrap (>= 0.8)")
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS git)
  set(CPACK_DEBIAN_PROGRAM_DESCRIPTION
    "confine the commands of a coding agent to one folder
Runs an agent's commands in one workspace: the rest of the machine is
read-only or not there, the network is off unless it is opened, and time,
output and processes are bounded. Where the kernel cannot hold the boundary
nothing runs.")
endif()

# What only a package has. The date is that of the build, or SOURCE_DATE_EPOCH.
string(TIMESTAMP debian_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(package IN LISTS debian_packages)
  set(component development)
  if(package STREQUAL "pinfold")
    set(component program)
  endif()
  set(doc_dir "${CMAKE_INSTALL_DATADIR}/doc/${package}")
  configure_file(runner/cmake/debian/changelog.in
    "${PROJECT_BINARY_DIR}/debian/${package}/changelog.Debian" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/debian/${package}/changelog.Debian" runner/cmake/debian/copyright
    DESTINATION "${doc_dir}" COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(FILES CHANGELOG.md DESTINATION "${doc_dir}" RENAME changelog COMPONENT ${component}
    EXCLUDE_FROM_ALL)
  if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/debian/${package}.lintian-overrides")
    install(FILES runner/cmake/debian/${package}.lintian-overrides RENAME ${package}
      DESTINATION "${CMAKE_INSTALL_DATADIR}/lintian/overrides" COMPONENT ${component} EXCLUDE_FROM_ALL)
  endif()
endforeach()
include(CPack)
