// registry: none (marks of any workload)
// See marking.hpp. One JobMarker per job; the report adds up what they did.
#include "traces/marking.hpp"

#include <algorithm>
#include <array>
#include <regex>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "model/support/units.hpp"
#include "traces/capacity.hpp"
#include "traces/group_builder.hpp"
#include "traces/narrow.hpp"

namespace rehearse::traces {
namespace {

using model::Error;
using model::NameId;

using StageKey = std::pair<NameId, NameId>;  // job, stage

// Outputs that another job reads, or takes for its own.
std::set<StageKey> shared_outputs(const model::Scenario& scenario) {
  std::set<StageKey> shared;
  for (const model::JobSpec& job : scenario.jobs) {
    for (const model::EdgeSpec& edge : job.edges) {
      if (!edge.from.valid()) {
        shared.emplace(edge.from_job, edge.from_stage);
      }
      if (edge.reuse_job.valid()) {
        shared.emplace(edge.reuse_job, edge.reuse_stage);
      }
    }
  }
  return shared;
}

std::int64_t work_us_of(const model::StageSpec& stage) {
  if (const auto* each = std::get_if<std::vector<model::Duration>>(&stage.duration)) {
    // Whole microseconds and the nanoseconds over them apart, so that no sum overflows.
    std::int64_t whole = 0;
    std::int64_t rest = 0;
    for (const model::Duration duration : *each) {
      whole += duration / model::microsecond;
      rest += duration % model::microsecond;
    }
    return whole + rest / model::microsecond;
  }
  const auto mean = model::mean_ns(std::get<model::Distribution>(stage.duration));
  return mean.value_or(0) / model::microsecond * stage.tasks;
}

class JobMarker {
 public:
  struct Context {
    const model::Scenario* scenario = nullptr;
    const MarkingOptions* options = nullptr;
    const std::regex* pattern = nullptr;  // of `match`
    const std::set<StageKey>* shared = nullptr;
    bool unbounded = false;  // width does not matter
  };

  JobMarker(const Context& context, model::JobSpec& job, const model::RecordedJob* recorded,
            MarkingReport& report)
      : context_(context),
        job_(job),
        recorded_(recorded),
        report_(report),
        groups_(job.stages.size(), make_pairs()) {}

