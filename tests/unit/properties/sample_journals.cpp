// The sample journals and the judging of broken ones; see the header.
#include "tests/unit/properties/sample_journals.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace rehearse::testing {

using namespace model;

namespace {

const Slots three{{"default", 3}};

Probe end_probe(std::int64_t launches, std::int64_t kills) {
  Probe probe;
  probe.when = ProbeWhen::end;
  probe.launches = launches;
  probe.kills = kills;
  return probe;
}

// Up to and including the admission of q's group at 10, with its three launches.
JournalBuilder group_begins(const RunSpec& run) {
  JournalBuilder j;
  j.run(run).executor("e0", 2).executor("e1", 2);
  j.job("q", {{"pre", 1}, {"map", 2}, {"sink", 1, Commits::idempotent}},
        {{"pre", "map"}, {"map", "sink", true}});
  j.started("q").formed("q/map", {"map", "sink"}, three);
  j.submitted("q/pre", 1).waits_for_inputs("q/map").start({"q/pre/0", "e0"});
  j.at(10).success({"q/pre/0", "e0"}).completed("q/pre");
  j.admitted("q/map", three).submitted("q/map", 2).submitted("q/sink", 1);
  j.start({"q/map/0", "e0"}).start({"q/map/1", "e1"}).start({"q/sink/0", "e0"});
  return j;
}

const StageStatus failed_status = StageStatus::failed;

}  // namespace

JournalBuilder group_job() { return group_job_of({}); }

JournalBuilder group_job_of(const RunSpec& run) {
  JournalBuilder j = group_begins(run);
  j.at(20).success({"q/sink/0", "e0"}).commit({"q/sink/0", "e0"}).finished_member("q/sink");
  j.at(30).success({"q/map/0", "e0"}).success({"q/map/1", "e1"});
  j.completed("q/map").completed("q/sink").committed("q/map").succeeded("q");
  return j.probe(end_probe(4, 0), {{"default", 4}}).over();
}

JournalBuilder group_failure() {
  JournalBuilder j = group_begins({.kill = "5ns"});
  j.at(15).failure({"q/map/0", "e0"}, TaskReason::exception);
  j.kill({"q/map/1", "e1"}, TaskReason::group_failed, SlotState::held);
  j.kill({"q/sink/0", "e0"}, TaskReason::group_failed, SlotState::held);
  j.completed("q/map", 0, failed_status, StageReason::group_failed);
  j.completed("q/sink", 0, failed_status, StageReason::group_failed);
  j.group_failed("q/map", Code::task_failed).failed("q", Code::task_failed);
  j.at(20).slots_back("e0", 1, "q").slots_back("e1", 1, "q");
  return j.probe(end_probe(4, 2), {{"default", 4}}).over();
}

JournalBuilder group_rerun() {
  JournalBuilder j = group_begins({.axes = {{"failure.group", "rerun-group[max=3,delay=0s]"}}});
  j.at(15).failure({"q/map/0", "e0"}, TaskReason::exception);
  j.kill({"q/map/1", "e1"}, TaskReason::group_failed);
  j.kill({"q/sink/0", "e0"}, TaskReason::group_failed);
  j.completed("q/map", 0, failed_status, StageReason::group_failed);
  j.completed("q/sink", 0, failed_status, StageReason::group_failed);
  j.group_failed("q/map", Code::task_failed);
  j.admitted("q/map", three, 1).submitted("q/map", 2, 1).submitted("q/sink", 1, 1);
  j.start({"q/map/0", "e0", 1}).start({"q/map/1", "e1", 1}).start({"q/sink/0", "e0", 1});
  j.at(30).success({"q/map/0", "e0", 1}).success({"q/map/1", "e1", 1});
  j.success({"q/sink/0", "e0", 1}).commit({"q/sink/0", "e0", 1});
  j.completed("q/map", 1).completed("q/sink", 1).committed("q/map", 1).succeeded("q");
  return j.probe(end_probe(7, 2), {{"default", 4}}).over();
}

