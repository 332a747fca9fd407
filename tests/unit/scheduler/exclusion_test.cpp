// Exclusion after failures (SS-2.7): cases of the suite step by step, then what they leave open.
// Names of the cases are those of shared/cases/spark-suite.
#include <doctest/doctest.h>

#include <vector>

#include "tests/support/offered_core.hpp"

using namespace rehearse;
using namespace rehearse::scheduler;
using namespace rehearse::testing;

namespace {

OfferedCore::Made counting() {
  OfferedCore::Made made;
  made.engine.exclusion.on_failure = true;
  return made;
}

OfferedCore::Made told(model::Duration timeout = 120 * model::second) {
  OfferedCore::Made made;
  made.engine.exclusion.unschedulable_timeout = timeout;
  return made;
}

Exclude executor_excluded(JobId job, ExecutorId executor, std::int32_t partition = -1) {
  return {job, StageIndex{0U}, partition, executor, {}};
}

Exclude host_excluded(JobId job, model::NameId host, std::int32_t partition = -1) {
  return {job, StageIndex{0U}, partition, {}, host};
}

constexpr auto one_task = std::int32_t{1};

}  // namespace

TEST_CASE("SPK-T-011: a task does not start again where it failed, whatever it prefers") {
  OfferedCore core(counting());
  const ExecutorId exec1 = core.join("exec1", "host1");
  const ExecutorId exec1b = core.join("exec1.1", "host1");
  const ExecutorId exec2 = core.join("exec2", "host2");
  const ExecutorId exec3 = core.join("exec3", "host3");
  const JobId job = core.submit("q", {{"s", one_task, {{"exec1"}}}});
  auto task = core.offer(exec1, Locality::process);
  REQUIRE(task);
  CHECK(task->locality == Locality::process);
  core.fail(*task);
  CHECK_FALSE(core.offer(exec1, Locality::process));
  task = core.offer(exec1b, Locality::node);
  REQUIRE(task);
  CHECK(task->locality == Locality::node);
  core.fail(*task);
  CHECK(core.lives(job));
  task = core.offer(exec2);
  REQUIRE(task);
  core.fail(*task);
  CHECK(core.lives(job));
  CHECK_FALSE(core.offer(exec2));
  core.advance_to(301);
  CHECK_FALSE(core.offer(exec1, Locality::process));
  CHECK(core.unschedulable().empty());
  task = core.offer(exec3);
  REQUIRE(task);
  CHECK(core.report(job).failures.front() == 3);
  core.fail(*task);
  CHECK(core.failed(job));
}

TEST_CASE("SPK-I-011: excluded hosts and executors get no task of the stage, others use them") {
  OfferedCore core(told());
  std::vector<ExecutorId> e;
  for (int i = 0; i < 4; ++i) {
    e.push_back(core.join("e" + std::to_string(i), i < 2 ? "h0" : "h1", 1));
  }
  const JobId first = core.submit("S1", {{"s", 2}});
  const JobId second = core.submit("S2", {{"s", 2}});
  core.step(host_excluded(first, core.name("h0")));
  core.step(executor_excluded(first, e[3]));
  core.step(executor_excluded(second, e[0]));
  const std::vector<Launch> launched = core.round(e);
  CHECK(OfferedCore::places(launched, first) == std::vector{e[2]});
  CHECK(OfferedCore::places(launched, second) == std::vector{e[1], e[3]});
  CHECK(core.round(e).empty());
  core.end(launched.front());
  CHECK(core.unschedulable().empty());  // e2 serves S1
}

TEST_CASE("SPK-I-012: excluded from every executor, no time to wait: given up at once") {
  OfferedCore core(told(0));
  const ExecutorId e0 = core.join("e0", "h0", 1);
  const ExecutorId e1 = core.join("e1", "h1", 1);
  const JobId job = core.submit("S", {{"s", one_task}});
  core.step(executor_excluded(job, e0, 0));
  core.step(executor_excluded(job, e1, 0));
  CHECK(core.round({e0, e1}).empty());
  CHECK(core.failed(job));
  CHECK(core.timers_set() == 0);
}

