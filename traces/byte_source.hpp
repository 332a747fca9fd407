// Decompressed bytes of a file, in pieces. Used by input_stream only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "model/support/error.hpp"
#include "traces/input_stream.hpp"

namespace rehearse::traces {

class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  // Fills the front of `out` and says how many bytes; 0 = the end, for good.
  [[nodiscard]] virtual std::size_t read(std::span<char> out) = 0;
  // After the end: why there is no more, if that is not simply the end of the file.
  [[nodiscard]] const std::optional<model::Error>& damage() const { return damage_; }

 protected:
  std::optional<model::Error> damage_;
};

struct OpenedSource {
  std::unique_ptr<ByteSource> bytes;
  Codec codec = Codec::plain;
  std::string name_mismatch;  // see LineReader
};

// Opens `path` and chooses the codec by its first bytes. Errors as LineReader::open, except those
// about the decoded content.
[[nodiscard]] model::Result<OpenedSource> open_source(const std::string& path);

}  // namespace rehearse::traces
