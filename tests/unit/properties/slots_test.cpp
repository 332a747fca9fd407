// NO_OVERSUBSCRIPTION, RESERVATION, CLAIMS_MATCH: journals whose slots do not add up.
#include <doctest/doctest.h>

#include "tests/unit/properties/sample_journals.hpp"

using namespace rehearse;
using namespace rehearse::model;
using namespace rehearse::testing;

namespace {

const Slots two{{"default", 2}};

// s: one regular task on e0 beside what `before` did with e0.
JournalBuilder one_task(const std::function<void(JournalBuilder&)>& before) {
  JournalBuilder j;
  j.run().executor("e0", 1).executor("e1", 1, "wide").executor("e2", 4, "");
  j.job("x", {{"s", 2}}).started("x").submitted("x/s", 2);
  before(j);
  return j;
}

properties::Verdict verdict_of(const JournalBuilder& journal, std::string_view property) {
  return judge(journal)->find(property)->verdict;
}

constexpr auto violated = properties::Verdict::violated;
constexpr auto held = properties::Verdict::held;

}  // namespace

TEST_CASE("NO_OVERSUBSCRIPTION: a launch names an executor that takes it") {
  const auto verdict = [](const std::function<void(JournalBuilder&)>& lines) {
    return verdict_of(one_task(lines), "NO_OVERSUBSCRIPTION");
  };
  CHECK(verdict([](JournalBuilder& j) { j.start({"x/s/0", "e0"}).start({"x/s/1", "e2"}); }) ==
        held);
  CHECK(verdict([](JournalBuilder& j) { j.start({"x/s/0", "e0"}).start({"x/s/1", "e0"}); }) ==
        violated);
  CHECK(verdict([](JournalBuilder& j) { j.start({"x/s/0", "e1"}); }) == violated);
  CHECK(verdict([](JournalBuilder& j) { j.held("e0").start({"x/s/0", "e0"}); }) == violated);
  CHECK(verdict([](JournalBuilder& j) {
          j.held("e0", HoldCause::decommission).start({"x/s/0", "e0"});
        }) == violated);
  CHECK(verdict([](JournalBuilder& j) { j.lost("e0").start({"x/s/0", "e0"}); }) == violated);
  CHECK(verdict([](JournalBuilder& j) { j.held("e0").released("e0").start({"x/s/0", "e0"}); }) ==
        held);
}

TEST_CASE("NO_OVERSUBSCRIPTION: a slot is taken until it is back") {
  const auto end_and_start = [](std::optional<SlotState> slot, std::int64_t back) {
    return one_task([&](JournalBuilder& j) {
      j.start({"x/s/0", "e0"}).at(1).kill({"x/s/0", "e0"}, TaskReason::external, slot);
      if (back > 0) {
        j.slots_back("e0", back, "x");
      }
      j.start({"x/s/1", "e0"});
    });
  };
  CHECK(verdict_of(end_and_start({}, 0), "NO_OVERSUBSCRIPTION") == held);
  CHECK(verdict_of(end_and_start(SlotState::held, 0), "NO_OVERSUBSCRIPTION") == violated);
  CHECK(verdict_of(end_and_start(SlotState::held, 1), "NO_OVERSUBSCRIPTION") == held);
  CHECK(verdict_of(end_and_start(SlotState::held, 2), "NO_OVERSUBSCRIPTION") == violated);
  CHECK(verdict_of(end_and_start({}, 1), "NO_OVERSUBSCRIPTION") == violated);
}

TEST_CASE("NO_OVERSUBSCRIPTION: shared slots stretch the capacity by their factor") {
  const auto three_on_e0 = [](std::string_view factor) {
    JournalBuilder j;
    j.run({.axes = {{"slots", "shared[factor=" + std::string(factor) + "]"}}});
    j.executor("e0", 1).job("x", {{"s", 3}}).started("x").submitted("x/s", 3);
    return j.start({"x/s/0", "e0"}).start({"x/s/1", "e0"}).start({"x/s/2", "e0"});
  };
  CHECK(verdict_of(three_on_e0("3"), "NO_OVERSUBSCRIPTION") == held);
  CHECK(verdict_of(three_on_e0("2"), "NO_OVERSUBSCRIPTION") == violated);
  CHECK(verdict_of(three_on_e0("0"), "NO_OVERSUBSCRIPTION") == held);
}