  void decide() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < groups_.pairs().size(); ++i) {
      if (groups_.pairs()[i].state == PairState::undecided) {
        order.push_back(i);
      }
    }
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(submitted(groups_.pairs()[a].to), a) <
             std::pair(submitted(groups_.pairs()[b].to), b);
    });
    report_.candidates += static_cast<std::int64_t>(order.size());
    if (!order.empty()) {
      capacity_.emplace(context_.scenario->cluster, context_.scenario->faults,
                        std::vector<model::ExecutorEnd>{},
                        recorded_ != nullptr ? recorded_->submitted : job_.submit);
    }
    for (const std::size_t pair : order) {
      if (groups_.pairs()[pair].state != PairState::undecided) {
        ++report_.marked;  // inside a group that an earlier candidate made
        continue;
      }
      GroupProposal proposal = groups_.propose(pair);
      if (proposal.refused.empty() && !has_room(proposal.stages)) {
        proposal.refused = "too-wide";
      }
      if (proposal.refused.empty()) {
        groups_.accept(proposal);
        ++report_.marked;
      } else {
        groups_.refuse(pair);
        ++report_.left[std::string(proposal.refused)];
      }
    }
  }

  // Demand and stages of the widest group.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> widest() const {
    std::pair<std::int64_t, std::int64_t> most{0, 0};
    for (const auto& group : groups_.groups()) {
      std::int64_t slots = 0;
      for (const std::uint32_t stage : group) {
        slots += job_.stages[stage].tasks;
      }
      most = std::max(most, {slots, static_cast<std::int64_t>(group.size())});
    }
    return most;
  }

  // Writes the decisions into the job, narrows what is too wide and adds up the work.
  void apply() {
    write_kinds();
    const auto groups = groups_.groups();
    report_.groups += static_cast<std::int64_t>(groups.size());
    for (const auto& group : groups) {
      if (context_.options->too_wide == TooWide::fit && has_new_mark(group)) {
        narrow(group);
      }
      for (const std::uint32_t stage : group) {
        report_.work_in_groups_us += work_us_of(job_.stages[stage]);
      }
    }
    for (const model::StageSpec& stage : job_.stages) {
      report_.work_us += work_us_of(stage);
    }
  }

 private:
  [[nodiscard]] const model::RecordedStage* seen(std::uint32_t stage) const {
    return recorded_ == nullptr || stage >= recorded_->stages.size() ? nullptr
                                                                     : &recorded_->stages[stage];
  }

  [[nodiscard]] model::Instant submitted(std::uint32_t stage) const {
    const model::RecordedStage* known = seen(stage);
    if (known == nullptr) {
      return 0;
    }
    return known->submitted.value_or(known->first_launch.value_or(model::instant_max));
  }

  [[nodiscard]] bool selected(std::uint32_t from, std::uint32_t to) const {
    switch (context_.options->rule) {
      case PipelinedRule::none:
        return false;
      case PipelinedRule::all:
        return true;
      case PipelinedRule::streaming:
        return recorded_ != nullptr && recorded_->batch.valid();
      case PipelinedRule::match: {
        const model::NameTable& names = context_.scenario->names;
        const model::RecordedStage* known = seen(from);
        return matches(names.text(job_.stages[from].name)) ||
               (known != nullptr && known->label.valid() && matches(names.text(known->label)));
      }
      case PipelinedRule::automatic: {
        const model::RecordedStage* producer = seen(from);
        const model::RecordedStage* reader = seen(to);
        return producer != nullptr && reader != nullptr && producer->last_finish &&
               reader->first_launch && *reader->first_launch < *producer->last_finish &&
               producer->completed && producer->completed == reader->completed;
      }
    }
    return false;
  }

  [[nodiscard]] bool matches(std::string_view text) const {
    return context_.pattern != nullptr &&
           std::regex_search(text.begin(), text.end(), *context_.pattern);
  }

  [[nodiscard]] bool selected_from_outside(const model::EdgeSpec& edge) const {
    const PipelinedRule rule = context_.options->rule;
    return rule == PipelinedRule::all ||
           (rule == PipelinedRule::streaming && recorded_ != nullptr && recorded_->batch.valid()) ||
           (rule == PipelinedRule::match &&
            matches(context_.scenario->names.text(edge.from_stage)));
  }

  // All pairs of the job; counts those that the rule selects and that are no candidates.
  std::vector<ShufflePair> make_pairs() {
    std::vector<ShufflePair> pairs;
    for (std::uint32_t e = 0; e < job_.edges.size(); ++e) {
      const model::EdgeSpec& edge = job_.edges[e];
      for (const model::StageIndex reader : edge.to) {
        if (!edge.from.valid()) {
          if (selected_from_outside(edge)) {
            ++report_.left["other-unit"];
          }
          continue;
        }
        ShufflePair pair{e, edge.from.value, reader.value, PairState::regular};
        if (edge.kind == model::EdgeKind::pipelined) {
          pair.state = PairState::pipelined;
        } else if (selected(pair.from, pair.to)) {
          pair.state = judge(edge, pair);
        }
        pairs.push_back(pair);
      }
    }
    return pairs;
  }

  PairState judge(const model::EdgeSpec& edge, const ShufflePair& pair) {
    const auto idiom = [&](std::uint32_t stage) {
      return job_.stages[stage].barrier || job_.stages[stage].indeterminate;
    };
    if (edge.reuse_job.valid() ||
        context_.shared->contains({job_.name, job_.stages[pair.from].name})) {
      ++report_.left["other-unit"];
      return PairState::regular;
    }
    if (idiom(pair.from) || idiom(pair.to)) {
      ++report_.left["idiom"];
      return PairState::regular;
    }
    return PairState::undecided;
  }

  [[nodiscard]] std::vector<StageDemand> demand(const std::vector<std::uint32_t>& stages,
                                                bool one_each) const {
    std::vector<StageDemand> result;
    for (const std::uint32_t stage : stages) {
      const std::int64_t tasks = job_.stages[stage].tasks;
      result.push_back(
          {job_.stages[stage].profile, one_each ? std::min<std::int64_t>(1, tasks) : tasks});
    }
    return result;
  }

  [[nodiscard]] bool has_room(const std::vector<std::uint32_t>& stages) const {
    if (context_.unbounded || context_.options->too_wide == TooWide::reject ||
        capacity_->fits(demand(stages, false))) {
      return true;
    }
    return context_.options->too_wide == TooWide::fit && capacity_->fits(demand(stages, true)) &&
           std::all_of(stages.begin(), stages.end(),
                       [&](std::uint32_t stage) { return can_be_narrowed(job_.stages[stage]); });
  }

  void write_kinds() {
    const std::vector<ShufflePair>& pairs = groups_.pairs();
    std::size_t next = 0;  // pairs come in the order of edges
    std::vector<model::EdgeSpec> edges;
    for (std::uint32_t e = 0; e < job_.edges.size(); ++e) {
      model::EdgeSpec pipelined = job_.edges[e];
      model::EdgeSpec regular = job_.edges[e];
      if (!pipelined.from.valid() || pipelined.kind == model::EdgeKind::pipelined) {
        edges.push_back(std::move(pipelined));
        continue;
      }
      pipelined.kind = model::EdgeKind::pipelined;
      pipelined.to.clear();
      regular.to.clear();
      for (; next < pairs.size() && pairs[next].edge <= e; ++next) {
        if (pairs[next].edge == e) {
          auto& readers = pairs[next].state == PairState::pipelined ? pipelined.to : regular.to;
          readers.emplace_back(pairs[next].to);
        }
      }
      if (!pipelined.to.empty()) {
        new_readers_.insert(pipelined.from.value);
        edges.push_back(std::move(pipelined));
      }
      if (!regular.to.empty()) {
        edges.push_back(std::move(regular));
      }
    }
    job_.edges = std::move(edges);
  }

  [[nodiscard]] bool has_new_mark(const std::vector<std::uint32_t>& group) const {
    return std::any_of(group.begin(), group.end(),
                       [&](std::uint32_t stage) { return new_readers_.contains(stage); });
  }

  void narrow(const std::vector<std::uint32_t>& group) {
    if (capacity_->fits(demand(group, false))) {
      return;
    }
    std::set<model::ProfileId> profiles;
    for (const std::uint32_t stage : group) {
      profiles.insert(job_.stages[stage].profile);
    }
    for (const model::ProfileId profile : profiles) {
      narrow(group, profile, profiles.size() > 1);
    }
  }

  void narrow(const std::vector<std::uint32_t>& group, model::ProfileId profile, bool shared) {
    std::vector<std::uint32_t> stages;
    std::vector<std::int64_t> tasks;
    std::int64_t total = 0;
    for (const std::uint32_t stage : group) {
      if (job_.stages[stage].profile == profile) {
        stages.push_back(stage);
        tasks.push_back(job_.stages[stage].tasks);
        total += tasks.back();
      }
    }
    const std::int64_t slots = capacity_->slots(profile);
    if (total <= slots && !shared) {
      return;
    }
    const std::int64_t share = context_.options->fit_share_milli;
    const auto widths =
        narrowed_widths(tasks, {slots / 1000 * share + slots % 1000 * share / 1000});
    for (std::size_t i = 0; i < stages.size(); ++i) {
      if (widths[i] < tasks[i]) {
        report_.narrowed = true;
        report_.tasks_before += tasks[i];
        report_.tasks_after += widths[i];
        narrow_stage(job_.stages[stages[i]], widths[i]);
      }
    }
  }

  const Context& context_;
  model::JobSpec& job_;
  const model::RecordedJob* recorded_;
  MarkingReport& report_;
  GroupBuilder groups_;
  std::optional<IdleCapacity> capacity_;  // there is one as soon as there is a candidate
  std::set<std::uint32_t> new_readers_;   // producers of edges marked here
};

