// rehearse check: the properties over a journal that was written before, by this program or by a
// system that writes the same lines.
#include <fmt/format.h>

#include "cli/console.hpp"
#include "cli/input_path.hpp"
#include "cli/verb_shared.hpp"
#include "cli/verbs.hpp"
#include "model/support/journal_hash.hpp"
#include "properties/monitor_set.hpp"
#include "traces/journal_json.hpp"

namespace rehearse::cli {
namespace {

// The same events to several observers.
class Both final : public model::Observer {
 public:
  Both(model::Observer& first, model::Observer& second) : first_(first), second_(second) {}
  void begin(const model::NameTable& names) override {
    first_.begin(names);
    second_.begin(names);
  }
  void on(const model::Event& event) override {
    first_.on(event);
    second_.on(event);
  }

 private:
  model::Observer& first_;
  model::Observer& second_;
};

reports::Verdict verdict_of(properties::Verdict verdict) {
  switch (verdict) {
    case properties::Verdict::held:
      return reports::Verdict::held;
    case properties::Verdict::violated:
      return reports::Verdict::violated;
    case properties::Verdict::not_judged:
      break;
  }
  return reports::Verdict::not_judged;
}

}  // namespace

VerbResult check_journal(const CommandLine& line, const Settings& settings) {
  if (const auto format = line.value("--format"); format && *format != "journal") {
    return std::unexpected(
        model::Error{.what = fmt::format("no format \"{}\" of journals", *format),
                     .field = "--format",
                     .remedy = "the only one is journal"});
  }
  const std::string& path = line.operands.front();
  const auto file = InputPath::open(path);
  if (!file) {
    return std::unexpected(file.error());
  }
  model::NameTable names;
  properties::MonitorSet monitors;
  model::JournalHash hash;
  Both observers(monitors, hash);
  const auto read = traces::read_journal(file->path(), names, observers);
  if (!read) {
    return std::unexpected(file->named(read.error()));
  }
  monitors.finish();
  reports::CheckDocument document{.envelope = envelope_of(line),
                                  .journal_hash = hash.value(),
                                  .properties = {},
                                  .violations = monitors.violations()};
  reports::Input input;
  input.path = path;
  input.format = "journal";
  if (read->damage) {
    input.warnings.push_back(
        {read->damage->line > 0 ? std::optional(read->damage->line) : std::nullopt,
         read->damage->what});
  }
  if (!read->complete) {
    input.warnings.push_back(
        {std::nullopt,
         "it does not end in run_end: what should still have happened is not judged"});
  }
  document.envelope.inputs.push_back(std::move(input));
  for (const properties::PropertyVerdict& verdict : monitors.verdicts()) {
    document.properties.push_back(
        {std::string(verdict.property), verdict.promised, verdict_of(verdict.verdict)});
  }
  const bool found = !document.violations.empty();
  const auto shown = emit(document, settings, {.last_line = found ? replay_line(line, path) : ""});
  if (!shown) {
    return std::unexpected(shown.error());
  }
  return found ? exit_finding : exit_done;
}

}  // namespace rehearse::cli
