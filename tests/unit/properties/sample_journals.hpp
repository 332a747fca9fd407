// Legal journals that the tests of monitors break one line at a time. Between them they hold every
// kind of line that a scripted run writes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "properties/monitor_set.hpp"
#include "tests/support/journal_builder.hpp"
#include "tests/support/tamper.hpp"

namespace rehearse::testing {

// q: pre, then the group map (2 tasks) and sink (1 task, commits); sink ends first. Executors e0
// and e1 of 2 cpus.
JournalBuilder group_job_of(const RunSpec& run);
JournalBuilder group_job();

// As group_job, but map/0 fails at 15 and kills take 5.
JournalBuilder group_failure();

// The group fails once and is run again as a whole (rerun-group).
JournalBuilder group_rerun();

// r: a (2 tasks) to b (2 tasks) to c (1 task), regular: a fetch failure at 20 strikes off what e0
// has, a straggler of the old attempt on e0 ends at 35 and does not count.
JournalBuilder fetch_failure();

// r: a (2 tasks) to b (1 task); e0 is lost at 15 with an output and a running task on it.
JournalBuilder executor_loss();

// One job that never fits and one that does not fit now (admission.short fail), with probes.
JournalBuilder refusals();

// Two gangs compete; the second waits for slots. An executor is held, another decommissioned.
JournalBuilder waiting_gang();

// A barrier stage whose first attempt fails.
JournalBuilder barrier_job();

// A job with a running regular stage and a queued group is cancelled.
JournalBuilder cancelled_job();

// Feeds a journal to the monitors and finishes them.
std::unique_ptr<properties::MonitorSet> judge(const JournalBuilder& journal);
// The same through a tampering; *applied gets how often it changed something.
std::unique_ptr<properties::MonitorSet> judge(const JournalBuilder& journal,
                                              const Tampering& tampering, std::int64_t* applied);

// "PROPERTY: detail" of every violation, promised or not, one a line.
std::string complaint_text(const properties::MonitorSet& monitors);

// A journal broken in one place, and what must be said of it.
struct Broken {
  std::string_view property;
  std::string_view detail;  // a part of the violation's text
  std::function<JournalBuilder()> journal;
  Tampering tampering;
};

// Fails the running test unless the tampering happened and the property says so.
void check_broken(const Broken& broken);

// NOLINTBEGIN(clang-analyzer-cplusplus.NewDeleteLeaks): what std::function holds
// Matchers by text: matching_task<TaskEnd>("q/map/0"), matching_stage<StageCompleted>("q/map").
template <class Body>
auto matching_task(const std::string& path) {
  return matching<Body>([path](const Body& body, const model::NameTable& names) {
    const model::TaskRef& task = body.task;
    return std::string(names.text(task.job)) + "/" + std::string(names.text(task.stage)) + "/" +
               std::to_string(task.partition) ==
           path;
  });
}

template <class Body>
auto matching_stage(const std::string& path) {
  return matching<Body>([path](const Body& body, const model::NameTable& names) {
    return std::string(names.text(body.stage.job)) + "/" +
               std::string(names.text(body.stage.stage)) ==
           path;
  });
}
// NOLINTEND(clang-analyzer-cplusplus.NewDeleteLeaks)

}  // namespace rehearse::testing