TEST_CASE("SPK-I-013: an idle excluded executor is to be replaced, then the timer runs out") {
  OfferedCore core(told());
  const ExecutorId e0 = core.join("e0", "h0", 1);
  const JobId job = core.submit("S", {{"s", one_task}});
  core.step(executor_excluded(job, e0, 0));
  CHECK(core.round({e0}).empty());
  CHECK(core.lives(job));
  REQUIRE(core.unschedulable().size() == 1);
  CHECK(core.unschedulable().front().job == job);
  CHECK(core.unschedulable().front().stage == StageIndex{0U});
  CHECK(core.unschedulable().front().replace == e0);
  CHECK(core.round({e0}).empty());
  CHECK(core.unschedulable().size() == 1);  // once
  core.advance_to(119'999);
  CHECK(core.lives(job));
  core.advance_to(120'000);
  CHECK(core.round({e0}).empty());
  CHECK(core.failed(job));
  CHECK(core.completed() == std::vector<std::string>{"s"});
}

TEST_CASE("SPK-I-014: a new executor in time lets the task start, and the timer is void") {
  OfferedCore core(told());
  const ExecutorId e0 = core.join("e0", "h0", 1);
  const JobId job = core.submit("S", {{"s", one_task}});
  core.step(executor_excluded(job, e0, 0));
  CHECK(core.round({e0}).empty());
  CHECK(core.lives(job));
  CHECK(core.timers_set() == 1);
  const ExecutorId e1 = core.join("e1", "h1", 1);
  CHECK(core.timers_set() == 1);  // it helps when something starts there
  const std::vector<Launch> launched = core.round({e1});
  REQUIRE(launched.size() == 1);
  CHECK(core.timers_set() == 0);
  core.advance_to(200'000);
  CHECK(core.lives(job));
  core.end(launched.front());
  CHECK(core.succeeded(job));
}

TEST_CASE("SPK-I-015: where executors come and go one more is wanted, nothing is given up") {
  for (const bool autoscaling : {true, false}) {
    CAPTURE(autoscaling);
    OfferedCore::Made made = told();
    made.autoscaling = autoscaling;
    OfferedCore core(made);
    const ExecutorId e0 = core.join("e0", "h0", 2);
    const JobId other = core.submit("B", {{"s", one_task}});
    CHECK(core.offer(e0));
    const JobId job = core.submit("S", {{"s", one_task}});
    core.step(executor_excluded(job, e0, 0));
    CHECK_FALSE(core.offer(e0));
    CHECK(core.lives(other));
    CHECK(core.lives(job) == autoscaling);  // else: no executor is idle, so at once
    CHECK(core.failed(job) != autoscaling);
    REQUIRE(core.unschedulable().size() == (autoscaling ? 1 : 0));
    CHECK((!autoscaling || !core.unschedulable().front().replace.valid()));
  }
}

TEST_CASE("SPK-T-031: what does not count towards the limit excludes nothing") {
  OfferedCore::Made made = counting();
  made.engine.exclusion.task_attempts_per_host = 1;
  made.engine.exclusion.failed_tasks_per_executor = 1;
  made.engine.exclusion.failed_executors_per_host = 1;
  OfferedCore core(made);
  const ExecutorId input = core.join("input", "host0");
  const JobId job = core.submit("q", {{"m", one_task}, {"s", 4, {}, {0}}});
  const auto producer = core.offer(input);
  REQUIRE(producer);
  core.end(*producer);
  ExecutorId exec1 = core.join("exec1", "host1");
  for (const model::TaskReason reason :
       {model::TaskReason::commit_denied, model::TaskReason::external}) {
    const auto task = core.offer(exec1);
    REQUIRE(task);
    core.fail(*task, reason);
  }
  REQUIRE(core.offer(exec1));
  core.step(LoseExecutor{exec1, model::LossCause::process});
  exec1 = core.join("exec1", "host1");
  const auto task = core.offer(exec1);
  REQUIRE(task);
  core.fail_to_fetch(*task, 0, 0);
  core.advance_to(1000);
  const auto again = core.offer(exec1);  // the input
  REQUIRE(again);
  core.end(*again);
  const auto last = core.offer(exec1);
  REQUIRE(last);
  CHECK(last->attempt == 1);
  // Thresholds of one: the first that counts shuts the host.
  core.fail(*last);
  CHECK_FALSE(core.offer(exec1));
  CHECK(core.lives(job));
}

TEST_CASE("a loss that is the task's doing counts, so it excludes the host") {
  OfferedCore::Made made = counting();
  made.engine.exclusion.task_attempts_per_host = 1;
  OfferedCore core(made);
  const ExecutorId first = core.join("a", "h0");
  const ExecutorId second = core.join("b", "h0");
  const ExecutorId elsewhere = core.join("c", "h1");
  (void)core.submit("q", {{"s", one_task}});
  REQUIRE(core.offer(first));
  core.step(LoseExecutor{first, model::LossCause::exit_by_app});
  CHECK_FALSE(core.offer(second));
  CHECK(core.offer(elsewhere));
}

TEST_CASE("failures on two executors of a host exclude the host for the task, not for others") {
  OfferedCore core(counting());
  std::vector<ExecutorId> e;
  for (int i = 0; i < 3; ++i) {
    e.push_back(core.join("e" + std::to_string(i), "h0"));
  }
  const ExecutorId far = core.join("far", "h1");
  (void)core.submit("q", {{"s", 2}});
  auto task = core.offer(e[0]);
  REQUIRE(task);
  core.fail(*task);
  task = core.offer(e[1]);
  REQUIRE(task);
  REQUIRE(task->partition == 0);
  core.fail(*task);
  task = core.offer(e[2]);
  REQUIRE(task);
  CHECK(task->partition == 1);
  CHECK_FALSE(core.offer(e[2]));
  task = core.offer(far);
  REQUIRE(task);
  CHECK(task->partition == 0);
}

TEST_CASE("two different tasks exclude the executor, two such executors the host, for the stage") {
  OfferedCore core(counting());
  std::vector<ExecutorId> e;
  for (int i = 0; i < 3; ++i) {
    e.push_back(core.join("e" + std::to_string(i), "h0"));
  }
  const ExecutorId far = core.join("far", "h1");
  const JobId job = core.submit("q", {{"s", 6}});
  const JobId other = core.submit("r", {{"s", 9}});
  const auto fail_two = [&](ExecutorId executor) {
    const auto first = core.offer(executor);
    const auto second = core.offer(executor);
    REQUIRE(first);
    REQUIRE(second);
    REQUIRE(first->partition != second->partition);
    REQUIRE(first->job == job);
    REQUIRE(second->job == job);
    core.fail(*first);
    const auto between = core.offer(executor);  // one failed task is not enough
    REQUIRE(between);
    CHECK(between->job == job);
    core.fail(*second);
    const auto after = core.offer(executor);
    REQUIRE(after);
    CHECK(after->job == other);
  };
  fail_two(e[0]);
  fail_two(e[1]);
  const auto beside = core.offer(e[2]);
  REQUIRE(beside);
  CHECK(beside->job == other);
  const auto elsewhere = core.offer(far);
  REQUIRE(elsewhere);
  CHECK(elsewhere->job == job);
}

TEST_CASE("a wait for a near slot goes on where the near place is excluded") {
  OfferedCore::Made made = counting();
  made.config.locality_wait = 3 * model::second;
  OfferedCore core(made);
  const ExecutorId near = core.join("near", "h0");
  const ExecutorId far = core.join("far", "h1");
  const JobId job = core.submit("q", {{"s", one_task, {{"near"}}}});
  const auto task = core.offer(near);
  REQUIRE(task);
  core.fail(*task);
  CHECK(core.round({near}).empty());
  CHECK_FALSE(core.report(job).refused_for_delay);  // excluded, not too far away
  CHECK(core.round({near, far}).empty());
  CHECK(core.report(job).refused_for_delay);
  core.advance_to(5'999);  // process, then node
  CHECK(core.round({near, far}).empty());
  core.advance_to(6'000);
  const std::vector<Launch> launched = core.round({near, far});
  CHECK(OfferedCore::places(launched, job) == std::vector{far});
}

TEST_CASE("what failures excluded is over with the attempt, what was told is not") {
  for (const bool by_failure : {true, false}) {
    CAPTURE(by_failure);
    OfferedCore core(counting());
    const ExecutorId e0 = core.join("e0", "h0");
    const ExecutorId e1 = core.join("e1", "h1");
    const JobId job = core.submit("q", {{"m", one_task}, {"s", 2, {}, {0}}});
    const auto producer = core.offer(e1);
    REQUIRE(producer);
    core.end(*producer);
    if (by_failure) {
      const auto task = core.offer(e0);
      REQUIRE(task);
      core.fail(*task);
      const auto other = core.offer(e0);
      REQUIRE(other);
      core.fail(*other);
    } else {
      core.step(Exclude{job, StageIndex{1U}, -1, e0, {}});
    }
    CHECK_FALSE(core.offer(e0));
    const auto reader = core.offer(e1);
    REQUIRE(reader);
    core.fail_to_fetch(*reader, 0, 0);
    core.advance_to(1000);
    const auto again = core.offer(e1);
    REQUIRE(again);
    core.end(*again);
    CHECK(core.offer(e0).has_value() == by_failure);
  }
}

TEST_CASE("any launch puts off giving up; what may still run nowhere is said again") {
  OfferedCore core(told());
  const ExecutorId e0 = core.join("e0", "h0", 2);
  const JobId job = core.submit("S", {{"s", one_task}});
  core.step(executor_excluded(job, e0));
  CHECK(core.pass().empty());
  CHECK(core.unschedulable().size() == 1);
  core.advance_to(100'000);
  const JobId other = core.submit("B", {{"s", one_task}});
  const std::vector<Launch> launched = core.pass();
  CHECK(OfferedCore::places(launched, other) == std::vector{e0});
  CHECK(core.failed(job));  // now no executor is idle, and none will come
}

TEST_CASE("any launch puts off giving up where one more executor is wanted") {
  OfferedCore::Made made = told();
  made.autoscaling = true;
  OfferedCore core(made);
  const ExecutorId e0 = core.join("e0", "h0", 2);
  const JobId job = core.submit("S", {{"s", one_task}});
  core.step(executor_excluded(job, e0));
  CHECK(core.pass().empty());
  core.advance_to(100'000);
  (void)core.submit("B", {{"s", one_task}});
  CHECK(core.pass().size() == 1);
  REQUIRE(core.unschedulable().size() == 2);
  CHECK(core.unschedulable().front().replace == e0);
  CHECK_FALSE(core.unschedulable().back().replace.valid());
  core.advance_to(219'999);
  CHECK(core.lives(job));
  core.advance_to(220'000);
  CHECK(core.failed(job));
}

TEST_CASE("the loss of the last place that is not excluded is noticed") {
  for (const bool drained : {false, true}) {
    CAPTURE(drained);
    OfferedCore core(told());
    const ExecutorId e0 = core.join("e0", "h0", 1);
    const ExecutorId e1 = core.join("e1", "h1", 1);
    const JobId job = core.submit("S", {{"s", one_task}});
    core.step(executor_excluded(job, e0));
    core.step(HoldExecutor{e1, model::HoldCause::hold});
    CHECK(core.pass().empty());
    CHECK(core.unschedulable().empty());  // it may come back
    if (drained) {
      core.step(HoldExecutor{e1, model::HoldCause::decommission});
    } else {
      core.step(LoseExecutor{e1, model::LossCause::process});
    }
    REQUIRE(core.core().wants_pass());
    CHECK(core.pass().empty());
    CHECK(core.unschedulable().size() == 1);
    CHECK(core.lives(job));
  }
}

TEST_CASE("other stages keep their places in the order of the policy") {
  OfferedCore::Made made = told();
  made.config.placement = model::Placement::round_robin;
  OfferedCore core(made);
  const ExecutorId e0 = core.join("e0", "h0", 1);
  const ExecutorId e1 = core.join("e1", "h1", 1);
  const ExecutorId e2 = core.join("e2", "h2", 1);
  const JobId job = core.submit("S", {{"s", one_task}});
  const JobId other = core.submit("B", {{"s", 2}});
  core.step(executor_excluded(job, e0));
  const std::vector<Launch> launched = core.pass();
  CHECK(OfferedCore::places(launched, job) == std::vector{e1});
  CHECK(OfferedCore::places(launched, other) == std::vector{e0, e2});
}

TEST_CASE("one task that is kept back keeps back no other of its stage") {
  OfferedCore core(told());
  const ExecutorId e0 = core.join("e0", "h0", 1);
  const ExecutorId e1 = core.join("e1", "h1", 2);
  const JobId job = core.submit("S", {{"s", 3}});
  core.step(executor_excluded(job, e0, 0));
  std::vector<Launch> launched = core.round({e0});
  REQUIRE(launched.size() == 1);
  CHECK(launched.front().partition == 1);
  launched = core.round({e0, e1});
  REQUIRE(launched.size() == 2);
  CHECK(launched.front().partition == 0);
  CHECK(OfferedCore::places(launched, job) == std::vector{e1, e1});
}

TEST_CASE("members of a group start where they were admitted, excluded or not") {
  OfferedCore::Made made = told();
  made.config.failure.member = model::MemberFailure::counted;
  OfferedCore core(made);
  const ExecutorId e0 = core.join("e0", "h0", 4);
  const JobId job = core.submit("g", {{"a", 2}, {"b", 2, {}, {0}, model::EdgeKind::pipelined}});
  core.step(executor_excluded(job, e0));
  const std::vector<Launch> launched = core.pass();
  REQUIRE(launched.size() == 4);
  core.fail(launched.front(), model::TaskReason::external);  // X1: the task alone starts again
  CHECK(core.pass().size() == 1);
  CHECK(core.unschedulable().empty());
  CHECK(core.lives(job));
}

TEST_CASE("exclusions are state") {
  OfferedCore core(told());
  const ExecutorId e0 = core.join("e0", "h0", 1);
  const JobId job = core.submit("S", {{"s", one_task}});
  Core before(core.core());
  core.step(executor_excluded(job, e0, 0));
  CHECK_FALSE(core.core() == before);
  CHECK(core.core().digest() != before.digest());
  core.step(CancelJob{job});
  core.step(ForgetJob{job});
  CHECK(core.core().probe(model::ProbeWhen::end).jobs == 0);
}
