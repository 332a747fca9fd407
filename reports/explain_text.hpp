// The words of an explanation: what each part was, and what would have helped.
#pragma once

#include <string>
#include <vector>

#include "reports/explain_facts.hpp"
#include "reports/explain_parts.hpp"

namespace rehearse::reports {

// One try with its parts.
struct CutTry {
  const TryFacts* row = nullptr;
  std::vector<Cut> cuts;
};

// Names inside one try. All are full: job/stage/partition.
class ExplainNames {
 public:
  ExplainNames(const ExplainFacts& facts, const TryFacts& row) : facts_(facts), row_(row) {}

  [[nodiscard]] std::string text(model::NameId name) const;
  [[nodiscard]] std::string stage(std::size_t index) const;  // q/map
  [[nodiscard]] std::string unit(const Cut& cut) const;      // q/map, q/map+sink
  [[nodiscard]] std::string task(std::size_t run) const;     // q/map/3
  [[nodiscard]] std::string slots(std::int64_t count, std::size_t profile) const;
  [[nodiscard]] std::string holders(const std::vector<Holder>& all) const;  // a 4, itself 2

 private:
  const ExplainFacts& facts_;
  const TryFacts& row_;
};

[[nodiscard]] std::string detail_of(const ExplainFacts& facts, const TryFacts& row, const Cut& cut);
[[nodiscard]] std::string rejection_text(const ExplainFacts& facts, const TryFacts& row);

// Each sentence once; instants as "+2.00 s" from the first submission; in the order of the parts
// they are about.
[[nodiscard]] std::vector<std::string> helps_of(const ExplainFacts& facts,
                                                const std::vector<CutTry>& tries);

}  // namespace rehearse::reports
