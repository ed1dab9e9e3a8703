# Installs the built project into an empty prefix, builds tests/embed against that and nothing else,
# and runs it on a workspace of its own; then the same programs by pkg-config, from where the prefix
# was moved to. Arguments: steps.cmake.
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")
set(prefix "${SCRATCH}/prefix")
step("install" "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${prefix}")

# An installed header must not look back into the source tree.
file(GLOB_RECURSE packaged "${prefix}/*/cmake/pinfold/*.cmake" "${prefix}/*/pkgconfig/*.pc")
foreach(file IN LISTS packaged)
  file(READ "${file}" text)
  string(FIND "${text}" "${SOURCE}/include" found)
  if(NOT found EQUAL -1)
    message(FATAL_ERROR "${file} names the source tree")
  endif()
endforeach()

configure_and_build("" "-DCMAKE_PREFIX_PATH=${prefix}" -DCMAKE_BUILD_TYPE=Debug
  "-DFUZZ_DIR=${SOURCE}/fuzz")
file(STRINGS "${SCRATCH}/build/CMakeCache.txt" where REGEX "^pinfold_DIR:")
if(NOT where MATCHES "=${prefix}/")
  message(FATAL_ERROR "another pinfold was found: ${where}")
endif()
step("policy_only" "${SCRATCH}/build/policy_only")
run_readme_programs("${SCRATCH}/build")

set(workspace "${SCRATCH}/agent/ws")
file(MAKE_DIRECTORY "${workspace}/.git/hooks" "${workspace}/.efferent")
file(WRITE "${workspace}/README" "a small project\n")
file(WRITE "${workspace}/.efferent/state" "not for the model\n")
file(WRITE "${SCRATCH}/agent/secret" "not for the model\n")
file(CREATE_LINK ../secret "${workspace}/link" SYMBOLIC)
step("mkfifo" mkfifo "${workspace}/fifo")
step("agent" "${SCRATCH}/build/agent" "${workspace}")
message(STATUS "${output}")
file(READ "${SCRATCH}/agent/secret" secret)
if(NOT secret STREQUAL "not for the model\n" OR EXISTS "${SCRATCH}/agent/x")
  message(FATAL_ERROR "the agent got out of its workspace")
endif()

# By pkg-config, which must know the order of the libraries; none of it may name the old prefix.
file(RENAME "${prefix}" "${SCRATCH}/moved")
file(GLOB_RECURSE files "${SCRATCH}/moved/*/pkgconfig/pinfold-runner.pc")
cmake_path(GET files PARENT_PATH pkgconfig_dir)
set(ENV{PKG_CONFIG_PATH} "${pkgconfig_dir}")
file(MAKE_DIRECTORY "${SCRATCH}/by_pkg_config")
foreach(program policy_only:policy engine:engine command:runner)
  string(REGEX MATCH "^(.*):(.*)$" whole "${program}")
  set(source "${SCRATCH}/readme/${CMAKE_MATCH_1}.cpp")
  if(NOT EXISTS "${source}")
    set(source "${SOURCE}/tests/embed/${CMAKE_MATCH_1}.cpp")
  endif()
  step("pkg-config" pkg-config --cflags --libs "pinfold-${CMAKE_MATCH_2} >= 0.1")
  separate_arguments(flags UNIX_COMMAND "${output}")
  step("${program} by pkg-config" ${LAUNCHER} "${COMPILER}" -std=c++23 -c "${source}" ${flags}
    -o "${SCRATCH}/by_pkg_config/${CMAKE_MATCH_1}.o")
  step("${program} by pkg-config" "${COMPILER}" "${SCRATCH}/by_pkg_config/${CMAKE_MATCH_1}.o" ${flags}
    -o "${SCRATCH}/by_pkg_config/${CMAKE_MATCH_1}")
endforeach()
step("policy_only" "${SCRATCH}/by_pkg_config/policy_only")
run_readme_programs("${SCRATCH}/by_pkg_config")
