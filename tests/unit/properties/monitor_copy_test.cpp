// A copied set of monitors goes on by itself: wherever a journal is cut, the copy comes to the same
// verdicts, and what the copy sees does not reach what it was made of. One that is reset, whatever
// it has seen, comes to those of a new one.
#include <doctest/doctest.h>

#include "tests/unit/properties/sample_journals.hpp"

using namespace rehearse;
using namespace rehearse::testing;

namespace {

struct Sample {
  std::vector<model::Event> events;
  const model::NameTable* names = nullptr;
};

properties::MonitorSet seen(const Sample& sample, std::size_t count) {
  properties::MonitorSet monitors;
  monitors.begin(*sample.names);
  for (std::size_t i = 0; i < count; ++i) {
    monitors.on(sample.events[i]);
  }
  return monitors;
}

std::string verdict(properties::MonitorSet& monitors, const Sample& sample, std::size_t from) {
  for (std::size_t i = from; i < sample.events.size(); ++i) {
    monitors.on(sample.events[i]);
  }
  monitors.finish();
  return complaint_text(monitors);
}

// Every journal with each of its lines left out in turn: most of them are illegal.
void check_copies(const JournalBuilder& journal) {
  const Sample whole{journal.events(), &journal.names()};
  std::size_t illegal = 0;
  for (std::size_t left_out = 1; left_out < whole.events.size(); ++left_out) {
    Sample sample = whole;
    sample.events.erase(sample.events.begin() + static_cast<std::ptrdiff_t>(left_out));
    auto plain = seen(sample, 0);
    const std::string expected = verdict(plain, sample, 0);
    illegal += expected.empty() ? 0U : 1U;
    for (std::size_t cut = 1; cut < sample.events.size(); cut += 3) {
      const properties::MonitorSet first = seen(sample, cut);
      properties::MonitorSet copy(first);
      properties::MonitorSet assigned = seen(whole, whole.events.size() / 2);
      assigned = first;
      CHECK(verdict(copy, sample, cut) == expected);
      CHECK(verdict(assigned, sample, cut) == expected);
      properties::MonitorSet later(first);  // after its copies went on
      CHECK(verdict(later, sample, cut) == expected);
      later.reset();
      later.begin(*sample.names);
      CHECK(verdict(later, sample, 0) == expected);
    }
  }
  CHECK(illegal > 0);
}

}  // namespace

TEST_CASE("copies of monitors come to the same verdicts") {
  check_copies(group_job());
  check_copies(group_failure());
  check_copies(fetch_failure());
  check_copies(executor_loss());
  check_copies(waiting_gang());
  check_copies(refusals());
}

TEST_CASE("what is judged at the end of an instant can be asked for when it is over") {
  RunSpec run;
  run.promises = {"GANG"};
  const JournalBuilder journal = group_job_of(run);
  const Sample whole{journal.events(), &journal.names()};
  // Without the start of the sink the gang has not launched whole.
  Sample sample = whole;
  std::erase_if(sample.events, [&](const model::Event& event) {
    const auto* start = event.as<model::TaskStart>();
    return start != nullptr && whole.names->text(start->task.stage) == "sink";
  });
  std::size_t admitted = 0;
  while (sample.events[admitted].as<model::GroupAdmitted>() == nullptr) {
    ++admitted;
  }
  const model::Instant at = sample.events[admitted].t;
  std::size_t last = admitted;
  while (sample.events[last + 1].t == at) {
    ++last;
  }
  properties::MonitorSet monitors = seen(sample, last + 1);
  CHECK(monitors.violation_count() == 0);
  monitors.leave(at);
  REQUIRE(monitors.violation_count() > 0);
  CHECK(monitors.violations_so_far().front().property == "GANG");
}
