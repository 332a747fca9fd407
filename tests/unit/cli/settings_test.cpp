// Values of options.
#include "cli/settings.hpp"

#include <doctest/doctest.h>

using namespace rehearse;

namespace {

model::Result<cli::Settings> read(std::vector<std::string> words) {
  auto parsed = cli::parse_command_line(words);
  if (!parsed) {
    FAIL(model::to_string(parsed.error()));
  }
  return cli::read_settings(std::get<cli::CommandLine>(*parsed));
}

}  // namespace

TEST_CASE("defaults") {
  const auto settings = read({"replay", "x"});
  REQUIRE(settings);
  CHECK(settings->listed_max == 100'000);
  CHECK(settings->min_effect_ppm == 10'000);
  CHECK(settings->unit() == traces::Unit::job);
  CHECK(settings->threads >= 1);
  CHECK_FALSE(settings->load.strict);
}

TEST_CASE("the unit is the SQL execution as soon as something is marked") {
  CHECK(read({"replay", "x", "--pipelined", "all"})->unit() == traces::Unit::sql);
  CHECK(read({"replay", "x", "--pipelined", "all", "--by", "job"})->unit() == traces::Unit::job);
}

TEST_CASE("policies are short for axes, after what --set says") {
  const auto settings =
      read({"run", "x", "--policy", "overtake=backfill", "--set", "placement=pack"});
  REQUIRE(settings);
  REQUIRE(settings->overrides.size() == 2);
  CHECK(settings->overrides[0].axis == "placement");
  CHECK(settings->overrides[1].axis == "admission.overtake");
  CHECK(settings->overrides[1].value.value == "backfill");
}

TEST_CASE("decimals are exact") {
  CHECK(read({"run", "x", "--time-scale", "0.125"})->time_scale_ppm == 125'000);
  CHECK(read({"compare", "x", "--with", "psd", "--min-effect", "0.25%"})->min_effect_ppm == 2'500);
  CHECK(read({"replay", "x", "--fit-share", "1"})->marking.fit_share_milli == 1000);
  CHECK_FALSE(read({"replay", "x", "--fit-share", "1.001"}));
}

TEST_CASE("the first error is reported, with its option") {
  const auto settings = read({"run", "x", "--seed", "no", "--horizon", "no"});
  REQUIRE_FALSE(settings);
  CHECK(settings.error().field == "--seed");
}