TEST_CASE("RESERVATION: what is admitted is there and nobody else takes it") {
  // A gang of two is admitted on four slots; `between` happens before its launches.
  const auto admission = [](std::int64_t cpus, const std::function<void(JournalBuilder&)>& between,
                            bool launches = true) {
    JournalBuilder j;
    j.run().executor("e0", cpus);
    j.job("x", {{"s", 3}}).started("x").submitted("x/s", 3);
    j.job("g", {{"m", 1}, {"n", 1}}, {{"m", "n", true}}).started("g");
    j.formed("g/m", {"m", "n"}, two).admitted("g/m", two);
    j.submitted("g/m", 1).submitted("g/n", 1);
    between(j);
    if (launches) {
      j.start({"g/m/0", "e0"}).start({"g/n/0", "e0"});
    }
    return verdict_of(j.at(1).over(RunEndCause::horizon), "RESERVATION");
  };
  const auto nothing = [](JournalBuilder&) {};
  const auto intruder = [](JournalBuilder& j) { j.start({"x/s/0", "e0"}); };
  CHECK(admission(4, nothing) == held);
  CHECK(admission(2, nothing) == held);
  CHECK(admission(1, nothing) == violated);  // admitted where one slot is free
  CHECK(admission(3, intruder) == held);     // leaves the two that are owed
  CHECK(admission(2, intruder) == violated);
  CHECK(admission(4, nothing, false) == violated);  // neither taken nor reserved at quiescence
  CHECK(admission(4, [](JournalBuilder& j) { j.reserve("g/m", "e0", 2, 2); }, false) == held);
}

TEST_CASE("RESERVATION: reservations that outlive their step") {
  const auto reserved = [](const std::function<void(JournalBuilder&)>& lines) {
    JournalBuilder j;
    j.run().executor("e0", 3).job("x", {{"s", 3}}).started("x").submitted("x/s", 3);
    j.job("g", {{"m", 1}, {"n", 1}}, {{"m", "n", true}}).started("g");
    j.formed("g/m", {"m", "n"}, two).admitted("g/m", two).reserve("g/m", "e0", 2, 2);
    j.submitted("g/m", 1).submitted("g/n", 1).at(1);
    lines(j);
    return verdict_of(j.at(2).over(RunEndCause::horizon), "RESERVATION");
  };
  CHECK(reserved([](JournalBuilder& j) { j.start({"x/s/0", "e0"}); }) == held);
  CHECK(reserved([](JournalBuilder& j) { j.start({"x/s/0", "e0"}).start({"x/s/1", "e0"}); }) ==
        violated);
  CHECK(reserved([](JournalBuilder& j) { j.reserve("g/m", "e0", -1, -3); }) == violated);
  CHECK(reserved([](JournalBuilder& j) { j.group_cancelled("g/m", CancelCause::job_cancelled); }) ==
        violated);
}

