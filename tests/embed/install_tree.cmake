# Installs the built project into an empty prefix, builds tests/embed against that and nothing else,
# and runs it on a workspace of its own.
#   cmake -DBUILD=... -DSOURCE=... -DSCRATCH=... -DCOMPILER=... -DLAUNCHER=... -P install_tree.cmake
function(step what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${what}: ${result}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${SCRATCH}")
set(prefix "${SCRATCH}/prefix")
step("install" "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${prefix}")

# An installed header must not look back into the source tree.
file(GLOB_RECURSE packaged "${prefix}/*/cmake/pinfold/*.cmake")
foreach(file IN LISTS packaged)
  file(READ "${file}" text)
  string(FIND "${text}" "${SOURCE}/include" found)
  if(NOT found EQUAL -1)
    message(FATAL_ERROR "${file} names the source tree")
  endif()
endforeach()

step("configure" "${CMAKE_COMMAND}" -G Ninja -S "${SOURCE}/tests/embed" -B "${SCRATCH}/build"
  "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_COMPILER=${COMPILER}" -DCMAKE_BUILD_TYPE=Debug
  "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
file(STRINGS "${SCRATCH}/build/CMakeCache.txt" where REGEX "^pinfold_DIR:")
if(NOT where MATCHES "=${prefix}/")
  message(FATAL_ERROR "another pinfold was found: ${where}")
endif()
step("build" "${CMAKE_COMMAND}" --build "${SCRATCH}/build")
step("policy_only" "${SCRATCH}/build/policy_only")

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

