// See input_path.hpp.
#include "cli/input_path.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace rehearse::cli {
namespace {

model::Error io_error(std::string what) {
  return {.what = std::move(what) + ": " + std::strerror(errno),
          .file = "-",
          .remedy = "give the input as a file",
          .kind = model::ErrorKind::io};
}

bool copy_standard_input(int descriptor) {
  std::array<char, 65536> block{};
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, block.data(), block.size());
    if (got <= 0) {
      return got == 0;
    }
    for (ssize_t done = 0; done < got;) {
      const ssize_t put =
          ::write(descriptor, block.data() + done, static_cast<std::size_t>(got - done));
      if (put < 0) {
        return false;
      }
      done += put;
    }
  }
}

}  // namespace

model::Result<InputPath> InputPath::open(const std::string& given) {
  if (given != "-") {
    return InputPath(given, given);
  }
  std::error_code error;
  const auto folder = std::filesystem::temp_directory_path(error);
  std::string path = ((error ? "." : folder) / "rehearse-XXXXXX").string();
  const int descriptor = ::mkstemp(path.data());
  if (descriptor < 0) {
    return std::unexpected(io_error("no temporary file can be made"));
  }
  InputPath result(given, path);
  const bool copied = copy_standard_input(descriptor);
  if (::close(descriptor) != 0 || !copied) {
    return std::unexpected(io_error("cannot be read"));
  }
  return result;
}

InputPath::InputPath(InputPath&& other) noexcept
    : given_(std::move(other.given_)), path_(std::exchange(other.path_, std::string())) {}

InputPath::~InputPath() {
  if (!path_.empty() && path_ != given_) {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
}

model::Error InputPath::named(model::Error error) const {
  if (error.file == path_) {
    error.file = given_;
  }
  return error;
}

}  // namespace rehearse::cli