TEST_CASE("RESERVATION: what a waiting gang holds") {
  // A gang of three waits on two executors of two slots, one of them taken; it may hold three.
  const Slots three{{"default", 3}};
  const auto holding = [&three](const std::function<void(JournalBuilder&)>& lines) {
    JournalBuilder j;
    j.run({.axes = {{"admission.hold", "bulk[timeout=1s]"}, {"admission.overtake", "backfill"}}});
    j.executor("e0", 2).executor("e1", 2);
    j.job("x", {{"s", 4}}).started("x").submitted("x/s", 4).start({"x/s/0", "e0"});
    j.job("g", {{"m", 2}, {"n", 1}}, {{"m", "n", true}})
        .started("g")
        .formed("g/m", {"m", "n"}, three);
    j.waits_for_slots("g/m", three, three).reserve("g/m", "e0", 1, 1).at(1);
    lines(j);
    return verdict_of(j.at(3).over(RunEndCause::horizon), "RESERVATION");
  };
  const auto admit = [&three](JournalBuilder& j, std::int64_t gives_up) {
    j.at(2).admitted("g/m", three).submitted("g/m", 2).submitted("g/n", 1);
    j.reserve("g/m", "e0", 1 - gives_up, -gives_up);
    return &j;
  };
  CHECK(holding([](JournalBuilder&) {}) == held);
  CHECK(holding([](JournalBuilder& j) { j.reserve("g/m", "e1", 2, 2); }) == held);
  // Its launches: on what it held, with free slots for the rest.
  CHECK(holding([&](JournalBuilder& j) {
          admit(j, 1)->start({"g/m/0", "e0"}).start({"g/m/1", "e1"}).start({"g/n/0", "e1"});
        }) == held);
  CHECK(holding([&](JournalBuilder& j) {  // what it held is left idle
          j.success({"x/s/0", "e0"});
          j.executor("e2", 1).at(2).admitted("g/m", three).submitted("g/m", 2).submitted("g/n", 1);
          j.reserve("g/m", "e0", 0, -1);
          j.start({"g/m/0", "e2"}).start({"g/m/1", "e1"}).start({"g/n/0", "e1"});
        }) == violated);
  CHECK(holding([&](JournalBuilder& j) {  // there are not so many slots
          j.start({"x/s/1", "e1"});
          admit(j, 1)->start({"g/m/0", "e0"}).start({"g/m/1", "e1"}).start({"g/n/0", "e1"});
        }) == violated);
  // More than it lacks, more than there is, where nothing can be launched, or a wrong sum.
  CHECK(holding([](JournalBuilder& j) { j.executor("e2", 4).reserve("g/m", "e2", 3, 3); }) ==
        violated);
  CHECK(holding([](JournalBuilder& j) { j.reserve("g/m", "e0", 2, 1); }) == violated);
  CHECK(holding([](JournalBuilder& j) { j.held("e1").reserve("g/m", "e1", 1, 1); }) == violated);
  CHECK(holding([](JournalBuilder& j) { j.reserve("g/m", "e1", 2, 1); }) == violated);
  // Others' launches.
  CHECK(holding([](JournalBuilder& j) { j.start({"x/s/1", "e1"}); }) == held);
  CHECK(holding([](JournalBuilder& j) { j.start({"x/s/1", "e0"}); }) == violated);
  // What must be given up: with the executor, with the input, with the wait.
  CHECK(holding([](JournalBuilder& j) { j.lost("e0"); }) == violated);
  CHECK(holding([](JournalBuilder& j) { j.lost("e0").reserve("g/m", "e0", 0, -1); }) == held);
  CHECK(holding([](JournalBuilder& j) { j.held("e0").at(2).start({"x/s/1", "e1"}); }) == violated);
  CHECK(holding([](JournalBuilder& j) { j.held("e0").reserve("g/m", "e0", 0, -1); }) == held);
  CHECK(holding([](JournalBuilder& j) { j.waits_for_inputs("g/m"); }) == violated);
  CHECK(holding([](JournalBuilder& j) { j.reserve("g/m", "e0", 0, -1).waits_for_inputs("g/m"); }) ==
        held);
  CHECK(holding([](JournalBuilder& j) {
          j.waits_for_inputs("g/m").reserve("g/m", "e0", 0, -1).at(2).reserve("g/m", "e0", 1, 1);
        }) == violated);
  CHECK(holding([](JournalBuilder& j) { j.group_cancelled("g/m", CancelCause::job_failed); }) ==
        violated);
}

TEST_CASE("CLAIMS_MATCH: claims that the journal contradicts") {
  const auto need = [](std::int64_t n) {
    return edited<GroupQueued>([n](GroupQueued& line) { line.need->front().n = n; });
  };
  const auto have = [](std::int64_t n) {
    return edited<GroupQueued>([n](GroupQueued& line) { line.have->front().n = n; });
  };
  const std::vector<Broken> all{
      {"CLAIMS_MATCH",
       "slots that are not its demand (A3)",
       waiting_gang,
       {matching<GroupQueued>(), need(3)}},
      {"CLAIMS_MATCH", "told of 1 free slots", waiting_gang, {matching<GroupQueued>(), have(1)}},
      {"CLAIMS_MATCH",
       "admitted with slots that are not its demand",
       group_job,
       {matching<GroupAdmitted>(),
        edited<GroupAdmitted>([](GroupAdmitted& line) { line.slots.front().n = 2; })}},
      {"CLAIMS_MATCH",
       "beyond the slots",
       group_job,
       {matching<GroupAdmitted>(),
        edited<GroupAdmitted>([](GroupAdmitted& line) { line.slots.front().n = 2; })}},
      {"CLAIMS_MATCH",
       "4 launches, 3 tasks started",
       group_job,
       {matching_task<TaskStart>("q/sink/0"), dropped}},
      {"CLAIMS_MATCH",
       "2 kills, 1 tasks",
       group_failure,
       {matching_task<TaskEnd>("q/map/1"), dropped}},
      {"CLAIMS_MATCH",
       "need is within have",
       refusals,
       {matching<JobRejected>(),
        edited<JobRejected>([](JobRejected& line) { line.have->front().n = 3; })}},
      {"CLAIMS_MATCH",
       "told that 1 slots",
       refusals,
       {matching<JobRejected>(),
        edited<JobRejected>([](JobRejected& line) { line.have->front().n = 1; })}},
      {"CLAIMS_MATCH",
       "is said to need 9 slots",
       refusals,
       {matching<JobRejected>(),
        edited<JobRejected>([](JobRejected& line) { line.need->front().n = 9; })}},
      {"CLAIMS_MATCH",
       "told of 0 free slots",
       refusals,
       {matching<JobEnd>(
            [](const JobEnd& line, const NameTable&) { return line.need.has_value(); }),
        edited<JobEnd>([](JobEnd& line) { line.have->front().n = 0; })}},
  };
  for (const Broken& broken : all) {
    check_broken(broken);
  }
}

