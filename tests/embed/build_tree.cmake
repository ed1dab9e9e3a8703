# Builds what is small of tests/embed against the build tree, without installing anything. Arguments: steps.cmake.
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")
set(build_options --target policy_only engine command)
configure_and_build("" "-Dpinfold_DIR=${BUILD}" -DCMAKE_BUILD_TYPE=Debug "-DFUZZ_DIR=${SOURCE}/fuzz")
step("policy_only" "${SCRATCH}/build/policy_only")
run_readme_programs("${SCRATCH}/build")
