// registry: text
//
// Results for people at a terminal: what was found first, then the numbers behind it, then what was
// assumed. Separators in counts and colour only where the caller says there is a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "reports/numbers.hpp"
#include "reports/text_table.hpp"
#include "reports/writer.hpp"

namespace rehearse::reports {
namespace {

using Align = TextTable::Align;

// Longest lists of single jobs, requests, warnings and the like before "... and n more".
constexpr std::size_t rows_max = 20;

class Text {
 public:
  explicit Text(const WriteOptions& options) : options_(options) {}

  void line(std::string_view text) { out_ += fmt::format("{}\n", text); }
  void wrap(std::string_view text, std::size_t indent = 0) {
    out_.append(indent, ' ');
    out_ += wrapped(text, columns() - indent, indent + 2) + '\n';
  }
  void heading(std::string_view text) {
    line("");
    line(options_.color ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text));
  }
  // Never broken: whoever takes the first line of the output takes all of it.
  void strong(std::string_view text) {
    line(options_.color ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text));
  }
  void table(const TextTable& table) {
    if (!table.empty()) {
      out_ += table.text(options_.columns);
    }
  }
  void more(std::size_t all) {
    if (all > rows_max) {
      line(fmt::format("  ... and {} more", all - rows_max));
    }
  }
  [[nodiscard]] std::string count(std::int64_t value) const {
    return count_text(value, options_.terminal);
  }
  [[nodiscard]] std::string slots(Wide value) const {
    return slot_time_text(value, options_.terminal);
  }
  [[nodiscard]] std::size_t columns() const {
    return static_cast<std::size_t>(std::max(options_.columns, 60));
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  const WriteOptions& options_;
  std::string out_;
};

std::string ppm_text(const std::optional<std::int64_t>& ppm) {
  return ppm ? share_text(*ppm, 1'000'000) : "-";
}

// ---- shared parts ----

void write_inputs(Text& text, const Envelope& envelope) {
  if (!envelope.complete) {
    text.strong("Incomplete: the work was interrupted; what follows is what was done.");
  }
  for (const Input& input : envelope.inputs) {
    if (!input.ok) {
      text.wrap(fmt::format("{}: not used", input.path));
    }
  }
}

void write_warnings(Text& text, const Envelope& envelope, const std::vector<std::string>& further) {
  std::vector<std::string> lines = further;
  for (const Input& input : envelope.inputs) {
    for (const InputWarning& warning : input.warnings) {
      lines.push_back(warning.line
                          ? fmt::format("{}:{}: {}", input.path, *warning.line, warning.what)
                          : fmt::format("{}: {}", input.path, warning.what));
    }
  }
  if (lines.empty()) {
    return;
  }
  text.heading("Warnings");
  for (std::size_t i = 0; i < lines.size() && i < rows_max; ++i) {
    text.wrap(lines[i], 2);
  }
  text.more(lines.size());
}

void write_violations(Text& text, const std::vector<model::Violation>& violations) {
  for (std::size_t i = 0; i < violations.size() && i < rows_max; ++i) {
    const model::Violation& violation = violations[i];
    text.wrap(fmt::format("{} at {} ns: {}", violation.property, text.count(violation.t),
                          violation.detail),
              2);
  }
  text.more(violations.size());
}

// ---- compare ----

TextTable configuration_table(const std::vector<Configuration>& all, std::string head) {
  std::vector<Align> align(all.size() + 1, Align::right);
  align[0] = Align::left;
  TextTable table(std::move(align));
  std::vector<std::string> cells = {std::move(head)};
  for (const Configuration& configuration : all) {
    cells.push_back(shortened(configuration.name, 28));
  }
  table.row(std::move(cells));
  return table;
}

void write_dist_table(Text& text, const Comparison& comparison, const DistTable& dists) {
  constexpr std::optional<model::Duration> Dist::* stats[] = {
      &Dist::p50_ns, &Dist::p90_ns, &Dist::p95_ns, &Dist::p99_ns, &Dist::mean_ns, &Dist::max_ns};
  std::vector<Align> align(9, Align::right);
  align[0] = Align::left;
  align[8] = Align::left;
  TextTable table(std::move(align));
  table.row({"", "n", "p50", "p90", "p95", "p99", "mean", "max"});
  for (std::size_t i = 0; i < dists.rows.size(); ++i) {
    const Dist& dist = dists.rows[i];
    std::vector<std::string> cells = {comparison.configurations[i].name, text.count(dist.n)};
    for (const auto member : stats) {
      cells.push_back(dist.*member ? duration_text(*(dist.*member)) : "-");
    }
    if (dist.censored > 0) {
      cells.push_back(fmt::format("{} cut off", text.count(dist.censored)));
    }
    table.row(std::move(cells));
  }
  if (dists.change) {
    std::vector<std::string> cells = {"change", ""};
    for (const auto member : stats) {
      const auto base = dists.rows[0].*member;
      const auto other = dists.rows[1].*member;
      cells.push_back(base && other ? change_text(*base, *other) : "-");
    }
    table.row(std::move(cells));
  }
  text.line("");
  text.line("  " + dists.title);
  text.table(table);
}

void write_outcome_table(Text& text, const std::vector<Configuration>& all) {
  TextTable table = configuration_table(all, "requests");
  const auto row = [&](std::string name, auto value) {
    std::vector<std::string> cells = {std::move(name)};
    for (const Configuration& configuration : all) {
      cells.push_back(text.count(value(configuration)));
    }
    table.row(std::move(cells));
  };
  row("succeeded", [](const Configuration& c) { return c.latency.n; });
  row("rejected", [](const Configuration& c) { return c.rejected; });
  row("failed", [](const Configuration& c) { return c.failed; });
  row("cancelled", [](const Configuration& c) { return c.cancelled; });
  row("unfinished", [](const Configuration& c) { return c.unfinished; });
  std::vector<std::string> makespans = {"makespan"};
  for (const Configuration& configuration : all) {
    makespans.push_back(duration_text(configuration.makespan_ns));
  }
  table.row(std::move(makespans));
  text.line("");
  text.table(table);
}

void write_slot_table(Text& text, const std::vector<Configuration>& all) {
  std::vector<Align> align(all.size() * 2 + 1, Align::right);
  align[0] = Align::left;
  TextTable table(std::move(align));
  std::vector<std::string> head = {"slot time"};
  for (const Configuration& configuration : all) {
    head.push_back(shortened(configuration.name, 28));
    head.emplace_back("");
  }
  table.row(std::move(head));
  const auto row = [&](std::string_view name, auto value) {
    std::vector<std::string> cells = {std::string(name)};
    for (const Configuration& configuration : all) {
      const Wide slot_ns = value(configuration.totals);
      cells.push_back(text.slots(slot_ns));
      cells.push_back(share_text(slot_ns, configuration.totals.slot_time));
    }
    table.row(std::move(cells));
  };
  for (std::size_t use = 0; use < slot_uses; ++use) {
    row(slot_use_names[use], [use](const Totals& totals) { return totals.slot_use[use]; });
  }
  row("sum = slot time", [](const Totals& totals) { return totals.slot_time; });
  text.line("");
  text.table(table);
}

void write_losers(Text& text, const Configuration& configuration) {
  TextTable table({Align::left, Align::left, Align::left, Align::left});
  table.row({"request", "outcome", "code", "detail"});
  std::size_t all = 0;
  for (const RequestMetrics& request : configuration.requests) {
    if (request.outcome != Outcome::succeeded && ++all <= rows_max) {
      table.row({request.name, std::string(name_of(request.outcome)),
                 request.code ? std::string(model::name_of(*request.code)) : "",
                 shortened(request.detail, 60)});
    }
  }
  if (all > 0) {
    text.heading(fmt::format("Without success under {}", configuration.name));
    text.table(table);
    text.more(all);
  }
}

void write_pairs(Text& text, const Comparison& comparison, const Paired& paired) {
  if (paired.requests.empty()) {
    return;
  }
  text.heading(fmt::format("{} against {}: {} paired, {} faster, {} slower, {} same", paired.name,
                           comparison.baseline, plural(std::ssize(paired.requests), "request"),
                           paired.faster, paired.slower, paired.same));
  std::vector<PairedRequest> sorted = paired.requests;
  std::ranges::sort(sorted, gains_more);
  TextTable table({Align::left, Align::right, Align::right, Align::right});
  table.row({"request", "baseline", "other", "change"});
  const auto row = [&](const PairedRequest& pair) {
    table.row({pair.request, duration_text(pair.base_ns), duration_text(pair.other_ns),
               change_text(pair.base_ns, pair.other_ns)});
  };
  const std::size_t half = rows_max / 2;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted.size() <= rows_max || i < half || i + half >= sorted.size()) {
      row(sorted[i]);
    } else if (i == half) {
      table.row({fmt::format("... {} between ...", sorted.size() - 2 * half)});
    }
  }
  text.table(table);
}

