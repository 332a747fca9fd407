// Journal files: one event per line as JSON (scenario.md section 5), plain or zstd.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "model/support/error.hpp"
#include "model/support/events.hpp"

namespace rehearse::traces {

struct JournalWriterOptions {
  bool messages = false;  // `message` events too, which come by the thousand
};

// Writes every event it sees, in order, to a file; what is written so far is readable when the
// program stops before close().
class JournalWriter final : public model::Observer {
  struct State;
  struct Passkey {};  // only open() makes one

 public:
  JournalWriter(Passkey, std::unique_ptr<State> state);
  // A path ending in .zst or .zstd is compressed; "-" is the standard output. Fails (io) when the
  // file cannot be made.
  [[nodiscard]] static model::Result<std::unique_ptr<JournalWriter>> open(
      const std::string& path, const JournalWriterOptions& options = {});
  ~JournalWriter() override;
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  void begin(const model::NameTable& names) override;
  void on(const model::Event& event) override;

  // Writes what is buffered and ends the file. The first thing that went wrong since open (io).
  // Later events are dropped.
  [[nodiscard]] model::Result<void> close();

 private:
  std::unique_ptr<State> state_;
};

struct JournalReadResult {
  std::int64_t events = 0;
  bool complete = false;               // its last line is run_end
  std::optional<model::Error> damage;  // why the rest of a cut or damaged file is missing
};

// Reads a journal and hands its events to `observer` in order, names interned into `names`, which
// must outlive the observer's use of them. Strict: an unknown event or key (with the nearest
// known), a missing key, a wrong type and time that goes back are errors with file, line and key.
// Keys may stand in any order. A last line that was cut off is damage, not an error.
[[nodiscard]] model::Result<JournalReadResult> read_journal(const std::string& path,
                                                            model::NameTable& names,
                                                            model::Observer& observer);

}  // namespace rehearse::traces
