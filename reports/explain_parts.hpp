// Cuts the life of one try into parts: backward from its end through what each thing waited for. A
// task from its end to its launch, what its launch waited for, what made its stage ready, and so on
// to the submission. What runs beside this path takes no part.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/explain_rows.hpp"

namespace rehearse::reports {

struct Cut {
  PartKind kind = PartKind::unexplained;
  model::Instant from_ns = 0;
  model::Instant to_ns = 0;
  std::optional<std::size_t> gang;   // the unit, when it is a gang
  std::optional<std::size_t> stage;  // else, or the member
  std::int32_t attempt = 0;
  const WaitSpan* wait = nullptr;        // of the kinds that wait for slots
  std::optional<std::size_t> run;        // a task: the last of the part
  std::optional<std::size_t> first_run;  // and the first, when one took the other's slot
  std::int64_t runs = 0;                 // tasks one after the other
  model::Duration shared_ns = 0;         // what sharing slots cost these tasks (A22)
  bool ends_stage = false;               // `run` is the last of its stage to end
  std::optional<std::size_t> foreign;    // of inputs
  // The stage downstream of `run` over pipelined edges that ended with it (timing coupled).
  std::optional<std::size_t> reader;
};

struct CutOptions {
  model::Instant end_ns = 0;  // of the try, or of the run
  bool coupled = false;       // the timing
  bool last_try = true;       // work that failed was not done again
  // By name of the stage; what the journal does not say (traces only).
  const std::map<std::string, model::Duration>* start_delays = nullptr;
  const model::NameTable* names = nullptr;
};

// In order of time; they tile submission to end_ns, and none is empty. `row` must outlive them.
[[nodiscard]] std::vector<Cut> cut_try(const TryFacts& row, const CutOptions& options);

}  // namespace rehearse::reports