void write_marking(Text& text, const Envelope& envelope) {
  TextTable table(
      {Align::left, Align::right, Align::right, Align::left, Align::right, Align::left});
  table.row({"marking", "candidates", "marked", "left", "work in groups", "narrowed"});
  for (const Input& input : envelope.inputs) {
    if (!input.marking) {
      continue;
    }
    const Marking& marking = *input.marking;
    std::vector<std::string> left;
    left.reserve(marking.left.size());
    for (const auto& [reason, count] : marking.left) {
      left.push_back(fmt::format("{} {}", text.count(count), reason));
    }
    table.row({fmt::format("{} by {}", input.path, marking.unit), text.count(marking.candidates),
               text.count(marking.marked), fmt::format("{}", fmt::join(left, ", ")),
               share_text(marking.work_in_groups, marking.work),
               marking.narrowed
                   ? fmt::format("{} -> {} tasks", text.count(marking.narrowed->tasks_before),
                                 text.count(marking.narrowed->tasks_after))
                   : ""});
  }
  if (!table.empty()) {
    text.line("");
    text.table(table);
  }
}

void write(Text& text, const CompareDocument& document) {
  const Comparison& comparison = document.comparison;
  const std::vector<Configuration>& all = comparison.configurations;
  text.strong(comparison.finding.headline);
  for (const std::string& detail : comparison.finding.details) {
    text.wrap(detail);
  }
  write_inputs(text, document.envelope);
  for (const FailResult& result : comparison.fail_if) {
    text.wrap(fmt::format("{} {} ({})", result.tripped ? "TRIPPED" : "passed", result.rule,
                          result.detail));
  }
  for (const DistTable& table : dist_tables(comparison)) {
    write_dist_table(text, comparison, table);
  }
  write_outcome_table(text, all);
  write_slot_table(text, all);
  write_marking(text, document.envelope);
  for (const Paired& paired : comparison.paired) {
    write_pairs(text, comparison, paired);
  }
  for (const Configuration& configuration : all) {
    write_losers(text, configuration);
    if (!configuration.violations.empty()) {
      text.heading(fmt::format("Violations under {}", configuration.name));
      write_violations(text, configuration.violations);
    }
  }
  if (!comparison.assumptions.empty()) {
    text.heading("Assumed");
    for (const std::string& assumption : comparison.assumptions) {
      text.wrap(assumption, 2);
    }
  }
  write_warnings(text, document.envelope, comparison.warnings);
}

