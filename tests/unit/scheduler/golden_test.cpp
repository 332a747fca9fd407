// The core's story, told in scripts: tests/golden/core_*.txt. REHEARSE_UPDATE_GOLDEN=1 rewrites the
// answers; read the difference before it is kept.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/core_script.hpp"

using namespace rehearse::testing;

namespace {

const std::filesystem::path folder = "tests/golden";

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::filesystem::path> scripts() {
  std::vector<std::filesystem::path> list;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with("core_")) {
      list.push_back(entry.path());
    }
  }
  std::ranges::sort(list);
  return list;
}

// The first line in which they differ, of both.
std::string difference(const std::string& want, const std::string& have) {
  const auto [at, other] = std::ranges::mismatch(want, have);
  const auto line = [](const std::string& text, std::size_t place) {
    const std::size_t begin = place == 0 ? 0 : text.rfind('\n', place - 1) + 1;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  const auto place = static_cast<std::size_t>(at - want.begin());
  const auto number = std::count(want.begin(), at, '\n') + 1;
  return "line " + std::to_string(number) + ": expected \"" + line(want, place) + "\", got \"" +
         line(have, place) + "\"";
}

}  // namespace

TEST_CASE("golden scripts of the core") {
  REQUIRE(scripts().size() >= 10);
  const bool update = std::getenv("REHEARSE_UPDATE_GOLDEN") != nullptr;
  for (const std::filesystem::path& path : scripts()) {
    CAPTURE(path.string());
    const std::string want = text_of(path);
    const std::string have = run_core_script(want);
    if (update) {
      std::ofstream(path) << have;
    } else if (have != want) {
      FAIL_CHECK(difference(want, have));
    }
  }
}

TEST_CASE("what a script cannot be read for is an error") {
  CHECK_THROWS_WITH_AS((void)run_core_script("jump e0\n----\n"), "no command: jump e0",
                       std::invalid_argument);
  CHECK_THROWS_AS((void)run_core_script("pass\n"), std::invalid_argument);
  CHECK_THROWS_AS((void)run_core_script("core psd[placement=nowhere]\n----\n"), std::exception);
}

TEST_CASE("a wrong answer does not pass") {
  const std::string script = "join e0 cpus=1\n----\n(nothing)\nwants a pass\n";
  CHECK(run_core_script(script) == script);
  CHECK(run_core_script("join e0 cpus=1\n----\nlaunch q/s/0 on e0\n") == script);
}
