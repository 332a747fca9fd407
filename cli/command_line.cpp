// Parsing with CLI11, which is known to this file alone. Messages are ours: one screen, the nearest
// known name, and what is not built yet by name.
#include "cli/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/help.hpp"

namespace rehearse::cli {
namespace {

using model::Error;

std::unexpected<Error> refuse(std::string what, std::string remedy) {
  return std::unexpected(Error{.what = std::move(what), .remedy = std::move(remedy)});
}

std::string did_you_mean(std::string_view given, const std::vector<std::string_view>& known,
                         std::string otherwise) {
  const std::string near = model::nearest_name(given, known.data(), known.data() + known.size());
  return near.empty() ? std::move(otherwise) : fmt::format("did you mean {}?", near);
}

// The words of verbs at one level: {"run", ..., "trace"}, or those behind "trace ".
std::vector<std::string_view> words_after(std::string_view prefix) {
  std::vector<std::string_view> words;
  for (const VerbInfo& verb : verbs()) {
    if (!verb.name.starts_with(prefix)) {
      continue;
    }
    const std::string_view rest = verb.name.substr(prefix.size());
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (std::ranges::find(words, word) == words.end()) {
      words.push_back(word);
    }
  }
  return words;
}

bool is_family(std::string_view word) {
  const std::string prefix = fmt::format("{} ", word);
  return std::ranges::any_of(verbs(),
                             [&](const VerbInfo& v) { return v.name.starts_with(prefix); });
}

bool asks_for_help(std::string_view argument) { return argument == "--help" || argument == "-h"; }

// The verb that the arguments begin with, and how many words it takes. Without one: what to answer.
struct Opening {
  const VerbInfo* verb = nullptr;
  std::size_t words = 0;
  Answer answer;
};

model::Result<Opening> read_opening(std::span<const std::string> arguments) {
  if (arguments.empty()) {
    return refuse("no verb is given", fmt::format("try one of these\n{}", help_text()));
  }
  const std::string& first = arguments.front();
  if (asks_for_help(first) || first == "help") {
    return Opening{.answer = {help_text()}};
  }
  if (first == "--version") {
    return Opening{.answer = {version_text()}};
  }
  std::string name = first;
  std::size_t words = 1;
  if (is_family(first)) {
    if (arguments.size() == 1 || asks_for_help(arguments[1])) {
      return Opening{.answer = {help_text_of_family(first)}};
    }
    name = fmt::format("{} {}", first, arguments[1]);
    words = 2;
  }
  const VerbInfo* verb = find_verb(name);
  if (verb == nullptr) {
    const std::string prefix = words == 2 ? fmt::format("{} ", first) : "";
    if (arguments[words - 1].starts_with("-")) {
      return refuse(fmt::format("{} stands before the verb", arguments[words - 1]),
                    "write the verb first, then its options");
    }
    return refuse(fmt::format("\"{}\" is no verb", name),
                  did_you_mean(arguments[words - 1], words_after(prefix), "see rehearse --help"));
  }
  if (!verb->built) {
    return refuse(fmt::format("{} is not built yet", verb->name),
                  "see rehearse --help for what is");
  }
  return Opening{.verb = verb, .words = words, .answer = {}};
}

// CLI11 holds the values; they are moved out when it is done.
struct Parser {
  CLI::App app;
  std::vector<std::string> operands;
  std::map<std::string, std::vector<std::string>, std::less<>> values;
  std::map<std::string, bool, std::less<>> flags;