// ---- run and replay ----

void write_run(Text& text, const ScenarioRun& run) {
  const RunMetrics& metrics = run.metrics;
  const Totals& totals = metrics.totals;
  const auto wrong = std::ranges::count_if(run.expectations, [](const auto& e) { return !e.ok; });
  const bool good = wrong == 0 && run.violations.empty();
  text.strong(fmt::format("{} {} ({}): {} in {}, {}", good ? "ok" : "FAILED", run.scenario,
                          run.configuration, plural(totals.jobs, "job"),
                          duration_text(metrics.end_ns), hash_text(run.journal_hash)));
  const std::int64_t done =
      totals.jobs - totals.rejected - totals.failed - totals.cancelled - totals.unfinished;
  text.wrap(
      fmt::format("{} succeeded, {} rejected, {} failed, {} cancelled, {} unfinished; "
                  "{} stage attempts, {} tasks, {} events; utilization {}",
                  text.count(done), text.count(totals.rejected), text.count(totals.failed),
                  text.count(totals.cancelled), text.count(totals.unfinished),
                  text.count(totals.stages), text.count(totals.tasks), text.count(totals.events),
                  share_text(totals.use(SlotUse::busy), totals.slot_time)),
      2);
  for (const model::ExpectationResult& result : run.expectations) {
    if (!result.ok) {
      text.wrap(fmt::format("expectation {}: {}", result.index, result.detail), 2);
    }
  }
  write_violations(text, run.violations);
  for (const std::string& fault : run.faults_never_fired) {
    text.wrap(fmt::format("never fired: {}", fault), 2);
  }
}