JournalBuilder fetch_failure() {
  JournalBuilder j;
  j.run().executor("e0", 2).executor("e1", 2);
  j.job("r", {{"a", 2}, {"b", 2}, {"c", 1}}, {{"a", "b"}, {"b", "c"}}).started("r");
  j.submitted("r/a", 2).start({"r/a/0", "e0"}).start({"r/a/1", "e0"});
  j.at(10).success({"r/a/0", "e0"}).success({"r/a/1", "e0"}).completed("r/a");
  j.submitted("r/b", 2).start({"r/b/0", "e0"}).start({"r/b/1", "e0"});
  j.at(20).failure({"r/b/0", "e0"}, TaskReason::fetch_failed);
  j.completed("r/b", 0, failed_status, StageReason::fetch_failed);
  j.outputs_lost("r/a", "e0", {{0, 1}});
  j.submitted("r/a", 2, 1).start({"r/a/0", "e0", 1}).start({"r/a/1", "e1", 1});
  j.at(30).success({"r/a/0", "e0", 1}).success({"r/a/1", "e1", 1}).completed("r/a", 1);
  j.submitted("r/b", 2, 1).start({"r/b/0", "e1", 1}).start({"r/b/1", "e1", 1});
  j.at(35).success({"r/b/1", "e0"}, false);
  j.at(50).success({"r/b/0", "e1", 1}).success({"r/b/1", "e1", 1}).completed("r/b", 1);
  j.submitted("r/c", 1).start({"r/c/0", "e0"});
  j.at(60).success({"r/c/0", "e0"}).completed("r/c").succeeded("r");
  return j.probe(end_probe(9, 0), {{"default", 4}}).over();
}

JournalBuilder executor_loss() {
  JournalBuilder j;
  j.run().executor("e0", 1).executor("e1", 1);
  j.job("r", {{"a", 3}, {"b", 1}}, {{"a", "b"}}).started("r");
  j.submitted("r/a", 3).start({"r/a/0", "e0"}).start({"r/a/1", "e1"});
  j.at(10).success({"r/a/0", "e0"}).success({"r/a/1", "e1"}).start({"r/a/2", "e0"});
  j.at(15).lost("e0").failure({"r/a/2", "e0"}, TaskReason::executor_lost);
  j.outputs_lost("r/a", "e0", {{0, 0}}).start({"r/a/2", "e1", 0, 1});
  j.at(25).success({"r/a/2", "e1", 0, 1}).start({"r/a/0", "e1", 0, 1});
  j.at(30).executor("e2", 1).at(35).success({"r/a/0", "e1", 0, 1}).completed("r/a");
  j.submitted("r/b", 1).start({"r/b/0", "e2"});
  j.at(45).success({"r/b/0", "e2"}).completed("r/b").succeeded("r");
  return j.probe(end_probe(6, 0), {{"default", 2}}).over();
}

JournalBuilder refusals() {
  JournalBuilder j;
  const Slots two{{"default", 2}};
  Probe before;
  before.when = ProbeWhen::before_reject;
  before.digest = 77;
  Probe after = before;
  after.when = ProbeWhen::after_reject;
  j.run({.axes = {{"admission.short", "fail"}}}).executor("e0", 2);
  j.probe(before, two).job("big", {{"m", 2}, {"n", 1}}, {{"m", "n", true}});
  j.rejected("big", Code::insufficient_slots, three, two).probe(after, two);
  j.at(5).job("busy", {{"s", 1}}).started("busy").submitted("busy/s", 1);
  j.start({"busy/s/0", "e0"});
  j.at(6).job("late", {{"m", 1}, {"n", 1}}, {{"m", "n", true}}).started("late");
  j.formed("late/m", {"m", "n"}, two).group_cancelled("late/m", CancelCause::job_failed);
  j.failed("late", Code::insufficient_slots, two, {{"default", 1}});
  j.at(9).success({"busy/s/0", "e0"}).completed("busy/s").succeeded("busy");
  return j.probe(end_probe(1, 0), two).over();
}

JournalBuilder waiting_gang() {
  JournalBuilder j;
  const Slots two{{"default", 2}};
  j.run().executor("e0", 2).executor("e1", 2).executor("e2", 1);
  j.held("e1").held("e2", HoldCause::decommission);
  for (const char* job : {"g", "h"}) {
    j.job(job, {{"m", 1}, {"n", 1}}, {{"m", "n", true}}).started(job);
    j.formed(std::string(job) + "/m", {"m", "n"}, two);
  }
  j.admitted("g/m", two).submitted("g/m", 1).submitted("g/n", 1);
  j.start({"g/m/0", "e0"}).start({"g/n/0", "e0"});
  j.waits_for_slots("h/m", two, {{"default", 0}});
  j.at(2).lost("e2", LossCause::decommission).at(4).released("e1");
  j.admitted("h/m", two).submitted("h/m", 1).submitted("h/n", 1);
  j.start({"h/m/0", "e1"}).start({"h/n/0", "e1"});
  for (const char* job : {"g", "h"}) {
    const std::string name = job;
    const std::string executor = name == "g" ? "e0" : "e1";
    j.at(name == "g" ? 8 : 9);
    j.success({name + "/m/0", executor}).success({name + "/n/0", executor});
    j.completed(name + "/m").completed(name + "/n").committed(name + "/m").succeeded(name);
  }
  return j.probe(end_probe(4, 0), {{"default", 4}}).over();
}

