// Lines of a trace file, whatever it is packed in: plain, gzip (members may follow one another) or
// zstd (many frames, the last one possibly open), recognized by content first, by name second.
//
// Damage at the end is not the end of the world: what can be decoded is delivered, and damage()
// then says what was lost. Whole small files are the business of input_file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/enum_names.hpp"
#include "model/support/error.hpp"

namespace rehearse::traces {

enum class Codec : std::uint8_t { plain, gzip, zstd };

struct StreamOptions {
  std::size_t line_bytes_max = std::size_t{64} << 20U;   // longer lines are cut (Line::cut)
  std::int64_t raw_bytes_max = std::int64_t{16} << 30U;  // after decompression; then it ends
};

struct Line {
  // Without line end, byte order mark and trailing NULs; never blank. Valid until the next call of
  // next(). At least line_padding readable bytes follow it in memory.
  std::string_view text;
  std::int64_t number = 0;  // 1-based
  std::int64_t offset = 0;  // of its first byte, after decompression
  bool terminated = true;   // false: the input ended without a line end
  bool cut = false;         // longer than line_bytes_max; text is its beginning
};

inline constexpr std::size_t line_padding = 64;

class LineReader {
 public:
  // Errors: no such file, a directory, unreadable (io), a codec that is not read (T002), a packed
  // file of which not one byte can be decoded (T003), text that is none (T001).
  // "-" is the standard input. A file named *.inprogress that is gone is looked for under its
  // final name.
  [[nodiscard]] static model::Result<LineReader> open(const std::string& path,
                                                      const StreamOptions& options = {});

  LineReader(LineReader&& other) noexcept;
  LineReader& operator=(LineReader&& other) noexcept;
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;
  ~LineReader();

  // The next line that is not blank, or nothing at the end.
  [[nodiscard]] std::optional<Line> next();

  [[nodiscard]] Codec codec() const;
  // Set once the end was reached: why what followed could not be read (code T003).
  [[nodiscard]] const std::optional<model::Error>& damage() const;
  // What the name said and the content did not: empty when they agree.
  [[nodiscard]] const std::string& name_mismatch() const;
  [[nodiscard]] std::int64_t lines() const;  // seen so far, blank ones included
  [[nodiscard]] std::int64_t blank_lines() const;
  [[nodiscard]] std::int64_t raw_bytes() const;  // after decompression, so far

 private:
  struct State;
  explicit LineReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace rehearse::traces
