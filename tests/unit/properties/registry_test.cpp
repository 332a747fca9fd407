// The registry against properties.md: every id, and the promises of every dialect. The tables are
// read from the document itself where it is at hand. Properties of the project's own come behind
// them; the decision that makes one names it (docs/decisions/0020).
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "model/scheduler_config.hpp"
#include "properties/registry.hpp"
#include "tests/unit/properties/sample_journals.hpp"

using namespace rehearse;
using namespace rehearse::properties;

namespace {

constexpr const char* document = "../shared/spec/properties.md";

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" `");
  const std::size_t last = text.find_last_not_of(" `");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out;
  std::size_t at = 1;
  while (at < line.size()) {
    const std::size_t bar = line.find('|', at);
    if (bar == std::string::npos) {
      break;
    }
    out.push_back(trimmed(line.substr(at, bar - at)));
    at = bar + 1;
  }
  return out;
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> out{""};
  for (const char c : text) {
    if (c == ' ') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  std::erase(out, "");
  return out;
}

bool is_property_name(const std::string& word) {
  return word.size() > 3 &&
         word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == std::string::npos;
}

// Rows of the tables under a heading "## n. ...", by section number.
std::map<char, std::vector<std::vector<std::string>>> tables() {
  std::ifstream file(document);
  std::map<char, std::vector<std::vector<std::string>>> rows;
  char section = '0';
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("## ", 0) == 0 && line.size() > 3) {
      section = line[3];
    } else if (!line.empty() && line[0] == '|') {
      rows[section].push_back(cells(line));
    }
  }
  return rows;
}

bool document_missing() {
  if (std::filesystem::exists(document)) {
    return false;
  }
  MESSAGE("skipped: no ../shared");
  return true;
}

std::set<std::string> promises(const model::SchedulerConfig& config,
                               model::Timing timing = model::Timing::scripted) {
  const std::vector<std::string> ids = promised(config, timing);
  return {ids.begin(), ids.end()};
}

// What `change` takes from the promises of a dialect.
std::set<std::string> dropped_by(model::Dialect dialect,
                                 const std::function<void(model::SchedulerConfig&)>& change) {
  model::SchedulerConfig config = model::preset(dialect);
  std::set<std::string> before = promises(config);
  change(config);
  for (const std::string& id : promises(config)) {
    CHECK(before.erase(id) == 1);  // an override never adds
  }
  return before;
}

using Ids = std::set<std::string>;

}  // namespace

TEST_CASE("every property of the document is in the registry, in its order") {
  if (document_missing()) {
    return;
  }
  std::vector<std::string> documented;
  const auto rows = tables();
  for (const std::vector<std::string>& row : rows.at('1')) {
    if (is_property_name(row.front())) {
      documented.push_back(row.front());
    }
  }
  documented.emplace_back("FAIL_FAST");
  std::vector<std::string> registered;
  for (const Property& property : all_properties()) {
    registered.emplace_back(property.id);
  }
  CHECK(documented.size() > 20);
  CHECK(registered == documented);
}

TEST_CASE("every dialect promises the project's own property") {
  for (std::size_t d = 0; d < 9; ++d) {
    CHECK(promise_of("FAIL_FAST", static_cast<model::Dialect>(d)) == Promise::promised);
  }
}

TEST_CASE("what a dialect promises is what the document's table says") {
  if (document_missing()) {
    return;
  }
  std::size_t compared = 0;
  const auto rows = tables();
  for (const std::vector<std::string>& row : rows.at('2')) {
    if (row.size() != 10) {
      continue;
    }
    for (const std::string& id : words(row.front())) {
      if (!is_property_name(id)) {
        continue;
      }
      for (std::size_t d = 0; d < 9; ++d) {
        const auto dialect = static_cast<model::Dialect>(d);
        CAPTURE(id);
        CAPTURE(model::name_of(dialect));
        const Promise expected = row[d + 1] == "○"   ? Promise::reported
                                 : row[d + 1] == "–" ? Promise::void_there
                                                     : Promise::promised;
        CHECK(promise_of(id, dialect) == expected);
        ++compared;
      }
    }
  }
  CHECK(compared == 26 * 9);
}

TEST_CASE("a preset promises its whole row: its own axes drop nothing from it") {
  for (std::size_t d = 0; d < 9; ++d) {
    const auto dialect = static_cast<model::Dialect>(d);
    Ids expected;
    for (const Property& property : all_properties()) {
      if (property.built() && promise_of(property.id, dialect) == Promise::promised) {
        expected.emplace(property.id);
      }
    }
    CAPTURE(model::name_of(dialect));
    CHECK(promises(model::preset(dialect)) == expected);
    CHECK(promises(model::preset(dialect)).count("LEGAL_ORDER") == 1);
  }
}

