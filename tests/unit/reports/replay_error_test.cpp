// Arithmetic of the two errors, and who is left out.
#include <doctest/doctest.h>

#include "reports/replay_error.hpp"

namespace {

using namespace rehearse;
using namespace rehearse::reports;

ReplayPair pair(std::string job, model::Duration recorded, model::Duration simulated) {
  return {.job = std::move(job),
          .recorded = Outcome::succeeded,
          .recorded_ns = recorded,
          .simulated = Outcome::succeeded,
          .simulated_ns = simulated,
          .note = ""};
}

TEST_CASE("an error is relative to the recording, of a second at least") {
  CHECK_EQ(error_ppm(10 * model::second, 11 * model::second), 100'000);
  CHECK_EQ(error_ppm(10 * model::second, 9 * model::second), 100'000);
  CHECK_EQ(error_ppm(100 * model::millisecond, 150 * model::millisecond), 50'000);
  CHECK_EQ(error_ppm(0, 0), 0);
}

TEST_CASE("percentiles are nearest rank over the jobs that are compared") {
  std::vector<ReplayPair> pairs;
  for (std::int64_t i = 1; i <= 10; ++i) {
    pairs.push_back(pair("j" + std::to_string(i), 100 * model::second, (100 + i) * model::second));
  }
  ReplayPair failed = pair("f", model::second, 9 * model::second);
  failed.simulated = Outcome::failed;
  pairs.push_back(failed);
  const ReplayError error = replay_error(pairs, 2);
  CHECK_EQ(error.median_ppm, 50'000);
  CHECK_EQ(error.p90_ppm, 90'000);
  REQUIRE_EQ(error.worst.size(), 2);
  CHECK_EQ(error.worst[0].job, "j10");
}

TEST_CASE("whoever is left out is named with the reason") {
  ReplayPair recorded_failed = pair("a", 1, 1);
  recorded_failed.recorded = Outcome::failed;
  ReplayPair unknown = pair("b", 1, 1);
  unknown.recorded = std::nullopt;
  ReplayPair rejected = pair("c", 1, 1);
  rejected.simulated = Outcome::rejected;
  ReplayPair missing = pair("d", 1, 1);
  missing.simulated = std::nullopt;
  ReplayPair endless = pair("e", 1, 1);
  endless.recorded_ns = std::nullopt;
  const std::vector<ReplayPair> pairs = {recorded_failed, unknown, rejected,
                                         missing,         endless, pair("f", 1, 1)};
  const std::vector<LeftOut> expected = {{"a", "recorded as failed"},
                                         {"b", "the trace does not say how it ended"},
                                         {"c", "simulated as rejected"},
                                         {"d", "not simulated"},
                                         {"e", "the trace has no submission or no end"}};
  CHECK(left_out(pairs) == expected);
  CHECK_EQ(replay_error({}).median_ppm, std::nullopt);
}

}  // namespace
