// registry: none (part of the explanation)
//
// A detail names what the part was about first, then counts, then who was in the way.
#include "reports/explain_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reports/numbers.hpp"

namespace rehearse::reports {
namespace {

constexpr std::array<std::string_view, 20> kind_names = {
    "running",     "repeated",  "failed",  "unfinished", "slots",    "drain",      "head",
    "depth",       "placement", "retry",   "locality",   "held",     "starved",    "inputs",
    "start_delay", "resubmit",  "backoff", "commit",     "rejected", "unexplained"};

// Jobs named as holders of slots.
constexpr std::size_t holders_max = 3;

std::string needs(const ExplainNames& names, const WaitSpan& span) {
  std::vector<std::string> parts;
  for (const Shortage& each : span.shortages) {
    parts.push_back(
        fmt::format("needs {}, {} free", names.slots(each.need, each.profile), each.room));
  }
  return fmt::format("{}", fmt::join(parts, " and "));
}

std::string with_holders(const ExplainNames& names, const WaitSpan& span, std::string text) {
  if (!span.holders.empty()) {
    text += fmt::format("; held by {}", names.holders(span.holders));
  }
  return text;
}

std::string passed_text(const ExplainFacts& facts, const ExplainNames& names,
                        const WaitSpan& span) {
  if (span.passed == 0) {
    return {};
  }
  std::vector<std::string> jobs;
  for (const model::NameId job : span.passers) {
    jobs.push_back(names.text(job));
  }
  return fmt::format("; passed by {} of later jobs ({}{}; overtake {})",
                     plural(span.passed, "task"), fmt::join(jobs, ", "),
                     span.passers.size() == holders_max ? ", ..." : "", facts.rules().overtake);
}

std::string held_text(const ExplainNames& names, const WaitSpan& span) {
  std::int64_t withheld = 0;
  for (const Shortage& each : span.shortages) {
    withheld += each.withheld;
  }
  std::vector<std::string> executors;
  for (std::size_t i = 0; i < span.held.size() && i < holders_max; ++i) {
    executors.push_back(names.text(span.held[i]));
  }
  if (span.held.size() > holders_max) {
    executors.push_back(fmt::format("{} more", span.held.size() - holders_max));
  }
  return fmt::format("; {} on held {} {}", withheld,
                     span.held.size() == 1 ? "executor" : "executors", fmt::join(executors, ", "));
}

std::string wait_text(const ExplainFacts& facts, const ExplainNames& names, const Cut& cut) {
  const WaitSpan& span = *cut.wait;
  const std::string unit = names.unit(cut);
  const std::string counts = needs(names, span);
  if (span.shortages.empty()) {
    return fmt::format("{} waits for slots", unit);
  }
  const auto with = [&](std::string_view middle) {
    std::string text = with_holders(names, span, fmt::format("{} {}: {}", unit, middle, counts)) +
                       passed_text(facts, names, span);
    if (span.stages_ahead > 0) {
      text += fmt::format("; {} with waiting tasks ahead", plural(span.stages_ahead, "stage"));
    }
    if (span.from_ns < cut.from_ns) {
      text += fmt::format(" (counted {} before, when it began to wait)",
                          duration_text(cut.from_ns - span.from_ns));
    }
    return text;
  };
  switch (span.kind) {
    case PartKind::drain:
      return with("heads the queue, which nobody overtakes (never)");
    case PartKind::head:
      return with(fmt::format("stands behind {}/{}, which waits for slots (overtake {})",
                              names.text(span.head_job), names.text(span.head_stage),
                              facts.rules().overtake));
    case PartKind::depth:
      return with(fmt::format("stands behind {} that wait, and a pass looks at {}",
                              plural(span.ahead, "gang"), facts.rules().depth));
    case PartKind::placement:
      return with("found no place for all its tasks");
    case PartKind::retry:
      return with(
          fmt::format("is looked at when its timer fires (short {})", facts.rules().short_rule));
    case PartKind::locality:
      return with(fmt::format("waits for slots where its tasks prefer to run (locality_wait {})",
                              facts.rules().locality_wait));
    case PartKind::held:
      return with("waits for slots") + held_text(names, span);
    case PartKind::starved:
      return with("needs more than what lives can offer");
    case PartKind::resubmit:
      return fmt::format("until the attempt of {} has ended: outputs of it are missing", unit);
    case PartKind::unexplained:
      return with("waits, and the journal does not say for what");
    default:
      return with("waits for slots");
  }
}

std::string overheads(const RunRules& rules) {
  std::vector<std::string> parts;
  if (!rules.launch_overhead.empty() && rules.launch_overhead != "0s") {
    parts.push_back(fmt::format("launch {}", rules.launch_overhead));
  }
  if (!rules.status_overhead.empty() && rules.status_overhead != "0s") {
    parts.push_back(fmt::format("status {}", rules.status_overhead));
  }
  return parts.empty() ? "" : fmt::format(", {} included", fmt::join(parts, " and "));
}

std::string running_text(const ExplainFacts& facts, const ExplainNames& names, const TryFacts& row,
                         const Cut& cut) {
  const TaskRun& last = row.runs[*cut.run];
  std::string text = fmt::format("{} on {}", names.task(*cut.run), names.text(last.executor));
  if (cut.ends_stage) {
    std::int64_t tasks = 0;
    for (const std::size_t run : row.stages[last.stage].runs) {
      tasks += row.runs[run].attempt == last.attempt && row.runs[run].succeeded() ? 1 : 0;
    }
    text += tasks > 1 ? fmt::format(", the last of {} to end", plural(tasks, "task")) : "";
  }
  if (cut.reader) {
    text += fmt::format("; {}, downstream of it over a pipe, ended with it (timing coupled)",
                        names.stage(*cut.reader));
  }
  if (cut.runs > 1) {
    text += fmt::format(", after {} in the same slot, the first {}", plural(cut.runs - 1, "task"),
                        names.task(*cut.first_run));
  }
  if (cut.shared_ns > 0) {
    text += fmt::format("; slots were shared meanwhile, which cost about {} of it",
                        duration_text(cut.shared_ns));
  }
  // Tasks of the stage waited meanwhile: who else had the slots.
  for (const WaitSpan& span : row.stages[last.stage].waits) {
    if (span.from_ns < cut.to_ns && span.to_ns > cut.from_ns && cut.runs > 1 &&
        std::ranges::any_of(span.holders, [&](const Holder& h) { return h.job != row.job; })) {
      text += fmt::format("; slots were held by {}", names.holders(span.holders));
      break;
    }
  }
  return text + overheads(facts.rules());
}

std::string_view why(const TaskRun& run) {
  if (run.reason) {
    return model::name_of(*run.reason);
  }
  if (!run.end_ns) {
    return "cut off";
  }
  return run.counted ? "its output was lost" : "its success did not count";
}

std::string failed_text(const ExplainNames& names, const TryFacts& row, const Cut& cut) {
  std::string task = cut.run ? fmt::format("{} on {}, try {}: {}", names.task(*cut.run),
                                           names.text(row.runs[*cut.run].executor),
                                           row.runs[*cut.run].try_number, why(row.runs[*cut.run]))
                             : "";
  if (cut.gang) {
    std::string cause;
    for (const GangAttempt& attempt : row.gangs[*cut.gang].attempts) {
      if (attempt.attempt == cut.attempt && attempt.cause) {
        cause = fmt::format(", {}", model::name_of(*attempt.cause));
      }
    }
    return fmt::format("attempt {} of group {} failed{}{}{}", cut.attempt, names.unit(cut), cause,
                       task.empty() ? "" : ": ", task);
  }
  if (!task.empty()) {
    return task;
  }
  std::string reason = "its outputs were lost";
  for (const StageAttempt& attempt : row.stages[*cut.stage].attempts) {
    if (attempt.attempt == cut.attempt && attempt.status == model::StageStatus::failed) {
      reason = attempt.reason ? std::string(model::name_of(*attempt.reason)) : "failed";
    }
  }
  return fmt::format("attempt {} of {}: {}", cut.attempt, names.unit(cut), reason);
}

std::string commit_text(const ExplainNames& names, const TryFacts& row, const Cut& cut) {
  std::string text = fmt::format("{} had finished; it completes when group {} commits",
                                 names.stage(*cut.stage), names.unit(cut));
  if (cut.run) {
    text += fmt::format(", whose last task to end was {} on {}", names.task(*cut.run),
                        names.text(row.runs[*cut.run].executor));
  }
  return text;
}

std::string inputs_text(const ExplainNames& names, const TryFacts& row, const Cut& cut) {
  const StageFacts& stage = row.stages[*cut.stage];
  std::optional<std::size_t> which = cut.foreign;
  if (!which && !stage.foreign.empty()) {
    which = stage.foreign.front();
  }
  return which ? fmt::format("{} waits for stage {} of job {}", names.unit(cut),
                             row.foreign[*which].stage, row.foreign[*which].job)
               : fmt::format("{} waits for its inputs", names.unit(cut));
}

std::string per_profile(const ExplainFacts& facts, const model::PerProfile& counts) {
  std::vector<std::string> parts;
  for (const model::ProfileCount& count : counts) {
    parts.push_back(fmt::format("{} {}", facts.names().text(count.profile), count.n));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string_view name_of(PartKind kind) { return kind_names.at(static_cast<std::size_t>(kind)); }

std::string ExplainNames::text(model::NameId name) const {
  return std::string(facts_.names().text(name));
}

std::string ExplainNames::stage(std::size_t index) const {
  return fmt::format("{}/{}", text(row_.job), text(row_.stages[index].name));
}

std::string ExplainNames::unit(const Cut& cut) const {
  if (!cut.gang) {
    return cut.stage ? stage(*cut.stage) : text(row_.job);
  }
  std::vector<std::string> stages;
  for (const std::size_t member : row_.gangs[*cut.gang].stages) {
    stages.push_back(text(row_.stages[member].name));
  }
  return fmt::format("{}/{}", text(row_.job), fmt::join(stages, "+"));
}

std::string ExplainNames::task(std::size_t run) const {
  const TaskRun& of = row_.runs[run];
  const std::string first = fmt::format("{}/{}", stage(of.stage), of.partition);
  return of.more == 0 ? first : fmt::format("{} to {}", first, of.partition + of.more);
}

std::string ExplainNames::slots(std::int64_t count, std::size_t profile) const {
  const auto& profiles = facts_.profiles();
  return profile < profiles.size()
             ? fmt::format("{} of profile {}", plural(count, "slot"), text(profiles[profile]))
             : plural(count, "slot");
}

std::string ExplainNames::holders(const std::vector<Holder>& all) const {
  std::vector<std::string> parts;
  std::int64_t others = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i < holders_max) {
      const std::string who = all[i].job == row_.job ? "itself" : text(all[i].job);
      parts.push_back(fmt::format("{} {}", who, all[i].slots));
    } else {
      others += all[i].slots;
    }
  }
  if (all.size() > holders_max) {
    parts.push_back(
        fmt::format("{} {}", plural(std::ssize(all) - std::ssize(parts), "more job"), others));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string detail_of(const ExplainFacts& facts, const TryFacts& row, const Cut& cut) {
  const ExplainNames names(facts, row);
  if (cut.wait != nullptr) {
    return wait_text(facts, names, cut);
  }
  switch (cut.kind) {
    case PartKind::running:
      return running_text(facts, names, row, cut);
    case PartKind::unfinished:
      return fmt::format("{} on {} ran when the run ended", names.task(*cut.run),
                         names.text(row.runs[*cut.run].executor));
    case PartKind::repeated:
    case PartKind::failed:
      return failed_text(names, row, cut);
    case PartKind::commit:
      return commit_text(names, row, cut);
    case PartKind::inputs:
      return inputs_text(names, row, cut);
    case PartKind::start_delay:
      return fmt::format("the driver, between the inputs of {} and its submission",
                         names.stage(*cut.stage));
    case PartKind::resubmit:
      return fmt::format("until {} may start again: delay, and kills that take effect",
                         names.unit(cut));
    default:
      return fmt::format("{}: the journal does not say", names.unit(cut));
  }
}

std::string rejection_text(const ExplainFacts& facts, const TryFacts& row) {
  std::string text(facts.names().text(row.job));
  text += row.code ? fmt::format(": {}", model::name_of(*row.code)) : "";
  text += row.detail.empty() ? "" : fmt::format(", {}", row.detail);
  if (!row.need.empty()) {
    text += fmt::format("; needs {}, has {}", per_profile(facts, row.need),
                        per_profile(facts, row.have));
  }
  return text;
}

}  // namespace rehearse::reports