TEST_CASE("CLAIMS_MATCH: executors that are still due may be counted as existing") {
  check_broken({"CLAIMS_MATCH",
                "need is within have",
                refusals,
                {matching<JobRejected>(),
                 edited<JobRejected>([](JobRejected& line) { line.have->front().n = 5; })}});
  JournalBuilder j;
  j.run().executor("e0", 2).job("big", {{"m", 3}, {"n", 1}}, {{"m", "n", true}});
  j.rejected("big", Code::insufficient_slots, {{"default", 4}}, {{"default", 3}}).over();
  CHECK(verdict_of(j, "CLAIMS_MATCH") == held);
}

namespace {

// Under `spark`: w has 3 tasks of 5 on four slots of e0 (e1 is held, e2 of another profile), one of
// them ended at 2, and g comes at 5.
JournalBuilder claimed_slots(const RunSpec& run = {.dialect = "spark"}) {
  JournalBuilder j;
  j.run(run).executor("e0", 4).executor("e1", 8).executor("e2", 8, "wide").held("e1");
  j.job("w", {{"s", 5}}).started("w").submitted("w/s", 5);
  j.start({"w/s/0", "e0"}).start({"w/s/1", "e0"}).start({"w/s/2", "e0"});
  j.at(2).success({"w/s/0", "e0"});
  return j.at(5);
}

JournalBuilder& comes(JournalBuilder& j, std::int64_t tasks) {
  return j.job("g", {{"a", tasks}, {"b"}}, {{"a", "b", true}});
}

std::string claims_of(JournalBuilder& j) {
  std::string all;
  const auto monitors = judge(j.at(9).over(RunEndCause::horizon));
  for (const Violation& violation : monitors->find("CLAIMS_MATCH")->violations) {
    all += violation.detail + "\n";
  }
  return all;
}

}  // namespace

TEST_CASE("CLAIMS_MATCH: a check takes off what runs and what waits, and nothing else (A9)") {
  // Four slots, two tasks run, two wait: none is left.
  const auto refused = [](std::int64_t need, std::int64_t have, std::int64_t tasks = 1) {
    JournalBuilder j = claimed_slots();
    comes(j, tasks).rejected("g", Code::insufficient_slots, {{"default", need}},
                             {{"default", have}});
    return claims_of(j);
  };
  CHECK(refused(2, 0) == "");
  CHECK(refused(2, 1) == "g is told of 1 slots of default, 0 are at hand (A9)\n");
  CHECK(refused(2, 2) ==
        "g ended for lack of slots where need is within have (A5)\n"
        "g is told of 2 slots of default, 0 are at hand (A9)\n"
        "g was refused 2 slots where 2 are at hand (A9)\n");
  CHECK(refused(2, 0, 3) == "g is said to need 2 slots, its stages have 4 tasks (A3, A9)\n");
  const auto let_in = [](std::int64_t tasks, const std::function<void(JournalBuilder&)>& before) {
    JournalBuilder j = claimed_slots();
    before(j);
    comes(j, tasks).started("g").formed("g/a", {"a", "b"}, {{"default", tasks + 1}});
    return claims_of(j);
  };
  CHECK(let_in(1, [](JournalBuilder&) {}) ==
        "g/a was let in with 2 slots of default, where 0 are at hand (A9, A12)\n");
  const auto rest_ends = [](JournalBuilder& j) {
    j.success({"w/s/1", "e0"}).success({"w/s/2", "e0"}).start({"w/s/3", "e0"});
  };
  CHECK(let_in(1, rest_ends) == "");  // one runs, one waits
  CHECK(let_in(2, rest_ends) ==
        "g/a was let in with 3 slots of default, where 2 are at hand (A9, A12)\n");
  // A failed try waits again.
  CHECK(let_in(1, [&](JournalBuilder& j) {
          rest_ends(j);
          j.failure({"w/s/3", "e0"}, TaskReason::exception);
        }) == "");
  CHECK(let_in(3, [](JournalBuilder& j) {  // a killed task claims nothing, whoever has its slot
          j.kill({"w/s/1", "e0"}, TaskReason::cancelled, SlotState::held);
          j.kill({"w/s/2", "e0"}, TaskReason::cancelled, SlotState::held);
          j.completed("w/s", 0, StageStatus::cancelled, StageReason::job_cancelled).cancelled("w");
        }) == "");
}

