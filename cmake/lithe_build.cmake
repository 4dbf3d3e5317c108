# How everything is compiled: one place for flags, caches and linkers.

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(LITHE_CCACHE ccache)
if(LITHE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # relative to the source, so that another clone finds what this one has compiled
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${LITHE_CCACHE})
endif()
find_program(LITHE_MOLD mold)
if(LITHE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# Warnings are errors in our own files; never exported.
add_library(lithe_warnings INTERFACE)
target_compile_options(lithe_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror
  # clang blames users of std::stable_sort and std::stable_partition for what libstdc++ 12 does inside them
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
  # false alarms of gcc 12 inside Eigen and std::string, not in what we write
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict>)

# What every object of the library is built with. The instruction set is ours alone; the alignment
# is part of the ABI (Eigen derives it from the instruction set), so users of the library share it.
add_library(lithe_flags INTERFACE)
target_compile_features(lithe_flags INTERFACE cxx_std_20)
target_compile_options(lithe_flags INTERFACE $<BUILD_INTERFACE:-march=x86-64-v3 -ffp-contract=off>)
target_compile_definitions(lithe_flags INTERFACE EIGEN_MAX_ALIGN_BYTES=32 EIGEN_DONT_PARALLELIZE)

set(LITHE_SANITIZE "" CACHE STRING "Sanitizers for -fsanitize=, as in address,undefined")
if(LITHE_SANITIZE)
  # Without those at every use of a pointer: they double the time to compile, and the address sanitizer finds most of
  # what they would.
  add_compile_options(-fsanitize=${LITHE_SANITIZE} -fno-sanitize=null,alignment,vptr,pointer-overflow,object-size
                      -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${LITHE_SANITIZE})
endif()
