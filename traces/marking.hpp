// `--pipelined` and `--too-wide`: which shuffles of a workload are taken as pipelined (traces.md,
// Marking). Done once, for all configurations; the axis `edges` of each is applied afterwards.
// Marks on a batch log are hypothetical.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/scenario.hpp"
#include "model/support/error.hpp"
#include "model/trace.hpp"

namespace rehearse::traces {

enum class PipelinedRule : std::uint8_t { none, automatic, streaming, match, all };
enum class TooWide : std::uint8_t { leave, reject, fit };

struct MarkingOptions {
  PipelinedRule rule = PipelinedRule::none;
  std::string pattern;  // of `match`: ECMAScript, found anywhere in a stage's name
  TooWide too_wide = TooWide::leave;
  std::int64_t fit_share_milli = 500;  // 1/1000 of capacity, 1 to 1000
};

// "none", "auto", "streaming", "all", "match:REGEX". Errors name the nearest value, or what is
// wrong with the expression.
[[nodiscard]] model::Result<MarkingOptions> parse_pipelined(std::string_view text);
// "leave", "reject", "fit".
[[nodiscard]] model::Result<TooWide> parse_too_wide(std::string_view text);

// Edges are counted per reader: a shuffle with two readers is two edges.
struct MarkingReport {
  std::int64_t candidates = 0;
  std::int64_t marked = 0;
  // By reason, only those that occur: other-unit inside cycle too-wide idiom. The first and the
  // last are edges that were no candidates.
  std::map<std::string, std::int64_t> left;
  std::int64_t groups = 0;  // of two or more stages, with the marks that were there before
  // Task time; microseconds, so that a sum over any workload fits. Of drawn durations the mean.
  std::int64_t work_in_groups_us = 0;
  std::int64_t work_us = 0;
  bool narrowed = false;          // some stage was, by `fit`
  std::int64_t tasks_before = 0;  // of the narrowed stages
  std::int64_t tasks_after = 0;
  // Slots from which on the widest group would run whole, and its stages; 0 when no edge can be
  // marked at any size. As recorded: before anything was narrowed.
  std::int64_t widest_group_slots = 0;
  std::int64_t widest_group_stages = 0;
};

// Marks edges of `scenario.jobs` in place; a shuffle whose readers differ becomes two edges. Marks
// that are there already stand and count as groups, not as marked.
//
// `recorded` has one entry per job, or none at all (a scenario was never recorded: order and
// capacity are then those of submission). An edge is selected by the rule: all - every one; match -
// the name or label of its producer matches; streaming - its job has a batch; auto - its reader
// launched before its producer's last finish and both completed at the same instant. A selected
// edge is a candidate if its ends are neither barrier nor indeterminate (else `idiom`) and its
// producer's output is read by no other unit (else `other-unit`).
// Candidates are taken by (reader's recorded submission, job, edge order). What a candidate would
// make is the group of its two ends with everything that lies between them: edges inside it that
// are candidates still undecided are marked with it. It is refused when another edge inside would
// stay regular: `inside` where that edge joins stages of the two groups, `cycle` where it leads
// out of the group and back; and `too-wide` when the demand of the group exceeds the slots of
// the idle cluster at the unit's submission (A5).
// Under `reject` width is not asked. Under `fit` a group may be as wide as it likes as long as
// there is a slot for each of its stages; when all is decided, stages of groups that are wider than
// capacity are narrowed, per profile, until the group's demand is fit_share of it. Stages whose
// durations are drawn cannot be narrowed: their groups are `too-wide`.
// Errors: `match` with an expression that is none, a share out of range.
[[nodiscard]] model::Result<MarkingReport> mark_edges(model::Scenario& scenario,
                                                      std::span<const model::RecordedJob> recorded,
                                                      const MarkingOptions& options);

// Per job of the scenario, the slots its widest group would need if every edge that can be marked
// at all were, on a cluster without bounds; 0 where there is no such edge.
[[nodiscard]] std::vector<std::int64_t> slots_as_group(const model::Scenario& scenario);

}  // namespace rehearse::traces