TEST_CASE("CLAIMS_MATCH: tries of attempts that are over claim nothing (A9)") {
  const auto let_in = [](std::int64_t tasks) {
    JournalBuilder j;
    j.run({.dialect = "spark"}).executor("e0", 5);
    j.job("r", {{"a"}, {"b", 2}}, {{"a", "b"}}).started("r").submitted("r/a", 1);
    j.start({"r/a/0", "e0"}).at(1).success({"r/a/0", "e0"}).completed("r/a");
    j.submitted("r/b", 2).start({"r/b/0", "e0"}).start({"r/b/1", "e0"});
    j.at(2).failure({"r/b/1", "e0"}, TaskReason::fetch_failed);
    j.completed("r/b", 0, StageStatus::failed, StageReason::fetch_failed);
    j.outputs_lost("r/a", "e0", {{0, 0}}).submitted("r/a", 1, 1).start({"r/a/0", "e0", 1});
    j.at(3).success({"r/a/0", "e0", 1}).completed("r/a", 1).submitted("r/b", 2, 1);
    j.start({"r/b/0", "e0", 1}).start({"r/b/1", "e0", 1}).at(5);
    comes(j, tasks).started("g").formed("g/a", {"a", "b"}, {{"default", tasks + 1}});
    return claims_of(j);
  };
  // Five slots, of which b/0 of the first attempt holds one and the second attempt two.
  CHECK(let_in(2) == "");
  CHECK(let_in(3) == "g/a was let in with 4 slots of default, where 3 are at hand (A9, A12)\n");
}

TEST_CASE("CLAIMS_MATCH: a success that is held back claims nothing (A9, C6)") {
  JournalBuilder j;
  const Slots three{{"default", 3}};
  j.run({.dialect = "spark"}).executor("e0", 4);
  j.job("k", {{"a", 2}, {"b"}}, {{"a", "b", true}}).started("k").formed("k/a", {"a", "b"}, three);
  j.admitted("k/a", three).submitted("k/a", 2).submitted("k/b", 1);
  j.start({"k/a/0", "e0"}).start({"k/a/1", "e0"}).start({"k/b/0", "e0"});
  j.at(3).slots_back("e0", 1, "k").at(5);
  comes(j, 1).started("g").formed("g/a", {"a", "b"}, two);
  j.job("h", {{"a", 2}, {"b"}}, {{"a", "b", true}}).started("h").formed("h/a", {"a", "b"}, three);
  CHECK(claims_of(j) == "h/a was let in with 3 slots of default, where 2 are at hand (A9, A12)\n");
}

TEST_CASE("CLAIMS_MATCH: a gang that is only looked at is let in where it fits (A2, A12)") {
  const auto let_in = [](const char* capacity, std::int64_t tasks) {
    JournalBuilder j =
        claimed_slots({.axes = {{"admission.hold", "check"}, {"admission.capacity", capacity}}});
    comes(j, tasks).started("g").formed("g/a", {"a", "b"}, {{"default", tasks + 1}});
    j.admitted("g/a", {{"default", tasks + 1}});
    return claims_of(j);
  };
  CHECK(let_in("free", 1) == "");
  CHECK(let_in("free", 2) ==
        "g/a was let in with 3 slots of default, where 2 are at hand (A9, A12)\n");
  CHECK(let_in("total", 3) == "");
  CHECK(let_in("total", 4) ==
        "g/a was let in with 5 slots of default, where 4 are at hand (A9, A12)\n");
  // Whether what waits in w claims anything depends on the pass.
  CHECK(let_in("free-and-unclaimed", 1) == "");
  CHECK(let_in("free-and-unclaimed", 2) ==
        "g/a was let in with 3 slots of default, where 2 are at hand (A9, A12)\n");
  const auto waits = [](const char* capacity, std::int64_t have) {
    JournalBuilder j =
        claimed_slots({.axes = {{"admission.hold", "check"}, {"admission.capacity", capacity}}});
    comes(j, 9).started("g").formed("g/a", {"a", "b"}, {{"default", 10}});
    j.waits_for_slots("g/a", {{"default", 10}}, {{"default", have}});
    return claims_of(j);
  };
  CHECK(waits("total", 4) == "");
  CHECK(waits("total", 3) == "g/a is told of 3 slots of default, 4 are at hand (A9, A12)\n");
  CHECK(waits("free-and-unclaimed", 0) == "");
  CHECK(waits("free-and-unclaimed", 1) ==
        "g/a is told of 1 slots of default, 0 are at hand (A9, A12)\n");
}
