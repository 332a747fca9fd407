# Third-party packages, all from the distribution. A folder names what it uses as EXTERNAL in its
# own CMakeLists.txt; nothing is linked everywhere.

find_package(fmt 9 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(simdjson 3 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(Boost 1.74 REQUIRED)  # headers only: Boost.Graph
find_package(ZLIB REQUIRED)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(lz4 REQUIRED IMPORTED_TARGET liblz4)
find_package(Snappy REQUIRED)

find_package(doctest 2.4 QUIET)
find_package(rapidcheck CONFIG QUIET)  # Debian's has no version
find_package(Python3 3.9 QUIET COMPONENTS Interpreter)
if(RH_BENCH)
  find_package(benchmark REQUIRED)
endif()

# Short names for EXTERNAL lists: rehearse_external_<name> holds the real target.
set(rehearse_external_fmt fmt::fmt)
set(rehearse_external_nlohmann_json nlohmann_json::nlohmann_json)
set(rehearse_external_simdjson simdjson::simdjson)
set(rehearse_external_cli11 CLI11::CLI11)
set(rehearse_external_boost Boost::headers)
set(rehearse_external_zlib ZLIB::ZLIB)
set(rehearse_external_zstd PkgConfig::zstd)
set(rehearse_external_xxhash PkgConfig::xxhash)
set(rehearse_external_lz4 PkgConfig::lz4)
set(rehearse_external_snappy Snappy::snappy)
set(rehearse_external_threads Threads::Threads)