std::pair<std::int64_t, std::int64_t> widest_unbounded(JobMarker::Context context,
                                                       const model::JobSpec& job,
                                                       const model::RecordedJob* recorded) {
  context.unbounded = true;
  model::JobSpec copy = job;
  MarkingReport ignored;
  JobMarker marker(context, copy, recorded, ignored);
  marker.decide();
  return marker.widest();
}

}  // namespace

model::Result<MarkingOptions> parse_pipelined(std::string_view text) {
  static constexpr std::array<std::string_view, 5> words{"none", "auto", "streaming", "match",
                                                         "all"};
  MarkingOptions options;
  constexpr std::string_view match = "match:";
  if (text.starts_with(match)) {
    options.rule = PipelinedRule::match;
    options.pattern = text.substr(match.size());
    try {
      static_cast<void>(std::regex(options.pattern).mark_count());  // throws if it is none
    } catch (const std::regex_error& thrown) {
      return std::unexpected(Error{
          .what = "\"" + options.pattern + "\" is no regular expression (" + thrown.what() + ")",
          .field = "--pipelined"});
    }
    return options;
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == text && words[i] != "match") {
      options.rule = static_cast<PipelinedRule>(i);
      return options;
    }
  }
  const std::string near = model::nearest_name(text, words.data(), words.data() + words.size());
  return std::unexpected(Error{
      .what = "\"" + std::string(text) + "\" is none of none, auto, streaming, match:REGEX, all",
      .field = "--pipelined",
      .remedy = near.empty() ? "" : "did you mean " + near + "?"});
}