  explicit Parser(const VerbInfo& verb) {
    app.set_help_flag("-h,--help");
    app.allow_extras();
    for (const OptionInfo* option : options_of(verb)) {
      const std::string name(option->name);
      const std::string names =
          option->short_name.empty() ? name : fmt::format("{},{}", option->short_name, name);
      if (option->value.empty()) {
        app.add_flag(names, flags[name]);
      } else {
        app.add_option(names, values[name])->allow_extra_args(false);
      }
    }
    if (!verb.operands.empty()) {
      app.add_option("operands", operands);
    }
  }
};

std::unexpected<Error> unexpected_argument(const VerbInfo& verb, std::string argument) {
  argument = argument.substr(0, argument.find('='));
  if (!argument.starts_with("-") || argument == "-") {
    return refuse(
        fmt::format("\"{}\" is one operand too many for rehearse {}", argument, verb.name),
        fmt::format("see rehearse {} --help", verb.name));
  }
  std::vector<std::string_view> known{"--help"};
  for (const OptionInfo* option : options_of(verb)) {
    known.push_back(option->name);
  }
  for (const OptionInfo& option : options()) {
    if (option.name != argument) {
      continue;
    }
    if (!option.built) {
      return refuse(fmt::format("{} is not built yet", option.name),
                    fmt::format("see rehearse {} --help", verb.name));
    }
    const bool takes_several = (verb.groups & group::comparing) != 0 && argument == "--dialect";
    return refuse(fmt::format("{} is no option of rehearse {}", argument, verb.name),
                  takes_several ? "configurations are given by --with"
                                : fmt::format("see rehearse {} --help", verb.name));
  }
  return refuse(fmt::format("unknown option {}", argument),
                did_you_mean(argument, known, fmt::format("see rehearse {} --help", verb.name)));
}

model::Result<void> check_options(const VerbInfo& verb, const Parser& parser) {
  for (const OptionInfo* option : options_of(verb)) {
    const CLI::Option* parsed = parser.app.get_option(std::string(option->name));
    if (parsed->count() == 0) {
      continue;
    }
    if (!option->built) {
      return refuse(fmt::format("{} is not built yet", option->name),
                    fmt::format("see rehearse {} --help", verb.name));
    }
    if (parsed->count() > 1 && !option->repeatable) {
      return refuse(fmt::format("{} is given {} times", option->name, parsed->count()),
                    "give it once");
    }
  }
  return {};
}

model::Result<void> check_operands(const VerbInfo& verb, const std::vector<std::string>& operands) {
  const auto count = static_cast<int>(operands.size());
  if (count < verb.operands_min) {
    return refuse(fmt::format("rehearse {} needs {}", verb.name, verb.operands),
                  verb.choices.empty() ? fmt::format("as in: {}", verb.example)
                                       : fmt::format("one of: {}", verb.choices));
  }
  if (verb.operands_max != unlimited_operands && count > verb.operands_max) {
    return unexpected_argument(verb, operands[static_cast<std::size_t>(verb.operands_max)]);
  }
  return {};
}

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,@%=";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string quoted = "'";
  for (const char c : word) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

}  // namespace

std::optional<std::string> CommandLine::value(std::string_view option) const {
  const auto found = options.find(option);
  return found == options.end() ? std::nullopt : std::optional(found->second.front());
}

std::vector<std::string> CommandLine::values(std::string_view option) const {
  const auto found = options.find(option);
  return found == options.end() ? std::vector<std::string>{} : found->second;
}

model::Result<std::variant<CommandLine, Answer>> parse_command_line(
    std::span<const std::string> arguments) {
  model::Result<Opening> opening = read_opening(arguments);
  if (!opening) {
    return std::unexpected(std::move(opening.error()));
  }
  if (opening->verb == nullptr) {
    return std::move(opening->answer);
  }
  const VerbInfo& verb = *opening->verb;
  Parser parser(verb);
  std::vector<std::string> rest(arguments.begin() + static_cast<std::ptrdiff_t>(opening->words),
                                arguments.end());
  std::ranges::reverse(rest);  // CLI11 takes them from the back
  try {
    parser.app.parse(rest);
  } catch (const CLI::CallForHelp&) {
    return Answer{help_text(verb)};
  } catch (const CLI::ParseError& error) {
    return refuse(error.what(), fmt::format("see rehearse {} --help", verb.name));
  }
  if (const auto extras = parser.app.remaining(); !extras.empty()) {
    return unexpected_argument(verb, extras.front());
  }
  if (auto checked = check_options(verb, parser); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  if (auto checked = check_operands(verb, parser.operands); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  CommandLine line;
  line.verb = &verb;
  line.operands = std::move(parser.operands);
  for (auto& [name, values] : parser.values) {
    if (!values.empty()) {
      line.options[name] = std::move(values);
    }
  }
  for (const auto& [name, given] : parser.flags) {
    if (given) {
      line.options[name] = {""};
    }
  }
  return line;
}

std::string repeat_command(const CommandLine& line, std::string_view operand) {
  static constexpr auto elsewhere = std::to_array<std::string_view>(
      {"--output", "--json", "--quiet", "--color", "--threads", "--journal", "--fail-if"});
  std::string text = fmt::format("rehearse {} {}", line.verb->name, shell_quoted(operand));
  for (const auto& [name, values] : line.options) {
    if (std::ranges::find(elsewhere, name) != elsewhere.end()) {
      continue;
    }
    for (const std::string& value : values) {
      text += fmt::format(" {}", name);
      text += value.empty() ? "" : fmt::format(" {}", shell_quoted(value));
    }
  }
  return text;
}

}  // namespace rehearse::cli
