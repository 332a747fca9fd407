// registry: none (files, whatever is in them)
#include "traces/input_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>

namespace rehearse::traces {

using model::Error;

namespace {

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdin) {
      static_cast<void>(std::fclose(file));
    }
  }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

std::unexpected<Error> system_error(const std::string& path, std::string_view what) {
  return std::unexpected(Error{.what = fmt::format("{}: {}", what, std::strerror(errno)),
                               .file = path,
                               .remedy = "check the file and its permissions",
                               .kind = model::ErrorKind::io});
}

model::Result<File> open_file(const std::string& path) {
  if (path == "-") {
    return File(stdin);
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return std::unexpected(Error{
        .what = "is a directory, expected a file", .file = path, .remedy = "name the files in it"});
  }
  File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return std::unexpected(
          Error{.what = "no such file", .file = path, .remedy = "check the spelling of the path"});
    }
    return system_error(path, "cannot be opened");
  }
  return file;
}

// Starts of packed files, which would otherwise only be "not JSON".
bool is_packed(std::string_view text) {
  constexpr std::array<std::string_view, 3> magics{"\x28\xB5\x2F\xFD", "\x1F\x8B",
                                                   "\x04\x22\x4D\x18"};
  for (const std::string_view magic : magics) {
    if (text.starts_with(magic)) {
      return true;
    }
  }
  return false;
}

}  // namespace

model::Result<std::string> read_input_file(const std::string& path,
                                           const InputFileOptions& options) {
  model::Result<File> file = open_file(path);
  if (!file) {
    return std::unexpected(file.error());
  }
  std::string text;
  std::array<char, 65536> block;
  while (std::feof(file->get()) == 0 && std::ferror(file->get()) == 0) {
    const std::size_t got = std::fread(block.data(), 1, block.size(), file->get());
    text.append(block.data(), got);
    if (text.size() > options.bytes_max) {
      return std::unexpected(
          Error{.what = fmt::format("is larger than {} bytes", options.bytes_max),
                .file = path,
                .remedy = "a trace of this size is given to `rehearse replay`"});
    }
  }
  if (std::ferror(file->get()) != 0) {
    return system_error(path, "cannot be read");
  }
  if (is_packed(text)) {
    return std::unexpected(Error{
        .what = "is packed, plain text is expected", .file = path, .remedy = "unpack it first"});
  }
  return text;
}

}  // namespace rehearse::traces
