// Format `native` (*.rtrace): one JSON object per line, described in docs/native-trace.md. The
// reader is strict whatever the options say, because a file of ours that is wrong is a mistake; the
// writer is canonical: equal traces give equal bytes, and what it writes reads back as the same.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "model/support/error.hpp"
#include "model/trace.hpp"
#include "traces/load_options.hpp"

namespace rehearse::traces {

// Errors name file, line and key: T001 no native trace, T005 malformed, T006 wrong type or missing,
// T007 an id twice, T008 a stage that reads itself, T009 version, T010 absurd value, T011 unknown
// key or record, use before definition, `at` going back, wrong length of a column, missing or
// disagreeing `end`. Without its `end` a file is partial and needs options.partial.
[[nodiscard]] model::Result<model::Trace> read_native(const std::string& path,
                                                      const LoadOptions& options = {});

// Receives the text in pieces, each of whole lines.
using TextSink = std::function<void(std::string_view)>;

void write_native(const model::Trace& trace, const TextSink& sink);

// Writes the file, packed when its name ends in .zst or .zstd; .gz is refused. Errors: io.
[[nodiscard]] model::Result<void> save_native(const model::Trace& trace, const std::string& path);

// "xxh3:" and the XXH3-64 of the canonical native text, as 16 hex digits: the same for one
// workload however it was packed and in whichever format it was read.
[[nodiscard]] std::string trace_id(const model::Trace& trace);

}  // namespace rehearse::traces