void write(Text& text, const RunDocument& document) {
  write_inputs(text, document.envelope);
  for (const ScenarioRun& run : document.runs) {
    write_run(text, run);
  }
  const auto failed = std::ranges::count_if(document.runs, [](const ScenarioRun& run) {
    return !run.violations.empty() ||
           std::ranges::any_of(run.expectations, [](const auto& e) { return !e.ok; });
  });
  if (document.runs.size() > 1) {
    text.line(fmt::format("{} of {} ok", document.runs.size() - static_cast<std::size_t>(failed),
                          plural(std::ssize(document.runs), "run")));
  }
  write_warnings(text, document.envelope, {});
}

void write_error(Text& text, std::string_view name, const ReplayError& error) {
  text.line(fmt::format("{}: median {}, p90 {}", name, ppm_text(error.median_ppm),
                        ppm_text(error.p90_ppm)));
  TextTable table({Align::left, Align::right, Align::right, Align::right, Align::left});
  table.row({"worst jobs", "recorded", "simulated", "error", "known reason"});
  for (const JobError& job : error.worst) {
    table.row({job.job, duration_text(job.recorded_ns), duration_text(job.simulated_ns),
               ppm_text(job.error_ppm), job.note});
  }
  text.table(table);
}

void write(Text& text, const ReplayDocument& document) {
  write_inputs(text, document.envelope);
  for (const ScenarioRun& run : document.runs) {
    write_run(text, run);
  }
  const Recorded& recorded = document.recorded;
  text.heading(fmt::format("Against the recording: {} of {} compared",
                           text.count(recorded.compared_jobs), plural(recorded.jobs, "job")));
  write_error(text, "Prediction error (driver model)", recorded.prediction);
  write_error(text, "Reconstruction error (recorded delays)", recorded.reconstruction);
  if (!recorded.left_out.empty()) {
    text.heading(fmt::format("Left out: {}", plural(std::ssize(recorded.left_out), "job")));
    for (std::size_t i = 0; i < recorded.left_out.size() && i < rows_max; ++i) {
      text.wrap(fmt::format("{}: {}", recorded.left_out[i].job, recorded.left_out[i].why), 2);
    }
    text.more(recorded.left_out.size());
  }
  write_warnings(text, document.envelope, {});
}

// ---- the other documents ----

void write(Text& text, const CheckDocument& document) {
  write_inputs(text, document.envelope);
  const auto broken = std::ranges::count_if(document.properties, [](const auto& p) {
    return p.promised && p.verdict == Verdict::violated;
  });
  text.strong(fmt::format(
      "{}: {} of {} promised properties did not hold", hash_text(document.journal_hash), broken,
      std::ranges::count_if(document.properties, [](const auto& p) { return p.promised; })));
  TextTable table({Align::left, Align::left, Align::left});
  table.row({"property", "promised", "verdict"});
  for (const CheckedProperty& property : document.properties) {
    table.row({property.property, property.promised ? "yes" : "no",
               property.verdict == Verdict::held       ? "held"
               : property.verdict == Verdict::violated ? "VIOLATED"
                                                       : "not judged"});
  }
  text.table(table);
  write_violations(text, document.violations);
  write_warnings(text, document.envelope, {});
}

