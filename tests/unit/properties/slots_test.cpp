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
