// registry: none (part of the explanation)
//
// What would have helped, from the facts of this run alone. Nothing is simulated again, so whatever
// depends on what others would have done is called an upper bound ("at most").
#include <fmt/format.h>

#include <algorithm>

#include "reports/explain_text.hpp"
#include "reports/numbers.hpp"

namespace rehearse::reports {
namespace {

// A straggler is named when it cost at least this part of its job's time.
constexpr std::int64_t worth_saying = 100;

class Helps {
 public:
  Helps(const ExplainFacts& facts, model::Instant submit) : facts_(facts), submit_ns_(submit) {}

  void add(std::string text) {
    if (std::ranges::find(all_, text) == all_.end()) {
      all_.push_back(std::move(text));
    }
  }

  void look_at(const CutTry& part) {
    const ExplainNames names(facts_, *part.row);
    for (std::size_t i = 0; i < part.cuts.size(); ++i) {
      const Cut& cut = part.cuts[i];
      if (cut.wait != nullptr) {
        waited(names, cut, until(part.cuts, i) - cut.from_ns);
      } else if (cut.kind == PartKind::running || cut.kind == PartKind::commit) {
        straggled(names, *part.row, cut, part.cuts.back().to_ns);
        alone(names, cut);
      } else if (cut.kind == PartKind::inputs && cut.foreign) {
        const ForeignStage& foreign = part.row->foreign[*cut.foreign];
        add(
            fmt::format("Had stage {} of job {} been there at {}, {} would have been ready {} "
                        "earlier.",
                        foreign.stage, foreign.job, at(cut.from_ns), names.unit(cut), length(cut)));
      }
    }
    failures(names, part);
  }

  // A failed try costs its whole time and the caller's pause.
  void resubmitted(const std::vector<CutTry>& tries) {
    if (tries.size() > 1) {
      const TryFacts& first = *tries.front().row;
      const TryFacts& last = *tries.back().row;
      add(
          fmt::format("Had {} succeeded as {} did, the request would have ended {} earlier, with "
                      "everything else as it was.",
                      facts_.names().text(first.job), facts_.names().text(last.job),
                      duration_text(last.submit_ns - first.submit_ns)));
    }
  }

  std::vector<std::string> take() { return std::move(all_); }

 private:
  // Instants count from the submission of the request, as in the list of parts.
  [[nodiscard]] std::string at(model::Instant t) const {
    return fmt::format("+{}", duration_text(t - submit_ns_));
  }
  static std::string length(const Cut& cut) { return duration_text(cut.to_ns - cut.from_ns); }

  // The end of the waits of one unit that follow each other.
  static model::Instant until(const std::vector<Cut>& cuts, std::size_t first) {
    std::size_t i = first;
    while (i + 1 < cuts.size() && cuts[i + 1].wait != nullptr &&
           cuts[i + 1].gang == cuts[first].gang && cuts[i + 1].stage == cuts[first].stage) {
      ++i;
    }
    return cuts[i].to_ns;
  }

  void waited(const ExplainNames& names, const Cut& cut, model::Duration whole) {
    const WaitSpan& span = *cut.wait;
    switch (span.kind) {
      case PartKind::slots:
      case PartKind::drain:
        return more_slots(names, cut, whole);
      case PartKind::head:
        return overtaking(names, cut);
      case PartKind::retry:
        return add(
            fmt::format("Looked at whenever slots come free (admission.short=wait), {} "
                        "could have been admitted at {}, at most {} earlier.",
                        names.unit(cut), at(cut.from_ns), length(cut)));
      case PartKind::locality:
        return add(fmt::format(
            "With locality_wait 0s {} could have started at {} in free slots elsewhere ({} of its "
            "tasks waited, {} free), at most {} earlier; what reading from afar costs is not "
            "modelled.",
            names.unit(cut), at(span.from_ns), span.shortages.front().need,
            span.shortages.front().room, length(cut)));
      case PartKind::held:
        return add(fmt::format("Without the hold {} could have started at {}, at most {} earlier.",
                               names.unit(cut), at(cut.from_ns), length(cut)));
      default:
        return;
    }
  }

  void more_slots(const ExplainNames& names, const Cut& cut, model::Duration whole) {
    const WaitSpan& span = *cut.wait;
    if (span.from_ns != cut.from_ns) {
      return;  // what was free when this part began was not looked at
    }
    std::vector<std::string> parts;
    for (const Shortage& each : span.shortages) {
      if (each.need > each.room) {
        const std::int64_t missing = each.need - each.room;
        parts.push_back(names.slots(missing, each.profile));
      }
    }
    if (parts.empty()) {
      return;
    }
    const std::string what = cut.gang
                                 ? fmt::format("admitted {}", names.unit(cut))
                                 : fmt::format("started all waiting tasks of {}", names.unit(cut));
    std::string unless;
    const bool ordered = facts_.ordered();
    if (span.kind != PartKind::drain && (cut.gang || span.stages_ahead > 0 || !ordered)) {
      unless = ", had no unit ahead of it taken them";
    } else if (!facts_.counts_decide()) {
      unless = ", had all its tasks found a place";
    }
    add(fmt::format("{} more, free at {}, would have {} then, {} earlier{}.",
                    fmt::join(parts, " and "), at(span.from_ns), what, duration_text(whole),
                    unless));
  }

