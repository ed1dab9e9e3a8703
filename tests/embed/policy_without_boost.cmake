# Builds the policy-only project with an include path on which there is no Boost: /usr/include is
# taken for a folder of links to all that is in it but boost. That the path holds nothing of it, and
# that a policy header which reached for it would be noticed, is shown as well. Arguments: steps.cmake.
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")

# The compiler's own path, as it prints it, with the folder in its place.
file(WRITE "${SCRATCH}/empty.cpp" "")
step("include path" "${COMPILER}" -E -v "${SCRATCH}/empty.cpp" -o /dev/null)
string(REGEX MATCH "#include <...> search starts here:\n(.*)\nEnd of search list" whole "${output}")
string(REGEX REPLACE " *\n *" ";" directories "${CMAKE_MATCH_1}")
set(flags "-nostdinc -nostdinc++")
set(number 0)
foreach(directory IN LISTS directories)
  string(STRIP "${directory}" directory)
  if(EXISTS "${directory}/boost")
    math(EXPR number "${number} + 1")
    set(farm "${SCRATCH}/include-${number}")
    file(MAKE_DIRECTORY "${farm}")
    file(GLOB entries "${directory}/*")
    foreach(entry IN LISTS entries)
      cmake_path(GET entry FILENAME name)
      if(NOT name STREQUAL "boost")
        file(CREATE_LINK "${entry}" "${farm}/${name}" SYMBOLIC)
      endif()
    endforeach()
    set(directory "${farm}")
  endif()
  string(APPEND flags " -isystem ${directory}")
endforeach()
if(number EQUAL 0)
  message(FATAL_ERROR "Boost is nowhere on the include path, so this shows nothing: ${directories}")
endif()

configure_and_build("/policy" "-DPINFOLD_SOURCE=${SOURCE}" "-DCMAKE_CXX_FLAGS=${flags}")
step("policy_only" "${SCRATCH}/build/policy_only")

# The same compiler, flags and program, with one include more in a copy of the policy's headers.
separate_arguments(words UNIX_COMMAND "${flags}")
file(COPY "${SOURCE}/include/pinfold" DESTINATION "${SCRATCH}/changed")
set(compile "${COMPILER}" -std=c++23 ${words} -fsyntax-only "${SOURCE}/tests/embed/policy_only.cpp"
  "-I${SCRATCH}/changed")
step("the copy as it is" ${compile})
file(APPEND "${SCRATCH}/changed/pinfold/grant.hpp" "#include <boost/filesystem/path.hpp>\n")
must_fail("the copy with Boost" "boost/filesystem/path.hpp: No such file" ${compile})
