# Stage two is linked with musl where its development files are there. The GNU C library asks the
# processor what it is (each question leaves a virtual machine), moves hundreds of pages and brings 650
# KiB along before main; an empty static program takes twice as long with it. What stage two needs of
# a C library is much the same as system calls, which both have.
#   pinfold_use_small_libc(TARGET)
string(REGEX REPLACE "-gnu.*$" "-musl" musl_name "${CMAKE_LIBRARY_ARCHITECTURE}")
find_path(PINFOLD_MUSL_INCLUDE_DIR bits/alltypes.h NO_DEFAULT_PATH
  PATHS "/usr/include/${musl_name}" /usr/local/musl/include)
find_path(PINFOLD_MUSL_LIBRARY_DIR crt1.o NO_DEFAULT_PATH
  PATHS "/usr/lib/${musl_name}" /usr/local/musl/lib)
# The kernel's own headers belong to no C library, but lie among those of the one that is installed.
find_path(PINFOLD_KERNEL_INCLUDE_DIR linux/seccomp.h)
find_path(PINFOLD_ASM_INCLUDE_DIR asm/unistd.h)
mark_as_advanced(PINFOLD_MUSL_INCLUDE_DIR PINFOLD_MUSL_LIBRARY_DIR PINFOLD_KERNEL_INCLUDE_DIR
  PINFOLD_ASM_INCLUDE_DIR)

if(PINFOLD_MUSL_INCLUDE_DIR AND PINFOLD_MUSL_LIBRARY_DIR AND PINFOLD_KERNEL_INCLUDE_DIR
   AND PINFOLD_ASM_INCLUDE_DIR)
  set(PINFOLD_HAS_SMALL_LIBC ON CACHE INTERNAL "Stage two is linked with musl")
else()
  set(PINFOLD_HAS_SMALL_LIBC OFF CACHE INTERNAL "Stage two is linked with musl")
  message(STATUS "pinfold: no musl (Debian: musl-dev); stage two gets the system's C library, and "
    "each start takes about a millisecond longer")
endif()

# The headers of the C++ library that need no operating system, then musl's, then the kernel's; nothing
# of the C library that the compiler would take by itself.
function(pinfold_use_small_libc target)
  if(NOT PINFOLD_HAS_SMALL_LIBC)
    target_link_options(${target} PRIVATE -static)
    return()
  endif()
  set(kernel "${CMAKE_CURRENT_BINARY_DIR}/kernel-headers")
  file(MAKE_DIRECTORY "${kernel}")
  foreach(part linux asm-generic)
    file(CREATE_LINK "${PINFOLD_KERNEL_INCLUDE_DIR}/${part}" "${kernel}/${part}" SYMBOLIC)
  endforeach()
  file(CREATE_LINK "${PINFOLD_ASM_INCLUDE_DIR}/asm" "${kernel}/asm" SYMBOLIC)

  set(cxx_dirs ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
  set(compiler_dirs ${cxx_dirs})
  list(FILTER cxx_dirs INCLUDE REGEX "/c\\+\\+/")
  list(FILTER compiler_dirs INCLUDE REGEX "/(gcc|clang)/.*/include")
  list(FILTER compiler_dirs EXCLUDE REGEX "/c\\+\\+/")
  set(headers -nostdinc)
  foreach(dir ${cxx_dirs} "${PINFOLD_MUSL_INCLUDE_DIR}" ${compiler_dirs})
    list(APPEND headers "SHELL:-isystem ${dir}")
  endforeach()
  list(APPEND headers "SHELL:-idirafter ${kernel}"
    # libstdc++ as it is built for the GNU C library asks for two things of it.
    "-D__GLIBC_PREREQ(major,minor)=0" -D__locale_t=locale_t)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${headers}>")
  target_link_options(${target} PRIVATE -static -nostdlib
    "${PINFOLD_MUSL_LIBRARY_DIR}/crt1.o" "${PINFOLD_MUSL_LIBRARY_DIR}/crti.o")
  target_link_libraries(${target} PRIVATE
    "${PINFOLD_MUSL_LIBRARY_DIR}/libc.a" -lgcc "${PINFOLD_MUSL_LIBRARY_DIR}/crtn.o")
endfunction()