  void overtaking(const ExplainNames& names, const Cut& cut) {
    const WaitSpan& span = *cut.wait;
    const auto fitted = cut.gang ? span.all_fit_ns : span.one_fits_ns;
    if (!fitted || *fitted >= cut.to_ns || *fitted < cut.from_ns) {
      return;
    }
    add(fmt::format(
        "With overtake backfill instead of {} {} could have started at {}, at most {} "
        "earlier: what else would have passed is not computed.",
        facts_.rules().overtake, names.unit(cut), at(*fitted), duration_text(cut.to_ns - *fitted)));
  }

  void alone(const ExplainNames& names, const Cut& cut) {
    if (cut.shared_ns > 0) {
      add(
          fmt::format("With slots exclusive the tasks on the path of {} would have taken about {} "
                      "less, once they had a slot; how long they would have waited for one is not "
                      "computed.",
                      names.stage(*cut.stage), duration_text(cut.shared_ns)));
    }
  }

  // The task that ended last beside the others of its unit.
  void straggled(const ExplainNames& names, const TryFacts& row, const Cut& cut,
                 model::Instant end_ns) {
    if (!cut.run || (cut.kind == PartKind::running && !cut.ends_stage)) {
      return;
    }
    const TaskRun& last = row.runs[*cut.run];
    std::vector<model::Duration> durations;
    model::Instant others_ns = row.submit_ns;
    const auto& gang = row.stages[last.stage].gang;
    const std::vector<std::size_t> members =
        gang ? row.gangs[*gang].stages : std::vector<std::size_t>{last.stage};
    for (const std::size_t member : members) {
      for (const std::size_t i : row.stages[member].runs) {
        const TaskRun& run = row.runs[i];
        if (run.attempt != last.attempt || !run.succeeded()) {
          continue;
        }
        if (member == last.stage) {
          durations.push_back(*run.end_ns - run.start_ns);
        }
        others_ns = i == *cut.run ? others_ns : std::max(others_ns, *run.end_ns);
      }
    }
    if (durations.size() < 2 || others_ns >= *last.end_ns) {
      return;
    }
    const model::Duration took = *last.end_ns - last.start_ns;
    const std::size_t middle = (durations.size() - 1) / 2;
    std::ranges::nth_element(durations, durations.begin() + static_cast<std::ptrdiff_t>(middle));
    const model::Duration ahead = *last.end_ns - others_ns;
    if (took < 2 * durations[middle] || ahead * worth_saying < end_ns - row.submit_ns) {
      return;
    }
    add(
        fmt::format("{} took {}, the median of its stage is {}; everything else of {} had ended {} "
                    "before it.",
                    names.task(*cut.run), duration_text(took), duration_text(durations[middle]),
                    gang ? "its group" : "its stage", duration_text(ahead)));
  }

  void failures(const ExplainNames& names, const CutTry& part) {
    model::Duration lost = 0;
    const Cut* first = nullptr;
    for (const Cut& cut : part.cuts) {
      const bool repeated = cut.kind == PartKind::repeated;
      lost += repeated || cut.kind == PartKind::resubmit ? cut.to_ns - cut.from_ns : 0;
      first = first == nullptr && repeated ? &cut : first;
    }
    const model::Instant end = part.cuts.empty() ? 0 : part.cuts.back().to_ns;
    if (first != nullptr && end > first->to_ns) {
      // Until the failure nothing would have been otherwise, and the job had not ended.
      add(
          fmt::format("{} of {} are work that was repeated and the pauses before it. Without the "
                      "first failure, at {}, it could have ended at most {} earlier.",
                      duration_text(lost), names.text(part.row->job), at(first->to_ns),
                      duration_text(end - first->to_ns)));
    }
  }

  const ExplainFacts& facts_;
  model::Instant submit_ns_;
  std::vector<std::string> all_;
};

}  // namespace

std::vector<std::string> helps_of(const ExplainFacts& facts, const std::vector<CutTry>& tries) {
  Helps helps(facts, tries.front().row->submit_ns);
  for (const CutTry& part : tries) {
    helps.look_at(part);
  }
  helps.resubmitted(tries);
  return helps.take();
}

}  // namespace rehearse::reports
