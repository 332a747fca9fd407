// Completion scripts from the command table: after a verb its options, after an option its words,
// otherwise files.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "cli/help.hpp"

namespace rehearse::cli {
namespace {

std::string first_words() {
  std::vector<std::string_view> words;
  for (const VerbInfo& verb : verbs()) {
    const std::string_view word = verb.name.substr(0, verb.name.find(' '));
    if (verb.built && std::ranges::find(words, word) == words.end()) {
      words.push_back(word);
    }
  }
  return fmt::format("{} --help --version", fmt::join(words, " "));
}

std::string trace_words() {
  std::vector<std::string_view> words;
  for (const VerbInfo& verb : verbs()) {
    if (verb.built && verb.name.starts_with("trace ")) {
      words.push_back(verb.name.substr(6));
    }
  }
  return fmt::format("{}", fmt::join(words, " "));
}

std::string option_words(const VerbInfo& verb) {
  std::string text;
  for (const OptionInfo* option : options_of(verb)) {
    if (option->built) {
      text += fmt::format("{}{} ",
                          option->short_name.empty() ? "" : fmt::format("{} ", option->short_name),
                          option->name);
    }
  }
  return text + "-h --help";
}

// "--color) words="auto always never" ;;" for every option with choices, once per name.
std::string choice_cases(std::string_view indent) {
  std::string text;
  for (const OptionInfo& option : options()) {
    if (option.built && !option.choices.empty()) {
      text += fmt::format("{}{}) words=\"{}\" ;;\n", indent, option.name, option.choices);
    }
  }
  return text;
}

std::string verb_cases(std::string_view indent) {
  std::string text;
  for (const VerbInfo& verb : verbs()) {
    if (verb.built) {
      text += fmt::format("{}\"{}\") words=\"{}\"; operands=\"{}\" ;;\n", indent, verb.name,
                          option_words(verb), verb.choices);
    }
  }
  return text;
}

std::string bash_script() {
  return fmt::format(R"sh(# bash completion of rehearse: eval "$(rehearse completion bash)"
_rehearse() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
  local verb="${{COMP_WORDS[1]}}" words="" operands=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{}" -- "$current"))
    return
  fi
  if [ "$verb" = trace ]; then
    if [ "$COMP_CWORD" -eq 2 ]; then
      COMPREPLY=($(compgen -W "{}" -- "$current"))
      return
    fi
    verb="trace ${{COMP_WORDS[2]}}"
  fi
  case "$previous" in
{}  esac
  if [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  case "$verb" in
{}  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *)
      if [ -n "$operands" ]; then
        COMPREPLY=($(compgen -W "$operands" -- "$current"))
      else
        COMPREPLY=($(compgen -f -- "$current"))
      fi ;;
  esac
}}
complete -o filenames -F _rehearse rehearse
)sh",
                     first_words(), trace_words(), choice_cases("    "), verb_cases("    "));
}

std::string zsh_script() {
  return fmt::format(R"sh(#compdef rehearse
# zsh completion of rehearse: eval "$(rehearse completion zsh)"
_rehearse() {{
  local verb="${{words[2]}}" previous="${{words[CURRENT-1]}}" current="${{words[CURRENT]}}"
  local choices="" operands=""
  if (( CURRENT == 2 )); then
    compadd -- {}
    return
  fi
  if [[ "$verb" == trace ]]; then
    if (( CURRENT == 3 )); then
      compadd -- {}
      return
    fi
    verb="trace ${{words[3]}}"
  fi
  _rehearse_words "$previous" "$verb"
  if [[ -n "$choices" ]]; then
    compadd -- ${{=choices}}
  elif [[ "$current" == -* ]]; then
    compadd -- ${{=options}}
  elif [[ -n "$operands" ]]; then
    compadd -- ${{=operands}}
  else
    _files
  fi
}}
# Sets choices, options and operands of _rehearse.
_rehearse_words() {{
  local words=""
  case "$1" in
{}  esac
  choices="$words"
  words=""
  case "$2" in
{}  esac
  options="$words"
}}
compdef _rehearse rehearse
)sh",
                     first_words(), trace_words(), choice_cases("    "), verb_cases("    "));
}

std::string fish_quoted(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    quoted += c == '\'' || c == '\\' ? fmt::format("\\{}", c) : std::string(1, c);
  }
  return fmt::format("'{}'", quoted);
}

std::string fish_script() {
  std::string text = "# fish completion of rehearse: rehearse completion fish | source\n";
  std::string first;
  for (const VerbInfo& verb : verbs()) {
    if (!verb.built) {
      continue;
    }
    const std::size_t blank = verb.name.find(' ');
    const std::string_view word = verb.name.substr(0, blank);
    const bool nested = blank != std::string_view::npos;
    if (nested) {
      text += fmt::format("complete -c rehearse -n '__fish_seen_subcommand_from {}' -a {} -d {}\n",
                          word, verb.name.substr(blank + 1), fish_quoted(verb.what));
    }
    if (first.find(fmt::format(" {} ", word)) == std::string::npos) {
      first += fmt::format(" {} ", word);
      text += fmt::format("complete -c rehearse -n __fish_use_subcommand -f -a {} -d {}\n", word,
                          fish_quoted(nested ? "traces" : verb.what));
    }
    if (!verb.choices.empty()) {
      text += fmt::format("complete -c rehearse -n '__fish_seen_subcommand_from {}' -f -a '{}'\n",
                          word, verb.choices);
    }
    for (const OptionInfo* option : options_of(verb)) {
      if (!option->built) {
        continue;
      }
      const std::string_view seen = nested ? verb.name.substr(blank + 1) : word;
      text += fmt::format(
          "complete -c rehearse -n '__fish_seen_subcommand_from {}'{} -l {}{} -d {}\n", seen,
          option->short_name.empty() ? "" : fmt::format(" -s {}", option->short_name.substr(1)),
          option->name.substr(2),
          option->value.empty()     ? ""
          : option->choices.empty() ? " -r"
                                    : fmt::format(" -x -a '{}'", option->choices),
          fish_quoted(option->what));
    }
  }
  return text;
}

}  // namespace

model::Result<std::string> completion_script(std::string_view shell) {
  if (shell == "bash") {
    return bash_script();
  }
  if (shell == "zsh") {
    return zsh_script();
  }
  if (shell == "fish") {
    return fish_script();
  }
  static constexpr auto known = std::to_array<std::string_view>({"bash", "zsh", "fish"});
  const std::string near = model::nearest_name(shell, known.data(), known.data() + known.size());
  return std::unexpected(model::Error{.what = fmt::format("no completion for \"{}\"", shell),
                                      .remedy = near.empty()
                                                    ? "shells are bash, zsh, fish"
                                                    : fmt::format("did you mean {}?", near)});
}

}  // namespace rehearse::cli
