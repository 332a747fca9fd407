// What only some engines tell the core of data (scheduler/duties_data.hpp): where inputs lie, which
// partitions are cached or have moved, what outputs made again are worth.
#include <doctest/doctest.h>

#include "tests/support/offered_core.hpp"

using namespace rehearse;
using namespace rehearse::testing;

namespace {

// m (two tasks) and r (one), which reads it; three hosts with a slot or more each.
struct Pair {
  explicit Pair(const EngineOptions& engine) : core({.engine = engine}) {
    for (const char* name : {"a", "b", "c"}) {
      executors.push_back(core.join(name, std::string("host-") + name));
    }
  }
  std::vector<Launch> submit(std::int32_t maps = 2) {
    job = core.submit("q", {{"m", maps}, {.name = "r", .tasks = 1, .reads = {0}}});
    return core.round({executors[0]});
  }
  OfferedCore core;
  std::vector<ExecutorId> executors;
  JobId job;
};

TaskEnded with_checksum(std::uint64_t checksum) {
  TaskEnded ended;
  ended.checksum = checksum;
  return ended;
}

}  // namespace

TEST_CASE("a reader prefers the host of its inputs, in each attempt where they lie then (SS-1.5)") {
  Pair p({.reducer_preferred_milli = 200});
  const auto maps = p.submit(1);
  REQUIRE(maps.size() == 1);
  p.core.end(maps[0]);
  auto read = p.core.round(p.executors);
  REQUIRE(read.size() == 1);
  CHECK(read[0].executor == p.executors[0]);
  // The output is lost and made again on c.
  p.core.fail_to_fetch(read[0], 0, 0);
  p.core.advance_to(200);
  const auto again = p.core.round({p.executors[2]});
  REQUIRE(again.size() == 1);
  p.core.end(again[0]);
  read = p.core.round(p.executors);
  REQUIRE(read.size() == 1);
  CHECK(read[0].executor == p.executors[2]);
}

TEST_CASE("hosts with too small a part of the input are not preferred (SS-1.5)") {
  Pair p({.reducer_preferred_milli = 600});
  p.job = p.core.submit("q", {{"m", 2}, {.name = "r", .tasks = 1, .reads = {0}}});
  const auto on_a = p.core.offer(p.executors[0]);
  const auto on_b = p.core.offer(p.executors[1]);
  REQUIRE(on_a);
  REQUIRE(on_b);
  TaskEnded small;
  small.output_bytes = 1;
  TaskEnded large;
  large.output_bytes = 9;
  p.core.end(*on_a, small);
  p.core.end(*on_b, large);
  const auto read = p.core.round(p.executors);
  REQUIRE(read.size() == 1);
  CHECK(read[0].executor == p.executors[1]);
}

TEST_CASE("a running attempt goes on for the job that waits for it when its own ends (SS-1.4)") {
  for (const bool tracked : {true, false}) {
    OfferedCore core({.engine = {.tracked_outputs = tracked}});
    const ExecutorId executor = core.join("a", "host-a");
    const JobId first = core.submit(
        "q", {{.name = "m", .tasks = 2, .shared = true}, {.name = "r", .tasks = 1, .reads = {0}}});
    const auto maps = core.round({executor});
    REQUIRE(maps.size() == 2);
    const JobId second = core.submit_reader("p", first, {"m", 2});
    core.end(maps[0]);
    core.step(scheduler::CancelJob{first});
    CHECK(!core.lives(first));
    const auto anew = core.round({executor});
    if (!tracked) {
      CHECK(anew.size() == 2);  // it does the stage itself
      continue;
    }
    CHECK(anew.empty());
    core.end(maps[1]);
    const auto read = core.round({executor});
    REQUIRE(read.size() == 1);
    core.end(read[0]);
    CHECK(core.succeeded(second));
  }
}

TEST_CASE("an engine may report the end of a task after the loss of its executor (SS-1.6)") {
  for (const bool late : {true, false}) {
    Pair p({.reports_after_loss = late});
    const auto maps = p.submit(1);
    REQUIRE(maps.size() == 1);
    p.core.step(scheduler::LoseExecutor{p.executors[0], model::LossCause::process});
    const auto again = p.core.round({p.executors[1]});
    CHECK(again.size() == (late ? 0 : 1));  // the notice ended the task, or did not
    if (late) {
      p.core.end(maps[0]);  // without an output: the next attempt makes it
      const auto next = p.core.round({p.executors[1]});
      REQUIRE(next.size() == 1);
      CHECK(next[0].attempt == 1);
    }
  }
}

TEST_CASE("an output that moved outlives the executor that made it") {
  for (const bool moved : {true, false}) {
    Pair p({});
    const auto maps = p.submit(1);
    REQUIRE(maps.size() == 1);
    p.core.end(maps[0]);
    if (moved) {
      p.core.step(scheduler::MoveOutput{p.job, StageIndex{0U}, 0, p.executors[1]});
    }
    p.core.step(scheduler::LoseExecutor{p.executors[0]});
    const auto next = p.core.round({p.executors[1], p.executors[2]});
    CHECK((next.size() == 1 && next[0].stage == StageIndex{1U}) == moved);
  }
}

TEST_CASE("an output that differs from that of an earlier try is counted (SS-1.10)") {
  for (const std::uint64_t checksum : {7U, 8U}) {
    Pair p({});
    const auto maps = p.submit();
    REQUIRE(maps.size() == 2);
    p.core.end(maps[0], with_checksum(7));
    p.core.end(maps[1], with_checksum(7));
    const auto read = p.core.round(p.executors);
    REQUIRE(read.size() == 1);
    p.core.fail_to_fetch(read[0], 0, 0);
    p.core.advance_to(200);
    const auto again = p.core.round({p.executors[1]});
    REQUIRE(again.size() == 2);
    p.core.end(again[0], with_checksum(checksum));
    CHECK(p.core.report(p.job, 0).changed_checksums == (checksum == 7 ? 0 : 1));
  }
}
