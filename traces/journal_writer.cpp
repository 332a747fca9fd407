// registry: none (journals are no trace format)
// Lines are gathered into blocks; a block is compressed, if at all, and written whole.
#include <fmt/format.h>
#include <zstd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "model/support/check.hpp"
#include "model/support/journal_line.hpp"
#include "traces/journal_json.hpp"

namespace rehearse::traces {

using model::Error;

namespace {

constexpr std::size_t block_bytes = std::size_t{256} << 10U;
constexpr int compression_level = 3;

struct CloseFile {
  void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
};
struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { static_cast<void>(ZSTD_freeCCtx(context)); }
};

}  // namespace

struct JournalWriter::State {
  std::string path;
  JournalWriterOptions options;
  std::unique_ptr<std::FILE, CloseFile> file;
  std::unique_ptr<ZSTD_CCtx, FreeContext> zstd;  // null: plain
  std::vector<char> packed;
  std::string block;
  const model::NameTable* names = nullptr;
  std::optional<Error> error;

  void fail(std::string_view what, std::string_view why) {
    if (!error) {
      error = Error{.what = fmt::format("{}: {}", what, why),
                    .file = path,
                    .remedy = "check the disk and the permissions",
                    .kind = model::ErrorKind::io};
    }
  }

  void write(const char* data, std::size_t size) {
    if (!error && size > 0 && std::fwrite(data, 1, size, file.get()) != size) {
      fail("cannot be written", std::strerror(errno));
    }
  }

  void flush(ZSTD_EndDirective directive) {
    if (zstd == nullptr) {
      write(block.data(), block.size());
      block.clear();
      return;
    }
    ZSTD_inBuffer in{block.data(), block.size(), 0};
    for (;;) {
      ZSTD_outBuffer out{packed.data(), packed.size(), 0};
      const std::size_t left = ZSTD_compressStream2(zstd.get(), &out, &in, directive);
      if (ZSTD_isError(left) != 0) {
        fail("cannot be compressed", ZSTD_getErrorName(left));
        break;
      }
      write(packed.data(), out.pos);
      const bool done = directive == ZSTD_e_continue ? in.pos == in.size : left == 0;
      if (done) {
        break;
      }
    }
    block.clear();
  }
};

JournalWriter::JournalWriter(Passkey, std::unique_ptr<State> state) : state_(std::move(state)) {}

JournalWriter::~JournalWriter() {
  if (state_ != nullptr && state_->file != nullptr) {
    static_cast<void>(close());
  }
}

model::Result<std::unique_ptr<JournalWriter>> JournalWriter::open(
    const std::string& path, const JournalWriterOptions& options) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->options = options;
  state->file.reset(std::fopen(path == "-" ? "/dev/stdout" : path.c_str(), "wb"));
  if (state->file == nullptr) {
    state->fail("cannot be made", std::strerror(errno));
    return std::unexpected(*state->error);
  }
  if (path.ends_with(".zst") || path.ends_with(".zstd")) {
    state->zstd.reset(ZSTD_createCCtx());
    RH_CHECK(state->zstd != nullptr);
    static_cast<void>(
        ZSTD_CCtx_setParameter(state->zstd.get(), ZSTD_c_compressionLevel, compression_level));
    static_cast<void>(ZSTD_CCtx_setParameter(state->zstd.get(), ZSTD_c_checksumFlag, 1));
    state->packed.resize(ZSTD_CStreamOutSize());
  }
  constexpr std::size_t line_usual = 512;
  state->block.reserve(block_bytes + line_usual);
  return std::make_unique<JournalWriter>(Passkey{}, std::move(state));
}

void JournalWriter::begin(const model::NameTable& names) { state_->names = &names; }

void JournalWriter::on(const model::Event& event) {
  State& state = *state_;
  RH_CHECK(state.names != nullptr);
  if (!state.options.messages && event.as<model::Message>() != nullptr) {
    return;
  }
  model::append_journal_line(state.block, event, *state.names);
  state.block += '\n';
  if (state.block.size() >= block_bytes) {
    state.flush(ZSTD_e_continue);
  }
}

model::Result<void> JournalWriter::close() {
  State& state = *state_;
  if (state.file != nullptr) {
    state.flush(ZSTD_e_end);
    if (std::fclose(state.file.release()) != 0) {
      state.fail("cannot be written", std::strerror(errno));
    }
  }
  if (state.error) {
    return std::unexpected(*state.error);
  }
  return {};
}

}  // namespace rehearse::traces