void write_path(Text& text, const ExploredPath& path) {
  text.heading(fmt::format("{} after {} and {}", path.violation.property,
                           plural(path.faults, "fault"), plural(std::ssize(path.steps), "step")));
  text.wrap(path.violation.detail, 2);
  for (std::size_t i = 0; i < path.steps.size(); ++i) {
    const ExploredPath::Step& step = path.steps[i];
    text.wrap(fmt::format("{:>3}  {}", i + 1, step.what), 2);
    if (!step.lines.empty()) {
      text.wrap(fmt::format("{}", fmt::join(step.lines, ", ")), 9);
    }
  }
}

void write(Text& text, const ExploreDocument& document) {
  const std::size_t broken = document.paths.size();
  text.strong(fmt::format("{}, {}, at most {}: {}", plural(document.states, "state"),
                          plural(document.transitions, "transition"),
                          plural(document.faults_max, "fault"),
                          !document.envelope.complete ? "cut short, not every interleaving was seen"
                                                      : "every interleaving was seen"));
  text.line(broken == 0 ? "no promised property breaks"
                        : fmt::format("{} {}", broken,
                                      broken == 1 ? "property breaks" : "properties break"));
  TextTable table({Align::left, Align::right});
  table.row({"after faults", "states"});
  for (std::size_t i = 0; i < document.states_by_faults.size(); ++i) {
    table.row({fmt::format("{}", i), text.count(document.states_by_faults[i])});
  }
  table.row({"ends", text.count(document.ends)});
  text.table(table);
  for (const ExploredPath& path : document.paths) {
    write_path(text, path);
  }
  write_warnings(text, document.envelope, {});
}

void write(Text& text, const ListDocument& document) {
  std::size_t widest = 0;
  for (const ListItem& item : document.items) {
    widest = std::max(widest, width_of(item.name));
  }
  for (const ListItem& item : document.items) {
    std::string line = item.name + std::string(widest - width_of(item.name) + 2, ' ') + item.what;
    if (item.default_value) {
      line += fmt::format(" (default {})", *item.default_value);
    }
    if (item.bound) {
      line += fmt::format(" [waiting: {}]", *item.bound);
    }
    text.line(line);
  }
}

void write_facts(Text& text, const TraceFacts& facts) {
  TextTable table({Align::left, Align::right});
  table.row({"format", fmt::format("{} {}", facts.format, facts.version)});
  const std::pair<std::string_view, std::int64_t> counts[] = {
      {"jobs", facts.jobs},
      {"stage attempts submitted", facts.stages},
      {"task ends", facts.tasks},
      {"executors", facts.executors},
      {"unfinished jobs", facts.unfinished},
      {"failed tasks", facts.failed_tasks},
      {"aliased stages", facts.aliased_stages},
      {"edges after aliasing", facts.edges}};
  for (const auto& [name, count] : counts) {
    table.row({std::string(name), text.count(count)});
  }
  for (const auto& [reason, count] : facts.task_ends) {
    table.row({fmt::format("task ends: {}", reason), text.count(count)});
  }
  text.table(table);
  std::vector<UnitWidth> units = facts.units;
  std::ranges::sort(units, [](const UnitWidth& a, const UnitWidth& b) {
    return a.slots_as_group != b.slots_as_group ? a.slots_as_group > b.slots_as_group
                                                : a.name < b.name;
  });
  TextTable widths({Align::left, Align::right, Align::right});
  widths.row({"widest units", "stages", "slots as one group"});
  for (std::size_t i = 0; i < units.size() && i < rows_max; ++i) {
    widths.row({units[i].name, text.count(units[i].stages), text.count(units[i].slots_as_group)});
  }
  text.table(widths);
  text.more(units.size());
  for (std::size_t i = 0; i < facts.warnings.size() && i < rows_max; ++i) {
    const InputWarning& warning = facts.warnings[i];
    text.wrap(warning.line ? fmt::format("line {}: {}", *warning.line, warning.what) : warning.what,
              2);
  }
  text.more(facts.warnings.size());
}

