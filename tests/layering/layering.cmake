# Asks the compiler (-MM) what every file of the project includes, directly or not, and fails when a
# file reaches a higher floor, a sibling on its own floor, or a file that has no floor.
#   cmake -DROOT=... -DCOMPILER=... -DFLAGS=... -P layering.cmake
include("${CMAKE_CURRENT_LIST_DIR}/floors.cmake")

# The floor and the room of a path relative to ROOT; both empty when no row covers it.
function(look_up path floor_variable room_variable)
  set(${floor_variable} "" PARENT_SCOPE)
  set(${room_variable} "" PARENT_SCOPE)
  foreach(row IN LISTS floors)
    string(REGEX MATCH "^(.*)=([0-9]+)$" whole "${row}")
    set(room "${CMAKE_MATCH_1}")
    set(floor "${CMAKE_MATCH_2}")
    string(FIND "${path}" "${room}" start)
    if(path STREQUAL room OR (start EQUAL 0 AND room MATCHES "/$"))
      set(${floor_variable} "${floor}" PARENT_SCOPE)
      set(${room_variable} "${room}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# What a file names in quotes has to be there.
function(check_quoted file)
  file(STRINGS "${ROOT}/${file}" lines REGEX "^ *# *include *\"")
  cmake_path(GET file PARENT_PATH beside)
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^[^\"]*\"([^\"]*)\".*$" "\\1" name "${line}")
    if(NOT EXISTS "${ROOT}/${beside}/${name}" AND NOT EXISTS "${ROOT}/include/${name}"
       AND NOT EXISTS "${ROOT}/runner/${name}")
      message(SEND_ERROR "${file}: includes ${name}, which is not there")
    endif()
  endforeach()
endfunction()

# What the compiler says a file depends on, as paths relative to ROOT; files elsewhere are left out.
# Headers of the system are not read (-MG takes them for files that are made later): they include none
# of ours, and reading them for each file takes twenty times as long.
function(dependencies_of file result_variable)
  execute_process(
    COMMAND "${COMPILER}" ${FLAGS} -nostdinc -MM -MG -I "${ROOT}/include" -I "${ROOT}/runner" "${ROOT}/${file}"
    RESULT_VARIABLE result OUTPUT_VARIABLE rule ERROR_VARIABLE complaint)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${file}: the compiler cannot read it:\n${complaint}")
  endif()
  string(REGEX REPLACE "\\\\\n" " " rule "${rule}")
  string(REGEX REPLACE "^[^:]*:" "" rule "${rule}")
  separate_arguments(names UNIX_COMMAND "${rule}")
  set(found)
  foreach(name IN LISTS names)
    cmake_path(ABSOLUTE_PATH name BASE_DIRECTORY "${ROOT}" NORMALIZE)
    cmake_path(IS_PREFIX ROOT "${name}" NORMALIZE is_ours)
    if(is_ours AND EXISTS "${name}")
      cmake_path(RELATIVE_PATH name BASE_DIRECTORY "${ROOT}")
      list(APPEND found "${name}")
    endif()
  endforeach()
  set(${result_variable} "${found}" PARENT_SCOPE)
endfunction()

# A file may include another one when
#  1. both have a floor, and
#  2. they are in the same room, or the other one's floor is lower;
#  3. nothing else.
function(check_file file)
  look_up("${file}" floor room)
  if(floor STREQUAL "")
    message(SEND_ERROR "${file}: has no floor; give it a row in floors.cmake")
    return()
  endif()
  check_quoted("${file}")
  dependencies_of("${file}" others)
  foreach(other IN LISTS others)
    look_up("${other}" other_floor other_room)
    if(other_floor STREQUAL "")
      message(SEND_ERROR "${file}: includes ${other}, which has no floor")
    elseif(NOT other_room STREQUAL room AND NOT other_floor LESS floor)
      message(SEND_ERROR "${file} (floor ${floor}): includes ${other} (floor ${other_floor})")
    endif()
  endforeach()
endfunction()

cmake_path(NORMAL_PATH ROOT)
set(files)
foreach(kind hpp h cpp cc c S inc ipp)
  file(GLOB_RECURSE some RELATIVE "${ROOT}" "${ROOT}/include/*.${kind}" "${ROOT}/runner/*.${kind}")
  list(APPEND files ${some})
endforeach()
list(LENGTH files count)
if(count EQUAL 0)
  message(FATAL_ERROR "no files below ${ROOT}")
endif()
foreach(file IN LISTS files)
  check_file("${file}")
endforeach()
message(STATUS "${count} files looked at")
