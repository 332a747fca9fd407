// Expectations of a scenario, judged over the journal while it is written (scenario.md section 6).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/scenario.hpp"
#include "model/support/events.hpp"
#include "properties/monitor_set.hpp"

namespace rehearse::properties {

// What expectations need beside the journal itself.
struct RunOutcome {
  std::uint64_t journal_hash = 0;
  // For {"invariant": ...}: null = no property was judged.
  const std::vector<PropertyVerdict>* verdicts = nullptr;
  // For {"same_journal_as": ...}: by index of the expectation, the first difference between the
  // two journals, empty when there is none. Whoever can load and run the other file compares.
  std::map<std::int32_t, std::string> differences;
};

class Expectations final : public model::Observer {
 public:
  explicit Expectations(const model::Scenario& scenario);
  ~Expectations() override;
  Expectations(const Expectations&) = delete;
  Expectations& operator=(const Expectations&) = delete;

  void begin(const model::NameTable& names) override;
  void on(const model::Event& event) override;

  // After the last event: one result per expectation, in order. `detail` of one that fails says
  // what was expected, what was seen and when, with the nearest lines of the journal.
  [[nodiscard]] std::vector<model::ExpectationResult> finish(const RunOutcome& outcome);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The journal as lines, without the events that the hash passes over and those that match one of
// `except`: what same_journal_as compares.
class JournalLines final : public model::Observer {
 public:
  explicit JournalLines(const std::vector<model::EventPattern>& except,
                        const model::Scenario& scenario);
  ~JournalLines() override;
  JournalLines(const JournalLines&) = delete;
  JournalLines& operator=(const JournalLines&) = delete;

  void begin(const model::NameTable& names) override;
  void on(const model::Event& event) override;

  [[nodiscard]] const std::vector<std::string>& lines() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Empty when both are equal; otherwise the first line in which they differ, of both.
[[nodiscard]] std::string first_difference(const std::vector<std::string>& left,
                                           const std::vector<std::string>& right);

}  // namespace rehearse::properties
