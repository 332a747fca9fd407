// Idioms switched on in random scenarios, and what a run shows of their machinery.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/scenario.hpp"
#include "model/support/events.hpp"
#include "model/violation.hpp"

namespace rehearse::testing {

// Which producers of pipelined edges carry the idiom: those that only their group reads, or those
// that a stage of the job outside reads, too, over a regular edge. None of a job of which other
// jobs read stages: they may run them again as regular stages of their own.
enum class Read : std::uint8_t { inside, outside, any };

// A stage that carries the idiom, by the name of its job in the file.
using Carrier = std::pair<std::string, model::NameId>;

// Takes the idiom out of the scenario and puts it into every producer of a pipelined edge that is
// read like this. INDETERMINATE_PRODUCER and CHECKSUM_RETRY only.
std::set<Carrier> switch_on(model::Scenario& scenario, model::Code code, Read read);
void switch_off(model::Scenario& scenario, model::Code code);

// What one run shows.
struct Shown {
  std::int64_t groups = 0;         // admissions of groups: with a carrier, if there are carriers
  std::int64_t again = 0;          // of these: not the first attempt
  std::int64_t failed = 0;         // such groups failed
  std::int64_t copies = 0;         // speculative starts of members,
  std::int64_t others = 0;         // and of other tasks
  std::int64_t left = 0;           // executors that left by decommission
  std::uint64_t hash = 0;          // of the journal
  std::vector<std::string> lines;  // if wanted
  std::vector<bool> committed;     // by line: had a group with a carrier committed by then?
  std::vector<model::Violation> violations;  // of promised properties, if judged
};

struct Watch {
  std::set<Carrier> carriers;
  bool judge = false;
  bool lines = false;
  bool checksums = false;  // every try of a task reports another one
};
[[nodiscard]] Shown run_watched(const model::Scenario& scenario, const Watch& watch);

}  // namespace rehearse::testing
