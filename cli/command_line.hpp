// Arguments to a verb with its operands and options, by the table of command_table.hpp. What the
// values mean is read by settings.hpp.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/command_table.hpp"
#include "model/support/error.hpp"

namespace rehearse::cli {

struct CommandLine {
  const VerbInfo* verb = nullptr;
  std::vector<std::string> operands;
  // By long name ("--output"), values in the order given; a flag has the value "".
  std::map<std::string, std::vector<std::string>, std::less<>> options;

  [[nodiscard]] bool has(std::string_view option) const { return options.contains(option); }
  // Of an option that is not repeatable; nothing when it was not given.
  [[nodiscard]] std::optional<std::string> value(std::string_view option) const;
  [[nodiscard]] std::vector<std::string> values(std::string_view option) const;
};

// What --help and --version print; the exit code is 0.
struct Answer {
  std::string text;
};

// Errors name the argument and the nearest known one; what is not built yet is refused by name.
[[nodiscard]] model::Result<std::variant<CommandLine, Answer>> parse_command_line(
    std::span<const std::string> arguments);

// The command that does it again for one operand, as a shell reads it: without what says where
// results go.
[[nodiscard]] std::string repeat_command(const CommandLine& line, std::string_view operand);

}  // namespace rehearse::cli
