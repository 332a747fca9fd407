// Reads the lines of a Spark event log into a SparkLog: which event by its first bytes, events that
// say nothing about scheduling unparsed, the others field by field. Knows every key of Spark 1.2 to
// 4.x that matters here and judges nothing.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "model/support/error.hpp"
#include "traces/input_stream.hpp"
#include "traces/load_options.hpp"
#include "traces/spark_log.hpp"

namespace rehearse::traces {

class SparkEventReader {
 public:
  // `log` must live longer than the reader.
  SparkEventReader(SparkLog& log, bool strict);
  SparkEventReader(const SparkEventReader&) = delete;
  SparkEventReader& operator=(const SparkEventReader&) = delete;
  ~SparkEventReader();

  // Applies one line, wholly or not at all. `file` names it in messages; `warn_as` is the name in
  // warnings (empty when the trace is one file). An error is returned under strict only, or
  // when the very first line is no event (T001); otherwise what is wrong becomes a warning:
  // T005 malformed, T006 a key missing or of the wrong type, T007 an id used twice, T010 absurd.
  [[nodiscard]] std::optional<model::Error> read(const Line& line, const std::string& file,
                                                 const std::string& warn_as);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rehearse::traces
