// Rows of jobs and requests, totals, spans and series of the metrics.
#include <doctest/doctest.h>

#include <algorithm>

#include "model/support/check.hpp"
#include "reports/slot_series.hpp"
#include "tests/support/report_journal.hpp"

namespace {

using namespace rehearse;
using reports::Outcome;
using reports::SlotUse;
using tests::ReportJournal;

TEST_CASE("a request is a job with its resubmissions") {
  ReportJournal journal;
  journal.executor("e0", 1)
      .at(5)
      .submit("q", {{"s", 1}})
      .submit_stage("q", "s", 1)
      .at(7)
      .start("q", "s", 0, "e0")
      .at(9)
      .end("q", "s", 0, "e0", model::TaskStatus::failed)
      .complete_stage("q", "s", model::StageStatus::failed)
      .end_job("q", model::JobOutcome::failed, model::Code::task_failed)
      .at(20)
      .submit("q#1", {{"s", 1}})
      .submit_stage("q#1", "s", 1)
      .start("q#1", "s", 0, "e0")
      .at(26)
      .add(model::FirstRow{journal.id("q#1")})
      .at(30)
      .end("q#1", "s", 0, "e0")
      .complete_stage("q#1", "s")
      .end_job("q#1");
  const reports::RunMetrics run = journal.finish().metrics();
  REQUIRE_EQ(run.jobs.size(), 2);
  CHECK_EQ(run.jobs[0].outcome, Outcome::failed);
  CHECK_EQ(run.jobs[0].code, model::Code::task_failed);
  CHECK_FALSE(run.jobs[0].latency_ns());  // a failure has no latency
  CHECK_EQ(run.jobs[0].queued_ns(), 2);
  CHECK_EQ(run.jobs[1].request, "q");
  CHECK_EQ(run.jobs[1].try_number, 1);
  CHECK_EQ(run.jobs[1].latency_ns(), 10);
  REQUIRE_EQ(run.requests.size(), 1);
  const reports::RequestMetrics& request = run.requests[0];
  CHECK_EQ(request.outcome, Outcome::succeeded);
  CHECK_FALSE(request.code);
  CHECK_EQ(request.tries, 2);
  CHECK_EQ(request.latency_ns(), 25);
  CHECK_EQ(request.queued_ns(), 2);
  CHECK_EQ(request.first_row_ns, 21);
  CHECK_EQ(run.totals.failed, 1);
  CHECK_EQ(run.totals.jobs, 2);
  CHECK_EQ(run.totals.requests, 1);
  CHECK_EQ(run.totals.stages, 2);
  CHECK_EQ(run.totals.tasks, 2);
  CHECK_EQ(run.makespan_ns, 25);
  CHECK_EQ(run.end_ns, 30);
  CHECK_EQ(run.end_cause, model::RunEndCause::done);
}

TEST_CASE("a name with a mark that is no number is its own request") {
  ReportJournal journal;
  journal.executor("e0", 1).submit("a#b", {{"s", 1}}).submit("c#", {{"s", 1}});
  const reports::RunMetrics run = journal.metrics();
  CHECK_EQ(run.requests[0].name, "a#b");
  CHECK_EQ(run.requests[1].name, "c#");
}

TEST_CASE("rejected and unfinished jobs are told apart") {
  ReportJournal journal;
  journal.executor("e0", 1)
      .submit("wide", {{"s", 9}})
      .reject("wide", model::Code::insufficient_slots, "needs 9, has 1")
      .at(3)
      .submit("late", {{"s", 1}})
      .submit_stage("late", "s", 1)
      .start("late", "s", 0, "e0")
      .at(8)
      .finish(model::RunEndCause::horizon);
  const reports::RunMetrics run = journal.metrics();
  CHECK_EQ(run.jobs[0].outcome, Outcome::rejected);
  CHECK_EQ(run.jobs[0].detail, "needs 9, has 1");
  CHECK_EQ(run.jobs[0].end_ns, 0);
  CHECK_EQ(run.jobs[1].outcome, Outcome::unfinished);
  CHECK_FALSE(run.jobs[1].end_ns);
  CHECK_EQ(run.totals.rejected, 1);
  CHECK_EQ(run.totals.unfinished, 1);
  CHECK_EQ(run.end_cause, model::RunEndCause::horizon);
}

TEST_CASE("totals count the events that the journal hash counts") {
  ReportJournal journal;
  journal.executor("e0", 1).simple_job("q", 0, 1, 4, "e0");
  const std::int64_t events = journal.metrics().totals.events;
  journal.add(model::Probe{}).add(model::Message{}).finish();
  CHECK_EQ(journal.metrics().totals.events, events);
  CHECK_EQ(events, 7);
}

TEST_CASE("work in groups is task time of members, not of barrier stages") {
  ReportJournal journal;
  journal.executor("e0", 4)
      .submit("g", {{"p", 1}, {"c", 1}, {"b", 1, "default", true}},
              {{"p", "c", model::EdgeKind::pipelined}})
      .form("g", {"p", "c"}, {{"default", 2}})
      .form("g", {"b"}, {{"default", 1}})
      .admit("g", "p")
      .submit_stage("g", "p", 1)
      .submit_stage("g", "c", 1)
      .admit("g", "b")
      .submit_stage("g", "b", 1);
  journal.start("g", "p", 0, "e0").start("g", "c", 0, "e0").start("g", "b", 0, "e0");
  journal.at(3).end("g", "p", 0, "e0").at(10).end("g", "c", 0, "e0").end("g", "b", 0, "e0");
  const reports::RunMetrics run = journal.metrics();
  CHECK_EQ(static_cast<std::int64_t>(run.work), 23);
  CHECK_EQ(static_cast<std::int64_t>(run.work_in_groups), 13);
  CHECK_EQ(run.pipelined_edges, 1);
  CHECK(run.spans[0].gang);
}

TEST_CASE("a slice is one task, and busy on each of its slots") {
  ReportJournal journal;
  journal.executor("e0", 4).submit("q", {{"s", 5}}).submit_stage("q", "s", 5);
  journal.start_slice("q", "s", 0, "e0", 2).start("q", "s", 3, "e0");
  journal.at(10).end_slice("q", "s", 0, "e0", 2).start("q", "s", 4, "e0");
  journal.at(15).end("q", "s", 3, "e0").at(20).end("q", "s", 4, "e0").complete_stage("q", "s");
  const reports::RunMetrics run = journal.metrics();
  CHECK_EQ(run.totals.tasks, 3);
  CHECK_EQ(static_cast<std::int64_t>(run.work), 3 * 10 + 15 + 10);
  CHECK_EQ(static_cast<std::int64_t>(run.totals.use(reports::SlotUse::busy)), 55);
  CHECK_EQ(static_cast<std::int64_t>(run.totals.slot_time), 80);
}

TEST_CASE("waits of gangs run from the instant they are ready to the admission") {
  ReportJournal journal;
  journal.executor("e0", 2)
      .submit("g", {{"p", 2}})
      .form("g", {"p"}, {{"default", 2}})
      .at(4)
      .queue("g", "p")
      .at(9)
      .admit("g", "p")
      .submit_stage("g", "p", 2);
  const reports::RunMetrics run = journal.metrics();
  CHECK_EQ(run.gangs.admitted, 1);
  CHECK_EQ(run.gangs.waited, 1);
  CHECK_EQ(run.gangs.wait_ns_max, 9);
  CHECK_EQ(run.spans[0].ready_ns, 0);
  CHECK_EQ(run.spans[0].submit_ns, 9);
}

TEST_CASE("stage spans are bounded and say how many are left out") {
  ReportJournal journal;
  journal.executor("e0", 1);
  for (std::int64_t i = 0; i < 5; ++i) {
    journal.simple_job("q" + std::to_string(i), i * 10, i * 10 + 1, i * 10 + 4, "e0");
  }
  const reports::RunMetrics run = journal.metrics({.series_buckets_max = 8, .spans_max = 2});
  CHECK_EQ(run.spans.size(), 2);
  CHECK_EQ(run.spans_omitted, 3);
  CHECK_EQ(run.spans[1].submit_ns, 11);
  CHECK_EQ(run.spans[1].start_ns, 11);
  CHECK_EQ(run.spans[1].end_ns, 14);
  CHECK_LE(run.series.size(), 8);
}

TEST_CASE("the series keeps every slot-nanosecond however it is widened") {
  reports::SlotSeries series(4);
  std::int64_t expected = 0;
  model::Instant now = 0;
  for (std::int64_t i = 0; i < 500; ++i) {
    reports::SlotCounts counts{};
    counts[reports::index_of(SlotUse::busy)] = i % 7;
    const model::Instant to = now + 1 + i * i % 13;
    series.add(now, to, counts);
    expected += (i % 7) * (to - now);
    now = to;
  }
  reports::Wide sum = 0;
  std::int64_t busy_max = 0;
  for (const reports::SlotBucket& bucket : series.buckets()) {
    sum += bucket.use[reports::index_of(SlotUse::busy)];
    busy_max = std::max(busy_max, bucket.busy_max);
    CHECK_LE(bucket.busy_min, bucket.busy_max);
  }
  CHECK_EQ(static_cast<std::int64_t>(sum), expected);
  CHECK_EQ(busy_max, 6);
  CHECK_LE(series.buckets().size(), 4);
  CHECK_GE(series.width_ns() * 4, now);
}

TEST_CASE("time that runs backwards is a fault, not a result") {
  ReportJournal journal;
  journal.executor("e0", 1).at(5).submit("q", {{"s", 1}}).at(4).submit("r", {{"s", 1}});
  CHECK_THROWS_AS((void)journal.metrics(), model::InternalFault);
}

}  // namespace
