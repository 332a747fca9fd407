# shellcheck shell=bash disable=SC2034

# Sourced by ./demo and ./check from the root of the tree: finds out what is missing, installs it
# where it may, and configures presets. Everything it says goes to stderr.

jobs="${REHEARSE_JOBS:-2}"
export CCACHE_BASEDIR="${CCACHE_BASEDIR:-$PWD}"  # clones share what they compiled

say() { printf '%s\n' "$*" >&2; }

# What building the program needs: Debian package and how to see that it is there, a command or a
# header (a file, of wishes). The names are those of Debian 12 and of Ubuntu 24.04.
program_needs=(
  "g++ command:g++"
  "cmake command:cmake"
  "ninja-build command:ninja"
  "pkg-config command:pkg-config"
  "libboost-dev header:boost/graph/adjacency_list.hpp"
  "libfmt-dev header:fmt/core.h"
  "nlohmann-json3-dev header:nlohmann/json.hpp"
  "libsimdjson-dev header:simdjson.h"
  "libcli11-dev header:CLI/CLI.hpp"
  "zlib1g-dev header:zlib.h"
  "libzstd-dev header:zstd.h"
  "liblz4-dev header:lz4frame.h"
  "libsnappy-dev header:snappy.h"
  "libxxhash-dev header:xxhash.h"
)
test_needs=(
  "python3 command:python3"
  "doctest-dev header:doctest/doctest.h"
  "librapidcheck-dev header:rapidcheck.h"
)
# What makes ./check say more; without one of these it skips a step and says so.
check_wishes=(
  "clang-19 command:clang++-19"
  "clang-tidy-19 command:clang-tidy-19"
  "clang-format-19 command:clang-format-19"
  "ccache command:ccache"
  "mold command:mold"
  "libclang-rt-19-dev file:/usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.fuzzer-*.a"
)

is_there() {
  case "$1" in
    command:*) command -v "${1#command:}" >/dev/null ;;
    file:*) compgen -G "${1#file:}" >/dev/null ;;
    header:*) printf '#if !__has_include(<%s>)\n#error missing\n#endif\n' "${1#header:}" |
      g++ -x c++ -E - >/dev/null 2>&1 ;;
  esac
}

# missing_of "package probe"... prints the packages whose probe fails.
missing_of() {
  local need
  for need in "$@"; do
    is_there "${need#* }" || printf '%s\n' "${need% *}"
  done
}

# install PACKAGE... says what it installs and does; fails when it may not or cannot.
install() {
  local as_root=()
  if ! command -v apt-get >/dev/null; then
    say "cannot install: there is no apt-get here"
    return 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    if ! sudo -n true 2>/dev/null && ! { [ -t 0 ] && sudo true; }; then
      say "cannot install: neither root nor sudo"
      return 1
    fi
    as_root=(sudo)
  fi
  say "installing: $*"
  "${as_root[@]}" apt-get update -qq </dev/null >&2 ||
    say "apt-get update failed; trying with the package lists that are there"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
    --no-install-recommends "$@" </dev/null >&2
}

# at_least HAVE WANT compares versions.
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# require "package probe"... installs what is missing, or names it and ends the script.
require() {
  local missing version
  mapfile -t missing < <(missing_of "$@")
  if [ "${#missing[@]}" -gt 0 ]; then
    say "missing: ${missing[*]}"
    install "${missing[@]}" || say "the installation failed"
    hash -r
    mapfile -t missing < <(missing_of "$@")
    if [ "${#missing[@]}" -gt 0 ]; then
      say "still missing: ${missing[*]}"
      say "install them (Debian, Ubuntu: apt-get install ${missing[*]}) and run this again"
      exit 1
    fi
  fi
  version="$(g++ -dumpfullversion)"
  at_least "$version" 12 || { say "g++ 12 or newer is needed, this is $version"; exit 1; }
  version="$(cmake --version | sed -n '1s/[^0-9]*//p')"
  at_least "$version" 3.25 || { say "CMake 3.25 or newer is needed, this is $version"; exit 1; }
}

# configure PRESET makes build/PRESET ready. Ninja itself notices changed CMake files, so a folder
# that is configured for this place is left alone.
configure() {
  local cache="build/$1/CMakeCache.txt" log
  if [ -f "build/$1/build.ninja" ] &&
    grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$(pwd -P)" "$cache"; then
    return 0
  fi
  say "configuring build/$1"
  mkdir -p "build/$1"
  log="build/$1/configure.log"
  cmake --preset "$1" --fresh >"$log" 2>&1 </dev/null || { cat "$log" >&2; return 1; }
}

# build PRESET [TARGET...]; silent when there is nothing to do.
build() {
  local preset="$1" targets=()
  shift
  [ "$#" -eq 0 ] || targets=(--target "$@")
  cmake --build "build/$preset" -j "$jobs" "${targets[@]}" </dev/null >&2
}
