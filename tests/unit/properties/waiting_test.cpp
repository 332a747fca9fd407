// WORK_CONSERVING and NO_STARVATION: who waits, and who starts meanwhile.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/properties/sample_journals.hpp"

using namespace rehearse;
using namespace rehearse::model;
using namespace rehearse::testing;

namespace {

using properties::Verdict;
using Axes = std::vector<std::pair<std::string, std::string>>;

const Slots one{{"default", 1}};
const Slots two{{"default", 2}};
const Slots none{{"default", 0}};

Verdict verdict_of(const JournalBuilder& journal, std::string_view property) {
  return judge(journal)->find(property)->verdict;
}

// Does the property not hold, and for this reason?
bool says(const JournalBuilder& journal, const std::string& property, const std::string& detail) {
  const std::string said = complaint_text(*judge(journal));
  CAPTURE(said);
  const auto at = said.find(property + ": ");
  CHECK(at != std::string::npos);
  return at != std::string::npos && said.find(detail, at) != std::string::npos;
}

// e0 and e1 of one slot. w holds e0 from 0 to 20; the gang g needs both slots and is refused at 2.
JournalBuilder head_waits(const Axes& axes) {
  JournalBuilder j;
  j.run({.axes = axes}).executor("e0", 1).executor("e1", 1);
  j.job("w", {{"s", 1}}).started("w").submitted("w/s", 1).start({"w/s/0", "e0"});
  j.at(2).job("g", {{"m", 1}, {"n", 1}}, {{"m", "n", true}}).started("g");
  j.formed("g/m", {"m", "n"}, two).waits_for_slots("g/m", two, one);
  return j;
}

void small_job_comes(JournalBuilder& j) { j.job("x", {{"s", 1}}).started("x").submitted("x/s", 1); }

void ends(JournalBuilder& j, const std::string& job, const std::string& executor) {
  j.success({job + "/s/0", executor}).completed(job + "/s").succeeded(job);
}

void admit(JournalBuilder& j) {
  j.admitted("g/m", two).submitted("g/m", 1).submitted("g/n", 1);
  j.start({"g/m/0", "e0"}).start({"g/n/0", "e1"});
}

void group_ends(JournalBuilder& j) {
  j.success({"g/m/0", "e0"}).success({"g/n/0", "e1"}).completed("g/m").completed("g/n");
  j.committed("g/m").succeeded("g");
}

// Under `axes` x comes at 5 behind the waiting g, starts at `started` (never: when g has ended),
// and runs for 10; g starts when both slots are free.
JournalBuilder passed_at(Instant started, const Axes& axes) {
  JournalBuilder j = head_waits(axes);
  small_job_comes(j.at(5));
  j.at(started).start({"x/s/0", "e1"});
  ends(j.at(20), "w", "e0");
  ends(j.at(started + 20), "x", "e1");
  admit(j);
  group_ends(j.at(started + 40));
  j.over();
  return j;
}

JournalBuilder not_passed(const Axes& axes) {
  JournalBuilder j = head_waits(axes);
  small_job_comes(j.at(5));
  ends(j.at(20), "w", "e0");
  admit(j);
  group_ends(j.at(30));
  j.start({"x/s/0", "e0"});
  ends(j.at(40), "x", "e0");
  j.over();
  return j;
}

// One slot; the two tasks of x one after the other, the second at `second`.
JournalBuilder two_tasks(Instant second) {
  JournalBuilder j;
  j.run().executor("e0", 1).job("x", {{"s", 2}}).started("x").submitted("x/s", 2);
  j.start({"x/s/0", "e0"}).at(5).success({"x/s/0", "e0"});
  j.at(second).start({"x/s/1", "e0"});
  j.at(30).success({"x/s/1", "e0"}).completed("x/s").succeeded("x").over();
  return j;
}

// As not_passed() without x, but g is admitted at `admitted`.
JournalBuilder gang_at(Instant admitted, const Axes& axes = {}) {
  JournalBuilder j = head_waits(axes);
  ends(j.at(20), "w", "e0");
  admit(j.at(admitted));
  group_ends(j.at(90));
  j.over();
  return j;
}

const Axes never{};
const Axes backfill{{"admission.overtake", "backfill"}};
const Axes easy{{"admission.overtake", "easy"}};
const Axes aging{{"admission.overtake", "aging[after=10ns]"}};
const Axes retry{{"admission.short", "retry[interval=30ns,max=5]"}};

}  // namespace

TEST_CASE("WORK_CONSERVING: no task waits beside a free slot") {
  CHECK(verdict_of(two_tasks(5), "WORK_CONSERVING") == Verdict::held);
  CHECK(says(two_tasks(9), "WORK_CONSERVING", "1 tasks of x/s wait and 1 slots of default"));
}

TEST_CASE("WORK_CONSERVING: a failed try waits again") {
  JournalBuilder j;
  j.run().executor("e0", 1).job("x", {{"s", 1}}).started("x").submitted("x/s", 1);
  j.start({"x/s/0", "e0"}).at(5).failure({"x/s/0", "e0"}, TaskReason::exception);
  j.at(9).start({"x/s/0", "e0", 0, 1});
  ends(j.at(12), "x", "e0");
  CHECK(says(j.over(), "WORK_CONSERVING", "1 tasks of x/s wait"));
}

