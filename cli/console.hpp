// Where results and talk go: results to stdout and --output, everything else to stderr.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <thread>

#include "cli/settings.hpp"
#include "model/support/error.hpp"
#include "reports/results.hpp"

namespace rehearse::cli {

// Prints the whole text or says why it could not (io).
[[nodiscard]] model::Result<void> print(std::string_view text);

// Replaces the file as a whole: whoever reads it sees the old or the new one.
[[nodiscard]] model::Result<void> save(const std::string& path, std::string_view bytes);

// Fails (io) when `path` could not be written later; nothing is changed.
[[nodiscard]] model::Result<void> check_writable(const std::string& path);

// A line on stderr, unless --quiet.
void note(const Settings& settings, std::string_view text);
void print_error(const model::Error& error);

// Writes the document to stdout as text or JSON and to --output by its ending. `last_line`, when
// there is one, ends what is printed: after the text, or on stderr beside JSON. `aside`: text goes
// to stderr, because stdout holds something else.
struct EmitOptions {
  std::string last_line;
  bool aside = false;
};
[[nodiscard]] model::Result<void> emit(const reports::Document& document, const Settings& settings,
                                       const EmitOptions& options = {});

// One line on a terminal's stderr that says how much is done, from the second second on.
class Progress {
 public:
  struct Options {
    bool quiet = false;
    std::string_view what;  // "runs"
    std::size_t total = 0;
    bool open = false;  // nobody knows how many there will be
  };
  explicit Progress(const Options& options);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void one_done() { done_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> done_{0};
  std::jthread shown_;
};

}  // namespace rehearse::cli
