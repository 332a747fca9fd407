// Running a scenario for its journal, and comparing journals.
#include "tests/relations/journals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>

#include "model/support/check.hpp"
#include "model/support/journal_line.hpp"
#include "policies/registry.hpp"
#include "sim/simulation.hpp"

namespace rehearse::testing {

namespace {

class Recorder final : public model::Observer {
 public:
  explicit Recorder(Journal& journal) : journal_(journal) {}
  void begin(const model::NameTable& names) override { names_ = &names; }
  void on(const model::Event& event) override {
    if (event.as<model::RunStart>() != nullptr || event.as<model::Probe>() != nullptr ||
        event.as<model::RunEnd>() != nullptr) {
      return;
    }
    const std::string line = model::journal_line(event, *names_);
    JournalLine& row = journal_.emplace_back();
    row.at = event.t;
    row.text = line.substr(line.find("\"e\":"));
    row.event = value_of(row.text, "e");
    row.job = value_of(row.text, "job");
  }

 private:
  // The text after the first "key":" of the line.
  static std::string value_of(const std::string& text, std::string_view key) {
    const std::string start = fmt::format("\"{}\":\"", key);
    const std::size_t at = text.find(start);
    if (at == std::string::npos) {
      return {};
    }
    const std::size_t from = at + start.size();
    return text.substr(from, text.find('"', from) - from);
  }

  Journal& journal_;
  const model::NameTable* names_ = nullptr;
};

}  // namespace

Journal run_of(const model::Scenario& scenario, const scheduler::PolicySet& policies) {
  Journal journal;
  Recorder recorder(journal);
  const std::array<model::Observer*, 1> observers{&recorder};
  (void)sim::run(scenario, policies, observers);
  return journal;
}

Journal run_of(const model::Scenario& scenario) {
  const auto policies = policies::make(scenario.scheduler);
  RH_CHECK(policies.has_value());
  return run_of(scenario, *policies);
}

std::optional<std::string> first_difference(const Journal& journal, const Journal& other,
                                            bool may_go_on) {
  const std::size_t common = std::min(journal.size(), other.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (journal[i] != other[i]) {
      return fmt::format("line {}: {} {} | {} {}", i, journal[i].at, journal[i].text, other[i].at,
                         other[i].text);
    }
  }
  if (journal.size() > common || (other.size() > common && !may_go_on)) {
    const JournalLine& more = journal.size() > common ? journal[common] : other[common];
    return fmt::format("{} lines against {}: {} {}", journal.size(), other.size(), more.at,
                       more.text);
  }
  return std::nullopt;
}

bool says(const Journal& journal, std::string_view text) {
  return std::ranges::any_of(journal, [text](const JournalLine& line) {
    return line.text.find(text) != std::string::npos;
  });
}

bool all_succeed(const Journal& journal) {
  return !says(journal, "\"e\":\"job_rejected\"") && !says(journal, "\"outcome\":\"failed\"") &&
         !says(journal, "\"outcome\":\"cancelled\"");
}

bool has_faults(const model::Scenario& scenario) {
  return !scenario.faults.timed.empty() || !scenario.faults.tasks.empty();
}

bool has_moments(const model::Scenario& scenario) {
  return std::ranges::any_of(scenario.faults.timed, [](const model::TimedFault& fault) {
    return fault.moment.has_value();
  });
}

bool has_fixed_order(const model::Scenario& scenario) {
  return !scenario.ties_shuffled && scenario.choices.empty();
}

void sort_refusals(Journal& journal) {
  const auto refused = [](const JournalLine& line) { return line.event == "group_queued"; };
  for (auto at = journal.begin(); at != journal.end();) {
    const auto from = std::find_if(at, journal.end(), refused);
    at = std::find_if_not(from, journal.end(), refused);
    std::ranges::sort(from, at, {},
                      [](const JournalLine& line) { return std::tuple(line.at, line.text); });
  }
}

Journal take_refusals(Journal& journal) {
  const auto refused = [](const JournalLine& line) {
    return line.event == "group_queued" && line.text.contains("\"reason\":\"slots\"");
  };
  Journal taken;
  std::ranges::copy_if(journal, std::back_inserter(taken), refused);
  std::erase_if(journal, refused);
  for (JournalLine& line : taken) {
    line.text = line.text.substr(0, line.text.find(",\"have\""));
  }
  std::ranges::sort(taken);
  return taken;
}

}  // namespace rehearse::testing
