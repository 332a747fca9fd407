// Does a journal event match a pattern and keys (scenario.md section 6)? Names are compared by
// their text: a pattern may name what the journal has not interned.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/expectation.hpp"
#include "model/job.hpp"
#include "model/support/events.hpp"

namespace rehearse::properties {

// A repeated job: its bare name stands for the copies q1 to q<count>.
struct RepeatedJob {
  std::string name;
  std::int32_t count = 0;
};

[[nodiscard]] std::vector<RepeatedJob> repeated_jobs(const std::vector<model::JobSpec>& jobs,
                                                     const model::NameTable& names);

// "q", "q#1", or all copies of a repeated q (with "#1", their first resubmissions).
class JobMatcher {
 public:
  JobMatcher() = default;  // matches every job
  JobMatcher(std::string_view name, const std::vector<RepeatedJob>& repeated);

  [[nodiscard]] bool matches(std::string_view job) const;
  // The names it stands for: one, or one per copy; none when it matches every job.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::string base_;
  std::string suffix_;      // "#1" or empty
  std::int32_t count_ = 0;  // of copies; 0 = not repeated
  bool any_ = true;
};

class EventMatcher {
 public:
  EventMatcher(const model::EventPattern& pattern, const std::vector<RepeatedJob>& repeated);

  // The number of the event the pattern names; 0 when there is no such event.
  [[nodiscard]] int number() const { return number_; }
  // `event` must have that number.
  [[nodiscard]] bool matches(const model::Event& event, const model::NameTable& names) const;

 private:
  int number_ = 0;
  JobMatcher job_;
  std::string stage_;  // empty = any
  std::optional<std::int32_t> partition_;
};

// All keys have the given values; `detail` holds its text anywhere.
[[nodiscard]] bool keys_match(const model::Event& event,
                              const std::map<std::string, model::KeyMatch>& keys,
                              const model::NameTable& names);

// "task_end q/map/0", with keys when there are any: for messages.
[[nodiscard]] std::string to_string(const model::EventPattern& pattern);
[[nodiscard]] std::string to_string(const std::map<std::string, model::KeyMatch>& keys);

}  // namespace rehearse::properties
