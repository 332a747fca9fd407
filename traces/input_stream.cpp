// registry: none (lines of any trace)
// Cuts decompressed bytes into lines without copying them: one buffer, grown to the longest line.
#include "traces/input_stream.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "traces/byte_source.hpp"

namespace rehearse::traces {
namespace {

using model::Error;

constexpr std::size_t buffer_bytes = std::size_t{1} << 20U;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// What is left of a line when its end and the padding of some writers are taken off.
std::string_view trimmed(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == '\0')) {
    line.remove_suffix(1);
  }
  return line;
}

bool is_blank(std::string_view line) {
  return std::all_of(line.begin(), line.end(),
                     [](char c) { return c == ' ' || c == '\t' || c == '\0'; });
}

// True for bytes that no text format has among its first ones.
bool is_binary(std::string_view head) {
  return std::any_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20U && c != '\n' && c != '\r' && c != '\t' && c != '\0';
  });
}

}  // namespace

struct LineReader::State {
  std::string path;
  StreamOptions options;
  OpenedSource source;
  std::vector<char> buffer = std::vector<char>(buffer_bytes + line_padding);
  std::size_t begin = 0;  // of what is not delivered yet
  std::size_t end = 0;
  bool at_end = false;
  std::int64_t raw_bytes = 0;
  std::int64_t offset = 0;  // of buffer[begin]
  std::int64_t lines = 0;
  std::int64_t blank_lines = 0;
  std::optional<Error> damage;

  [[nodiscard]] std::size_t capacity() const { return buffer.size() - line_padding; }

  // Makes room and reads more; false when nothing more comes.
  bool more() {
    if (at_end) {
      return false;
    }
    if (begin > 0) {
      std::memmove(buffer.data(), buffer.data() + begin, end - begin);
      end -= begin;
      begin = 0;
    }
    if (end == capacity()) {
      buffer.resize(2 * capacity() + line_padding);
    }
    const std::size_t count = source.bytes->read({buffer.data() + end, capacity() - end});
    end += count;
    raw_bytes += static_cast<std::int64_t>(count);
    at_end = count == 0;
    if (at_end) {
      damage = source.bytes->damage();
    } else if (raw_bytes > options.raw_bytes_max) {
      at_end = true;
      damage = Error{.what = "holds more than " + std::to_string(options.raw_bytes_max) +
                             " bytes after decompression; the rest was not read",
                     .file = path,
                     .code = "T003"};
    }
    return !at_end;
  }

  // Skips to the end of a line whose beginning was too long to keep.
  void skip_rest_of_line() {
    for (;;) {
      const char* found = find_end();
      if (found != nullptr) {
        advance(static_cast<std::size_t>(found - buffer.data()) + 1);
        return;
      }
      advance(end);
      if (!more()) {
        return;
      }
    }
  }

  [[nodiscard]] const char* find_end(std::size_t searched = 0) const {
    const std::size_t from = begin + searched;
    return static_cast<const char*>(std::memchr(buffer.data() + from, '\n', end - from));
  }

  void advance(std::size_t to) {
    offset += static_cast<std::int64_t>(to - begin);
    begin = to;
  }

  std::optional<Line> next_any() {
    std::size_t searched = 0;
    const char* found = nullptr;
    while ((found = find_end(searched)) == nullptr) {
      searched = end - begin;
      if (searched > options.line_bytes_max) {
        return cut_line();
      }
      if (!more()) {
        break;
      }
    }
    if (found == nullptr && begin == end) {
      return std::nullopt;
    }
    Line line{.text = {}, .number = ++lines, .offset = offset, .terminated = found != nullptr};
    const std::size_t stop =
        found != nullptr ? static_cast<std::size_t>(found - buffer.data()) : end;
    line.text = trimmed({buffer.data() + begin, stop - begin});
    advance(found != nullptr ? stop + 1 : stop);
    return line;
  }

  Line cut_line() {
    constexpr std::size_t kept_bytes = 4096;
    kept.assign(buffer.data() + begin, kept_bytes);
    kept.reserve(kept_bytes + line_padding);
    Line line{.text = kept, .number = ++lines, .offset = offset, .cut = true};
    skip_rest_of_line();
    return line;
  }

  std::string kept;  // the beginning of a line that was cut
};

LineReader::LineReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
LineReader::LineReader(LineReader&& other) noexcept = default;
LineReader& LineReader::operator=(LineReader&& other) noexcept = default;
LineReader::~LineReader() = default;

model::Result<LineReader> LineReader::open(const std::string& path, const StreamOptions& options) {
  auto source = open_source(path);
  if (!source) {
    return std::unexpected(std::move(source.error()));
  }
  auto state = std::make_unique<State>();
  state->path = path;
  state->options = options;
  state->source = std::move(*source);
  state->more();
  if (state->end == 0 && state->damage) {
    Error error = *state->damage;
    error.what = "not one byte can be decoded: " + error.what;
    return std::unexpected(std::move(error));
  }
  const std::string_view head(state->buffer.data(), std::min<std::size_t>(state->end, 16));
  if (is_binary(head)) {
    return std::unexpected(Error{.what = "holds binary data of no known format",
                                 .file = path,
                                 .remedy = "expected text, or text packed with zstd or gzip",
                                 .code = "T001"});
  }
  if (head.starts_with(byte_order_mark)) {
    state->advance(byte_order_mark.size());
  }
  return LineReader(std::move(state));
}

std::optional<Line> LineReader::next() {
  while (auto line = state_->next_any()) {
    if (!is_blank(line->text)) {
      return line;
    }
    ++state_->blank_lines;
  }
  return std::nullopt;
}

Codec LineReader::codec() const { return state_->source.codec; }
const std::optional<Error>& LineReader::damage() const { return state_->damage; }
const std::string& LineReader::name_mismatch() const { return state_->source.name_mismatch; }
std::int64_t LineReader::lines() const { return state_->lines; }
std::int64_t LineReader::blank_lines() const { return state_->blank_lines; }
std::int64_t LineReader::raw_bytes() const { return state_->raw_bytes; }

}  // namespace rehearse::traces
