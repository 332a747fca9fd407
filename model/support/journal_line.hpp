// One journal event as one line of text, as journal files have it (scenario.md section 5). Files,
// compression and reading are traces/ business; messages about events use the same lines.
#pragma once

#include <string>
#include <string_view>

#include "model/support/events.hpp"

namespace rehearse::model {

// Appends {"t":15000000,"e":"job_started","job":"q"}: keys in table order, absent ones left out,
// per-profile counts and amounts as objects, no blanks, no line end.
void append_journal_line(std::string& out, const Event& event, const NameTable& names);
[[nodiscard]] std::string journal_line(const Event& event, const NameTable& names);

// Appends the value of one key as it stands in the line. False, and nothing appended, when the
// event has no such key or it is absent.
[[nodiscard]] bool append_key_value(std::string& out, const Event& event, std::string_view key,
                                    const NameTable& names);

// Appends text in quotes with what must be escaped escaped.
void append_quoted(std::string& out, std::string_view text);

}  // namespace rehearse::model
