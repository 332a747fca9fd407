// See console.hpp.
#include "cli/console.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>

#include "reports/registry.hpp"

namespace rehearse::cli {
namespace {

using model::Error;
using model::ErrorKind;
using model::Result;

std::unexpected<Error> io_error(const std::string& path, std::string_view what, int number) {
  return std::unexpected(Error{.what = fmt::format("{}: {}", what, std::strerror(number)),
                               .file = path,
                               .remedy = "check the path, its permissions and the space there",
                               .kind = ErrorKind::io});
}

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

int terminal_columns() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  return 100;
}

bool uses_color(ColorWhen when) {
  if (when != ColorWhen::automatic) {
    return when == ColorWhen::always;
  }
  const char* none = std::getenv("NO_COLOR");
  const char* kind = std::getenv("TERM");
  const bool dumb = kind != nullptr && std::string_view(kind) == "dumb";
  return is_terminal(STDOUT_FILENO) && !dumb && (none == nullptr || *none == '\0');
}

reports::WriteOptions terminal_options(const Settings& settings) {
  reports::WriteOptions options;
  options.terminal = is_terminal(STDOUT_FILENO);
  options.color = uses_color(settings.color);
  options.columns = options.terminal ? terminal_columns() : 100;
  options.listed_max = settings.listed_max;
  return options;
}

struct CloseFile {
  void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
};

Result<void> write_bytes(const std::string& path, std::string_view bytes) {
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "wb"));
  if (file == nullptr) {
    return io_error(path, "cannot be made", errno);
  }
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  if (std::fclose(file.release()) != 0 || !written) {
    return io_error(path, "cannot be written", errno);
  }
  return {};
}

// A device or a pipe is written to, never replaced.
bool is_special(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

}  // namespace

Result<void> print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (std::fflush(stdout) != 0 || !written) {
    return io_error("stdout", "cannot be written", errno);
  }
  return {};
}

Result<void> check_writable(const std::string& path) {
  if (path == "-" || is_special(path)) {
    return {};
  }
  std::error_code ignored;
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  if (!std::filesystem::is_directory(folder, ignored)) {
    return io_error(path, "its folder does not exist", ENOENT);
  }
  if (::access(folder.c_str(), W_OK) != 0) {
    return io_error(path, "its folder cannot be written to", errno);
  }
  return {};
}

Result<void> save(const std::string& path, std::string_view bytes) {
  if (is_special(path)) {
    return write_bytes(path, bytes);
  }
  const std::string unfinished = path + ".part";
  if (auto written = write_bytes(unfinished, bytes); !written) {
    return written;
  }
  std::error_code error;
  std::filesystem::rename(unfinished, path, error);
  if (error) {
    return io_error(path, "cannot be made", error.value());
  }
  return {};
}

void note(const Settings& settings, std::string_view text) {
  if (!settings.quiet) {
    fmt::print(stderr, "{}\n", text);
  }
}

void print_error(const Error& error) {
  fmt::print(stderr, "rehearse: {}\n", model::to_string(error));
}

Result<void> emit(const reports::Document& document, const Settings& settings,
                  const EmitOptions& options) {
  const reports::WriteOptions on_terminal = terminal_options(settings);
  auto shown = settings.json ? reports::write_json(document, on_terminal)
                             : reports::write_text(document, on_terminal);
  if (!shown) {
    return std::unexpected(std::move(shown.error()));
  }
  if (settings.output && *settings.output != "-") {
    reports::WriteOptions to_file;
    to_file.listed_max = settings.listed_max;
    auto bytes = reports::writer_for(*settings.output).write(document, to_file);
    if (!bytes) {
      return std::unexpected(std::move(bytes.error()));
    }
    if (auto saved = save(*settings.output, *bytes); !saved) {
      return saved;
    }
  }
  const bool beside = settings.json || options.aside;
  if (!options.last_line.empty() && !beside) {
    *shown += options.last_line + '\n';
  }
  if (options.aside) {
    fmt::print(stderr, "{}", *shown);
  } else if (auto printed = print(*shown); !printed) {
    return printed;
  }
  if (!options.last_line.empty() && beside) {
    fmt::print(stderr, "{}\n", options.last_line);
  }
  return {};
}

Progress::Progress(const Options& options) {
  if (options.quiet || !is_terminal(STDERR_FILENO) || (options.total == 0 && !options.open)) {
    return;
  }
  const std::string what = options.open ? std::string(options.what)
                                        : fmt::format("of {} {}", options.total, options.what);
  shown_ = std::jthread([this, what](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    bool shown = false;
    // A stop request ends the wait at once.
    auto pause = std::chrono::milliseconds(1000);
    while (!wake.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); })) {
      fmt::print(stderr, "\r{} {} ", done_.load(std::memory_order_relaxed), what);
      std::fflush(stderr);
      shown = true;
      pause = std::chrono::milliseconds(200);
    }
    if (shown) {
      fmt::print(stderr, "\r\x1b[K");
      std::fflush(stderr);
    }
  });
}

Progress::~Progress() = default;

}  // namespace rehearse::cli