TEST_CASE("an overridden axis drops what it contradicts") {
  using model::SchedulerConfig;
  const auto psd = [](const std::function<void(SchedulerConfig&)>& change) {
    return dropped_by(model::Dialect::psd, change);
  };
  CHECK(psd([](SchedulerConfig& c) { c.admission.hold = model::Hold::check; }) ==
        Ids{"RESERVATION", "GANG", "CO_RESIDENT"});
  CHECK(psd([](SchedulerConfig& c) { c.admission.hold = model::Hold::none; }) ==
        Ids{"RESERVATION", "GANG", "CO_RESIDENT", "NO_STARVATION"});
  CHECK(psd([](SchedulerConfig& c) { c.admission.hold = model::Hold::bulk; }) ==
        Ids{"WORK_CONSERVING"});
  CHECK(psd([](SchedulerConfig& c) { c.admission.overtake = model::Overtake::backfill; }) ==
        Ids{"NO_STARVATION"});
  CHECK(psd([](SchedulerConfig& c) { c.admission.overtake = model::Overtake::aging; }) == Ids{});
  CHECK(psd([](SchedulerConfig& c) { c.admission.queue = model::QueueOrder::priority; }) ==
        Ids{"NO_STARVATION"});
  CHECK(psd([](SchedulerConfig& c) { c.admission.capacity = model::Capacity::total; }) ==
        Ids{"RESERVATION", "CO_RESIDENT"});
  CHECK(psd([](SchedulerConfig& c) { c.edges = model::EdgesAxis::all_pipelined; }) ==
        Ids{"CLOSURE"});
  CHECK(psd([](SchedulerConfig& c) { c.edges = model::EdgesAxis::all_regular; }) ==
        Ids{"CLOSURE", "DEFERRED", "GROUP_ATOMIC", "NO_LONE_RETRY"});
  CHECK(psd([](SchedulerConfig& c) { c.start = model::Start::lazy; }) ==
        Ids{"GANG", "CO_RESIDENT"});
  CHECK(psd([](SchedulerConfig& c) { c.completion = model::Completion::immediate; }) ==
        Ids{"DEFERRED"});
  CHECK(psd([](SchedulerConfig& c) { c.completion = model::Completion::after_parents; }) ==
        Ids{"DEFERRED", "INPUTS_READY"});
  CHECK(psd([](SchedulerConfig& c) {
          c.failure.incomplete = model::Incomplete::success_then_rerun;
        }) == Ids{"INPUTS_READY", "FENCED"});
  CHECK(psd([](SchedulerConfig& c) { c.grouping = model::Grouping::job; }) == Ids{});
  CHECK(psd([](SchedulerConfig& c) { c.slots = model::SlotsAxis::shared; }) == Ids{});
  CHECK(dropped_by(model::Dialect::barrier,
                   [](SchedulerConfig& c) { c.admission.hold = model::Hold::check; }) == Ids{});
}

TEST_CASE("properties without a monitor are listed and never promised") {
  const Property* unbuilt = find_property("SHUFFLE_COMPLETE");
  REQUIRE(unbuilt != nullptr);
  CHECK_FALSE(unbuilt->built());
  CHECK(
      promises(model::preset(model::Dialect::psd), model::Timing::flow).count("SHUFFLE_COMPLETE") ==
      0);
  CHECK(find_property("NO_SUCH_PROPERTY") == nullptr);
  for (const Property& property : all_properties()) {
    CAPTURE(property.id);
    CHECK_FALSE(property.statement.empty());
    CHECK_FALSE(property.clause.empty());
  }
}

TEST_CASE("the run line decides what a violation means") {
  using namespace rehearse::testing;
  const auto broken = [](std::vector<std::string> promises) {
    return judge(group_job_of(
        {.axes = {{"output_commit", "at-group-commit"}}, .promises = std::move(promises)}));
  };
  const auto reported = broken({"GANG"});
  CHECK(reported->violations().empty());
  CHECK(reported->find("GANG")->promised);
  CHECK_FALSE(reported->find("COMMIT_ONCE")->promised);
  CHECK(reported->find("COMMIT_ONCE")->verdict == Verdict::violated);
  const auto promised_one = broken({"GANG", "COMMIT_ONCE"});
  REQUIRE(promised_one->violations().size() == 1);
  CHECK(promised_one->violations().front().property == "COMMIT_ONCE");
  CHECK(promised_one->violations().front().t == 20);
}

TEST_CASE("violations are counted beyond those that are kept") {
  using namespace rehearse::testing;
  JournalBuilder j;
  j.run({.axes = {}, .promises = {"NO_OVERSUBSCRIPTION"}}).executor("e0", 1);
  j.job("x", {{"s", 500}}).started("x").submitted("x/s", 500);
  for (int p = 0; p < 500; ++p) {
    j.start({"x/s/" + std::to_string(p), "e0"});
  }
  const auto monitors = judge(j);
  CHECK(monitors->find("NO_OVERSUBSCRIPTION")->violation_count == 499);
  CHECK(monitors->violations().size() == Monitor::kept_max);
}
