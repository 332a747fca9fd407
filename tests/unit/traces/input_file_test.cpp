// Whole files, and the ways in which a path is not one.
#include "traces/input_file.hpp"

#include <doctest/doctest.h>

#include <string>

namespace rehearse::traces {

TEST_CASE("a file is read whole") {
  const auto text = read_input_file("tests/golden/every_event.journal");
  REQUIRE(text.has_value());
  CHECK(text->starts_with("{\"t\":0,\"e\":\"run\""));
  CHECK(text->ends_with("\n"));
}

TEST_CASE("what is no file is named as what it is") {
  const auto missing = read_input_file("tests/golden/missing.json");
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().what == "no such file");
  CHECK(missing.error().kind == model::ErrorKind::input);
  const auto folder = read_input_file("tests");
  REQUIRE_FALSE(folder.has_value());
  CHECK(folder.error().what.find("directory") != std::string::npos);
  const auto inside = read_input_file("CHANGELOG.md/x");
  REQUIRE_FALSE(inside.has_value());
  const auto large = read_input_file("tests/golden/every_event.journal", {.bytes_max = 100});
  REQUIRE_FALSE(large.has_value());
  CHECK(large.error().what.find("100 bytes") != std::string::npos);
  for (const auto& error : {missing.error(), folder.error(), inside.error(), large.error()}) {
    CHECK_FALSE(error.file.empty());
    CHECK_FALSE(error.remedy.empty());
  }
}

}  // namespace rehearse::traces
