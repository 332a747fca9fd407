// Slot time by use, worked out by hand for each case. Every case also checks that the six uses add
// up, which the metrics check themselves at every instant.
#include <doctest/doctest.h>

#include "tests/support/report_journal.hpp"

namespace {

using namespace rehearse;
using reports::SlotUse;
using tests::ReportJournal;

struct Expected {
  std::int64_t busy = 0;
  std::int64_t reserved = 0;
  std::int64_t drain = 0;
  std::int64_t blocked = 0;
  std::int64_t unusable = 0;
  std::int64_t idle = 0;
};

// Up to the time of the journal's last at().
void check_uses(ReportJournal journal, const Expected& expected) {
  const reports::Totals totals = journal.finish().metrics().totals;
  const auto use = [&](SlotUse which) { return static_cast<std::int64_t>(totals.use(which)); };
  CHECK_EQ(use(SlotUse::busy), expected.busy);
  CHECK_EQ(use(SlotUse::reserved_idle), expected.reserved);
  CHECK_EQ(use(SlotUse::drain_idle), expected.drain);
  CHECK_EQ(use(SlotUse::blocked), expected.blocked);
  CHECK_EQ(use(SlotUse::unusable), expected.unusable);
  CHECK_EQ(use(SlotUse::idle), expected.idle);
  CHECK_EQ(static_cast<std::int64_t>(totals.slot_time), expected.busy + expected.reserved +
                                                            expected.drain + expected.blocked +
                                                            expected.unusable + expected.idle);
}

// Two executors of two slots; job a holds one slot of each from 0 to 10.
ReportJournal half_full() {
  ReportJournal journal;
  journal.executor("e0", 2).executor("e1", 2).submit("a", {{"s", 2}}).submit_stage("a", "s", 2);
  journal.start("a", "s", 0, "e0").start("a", "s", 1, "e1");
  return journal;
}

void finish_a(ReportJournal& journal) {
  journal.end("a", "s", 0, "e0").end("a", "s", 1, "e1").complete_stage("a", "s").end_job("a");
}

TEST_CASE("free slots are idle while nothing waits") {
  ReportJournal journal = half_full();
  finish_a(journal.at(10));
  check_uses(journal.at(15).finish(), {.busy = 20, .idle = 20 + 20});
}

TEST_CASE("a head drains what it demands while work behind it could start") {
  ReportJournal journal = half_full();
  // g needs 3 slots and sees 2. At 4 a regular job comes that could take a free slot.
  journal.submit("g", {{"p", 2}, {"c", 1}}, {{"p", "c", model::EdgeKind::pipelined}})
      .form("g", {"p", "c"}, {{"default", 3}})
      .queue("g", "p")
      .at(4)
      .submit("r", {{"s", 1}})
      .submit_stage("r", "s", 1);
  finish_a(journal.at(10));
  // Until 4 nobody else could use the free slots: the gang is too large for them (unusable). From
  // 4 to 10 they are kept from r.
  journal.admit("g", "p").submit_stage("g", "p", 2).submit_stage("g", "c", 1);
  journal.start("g", "p", 0, "e0").start("g", "p", 1, "e1").start("g", "c", 0, "e0");
  journal.start("r", "s", 0, "e1").at(15);
  check_uses(journal, {.busy = 20 + 20, .drain = 12, .unusable = 8});
}

TEST_CASE("work before the head never makes a drain") {
  ReportJournal journal = half_full();
  journal.at(1)
      .submit("r", {{"s", 3}})  // waits for locality or the like: nothing stops it
      .submit_stage("r", "s", 3)
      .submit("g", {{"p", 2}, {"c", 1}}, {{"p", "c", model::EdgeKind::pipelined}})
      .form("g", {"p", "c"}, {{"default", 3}})
      .queue("g", "p");
  check_uses(journal.at(6), {.busy = 12, .idle = 2 + 10});
}

TEST_CASE("a gang behind the head counts when it would fit") {
  for (const std::int64_t tasks : {2, 3}) {
    ReportJournal journal = half_full();
    journal.submit("g", {{"p", 4}}, {})
        .form("g", {"p"}, {{"default", 4}})
        .queue("g", "p")
        .submit("h", {{"p", tasks}}, {})
        .form("h", {"p"}, {{"default", tasks}});
    if (tasks == 2) {
      check_uses(journal.at(5), {.busy = 10, .drain = 10});
    } else {
      check_uses(journal.at(5), {.busy = 10, .unusable = 10});
    }
  }
}

TEST_CASE("a gang becomes ready when its last regular parent outside completes") {
  ReportJournal journal = half_full();
  journal
      .submit("g", {{"in", 1}, {"p", 2}, {"c", 1}},
              {{"in", "p", model::EdgeKind::regular}, {"p", "c", model::EdgeKind::pipelined}})
      .form("g", {"p", "c"}, {{"default", 3}})
      .submit_stage("g", "in", 1)
      .queue("g", "p", model::QueuedReason::inputs)
      .start("g", "in", 0, "e0")
      .at(3)
      .end("g", "in", 0, "e0")
      .complete_stage("g", "in")
      // Behind the gang, with room: a drain from here on, not before.
      .submit("r", {{"s", 1}})
      .submit_stage("r", "s", 1);
  check_uses(journal.at(5), {.busy = 9 + 4, .drain = 4, .idle = 3});
}

TEST_CASE("under retry there is no head") {
  ReportJournal journal({{"default", 1}}, {{"admission.short", "retry{15s,40}"}});
  journal.executor("e0", 2)
      .submit("g", {{"p", 3}})
      .form("g", {"p"}, {{"default", 3}})
      .queue("g", "p")
      .submit("r", {{"s", 1}})
      .submit_stage("r", "s", 1);
  check_uses(journal.at(5), {.idle = 10});
}

TEST_CASE("a greater priority stands before the head") {
  ReportJournal journal({{"default", 1}}, {{"admission.queue", "priority"}});
  journal.executor("e0", 2)
      .submit("g", {{"p", 3}}, {}, 1)
      .form("g", {"p"}, {{"default", 3}})
      .queue("g", "p")
      .submit("r", {{"s", 1}}, {}, 5)
      .submit_stage("r", "s", 1);
  check_uses(journal.at(5), {.idle = 10});
}

TEST_CASE("a starved gang is no head") {
  ReportJournal journal;
  journal.executor("e0", 2)
      .executor("e1", 2)
      .submit("g", {{"p", 4}})
      .form("g", {"p"}, {{"default", 4}})
      .queue("g", "p")
      .submit("r", {{"s", 1}})
      .submit_stage("r", "s", 1)
      .at(2)  // two instants of drain: the head could fit, r is behind it
      .lose("e1")
      .at(5);
  check_uses(journal, {.drain = 8, .idle = 6});
}

TEST_CASE("reservations that outlive their step are reserved idle until launched or dropped") {
  ReportJournal journal;
  journal.executor("e0", 4)
      .submit("g", {{"p", 3}})
      .form("g", {"p"}, {{"default", 3}})
      .reserve("g", "p", "e0", 2, 2)
      .at(3)
      .reserve("g", "p", "e0", 3, 1)
      .at(5)
      .reserve("g", "p", "e0", 0, -3)
      .admit("g", "p")
      .submit_stage("g", "p", 3);
  journal.start("g", "p", 0, "e0").start("g", "p", 1, "e0").start("g", "p", 2, "e0").at(7);
  // While the gang waits alone, the free rest is of no use to anybody: it fits in none of it.
  check_uses(journal, {.busy = 6, .reserved = 6 + 6, .unusable = 6 + 2, .idle = 2});
}

TEST_CASE("blocked tasks hold their slots, and a killed one until it returns") {
  ReportJournal journal = half_full();
  journal.at(2).block("a", "s", 0, "e0").block("a", "s", 0, "e0");
  journal.at(4).unblock("a", "s", 0, "e0");
  journal.at(6).unblock("a", "s", 0, "e0");
  journal.at(7).block("a", "s", 1, "e1");
  journal.at(8)
      .end("a", "s", 0, "e0", model::TaskStatus::killed, true)
      .end("a", "s", 1, "e1", model::TaskStatus::killed, true)
      .complete_stage("a", "s", model::StageStatus::cancelled)
      .end_job("a", model::JobOutcome::cancelled, model::Code::cancelled);
  journal.at(9).give_back("a", "e0").at(11).give_back("a", "e1").at(12);
  // Blocked: e0 from 2 to 6, e1 from 7 to 8; killed and held: to 9 and to 11.
  check_uses(journal, {.busy = 2 + 2 + 1 + 7 + 3, .blocked = 4 + 1, .idle = 24 + 3 + 1});
}

TEST_CASE("held and draining executors give unusable slots, lost ones none") {
  ReportJournal journal = half_full();
  journal.at(2).hold("e0").at(5).release("e0");
  journal.at(6).hold("e1", model::HoldCause::decommission);
  finish_a(journal.at(10));
  journal.lose("e1").at(12);
  // One slot of each is free to 10. e0's: held 2 to 5. e1's: draining 6 to 10, then gone. After 10
  // both slots of e0 are free.
  check_uses(journal, {.busy = 20, .unusable = 3 + 4, .idle = 7 + 6 + 4});
}

TEST_CASE("slots of another profile than the work that waits are unusable") {
  ReportJournal journal({{"default", 1}, {"big", 2}});
  journal.executor("small", 2, "default").executor("large", 4, "big");
  journal.submit("j", {{"s", 3, "big"}}).submit_stage("j", "s", 3);
  journal.start("j", "s", 0, "large").start("j", "s", 1, "large").at(10);
  // Two slots of profile default are free while only a big task waits.
  check_uses(journal, {.busy = 20, .unusable = 20});
}

TEST_CASE("unbound executors count in slots of the first profile") {
  ReportJournal journal({{"default", 1}, {"big", 3}});
  journal.executor("e0", 4);
  journal.submit("j", {{"s", 2, "big"}}).submit_stage("j", "s", 2);
  journal.start("j", "s", 0, "e0").at(10);
  // The big task takes three of the four slots; the fourth is too small for the second one.
  check_uses(journal, {.busy = 30, .unusable = 10});
}

TEST_CASE("an executor that nothing bounds counts for what it holds") {
  ReportJournal journal({{"default", 0}});
  journal.executor("e0", 4);
  journal.submit("j", {{"s", 2}}).submit_stage("j", "s", 2);
  journal.start("j", "s", 0, "e0").at(4).start("j", "s", 1, "e0").at(10);
  check_uses(journal, {.busy = 4 + 12});
}

TEST_CASE("tasks that failed or whose outputs were lost are pending again") {
  ReportJournal journal;
  journal.executor("e0", 2).submit("a", {{"s", 2}}).submit_stage("a", "s", 2);
  journal.start("a", "s", 0, "e0").start("a", "s", 1, "e0");
  journal.submit("g", {{"p", 2}}).form("g", {"p"}, {{"default", 2}}).queue("g", "p");
  journal.submit("r", {{"s", 1}}).submit_stage("r", "s", 1);
  journal.at(5).end("a", "s", 0, "e0").at(6).start("r", "s", 0, "e0");
  // From 5 to 6: one slot free, g heads, r could start: drain. From 6 on r runs.
  journal.at(8).end("r", "s", 0, "e0", model::TaskStatus::failed).at(9);
  // From 8 to 9 r's task waits again behind g.
  check_uses(journal, {.busy = 10 + 1 + 2 + 2 + 1, .drain = 1 + 1});
}

}  // namespace
