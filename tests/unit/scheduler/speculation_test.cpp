// Copies of slow tries where slots come offer by offer (SS-2.4): cases of the suite step by step,
// then what they leave open. Names of the cases are those of shared/cases/spark-suite.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/offered_core.hpp"

using namespace rehearse;
using namespace rehearse::scheduler;
using namespace rehearse::testing;

namespace {

OfferedCore::Made speculating() {
  OfferedCore::Made made;
  made.config.speculation.emplace();
  made.config.locality_wait = 3 * model::second;
  return made;
}

// Looks for slow tries; hands out nothing.
void check(OfferedCore& core) { CHECK(core.offer(OfferRound{{}, RoundKind::single, {}}).empty()); }

}  // namespace

TEST_CASE("SPK-T-028: killed copies use up no failures") {
  OfferedCore core(speculating());
  std::vector<ExecutorId> e;
  for (int i = 0; i < 7; ++i) {
    e.push_back(core.join("exec" + std::to_string(i), "host" + std::to_string(i)));
  }
  const JobId job = core.submit("q", {{"s", 4}});
  std::vector<Launch> tasks;
  for (int i = 0; i < 4; ++i) {
    const auto task = core.offer(e[0]);
    REQUIRE(task);
    tasks.push_back(*task);
  }
  // The end of a try that never began changes nothing.
  core.step(
      TaskEnded{RunId{99U}, model::TaskStatus::killed, model::TaskReason::external, {}, 0, {}, {}});
  core.advance_to(100);
  for (std::size_t i = 1; i < 4; ++i) {
    core.end(tasks[i]);
  }
  check(core);
  for (std::size_t i = 1; i <= 5; ++i) {
    CAPTURE(i);
    core.advance_to(300 + std::int64_t(i) * 100);
    check(core);
    CHECK(core.report(job).copies_due == 1);
    const auto copy = core.offer(e[i]);
    REQUIRE(copy);
    CHECK(copy->speculative);
    CHECK(copy->partition == 0);
    CHECK(copy->try_number == static_cast<std::int32_t>(i));
    core.advance_to(350 + std::int64_t(i) * 100);
    core.fail(*copy, model::TaskReason::external);
    CHECK(core.lives(job));
    CHECK(core.report(job).failures.front() == 0);
    CHECK_FALSE(core.offer(e[6]));  // the original runs, and no copy is due before the next tick
  }
  core.end(tasks[0]);
  CHECK(core.succeeded(job));
}

TEST_CASE("SPK-T-035: a copy obeys the preferences of its task") {
  OfferedCore core(speculating());
  const ExecutorId exec1 = core.join("exec1", "host1");
  const ExecutorId exec2 = core.join("exec2", "host2");
  const ExecutorId exec3 = core.join("exec3", "host3");
  const JobId job = core.submit("q", {{"s", 4, {{"host1", "host3"}, {}, {}, {}}}});
  const auto first = core.offer(exec1);
  REQUIRE(first);
  CHECK(first->partition == 0);
  CHECK(first->locality == Locality::node);
  std::vector<Launch> others;
  for (int i = 0; i < 3; ++i) {
    const auto task = core.offer(exec2, Locality::no_preference);
    REQUIRE(task);
    others.push_back(*task);
  }
  for (const Launch& task : others) {
    core.end(task);
  }
  check(core);
  core.advance_to(1000);
  check(core);
  CHECK(core.report(job).copies_due == 1);
  CHECK_FALSE(core.offer(exec2, Locality::node));
  const auto copy = core.offer(exec3, Locality::node);
  REQUIRE(copy);
  CHECK(copy->partition == 0);
  CHECK(copy->speculative);
  CHECK(copy->locality == Locality::node);
}

TEST_CASE("a copy without preferences is no nearer than that, and needs no wait either") {
  for (const Locality limit : {Locality::node, Locality::no_preference}) {
    OfferedCore core(speculating());
    const ExecutorId exec1 = core.join("exec1", "host1");
    const ExecutorId exec2 = core.join("exec2", "host2");
    (void)core.submit("q", {{"s", 2, {{}, {"host1"}}}});
    const auto first = core.offer(exec1, Locality::node);
    REQUIRE(first);
    REQUIRE(first->partition == 1);
    REQUIRE(core.offer(exec1));
    core.end(*first);
    check(core);
    core.advance_to(1000);
    CHECK(core.offer(exec2, limit).has_value() == (limit == Locality::no_preference));
  }
}