JournalBuilder barrier_job() {
  JournalBuilder j;
  const Slots two{{"default", 2}};
  j.run({.dialect = "sequential"}).executor("e0", 2);
  j.job("b", {{"s", 2, Commits::none, true}}).started("b").formed("b/s", {"s"}, two);
  j.admitted("b/s", two).submitted("b/s", 2).start({"b/s/0", "e0"}).start({"b/s/1", "e0"});
  j.at(5).failure({"b/s/0", "e0"}, TaskReason::exception);
  j.kill({"b/s/1", "e0"}, TaskReason::superseded);
  j.completed("b/s", 0, failed_status, StageReason::task_failed);
  j.at(205).admitted("b/s", two, 1).submitted("b/s", 2, 1);
  j.start({"b/s/0", "e0", 1}).start({"b/s/1", "e0", 1});
  j.at(215).success({"b/s/0", "e0", 1}).success({"b/s/1", "e0", 1});
  j.completed("b/s", 1).committed("b/s", 1).succeeded("b");
  return j.probe(end_probe(4, 1), two).over();
}

JournalBuilder cancelled_job() {
  JournalBuilder j;
  const Slots two{{"default", 2}};
  j.run().executor("e0", 2);
  j.job("c", {{"pre", 2}, {"m", 1}, {"n", 1}}, {{"pre", "m"}, {"m", "n", true}}).started("c");
  j.formed("c/m", {"m", "n"}, two).submitted("c/pre", 2).waits_for_inputs("c/m");
  j.start({"c/pre/0", "e0"}).start({"c/pre/1", "e0"});
  j.at(3).kill({"c/pre/0", "e0"}, TaskReason::cancelled);
  j.kill({"c/pre/1", "e0"}, TaskReason::cancelled);
  j.completed("c/pre", 0, StageStatus::cancelled, StageReason::job_cancelled);
  j.group_cancelled("c/m", CancelCause::job_cancelled).cancelled("c");
  return j.probe(end_probe(2, 2), two).over();
}

// ---- judging ----

std::unique_ptr<properties::MonitorSet> judge(const JournalBuilder& journal) {
  auto monitors = std::make_unique<properties::MonitorSet>();
  monitors->begin(journal.names());
  for (const Event& event : journal.events()) {
    monitors->on(event);
  }
  monitors->finish();
  return monitors;
}

std::unique_ptr<properties::MonitorSet> judge(const JournalBuilder& journal,
                                              const Tampering& tampering, std::int64_t* applied) {
  auto monitors = std::make_unique<properties::MonitorSet>();
  Tamper tamper(*monitors, tampering);
  tamper.begin(journal.names());
  for (const Event& event : journal.events()) {
    tamper.on(event);
  }
  monitors->finish();
  *applied = tamper.applied();
  return monitors;
}

std::string complaint_text(const properties::MonitorSet& monitors) {
  std::string all;
  for (const properties::PropertyVerdict& verdict : monitors.verdicts()) {
    for (const Violation& violation : verdict.violations) {
      all += fmt::format("{}: {}\n", verdict.property, violation.detail);
    }
  }
  return all;
}

void check_broken(const Broken& broken) {
  const JournalBuilder journal = broken.journal();
  std::int64_t applied = 0;
  const auto monitors = judge(journal, broken.tampering, &applied);
  const std::string said = complaint_text(*monitors);
  CAPTURE(broken.property);
  CAPTURE(broken.detail);
  CAPTURE(said);
  CHECK(applied > 0);
  const properties::PropertyVerdict* verdict = monitors->find(broken.property);
  REQUIRE(verdict != nullptr);
  CHECK(verdict->verdict == properties::Verdict::violated);
  bool heard = false;
  for (const Violation& violation : verdict->violations) {
    heard = heard || violation.detail.find(broken.detail) != std::string::npos;
  }
  CHECK(heard);
}

}  // namespace rehearse::testing