void write(Text& text, const InspectDocument& document) {
  for (std::size_t i = 0; i < document.facts.size(); ++i) {
    text.strong(i < document.envelope.inputs.size() ? document.envelope.inputs[i].path : "trace");
    write_facts(text, document.facts[i]);
  }
}

// ---- explain ----

// Parts listed one by one; long paths repeat themselves.
constexpr std::size_t parts_max = 60;

void write_kinds(Text& text, const Explanation& explanation) {
  std::vector<std::pair<std::string, model::Duration>> kinds;
  for (const ExplainPart& part : explanation.parts) {
    const auto found = std::ranges::find(kinds, part.kind, [](const auto& k) { return k.first; });
    if (found == kinds.end()) {
      kinds.emplace_back(part.kind, part.to_ns - part.from_ns);
    } else {
      found->second += part.to_ns - part.from_ns;
    }
  }
  std::ranges::sort(kinds, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::vector<std::string> words;
  for (const auto& [kind, spent] : kinds) {
    words.push_back(fmt::format("{} {} ({})", kind, duration_text(spent),
                                share_text(spent, explanation.latency_ns())));
  }
  text.wrap(fmt::format("{}.", fmt::join(words, ", ")), 2);
}

void write(Text& text, const ExplainDocument& document) {
  const Explanation& explanation = document.explanation;
  write_inputs(text, document.envelope);
  text.strong(
      fmt::format("{} took {}: {}{}{}", explanation.job, duration_text(explanation.latency_ns()),
                  name_of(explanation.outcome),
                  explanation.code ? fmt::format(" ({})", model::name_of(*explanation.code)) : "",
                  explanation.tries > 1 ? fmt::format(" after {} tries", explanation.tries) : ""));
  if (!explanation.parts.empty()) {
    write_kinds(text, explanation);
    text.heading(
        fmt::format("Where the time went, from its submission at {} (counts: when a part began)",
                    duration_text(explanation.submit_ns)));
  }
  for (std::size_t i = 0; i < explanation.parts.size() && i < parts_max; ++i) {
    const ExplainPart& part = explanation.parts[i];
    text.wrap(fmt::format("+{}, {} {}: {}", duration_text(part.from_ns - explanation.submit_ns),
                          duration_text(part.to_ns - part.from_ns), part.kind, part.detail),
              2);
  }
  if (explanation.parts.size() > parts_max) {
    text.line(fmt::format("  ... and {} more", explanation.parts.size() - parts_max));
  }
  if (!explanation.helps.empty()) {
    text.heading("What would have helped");
  }
  for (std::size_t i = 0; i < explanation.helps.size() && i < rows_max; ++i) {
    text.wrap(explanation.helps[i], 2);
  }
  text.more(explanation.helps.size());
  write_warnings(text, document.envelope, {});
}

// ---- fuzz ----

std::string parts_text(const PartCounts& parts) {
  return fmt::format("{}, {}, {}, {}, {}", plural(parts.faults, "fault"), plural(parts.jobs, "job"),
                     plural(parts.stages, "stage"), plural(parts.tasks, "task"),
                     plural(parts.executors, "executor"));
}

void write_story(Text& text, const Counterexample& found) {
  if (found.rows_before > 0) {
    text.line(fmt::format("  ... {} before", plural(found.rows_before, "event")));
  }
  TextTable table({Align::left, Align::right, Align::left, Align::left, Align::right, Align::right,
                   Align::right, Align::left});
  table.row({"", "t", "event", "of", "free", "wait", "run", ""});
  for (const StoryRow& row : found.story) {
    constexpr std::size_t note_columns = 34;
    table.row({row.marked ? ">>" : "", duration_text(row.t), row.event, row.subject,
               std::to_string(row.free), std::to_string(row.waiting), std::to_string(row.running),
               shortened(row.note, note_columns)});
  }
  text.table(table);
}

void write_counterexample(Text& text, const Counterexample& found) {
  text.heading(fmt::format("VIOLATION {} (seed {})", found.property, found.seed));
  text.wrap(found.statement, 2);
  text.wrap(fmt::format("seen: {}", found.detail), 2);
  text.wrap(
      fmt::format("shrunk from {} to {} in {} of {}{}", parts_text(found.original),
                  parts_text(found.shrunk), plural(found.shrink_steps, "step"),
                  plural(found.shrink_runs, "run"), found.stopped_early ? "; stopped early" : ""),
      2);
  if (found.critical) {
    text.wrap(fmt::format("critical: with nothing after {} and a fresh cluster it stays",
                          duration_text(*found.critical)),
              2);
  }
  for (const std::string& other : found.others) {
    text.wrap(fmt::format("also found on the way: {}", other), 2);
  }
  write_story(text, found);
  text.line(fmt::format("  {} {}", found.scenario, found.journal_hash));
  for (const std::string& command : found.commands) {
    text.line(fmt::format("  {}", command));
  }
}

void write(Text& text, const FuzzDocument& document) {
  write_inputs(text, document.envelope);
  text.strong(fmt::format("{}: {} runs from seed {}, {}", document.configuration,
                          text.count(document.runs), document.seed,
                          document.counterexamples.empty()
                              ? "no counterexample"
                              : plural(std::ssize(document.counterexamples), "counterexample")));
  text.wrap(fmt::format("{} runs/s, {} core steps; {} event patterns, {} states",
                        text.count(static_cast<std::int64_t>(document.runs_per_s)),
                        text.count(document.core_steps), text.count(document.patterns),
                        text.count(document.states)),
            2);
  for (const std::string& line : document.mix) {
    text.wrap(line, 2);
  }
  if (!document.rarest.empty()) {
    std::vector<std::string> marks;
    for (const auto& [mark, times] : document.rarest) {
      marks.push_back(fmt::format("{} ({})", mark, text.count(times)));
    }
    text.wrap(fmt::format("rarest marks: {}", fmt::join(marks, ", ")), 2);
  }
  // A campaign that was cut short by a find has missed what it had no time for.
  if (!document.marks_missed.empty() && document.counterexamples.empty()) {
    const std::size_t shown = std::min(document.marks_missed.size(), rows_max);
    const auto first = document.marks_missed.begin();
    text.wrap(fmt::format("marks missed: {}",
                          fmt::join(first, first + static_cast<std::ptrdiff_t>(shown), ", ")),
              2);
    text.more(document.marks_missed.size());
  }
  for (const Counterexample& found : document.counterexamples) {
    write_counterexample(text, found);
  }
  write_warnings(text, document.envelope, {});
}

// ---- mutants ----

// Nearest rank of the lower middle; the list is not empty.
std::int64_t median_of(std::vector<std::int64_t> values) {
  std::ranges::sort(values);
  return values[(values.size() - 1) / 2];
}

void write_shrunk(Text& text, const MutantsDocument& document) {
  std::vector<std::int64_t> jobs;
  std::vector<std::int64_t> stages;
  std::vector<std::int64_t> faults;
  std::vector<std::int64_t> times;
  std::int64_t replay = 0;
  std::int64_t cut = 0;
  for (const MutantResult& mutant : document.mutants) {
    if (mutant.shrunk) {
      jobs.push_back(mutant.shrunk->size.jobs);
      stages.push_back(mutant.shrunk->size.stages);
      faults.push_back(mutant.shrunk->size.faults);
      times.push_back(mutant.shrunk->ms);
      replay += mutant.shrunk->replays ? 1 : 0;
      cut += mutant.shrunk->stopped_early ? 1 : 0;
    }
  }
  if (times.empty()) {
    return;
  }
  text.wrap(
      fmt::format("{} shrunk: medians {}, {}, {}, {} ms; the slowest {} ms, {} stopped "
                  "early, {} replay to the same journal",
                  times.size(), plural(median_of(jobs), "job"), plural(median_of(stages), "stage"),
                  plural(median_of(faults), "fault"), text.count(median_of(times)),
                  text.count(std::ranges::max(times)), cut, replay),
      2);
}

// How many each property killed, the most first.
void write_killers(Text& text, const MutantsDocument& document) {
  std::map<std::string, std::int64_t> counts;
  for (const MutantResult& mutant : document.mutants) {
    if (mutant.by) {
      ++counts[*mutant.by];
    }
  }
  std::vector<std::pair<std::string, std::int64_t>> order(counts.begin(), counts.end());
  std::ranges::sort(order, [](const auto& left, const auto& right) {
    return left.second != right.second ? left.second > right.second : left.first < right.first;
  });
  std::vector<std::string> parts;
  for (const auto& [property, count] : order) {
    parts.push_back(fmt::format("{} {}", property, count));
  }
  if (!parts.empty()) {
    text.wrap(fmt::format("killed by: {}", fmt::join(parts, ", ")), 2);
  }
}

void write_survivors(Text& text, const MutantsDocument& document) {
  if (document.killed() == std::ssize(document.mutants)) {
    return;
  }
  text.heading("Survivors");
  for (const MutantResult& mutant : document.mutants) {
    if (!mutant.killed) {
      text.wrap(fmt::format("{}: {} ({}; {})", mutant.id, mutant.what, mutant.source,
                            mutant.configuration),
                2);
    }
  }
}

void write(Text& text, const MutantsDocument& document) {
  write_inputs(text, document.envelope);
  const std::int64_t killed = document.killed();
  const std::int64_t alive = std::ssize(document.mutants) - killed;
  text.strong(fmt::format("{} of {} killed, {}", killed,
                          plural(std::ssize(document.mutants), "mutant"),
                          alive == 1 ? "1 survives" : fmt::format("{} survive", alive)));
  text.wrap(document.effort, 2);
  if (!document.without.empty()) {
    text.wrap(fmt::format("without {}", fmt::join(document.without, ", ")), 2);
  }
  std::vector<std::int64_t> runs;
  std::vector<std::int64_t> times;
  for (const MutantResult& mutant : document.mutants) {
    if (mutant.after_runs) {
      runs.push_back(*mutant.after_runs);
      times.push_back(mutant.ms);
    }
  }
  if (!runs.empty()) {
    text.wrap(fmt::format("{} by campaigns: median {} runs, {} ms", runs.size(),
                          text.count(median_of(runs)), text.count(median_of(times))),
              2);
  }
  write_shrunk(text, document);
  write_killers(text, document);
  TextTable table({Align::left, Align::left, Align::left, Align::right, Align::right, Align::left});
  table.row({"mutant", "killed by", "in", "runs", "ms", "what"});
  for (const MutantResult& mutant : document.mutants) {
    constexpr std::size_t what_columns = 32;
    constexpr std::size_t where_columns = 20;
    table.row({mutant.id, mutant.by.value_or("-"), shortened(mutant.where, where_columns),
               mutant.after_runs ? text.count(*mutant.after_runs) : "-", text.count(mutant.ms),
               shortened(mutant.what, what_columns)});
  }
  text.table(table);
  write_survivors(text, document);
  write_warnings(text, document.envelope, {});
}

void write(Text& text, const TraceWrittenDocument& document) {
  text.line(fmt::format("{}: {}, {}, {}", document.trace_id, plural(document.jobs, "job"),
                        plural(document.stages, "stage"), plural(document.tasks, "task")));
  write_warnings(text, document.envelope, {});
}

}  // namespace

model::Result<std::string> write_text(const Document& document, const WriteOptions& options) {
  Text text(options);
  std::visit([&](const auto& body) { write(text, body); }, document);
  return text.take();
}

}  // namespace rehearse::reports
