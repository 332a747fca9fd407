// registry: none (bytes under the line reader)
// Files and their codecs: which one by the first bytes, and the decoders for gzip and zstd.
#include "traces/byte_source.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

namespace rehearse::traces {
namespace {

using model::Error;
using model::ErrorKind;

constexpr std::size_t chunk_bytes = std::size_t{1} << 18U;

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdin) {
      std::fclose(file);
    }
  }
};
using FilePtr = std::unique_ptr<std::FILE, CloseFile>;

// A file as it is; `head` was already taken from it to look at.
class PlainSource final : public ByteSource {
 public:
  PlainSource(FilePtr file, std::string path, std::vector<char> head)
      : file_(std::move(file)), path_(std::move(path)), head_(std::move(head)) {}

  std::size_t read(std::span<char> out) override {
    if (taken_ < head_.size()) {
      const std::size_t count = std::min(out.size(), head_.size() - taken_);
      std::memcpy(out.data(), head_.data() + taken_, count);
      taken_ += count;
      return count;
    }
    const std::size_t count = std::fread(out.data(), 1, out.size(), file_.get());
    if (count == 0 && std::ferror(file_.get()) != 0 && !damage_) {
      damage_ = Error{.what = std::string("reading failed: ") + std::strerror(errno),
                      .file = path_,
                      .kind = ErrorKind::io};
    }
    return count;
  }

 private:
  FilePtr file_;
  std::string path_;
  std::vector<char> head_;
  std::size_t taken_ = 0;
};

// Common to the decoders: packed bytes from below, and what to say when they run out too early.
class Decoder : public ByteSource {
 public:
  Decoder(std::unique_ptr<PlainSource> packed, std::string path, std::string_view codec)
      : packed_(std::move(packed)), path_(std::move(path)), codec_(codec), input_(chunk_bytes) {}

 protected:
  // False at the end of the file.
  bool refill() {
    begin_ = 0;
    end_ = packed_->read(input_);
    consumed_ += static_cast<std::int64_t>(end_);
    if (end_ == 0 && packed_->damage()) {
      damage_ = packed_->damage();
    }
    return end_ != 0;
  }

  void damaged(std::string what) {
    if (damage_) {
      return;
    }
    const auto at = consumed_ - static_cast<std::int64_t>(end_ - begin_);
    damage_ = Error{.what = codec_ + " data " + std::move(what) + " at byte " + std::to_string(at) +
                            " of the file",
                    .file = path_,
                    .remedy = "copy the file again, or use what was read before that point",
                    .code = "T003"};
  }

  std::unique_ptr<PlainSource> packed_;
  std::string path_;
  std::string codec_;
  std::vector<char> input_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::int64_t consumed_ = 0;
  bool done_ = false;
};

struct FreeZstd {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

class ZstdSource final : public Decoder {
 public:
  ZstdSource(std::unique_ptr<PlainSource> packed, std::string path)
      : Decoder(std::move(packed), std::move(path), "zstd"), stream_(ZSTD_createDStream()) {}

  std::size_t read(std::span<char> out) override {
    ZSTD_outBuffer target{out.data(), out.size(), 0};
    while (!done_ && target.pos == 0) {
      if (begin_ == end_ && !flush_pending_ && !refill()) {
        if (inside_frame_) {
          damaged("ends inside a frame");
        }
        done_ = true;
        break;
      }
      ZSTD_inBuffer source{input_.data(), end_, begin_};
      const std::size_t left = ZSTD_decompressStream(stream_.get(), &target, &source);
      begin_ = source.pos;
      if (ZSTD_isError(left) != 0U) {
        damaged(std::string("is damaged (") + ZSTD_getErrorName(left) + ")");
        done_ = true;
        break;
      }
      inside_frame_ = left != 0;
      flush_pending_ = target.pos == target.size && left != 0;
    }
    return target.pos;
  }

 private:
  std::unique_ptr<ZSTD_DStream, FreeZstd> stream_;
  bool inside_frame_ = false;
  bool flush_pending_ = false;
};

class GzipSource final : public Decoder {
 public:
  GzipSource(std::unique_ptr<PlainSource> packed, std::string path)
      : Decoder(std::move(packed), std::move(path), "gzip") {
    started_ = inflateInit2(&stream_, 15 + 16) == Z_OK;
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override {
    if (started_) {
      inflateEnd(&stream_);
    }
  }

  std::size_t read(std::span<char> out) override {
    std::size_t produced = 0;
    while (!done_ && produced == 0 && started_) {
      if (begin_ == end_ && !refill()) {
        if (inside_member_) {
          damaged("ends inside a member");
        }
        done_ = true;
        break;
      }
      stream_.next_in = to_bytes(input_.data() + begin_);
      stream_.avail_in = static_cast<uInt>(end_ - begin_);
      stream_.next_out = to_bytes(out.data());
      stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(out.size(), chunk_bytes));
      const uInt room = stream_.avail_out;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      begin_ = end_ - stream_.avail_in;
      produced = room - stream_.avail_out;
      inside_member_ = true;
      if (status == Z_STREAM_END) {
        inside_member_ = false;
        inflateReset(&stream_);
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        if (member_seen_ && produced == 0 && stream_.total_out == 0) {
          damaged("is followed by something else");
        } else {
          damaged(std::string("is damaged (") + (stream_.msg != nullptr ? stream_.msg : "unknown") +
                  ")");
        }
        done_ = true;
      }
      member_seen_ = member_seen_ || status == Z_STREAM_END;
    }
    return produced;
  }

