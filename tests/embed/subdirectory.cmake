# Builds a project that has pinfold as a subdirectory. Arguments: steps.cmake.
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")
configure_and_build("/subdirectory" "-DPINFOLD_SOURCE=${SOURCE}" -DPINFOLD_PRECOMPILE=ON)
step("policy_only" "${SCRATCH}/build/policy_only")
run_readme_programs("${SCRATCH}/build")
# It installs nothing of pinfold behind the other project's back.
step("install" "${CMAKE_COMMAND}" --install "${SCRATCH}/build" --prefix "${SCRATCH}/prefix")
file(GLOB_RECURSE installed "${SCRATCH}/prefix/*")
if(installed)
  message(FATAL_ERROR "installed: ${installed}")
endif()
