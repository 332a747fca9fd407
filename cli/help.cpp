// Help texts. Examples come first: most readers look for a line to paste.
#include "cli/help.hpp"

#include <fmt/format.h>

#include <vector>

#include "model/axes.hpp"
#include "model/config_support.hpp"
#include "reports/text_table.hpp"
#include "traces/registry.hpp"

namespace rehearse::cli {
namespace {

constexpr std::size_t columns = 100;
constexpr std::size_t name_columns = 30;

// "  name      what", the second column wrapped.
std::string row(std::string_view name, std::string_view what) {
  std::string left = fmt::format("  {}", name);
  if (left.size() + 2 > name_columns) {
    left += fmt::format("\n{:{}}", "", name_columns);
  } else {
    left += std::string(name_columns - left.size(), ' ');
  }
  std::string text = reports::wrapped(what, columns - name_columns, 0);
  std::string body;
  for (const char c : text) {
    body += c;
    if (c == '\n') {
      body.append(name_columns, ' ');
    }
  }
  return left + body + '\n';
}

std::string signature(const OptionInfo& option) {
  std::string text = option.short_name.empty() ? "" : fmt::format("{}, ", option.short_name);
  text += option.name;
  return option.value.empty() ? text : fmt::format("{} {}", text, option.value);
}

// The axes and values that configurations may name and this version refuses.
std::string unbuilt_axes() {
  std::string text;
  for (const model::AxisInfo& axis : model::axis_table()) {
    const auto built = model::built_values(axis.name);
    if (axis.built && !built.empty()) {
      text += row(axis.name, fmt::format("{}; built: {}", axis.values, fmt::join(built, ", ")));
    }
  }
  return text;
}

std::string unbuilt_inputs() {
  std::string text;
  std::vector<std::string_view> formats;
  for (const traces::Format& format : traces::formats()) {
    if (!format.built) {
      formats.push_back(format.name);
    }
  }
  text += row("formats", fmt::format("{}", fmt::join(formats, ", ")));
  return text;
}

std::string options_text(const VerbInfo& verb, bool built) {
  std::string text;
  for (const OptionInfo* option : options_of(verb)) {
    if (option->built == built) {
      text +=
          row(signature(*option), option->repeatable ? fmt::format("{} (repeatable)", option->what)
                                                     : std::string(option->what));
    }
  }
  return text;
}

std::string verbs_text(bool built, std::string_view prefix = {}) {
  std::string text;
  for (const VerbInfo& verb : verbs()) {
    if (verb.built == built && verb.name.starts_with(prefix)) {
      text += row(verb.operands.empty() ? std::string(verb.name)
                                        : fmt::format("{} {}", verb.name, verb.operands),
                  verb.what);
    }
  }
  return text;
}

constexpr std::string_view exit_codes =
    "Exit codes: 0 done, nothing found; 1 cannot read or write; 2 unusable arguments or input;\n"
    "3 an expectation or property failed; 4 beyond a threshold of --fail-if; 70 a fault of this\n"
    "program; 130 interrupted, what is complete was written.\n";

}  // namespace

std::string version_text() { return fmt::format("rehearse {}\n", REHEARSE_VERSION); }

std::string help_text() {
  std::string text =
      "rehearse: job traces and scenarios through a real scheduler core, in virtual time.\n\n"
      "Example:\n"
      "  rehearse compare examples/sample.rtrace --pipelined all --with sequential --with psd\n\n"
      "Usage: rehearse VERB [OPERANDS] [OPTIONS]; rehearse VERB --help says more\n\n";
  text += verbs_text(true);
  text += "\nOf every verb:\n";
  text += row("-h, --help", "what the verb does, its options, an example");
  text += row("--version", "the version (without a verb)");
  text += "\nNot yet (refused by name):\n";
  text += verbs_text(false);
  text += unbuilt_inputs();
  text += fmt::format("\n{}", exit_codes);
  return text;
}

std::string help_text_of_family(std::string_view family) {
  std::string text = fmt::format("Usage: rehearse {} VERB [OPERANDS] [OPTIONS]\n\n", family);
  const std::string prefix = fmt::format("{} ", family);
  text += verbs_text(true, prefix);
  text += "\nNot yet (refused by name):\n";
  text += verbs_text(false, prefix);
  return text;
}

std::string help_text(const VerbInfo& verb) {
  std::string text = fmt::format(
      "rehearse {}: {}.\n\nExample:\n  {}\n\nUsage: rehearse {}{}{} "
      "[OPTIONS]\n\nOptions:\n",
      verb.name, verb.what, verb.example, verb.name, verb.operands.empty() ? "" : " ",
      verb.operands);
  text += options_text(verb, true);
  text += row("-h, --help", "this text");
  if (!verb.choices.empty()) {
    text += fmt::format("\n{} is one of: {}\n", verb.operands, verb.choices);
  }
  std::string later = options_text(verb, false);
  if ((verb.groups & group::simulating) != 0) {
    later += unbuilt_inputs();
    later += "  keys of scenario files\n";
    for (const std::string_view key : unbuilt_keys()) {
      later += fmt::format("    {}\n", key);
    }
    later += "  values of axes\n" + unbuilt_axes();
  }
  if (!later.empty()) {
    text += fmt::format("\nNot yet (refused by name):\n{}", later);
  }
  if ((verb.groups & group::simulating) != 0) {
    text += fmt::format("\n{}", exit_codes);
  }
  return text;
}

}  // namespace rehearse::cli
