# What `cmake --install` puts where, for find_package and for people. Included by the top level.
include(CMakePackageConfigHelpers)
set(pinfold_components policy engine)
if(PINFOLD_RUNNER)
  list(APPEND pinfold_components runner)
endif()
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/pinfold")

install(DIRECTORY include/pinfold DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.hpp")
install(FILES LICENSE README.md SECURITY.md CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")

install(TARGETS pinfold_policy EXPORT pinfold-policy)
install(TARGETS pinfold_engine EXPORT pinfold-engine)
if(PINFOLD_RUNNER)
  install(TARGETS pinfold_runner EXPORT pinfold-runner ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS pinfold_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
foreach(component IN LISTS pinfold_components)
  install(EXPORT pinfold-${component} FILE pinfold-${component}-targets.cmake
    NAMESPACE pinfold:: DESTINATION "${package_dir}")
  export(EXPORT pinfold-${component} FILE "${PROJECT_BINARY_DIR}/pinfold-${component}-targets.cmake"
    NAMESPACE pinfold::)
endforeach()

configure_package_config_file(runner/cmake/pinfold-config.cmake.in
  "${PROJECT_BINARY_DIR}/pinfold-config.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/pinfold-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/pinfold-config.cmake"
  "${PROJECT_BINARY_DIR}/pinfold-config-version.cmake" DESTINATION "${package_dir}")