 private:
  static Bytef* to_bytes(char* text) { return reinterpret_cast<Bytef*>(text); }

  z_stream stream_{};
  bool started_ = false;
  bool inside_member_ = false;
  bool member_seen_ = false;
};

struct Magic {
  std::string_view bytes;
  std::string_view name;
  bool read_here;
};

// Order matters only where one is the beginning of another. The unread ones are refused by name.
constexpr std::array<Magic, 11> magics{{
    {std::string_view("\x28\xB5\x2F\xFD", 4), "zstd", true},
    {std::string_view("\x1F\x8B", 2), "gzip", true},
    {std::string_view("LZ4Block", 8), "lz4", false},
    {std::string_view("\x04\x22\x4D\x18", 4), "lz4 frame", false},
    {std::string_view("\x82SNAPPY\x00", 8), "snappy", false},
    {std::string_view("\xFF\x06\x00\x00sNaPpY", 10), "snappy frame", false},
    {std::string_view("ZV", 2), "lzf", false},
    {std::string_view("PK\x03\x04", 4), "zip", false},
    {std::string_view("BZh", 3), "bzip2", false},
    {std::string_view("\xFD"
                      "7zXZ",
                      5),
     "xz", false},
    {std::string_view("PAR1", 4), "parquet", false},
}};

const Magic* magic_of(std::string_view head) {
  const auto* found = std::find_if(magics.begin(), magics.end(), [&](const Magic& magic) {
    return head.starts_with(magic.bytes);
  });
  return found == magics.end() ? nullptr : found;
}

// The codec that the name announces: the last part after .compact and .inprogress are gone.
std::string_view codec_of_name(std::string_view path) {
  for (const std::string_view suffix : {".inprogress", ".compact"}) {
    if (path.ends_with(suffix)) {
      path.remove_suffix(suffix.size());
    }
  }
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> names{
      {{".zstd", "zstd"},
       {".zst", "zstd"},
       {".gz", "gzip"},
       {".lz4", "lz4"},
       {".snappy", "snappy"},
       {".lzf", "lzf"}}};
  for (const auto& [suffix, codec] : names) {
    if (path.ends_with(suffix)) {
      return codec;
    }
  }
  return {};
}

model::Result<FilePtr> open_file(const std::string& path) {
  if (path == "-") {
    return FilePtr(stdin);
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return std::unexpected(Error{.what = "is a directory, expected a file", .file = path});
  }
  FilePtr file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr && errno == ENOENT && path.ends_with(".inprogress")) {
    const std::string final_name = path.substr(0, path.size() - std::strlen(".inprogress"));
    file.reset(std::fopen(final_name.c_str(), "rb"));
  }
  if (file == nullptr) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return std::unexpected(Error{.what = "no such file", .file = path});
    }
    return std::unexpected(Error{.what = std::string("cannot be opened: ") + std::strerror(errno),
                                 .file = path,
                                 .kind = ErrorKind::io});
  }
  return file;
}

}  // namespace

model::Result<OpenedSource> open_source(const std::string& path) {
  auto file = open_file(path);
  if (!file) {
    return std::unexpected(std::move(file.error()));
  }
  std::vector<char> head(chunk_bytes);
  head.resize(std::fread(head.data(), 1, head.size(), file->get()));
  const std::string_view beginning(head.data(), head.size());
  const Magic* magic = magic_of(beginning);
  const std::string_view named = codec_of_name(path);
  if (magic != nullptr && !magic->read_here) {
    return std::unexpected(
        Error{.what = "is packed with " + std::string(magic->name) + ", which is not built yet",
              .file = path,
              .remedy = "unpack it, or pack it with zstd or gzip",
              .code = "T002"});
  }
  OpenedSource opened;
  const std::string_view seen = magic == nullptr ? "plain" : magic->name;
  if (!named.empty() && named != seen && !beginning.empty()) {
    opened.name_mismatch = "is named as " + std::string(named) + " but is " + std::string(seen) +
                           "; read as " + std::string(seen);
  }
  auto plain = std::make_unique<PlainSource>(std::move(*file), path, std::move(head));
  if (seen == "zstd") {
    opened.codec = Codec::zstd;
    opened.bytes = std::make_unique<ZstdSource>(std::move(plain), path);
  } else if (seen == "gzip") {
    opened.codec = Codec::gzip;
    opened.bytes = std::make_unique<GzipSource>(std::move(plain), path);
  } else {
    opened.bytes = std::move(plain);
  }
  return opened;
}

}  // namespace rehearse::traces
