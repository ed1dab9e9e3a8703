# Makes small trees with one fault each and checks that layering.cmake sees it; the last tree has none.
#   cmake -DSCRATCH=... -DCOMPILER=... -DFLAGS=... -P sees.cmake

# write_tree(FILE=INCLUDED ...): every file includes one other, or nothing.
function(write_tree)
  file(REMOVE_RECURSE "${SCRATCH}")
  foreach(row IN LISTS ARGN)
    string(REGEX MATCH "^([^=]*)=(.*)$" whole "${row}")
    if(CMAKE_MATCH_2)
      file(WRITE "${SCRATCH}/${CMAKE_MATCH_1}" "#include \"${CMAKE_MATCH_2}\"\n")
    else()
      file(WRITE "${SCRATCH}/${CMAKE_MATCH_1}" "// nothing\n")
    endif()
  endforeach()
endfunction()

# expect(OUTCOME TEXT): runs the check on the tree; OUTCOME is `fails` or `passes`, TEXT what it says.
function(expect outcome text)
  execute_process(
    COMMAND "${CMAKE_COMMAND}" "-DROOT=${SCRATCH}" "-DCOMPILER=${COMPILER}" "-DFLAGS=${FLAGS}"
            -P "${CMAKE_CURRENT_LIST_DIR}/layering.cmake"
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")  # long lines are broken
  if((outcome STREQUAL passes AND NOT result EQUAL 0) OR
     (outcome STREQUAL fails AND result EQUAL 0) OR NOT output MATCHES "${text}")
    message(SEND_ERROR "the check should say '${text}' (${outcome}), it said:\n${output}")
  endif()
endfunction()

write_tree(include/pinfold/error.hpp=pinfold/path.hpp include/pinfold/path.hpp=)
expect(fails "error.hpp .floor 00.: includes include/pinfold/path.hpp .floor 10.")

write_tree(include/pinfold/grant.hpp=pinfold/taint.hpp include/pinfold/taint.hpp=)
expect(fails "grant.hpp .floor 20.: includes include/pinfold/taint.hpp .floor 20.")

# Not directly, but through a file in between.
write_tree(include/pinfold/path.hpp=pinfold/error.hpp include/pinfold/error.hpp=pinfold/guard.hpp
           include/pinfold/guard.hpp=)
expect(fails "path.hpp .floor 10.: includes include/pinfold/guard.hpp .floor 40.")

write_tree(runner/mcp/server.cpp=worktree/tree.hpp runner/worktree/tree.hpp=)
expect(fails "runner/mcp/server.cpp .floor 85.: includes runner/worktree/tree.hpp .floor 85.")

write_tree(runner/egress/proxy.cpp=sandbox/probe.hpp runner/sandbox/probe.hpp=)
expect(fails "runner/egress/proxy.cpp .floor 75.: includes runner/sandbox/probe.hpp .floor 80.")

write_tree(runner/launch/run.cpp=../sandbox/probe.hpp runner/sandbox/probe.hpp=)
expect(fails "runner/launch/run.cpp .floor 70.: includes runner/sandbox/probe.hpp .floor 80.")

write_tree(include/pinfold/grant.hpp=pinfold/odd.hpp include/pinfold/odd.hpp=)
expect(fails "include/pinfold/odd.hpp: has no floor")

write_tree(runner/elsewhere/x.cpp=)
expect(fails "runner/elsewhere/x.cpp: has no floor")

write_tree(runner/cli/main.cpp=../../tests/support.hpp tests/support.hpp=)
expect(fails "includes tests/support.hpp, which has no floor")

write_tree(runner/cli/main.cpp=missing.hpp)
expect(fails "includes missing.hpp, which is not there")

write_tree()
expect(fails "no files below")

write_tree(include/pinfold/error.hpp= include/pinfold/grant.hpp=pinfold/error.hpp
           runner/cli/main.cpp=cli/run.hpp runner/cli/run.hpp=sandbox/probe.hpp
           runner/sandbox/probe.hpp=sandbox/stage/stage.hpp
           runner/sandbox/stage/stage.hpp=launch/run.hpp runner/launch/run.hpp=pinfold/grant.hpp)
expect(passes "7 files looked at")
file(REMOVE_RECURSE "${SCRATCH}")
