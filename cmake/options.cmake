# Compiler and linker settings that every target of ours gets, through rehearse_options.
#
# Warnings are errors for our code only: third-party headers come in as system headers.

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Release keeps line tables, so that a failed check in the field has a usable backtrace, and does
# not define NDEBUG: nothing in the tree may depend on it. Line tables are what reports of the
# sanitizers need, too; the rest of debug information takes a fifth of the time of a build, so who
# steps through a program asks for it (CONTRIBUTING.md).
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
set(RH_DEBUG_FLAGS "-O1 -g1" CACHE STRING "Flags of the presets for debugging")
set(CMAKE_CXX_FLAGS_DEBUG "${RH_DEBUG_FLAGS}")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(RH_CCACHE ccache)
if(RH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${RH_CCACHE}")
endif()

file(RELATIVE_PATH rh_way_up "${CMAKE_BINARY_DIR}" "${PROJECT_SOURCE_DIR}")

add_library(rehearse_options INTERFACE)
target_include_directories(rehearse_options INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_definitions(rehearse_options INTERFACE REHEARSE_VERSION="${PROJECT_VERSION}")
target_compile_options(rehearse_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Wold-style-cast
  # g++ 12 sees uninitialized members in every optional of a vector that is returned by value, and
  # overlapping copies in string concatenation (its bug 105651); clang, the sanitizers and
  # clang-tidy look for the real ones.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # A fused multiply-add rounds once where two instructions round twice: results would depend on
  # the compiler and the machine.
  -ffp-contract=off
  # Messages and debug information name files from the root of the tree, so that builds in
  # different folders are equal; also where ccache makes paths relative (cmake/setup.sh).
  "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/="
  "-ffile-prefix-map=${rh_way_up}=")
if(RH_WERROR)
  target_compile_options(rehearse_options INTERFACE -Werror)
endif()
if(RH_FULL_DIGEST)
  target_compile_definitions(rehearse_options INTERFACE RH_FULL_DIGEST=1)
endif()

if(RH_SANITIZE)
  target_compile_options(rehearse_options INTERFACE
    "-fsanitize=${RH_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(rehearse_options INTERFACE "-fsanitize=${RH_SANITIZE}")
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_definitions(rehearse_options INTERFACE _GLIBCXX_ASSERTIONS)
endif()
if(RH_COVERAGE)
  target_compile_options(rehearse_options INTERFACE --coverage)
  target_link_options(rehearse_options INTERFACE --coverage)
endif()

# libFuzzer needs clang and its runtime libraries, a package of their own.
set(RH_HAS_FUZZERS OFF)
if(RH_FUZZERS AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS "-fsanitize=fuzzer")
  check_cxx_source_compiles("
    #include <cstddef>
    #include <cstdint>
    extern \"C\" int LLVMFuzzerTestOneInput(const std::uint8_t*, std::size_t) { return 0; }"
    RH_LINKS_FUZZER)
  unset(CMAKE_REQUIRED_FLAGS)
  set(RH_HAS_FUZZERS "${RH_LINKS_FUZZER}")
endif()
if(RH_HAS_FUZZERS)
  target_compile_options(rehearse_options INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(rehearse_options INTERFACE -fsanitize=fuzzer-no-link)
elseif(RH_FUZZERS)
  message(STATUS "tests/fuzzers are left out: the compiler has no libFuzzer")
endif()

find_program(RH_MOLD mold)
if(RH_MOLD)
  target_link_options(rehearse_options INTERFACE -fuse-ld=mold)
endif()
