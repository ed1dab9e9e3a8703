# What the scripts here share: a step that must succeed, one that must not, the README's programs,
# a workspace for them, and how another project is configured.
#   cmake -DBUILD=... -DSOURCE=... -DSCRATCH=... -DCOMPILER=... -DLAUNCHER=... -DPYTHON=... -P SCRIPT
function(step what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${what}: ${result}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# It must fail, and say so in words that match.
function(must_fail what words)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(result EQUAL 0 OR NOT output MATCHES "${words}")
    message(FATAL_ERROR "${what}: should have failed as \"${words}\": ${result}\n${output}")
  endif()
endfunction()

# `build_options` says which targets, where not all are wanted.
function(configure_and_build project)
  step("configure" "${CMAKE_COMMAND}" -G Ninja -S "${SOURCE}/tests/embed${project}"
    -B "${SCRATCH}/build" "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DREADME_DIR=${SCRATCH}/readme"
    "-DCMAKE_C_COMPILER_LAUNCHER=${LAUNCHER}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}"
    -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF ${ARGN})
  step("build" "${CMAKE_COMMAND}" --build "${SCRATCH}/build" ${build_options})
endfunction()

# What the README's programs say, started in a workspace of their own.
function(run_readme_programs directory)
  set(workspace "${SCRATCH}/world/ws")
  file(MAKE_DIRECTORY "${workspace}")
  file(WRITE "${workspace}/README" "a small project\n")
  step("engine" "${directory}/engine" "${workspace}" README)
  if(NOT output MATCHES "^README is open as [0-9]+\nno network\n$")
    message(FATAL_ERROR "engine: ${output}")
  endif()
  must_fail("engine" "it leads outside the workspace" "${directory}/engine" "${workspace}" ../x)
  step("command" "${directory}/command" "${workspace}")
  if(NOT output MATCHES "^rm: cannot remove .?/etc/x")
    message(FATAL_ERROR "command: ${output}")
  endif()
  if(EXISTS "${directory}/started")
    step("started" "${directory}/started" "${workspace}")
    if(NOT output STREQUAL "cancelled\n")
      message(FATAL_ERROR "started: ${output}")
    endif()
  endif()
endfunction()

file(REMOVE_RECURSE "${SCRATCH}")
file(MAKE_DIRECTORY "${SCRATCH}/readme")
step("README" "${PYTHON}" -B "${SOURCE}/tests/embed/readme.py" "${SOURCE}/README.md" "${SCRATCH}/readme"
  engine.cpp command.cpp started.cpp mine.cpp)
