// Why one job took as long as it did (cli.md, explain): every instant from its submission to its
// end is in exactly one part, and each part names what it waited for. Reads the journal alone.
//
// Parts follow one path, walked backward from the end: the task that ended last, what its launch
// waited for, what made its stage ready. Work beside the path takes no part. Reasons of waits are
// inferred from free slots, the queue and the axes of the run line, because the scheduler writes
// none; what cannot be told is a part of kind `unexplained`.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/events.hpp"
#include "reports/metrics.hpp"

namespace rehearse::reports {

struct ExplainPart {
  std::string kind;  // names of PartKind
  model::Instant from_ns = 0;
  model::Instant to_ns = 0;
  std::string detail;
};

struct Explanation {
  std::string job;
  Outcome outcome = Outcome::unfinished;  // of the last try
  std::optional<model::Code> code;
  std::int64_t tries = 0;
  model::Instant submit_ns = 0;
  model::Instant end_ns = 0;  // of the last try; of the run when unfinished
  // In order of time. They tile submit_ns to end_ns; one of kind `rejected` takes no time.
  std::vector<ExplainPart> parts;
  // What would have made it faster, as far as the run itself says so. Every number was computed;
  // "at most" marks an upper bound.
  std::vector<std::string> helps;

  [[nodiscard]] model::Duration latency_ns() const { return end_ns - submit_ns; }
};

struct ExplainOptions {
  std::string job;  // "q": the request with all its tries; "q#1": that try
  // Until when a run that was cut off there lasted; absent = until its last event.
  std::optional<model::Instant> horizon;
  // By name of the stage: time between its inputs and its submission that the journal does not
  // explain (the driver of a trace).
  std::map<std::string, model::Duration> start_delays;
};

class Explain final : public model::Observer {
 public:
  explicit Explain(ExplainOptions options);
  Explain(Explain&&) noexcept;
  Explain& operator=(Explain&&) noexcept;
  ~Explain() override;

  void begin(const model::NameTable& names) override;
  void on(const model::Event& event) override;

  // Nothing when the job was never submitted. Once, after the last event; the name table must
  // still live.
  [[nodiscard]] std::optional<Explanation> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rehearse::reports
