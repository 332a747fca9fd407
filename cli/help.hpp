// The texts of --help and the completion scripts, both derived from the command table.
#pragma once

#include <string>
#include <string_view>

#include "cli/command_table.hpp"
#include "model/support/error.hpp"

namespace rehearse::cli {

[[nodiscard]] std::string help_text();
[[nodiscard]] std::string help_text(const VerbInfo& verb);
// `trace` alone: its verbs.
[[nodiscard]] std::string help_text_of_family(std::string_view family);

// bash, zsh or fish; errors name the nearest of them.
[[nodiscard]] model::Result<std::string> completion_script(std::string_view shell);

[[nodiscard]] std::string version_text();

}  // namespace rehearse::cli