TEST_CASE("WORK_CONSERVING: a gang that fits is admitted at once") {
  CHECK(verdict_of(gang_at(20), "WORK_CONSERVING") == Verdict::held);
  CHECK(says(gang_at(25), "WORK_CONSERVING", "g/m is ready and fits, and was not admitted"));
  CHECK(says(gang_at(25, backfill), "WORK_CONSERVING", "g/m is ready and fits"));
  // Nobody looks between two timers.
  CHECK(verdict_of(gang_at(32, retry), "WORK_CONSERVING") == Verdict::held);
}

TEST_CASE("WORK_CONSERVING: a gang that nobody looked at") {
  JournalBuilder j;
  j.run().executor("e0", 1).executor("e1", 1);
  j.job("g", {{"p", 1}, {"m", 1}, {"n", 1}}, {{"p", "m"}, {"m", "n", true}}).started("g");
  j.formed("g/m", {"m", "n"}, two).submitted("g/p", 1).waits_for_inputs("g/m");
  j.start({"g/p/0", "e0"}).at(4).success({"g/p/0", "e0"}).completed("g/p");
  admit(j.at(7));
  group_ends(j.at(9));
  CHECK(says(j.over(), "WORK_CONSERVING", "g/m is ready and fits"));
}

TEST_CASE("WORK_CONSERVING: what a head forbids is not waiting") {
  CHECK(verdict_of(not_passed(never), "WORK_CONSERVING") == Verdict::held);
  CHECK(says(not_passed(backfill), "WORK_CONSERVING", "1 tasks of x/s wait"));
  // Until g has waited long enough everybody may.
  CHECK(says(not_passed(aging), "WORK_CONSERVING", "1 tasks of x/s wait"));
}

TEST_CASE("NO_STARVATION: nobody starts past a waiting head") {
  CHECK(verdict_of(not_passed(never), "NO_STARVATION") == Verdict::held);
  CHECK(says(passed_at(6, never), "NO_STARVATION",
             "x/s/0 started on e1 past g/m, which has waited 4 ns"));
  CHECK(says(passed_at(15, never), "NO_STARVATION", "which has waited 13 ns"));
}

TEST_CASE("NO_STARVATION: under aging until the head has waited long enough") {
  CHECK(verdict_of(passed_at(6, aging), "NO_STARVATION") == Verdict::held);
  CHECK(verdict_of(passed_at(11, aging), "NO_STARVATION") == Verdict::held);
  CHECK(says(passed_at(12, aging), "NO_STARVATION", "past g/m, which has waited 10 ns"));
  CHECK(says(passed_at(15, aging), "NO_STARVATION", "past g/m, which has waited 13 ns"));
}

TEST_CASE("NO_STARVATION: what is unbounded is reported, what needs estimates is not judged") {
  CHECK(verdict_of(not_passed(backfill), "NO_STARVATION") == Verdict::held);
  CHECK(says(passed_at(6, backfill), "NO_STARVATION", "g/m was passed 1 times while it waited"));
  CHECK(verdict_of(passed_at(6, easy), "NO_STARVATION") == Verdict::not_judged);
}

TEST_CASE("NO_STARVATION: a regular unit takes what it can before those behind it") {
  const auto journal = [](bool later_first) {
    JournalBuilder j;
    j.run().executor("e0", 1);
    j.job("x", {{"s", 2}}).started("x").submitted("x/s", 2).start({"x/s/0", "e0"});
    j.at(1).job("y", {{"s", 1}}).started("y").submitted("y/s", 1);
    j.at(5).success({"x/s/0", "e0"});
    if (later_first) {
      j.start({"y/s/0", "e0"});
      ends(j.at(8), "y", "e0");
      j.start({"x/s/1", "e0"});
    } else {
      j.start({"x/s/1", "e0"});
    }
    j.at(12).success({"x/s/1", "e0"}).completed("x/s").succeeded("x");
    if (!later_first) {
      j.start({"y/s/0", "e0"});
      ends(j.at(20), "y", "e0");
    }
    j.over();
    return j;
  };
  CHECK(verdict_of(journal(false), "NO_STARVATION") == Verdict::held);
  CHECK(
      says(journal(true), "NO_STARVATION", "y/s/0 started on e0 past x/s, of which 1 tasks wait"));
}

TEST_CASE("NO_STARVATION: a gang that what lives could not run is no head") {
  JournalBuilder j;
  const Slots three{{"default", 3}};
  j.run().executor("e0", 1).executor("e1", 1);
  j.job("g", {{"m", 2}, {"n", 1}}, {{"m", "n", true}}).started("g");
  j.formed("g/m", {"m", "n"}, three).waits_for_slots("g/m", three, two);
  small_job_comes(j.at(5));
  j.start({"x/s/0", "e1"});
  ends(j.at(9), "x", "e1");
  CHECK(verdict_of(j.over(RunEndCause::horizon), "NO_STARVATION") == Verdict::held);
}
