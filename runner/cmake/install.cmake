# What `cmake --install` puts where, for find_package, for pkg-config and for people. Included by the
# top level. Two install components: "development" is what embedding programs need, "program" the rest.
include(CMakePackageConfigHelpers)
set(pinfold_components policy)
if(PINFOLD_ENGINE)
  list(APPEND pinfold_components engine)
endif()
if(PINFOLD_RUNNER)
  list(APPEND pinfold_components runner)
endif()
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/pinfold")
set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

install(DIRECTORY include/pinfold DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development
  FILES_MATCHING PATTERN "*.hpp")
install(FILES LICENSE README.md SECURITY.md CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DOCDIR}"
  COMPONENT program)

foreach(component IN LISTS pinfold_components)
  install(TARGETS pinfold_${component} EXPORT pinfold-${component}
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
  install(EXPORT pinfold-${component} FILE pinfold-${component}-targets.cmake
    NAMESPACE pinfold:: DESTINATION "${package_dir}" COMPONENT development)
  export(EXPORT pinfold-${component} FILE "${PROJECT_BINARY_DIR}/pinfold-${component}-targets.cmake"
    NAMESPACE pinfold::)
endforeach()

configure_package_config_file(runner/cmake/pinfold-config.cmake.in
  "${PROJECT_BINARY_DIR}/pinfold-config.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/pinfold-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/pinfold-config.cmake"
  "${PROJECT_BINARY_DIR}/pinfold-config-version.cmake" DESTINATION "${package_dir}"
  COMPONENT development)

# pkg-config knows neither range-v3 nor Boost: neither comes with a file for it. Its own files name
# the prefix by where they lie, so a tree can be moved.
set(policy_about "Decisions on an agent's paths, commands and network; needs the headers of range-v3")
set(policy_requires "")
set(policy_libs "")
set(engine_about "pinfold-policy, and the floor that asks the disk")
set(engine_requires "pinfold-policy = ${PROJECT_VERSION}")
set(engine_libs "-lboost_filesystem")
set(runner_about "pinfold-engine, and the launcher of confined commands; a static library")
set(runner_requires "pinfold-engine = ${PROJECT_VERSION}")
set(runner_libs "-L\${libdir} -lpinfold_runner -pthread")
file(RELATIVE_PATH up_to_prefix "/${pkgconfig_dir}" "/")
foreach(component IN LISTS pinfold_components)
  foreach(field ABOUT REQUIRES LIBS)
    string(TOLOWER "${component}_${field}" name)
    set(COMPONENT_${field} "${${name}}")
  endforeach()
  configure_file(runner/cmake/pinfold.pc.in "${PROJECT_BINARY_DIR}/pinfold-${component}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/pinfold-${component}.pc" DESTINATION "${pkgconfig_dir}"
    COMPONENT development)
endforeach()

if(PINFOLD_RUNNER)
  install(TARGETS pinfold_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT program)
  # Where zsh looks below /usr is Debian's choice; elsewhere it is zsh's own.
  set(zsh_dir site-functions)
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    set(zsh_dir vendor-completions)
  endif()
  install(DIRECTORY "${pinfold_pages_dir}/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
    COMPONENT program)
  install(DIRECTORY "${pinfold_pages_dir}/bash/" COMPONENT program
    DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  install(DIRECTORY "${pinfold_pages_dir}/zsh/" COMPONENT program
    DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/${zsh_dir}")
  install(DIRECTORY "${pinfold_pages_dir}/fish/" COMPONENT program
    DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
endif()