model::Result<TooWide> parse_too_wide(std::string_view text) {
  static constexpr std::array<std::string_view, 3> words{"leave", "reject", "fit"};
  const auto* found = std::find(words.begin(), words.end(), text);
  if (found != words.end()) {
    return static_cast<TooWide>(found - words.begin());
  }
  const std::string near = model::nearest_name(text, words.data(), words.data() + words.size());
  return std::unexpected(
      Error{.what = "\"" + std::string(text) + "\" is none of leave, reject, fit",
            .field = "--too-wide",
            .remedy = near.empty() ? "" : "did you mean " + near + "?"});
}

model::Result<MarkingReport> mark_edges(model::Scenario& scenario,
                                        std::span<const model::RecordedJob> recorded,
                                        const MarkingOptions& options) {
  if (options.fit_share_milli < 1 || options.fit_share_milli > 1000) {
    return std::unexpected(Error{.what = "is " +
                                         model::format_decimal(options.fit_share_milli, 1000) +
                                         ", expected more than 0 and at most 1",
                                 .field = "--fit-share"});
  }
  std::regex pattern;
  try {
    pattern = std::regex(options.pattern);
  } catch (const std::regex_error& thrown) {
    return std::unexpected(Error{.what = std::string("is no regular expression: ") + thrown.what(),
                                 .field = "--pipelined"});
  }
  const std::set<StageKey> shared = shared_outputs(scenario);
  const JobMarker::Context context{&scenario, &options, &pattern, &shared, false};
  MarkingOptions every = options;
  every.rule = options.rule == PipelinedRule::none ? PipelinedRule::all : options.rule;
  const JobMarker::Context boundless{&scenario, &every, &pattern, &shared, true};
  MarkingReport report;
  std::pair<std::int64_t, std::int64_t> widest{0, 0};
  for (std::size_t j = 0; j < scenario.jobs.size(); ++j) {
    const model::RecordedJob* seen = j < recorded.size() ? &recorded[j] : nullptr;
    model::JobSpec& job = scenario.jobs[j];
    widest = std::max(widest, widest_unbounded(boundless, job, seen));
    JobMarker marker(context, job, seen, report);
    marker.decide();
    marker.apply();
  }
  report.widest_group_slots = widest.first;
  report.widest_group_stages = widest.second;
  return report;
}

std::vector<std::int64_t> slots_as_group(const model::Scenario& scenario) {
  const std::set<StageKey> shared = shared_outputs(scenario);
  MarkingOptions every;
  every.rule = PipelinedRule::all;
  const JobMarker::Context context{&scenario, &every, nullptr, &shared, true};
  std::vector<std::int64_t> slots;
  for (const model::JobSpec& job : scenario.jobs) {
    slots.push_back(widest_unbounded(context, job, nullptr).first);
  }
  return slots;
}

}  // namespace rehearse::traces