TEST_CASE("SPK-T-036: with a time threshold even a lone task gets a copy") {
  for (const bool by_time : {true, false}) {
    OfferedCore::Made made = speculating();
    made.engine.speculation_threshold = by_time ? 60 * model::second : 0;
    OfferedCore core(made);
    const ExecutorId exec1 = core.join("exec1", "host1");
    const ExecutorId exec2 = core.join("exec2", "host2");
    const JobId job = core.submit("q", {{"s", 1}});
    const auto task = core.offer(exec1);
    REQUIRE(task);
    core.advance_to(60'000);  // it has not run longer
    CHECK(core.report(job).copies_due == 0);
    CHECK_FALSE(core.offer(exec2));
    core.advance_to(60'100);  // the next tick finds it
    CHECK(core.report(job).copies_due == (by_time ? 1 : 0));
    const auto copy = core.offer(exec2);
    REQUIRE(copy.has_value() == by_time);
    core.end(by_time ? *copy : *task);
    CHECK(core.succeeded(job));
  }
}

TEST_CASE("a time threshold is for stages of one task") {
  OfferedCore::Made made = speculating();
  made.engine.speculation_threshold = model::second;
  OfferedCore core(made);
  const ExecutorId exec1 = core.join("exec1", "host1");
  const ExecutorId exec2 = core.join("exec2", "host2");
  const JobId job = core.submit("q", {{"s", 2}});
  REQUIRE(core.offer(exec1));
  REQUIRE(core.offer(exec1));
  core.advance_to(10'000);
  check(core);
  CHECK(core.report(job).copies_due == 0);
  CHECK_FALSE(core.offer(exec2));
}

namespace {

// Three tasks end at 10 s, the fourth began at 6 s on exec2, which is decommissioned at 10 s: the
// threshold is 30 s, so the try counts as ending at 36 s.
std::size_t due_with_kill_after(model::Duration kill, bool drains) {
  OfferedCore::Made made = speculating();
  made.engine.decommission_kill = kill;
  OfferedCore core(made);
  const ExecutorId exec1 = core.join("exec1", "host1");
  const ExecutorId exec2 = core.join("exec2", "host2");
  const JobId job = core.submit("q", {{"s", 4}});
  std::vector<Launch> tasks;
  for (const ExecutorId executor : {exec1, exec1, exec2}) {
    const auto task = core.offer(executor);
    REQUIRE(task);
    tasks.push_back(*task);
  }
  core.advance_to(6000);
  const auto last = core.offer(exec2);
  REQUIRE(last);
  REQUIRE(last->partition == 3);
  core.advance_to(10'000);
  for (const Launch& task : tasks) {
    core.end(task);
  }
  check(core);
  CHECK(core.report(job).copies_due == 0);
  if (drains) {
    core.step(HoldExecutor{exec2, model::HoldCause::decommission});
  }
  check(core);
  core.advance_to(10'100);
  check(core);
  const std::size_t due = core.report(job).copies_due;
  const auto copy = core.offer(exec1);
  CHECK(copy.has_value() == (due > 0));
  CHECK((!copy || (copy->speculative && copy->partition == 3)));
  return due;
}

}  // namespace

TEST_CASE("SPK-T-037: tries that cannot end before their executor is gone get a copy") {
  CHECK(due_with_kill_after(5 * model::second, true) == 1);
  CHECK(due_with_kill_after(5 * model::second, false) == 0);
  CHECK(due_with_kill_after(0, true) == 0);
  CHECK(due_with_kill_after(25 * model::second, true) == 1);
  CHECK(due_with_kill_after(26 * model::second, true) == 0);
}

TEST_CASE("a decommission between ticks is looked at with the next tick, without other news") {
  OfferedCore::Made made = speculating();
  made.engine.decommission_kill = model::second;
  OfferedCore core(made);
  const ExecutorId exec1 = core.join("exec1", "host1");
  const ExecutorId exec2 = core.join("exec2", "host2");
  const JobId job = core.submit("q", {{"s", 2}});
  const auto first = core.offer(exec1);
  REQUIRE(first);
  REQUIRE(core.offer(exec2));
  core.advance_to(5000);
  core.end(*first);
  check(core);
  core.advance_to(5050);
  core.step(HoldExecutor{exec2, model::HoldCause::decommission});
  REQUIRE(core.core().wants_pass());
  check(core);
  CHECK(core.report(job).copies_due == 0);
  core.advance_to(5100);
  CHECK(core.report(job).copies_due == 1);
}

TEST_CASE("SPK-D-048: a copy fails to fetch, then the original ends job and rerun") {
  OfferedCore core(speculating());
  const ExecutorId host_a = core.join("hostA-exec", "hostA");
  const ExecutorId host_b = core.join("hostB-exec", "hostB");
  const ExecutorId host_c = core.join("hostC-exec", "hostC");
  const JobId job = core.submit("J1", {{"M", 2}, {"R", 2, {}, {0}}});
  for (const ExecutorId executor : {host_a, host_b}) {
    const auto task = core.offer(executor);
    REQUIRE(task);
    core.end(*task);
  }
  const auto first = core.offer(host_c);
  const auto original = core.offer(host_c);
  REQUIRE(first);
  REQUIRE(original);
  core.end(*first);
  check(core);
  core.advance_to(200);
  const auto copy = core.offer(host_b);
  REQUIRE(copy);
  CHECK(copy->speculative);
  CHECK(copy->partition == original->partition);
  core.fail_to_fetch(*copy, 0, 0);
  CHECK(core.completed() == std::vector<std::string>{"M", "R"});
  CHECK(core.lives(job));
  core.advance_to(400);
  const auto rerun = core.offer(host_b);
  REQUIRE(rerun);
  CHECK(rerun->stage == StageIndex{0U});
  CHECK(rerun->attempt == 1);
  core.end(*original);
  CHECK(core.completed() == std::vector<std::string>{"M", "R", "M"});
  CHECK(core.succeeded(job));
  CHECK(core.core().probe(model::ProbeWhen::end).busy == 0);
}

TEST_CASE("a copy does not go where its task or its stage is excluded") {
  OfferedCore core(speculating());
  const ExecutorId exec1 = core.join("exec1", "host1");
  const ExecutorId exec2 = core.join("exec2", "host2");
  const ExecutorId exec3 = core.join("exec3", "host3");
  const ExecutorId exec4 = core.join("exec4", "host4");
  const JobId job = core.submit("q", {{"s", 2}});
  core.step(Exclude{job, StageIndex{0U}, 1, exec2, {}});
  core.step(Exclude{job, StageIndex{0U}, -1, {}, core.name("host3")});
  const auto first = core.offer(exec1);
  REQUIRE(first);
  REQUIRE(core.offer(exec1));
  core.end(*first);
  check(core);
  core.advance_to(200);
  CHECK(core.report(job).copies_due == 1);
  CHECK_FALSE(core.offer(exec2));
  CHECK_FALSE(core.offer(exec3));
  CHECK(core.offer(exec4));
}
