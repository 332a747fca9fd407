// What cannot be run is rejected at submission (F5, F6, F11, F12, F13, F15, C8): of the codes in
// the axis `reject`, those that a job's line, the axes and the first line's facts show to apply are
// all given, in the order of that list, and nobody is given one that does not apply. Not shown, so
// not missed: settings of stages and edges, fan-out, a regular edge beside a pipelined one, what
// `grouping` joins beyond components, capacity (CLAIMS_MATCH), ownership (SINGLE_OWNER).
// registry: FAIL_FAST
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

using model::Code;
using Codes = std::vector<Code>;

bool has(const Codes& codes, Code code) { return std::ranges::find(codes, code) != codes.end(); }

// Codes that are of no concern to a job without a group (F12).
constexpr auto of_groups = std::to_array<Code>(
    {Code::regular_inside_group, Code::mixed_job, Code::fan_out, Code::profile_conflict,
     Code::barrier_member, Code::speculation, Code::push_merge, Code::indeterminate_producer,
     Code::checksum_retry, Code::cached_member, Code::checkpointed_member,
     Code::non_idempotent_commit, Code::pull_scheduling});

using Pairs = std::vector<std::pair<Index, Index>>;

// Is there a cycle among n nodes? Takes off, again and again, nodes that nothing leads to.
bool cyclic(Pairs pairs, std::size_t n) {
  if (std::ranges::all_of(pairs, [](const auto& pair) { return pair.first < pair.second; })) {
    return false;  // everything leads on
  }
  std::ranges::sort(pairs);
  std::vector<std::size_t> parents(n, 0);
  for (const auto& [from, to] : pairs) {
    ++parents[to];
  }
  std::vector<Index> open;
  for (Index node = 0; node < n; ++node) {
    if (parents[node] == 0) {
      open.push_back(node);
    }
  }
  std::size_t taken = 0;
  for (; !open.empty(); ++taken) {
    const Index node = open.back();
    open.pop_back();
    const auto first = std::ranges::lower_bound(pairs, node, {}, &Pairs::value_type::first);
    for (auto at = first; at != pairs.end() && at->first == node; ++at) {
      if (--parents[at->second] == 0) {
        open.push_back(at->second);
      }
    }
  }
  return taken < n;
}

// Which stages start together, as far as the edges show it: the root of each.
std::vector<Index> roots_of(const JobBody& body, bool whole_job) {
  std::vector<Index> root(body.stages.size());
  std::iota(root.begin(), root.end(), Index{0});
  const auto find = [&root](Index stage) {
    while (root[stage] != stage) {
      stage = root[stage] = root[root[stage]];
    }
    return stage;
  };
  for (const Edge& edge : body.edges_in) {
    if (edge.kind == model::EdgeKind::pipelined) {
      const Index a = find(edge.from);
      const Index b = find(edge.to);
      root[std::max(a, b)] = std::min(a, b);
    }
  }
  for (Index stage = 0; stage < root.size(); ++stage) {
    root[stage] = whole_job ? 0 : find(stage);
  }
  return root;
}

bool is_pipelined(const Edge& edge) { return edge.kind == model::EdgeKind::pipelined; }

class FailFast final : public MonitorOf<FailFast> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override {
    return kinds<model::JobRejected, model::JobStarted>();
  }

  void event(const model::Event& event, const Seen& seen) override {
    if (seen.job->body == nullptr) {
      return;
    }
    const auto* rejected = event.as<model::JobRejected>();
    const Codes given = rejected == nullptr ? Codes{} : rejected->codes;
    const Codes shown = shown_by(*seen.job->body);
    for (const Code code : shown) {
      if (code == Code::group_cycle && has(given, Code::dag_cycle)) {
        continue;  // among stages that cannot be ordered at all nobody looks for groups
      }
      if (has(track().rules().config.reject, code) && !has(given, code)) {
        found(fmt::format("{} {} though {} applies (F12)", track().name(*seen.job),
                          rejected == nullptr ? "started" : "was rejected without its code",
                          model::name_of(code)));
      }
    }
    if (rejected != nullptr) {
      check_order(*rejected, *seen.job);
      check_inert(*rejected, *seen.job, shown);
    }
  }

 private:
  [[nodiscard]] const model::SchedulerConfig& config() const { return track().rules().config; }

  // F13: each code is one of the list's, and they come in its order.
  void check_order(const model::JobRejected& event, const Job& job) {
    const Codes& list = config().reject;
    auto from = list.begin();
    for (const Code code : event.codes) {
      const auto at = std::find(from, list.end(), code);
      if (at == list.end()) {
        found(fmt::format("{} was rejected with {}, which is {} (F13)", track().name(job),
                          model::name_of(code),
                          has(list, code) ? "out of the order of `reject`" : "not in `reject`"));
        return;
      }
      from = at + 1;
    }
  }

  // F12: inert without a group; and what the line shows whole is given only where it applies.
  void check_inert(const model::JobRejected& event, const Job& job, const Codes& shown) {
    const model::Grouping grouping = config().grouping;
    const bool cut = grouping == model::Grouping::stage || grouping == model::Grouping::bubble;
    const bool group = std::ranges::any_of(job.body->edges_in, is_pipelined);
    for (const Code code : event.codes) {
      const bool inert = !group && !cut && std::ranges::find(of_groups, code) != of_groups.end();
      // A cycle may be among stages of another job that this one would have to run itself.
      const bool whole =
          grouping != model::Grouping::region && !cut &&
          (code == Code::barrier_member || code == Code::non_idempotent_commit ||
           code == Code::pull_scheduling || (code == Code::dag_cycle && job.body->foreign.empty()));
      if (inert || (whole && !has(shown, code))) {
        found(fmt::format("{} was rejected with {}, which does not apply to it (F12)",
                          track().name(job), model::name_of(code)));
      }
    }
  }

  [[nodiscard]] Codes shown_by(const JobBody& body) const {
    Codes codes;
    const bool in_order =
        std::ranges::all_of(body.edges_in, [](const Edge& edge) { return edge.from < edge.to; });
    Pairs pairs;
    for (std::size_t e = 0; !in_order && e < body.edges_in.size(); ++e) {
      pairs.emplace_back(body.edges_in[e].from, body.edges_in[e].to);
    }
    const bool cycle = !in_order && cyclic(std::move(pairs), body.stages.size());
    if (cycle) {
      codes.push_back(Code::dag_cycle);
    }
    const bool group = std::ranges::any_of(body.edges_in, is_pipelined);
    const bool barrier = std::ranges::any_of(body.stages, &Stage::barrier);
    if (track().rules().autoscaled && (group || barrier)) {
      codes.push_back(Code::dynamic_allocation);
    }
    if (!group) {
      return codes;
    }
    if (config().speculation) {
      codes.push_back(Code::speculation);
    }
    if (config().offers == model::Offers::pull) {
      codes.push_back(Code::pull_scheduling);
    }
    const bool whole_job = config().grouping == model::Grouping::job;
    const std::vector<Index> root = roots_of(body, whole_job);
    add_shapes(body, root, cycle, codes);
    add_members(body, root, codes);
    return codes;
  }

  // F5, F6, F11.
  void add_shapes(const JobBody& body, const std::vector<Index>& root, bool cycle,
                  Codes& codes) const {
    const bool whole =
        config().grouping == model::Grouping::job || config().grouping == model::Grouping::region;
    const bool inside = std::ranges::any_of(body.edges_in, [&](const Edge& edge) {
      return !is_pipelined(edge) && root[edge.from] == root[edge.to];
    });
    if (inside && !whole) {
      codes.push_back(Code::regular_inside_group);
    } else if (inside && config().mixed != model::Mixed::allowed) {
      codes.push_back(Code::mixed_job);
    }
    const bool leads_back = std::ranges::any_of(
        body.edges_in, [&](const Edge& edge) { return root[edge.from] > root[edge.to]; });
    if (whole || cycle || !leads_back) {
      return;
    }
    Pairs pairs;
    for (const Edge& edge : body.edges_in) {
      if (root[edge.from] != root[edge.to]) {
        pairs.emplace_back(root[edge.from], root[edge.to]);
      }
    }
    if (cyclic(std::move(pairs), body.stages.size())) {
      codes.push_back(Code::group_cycle);
    }
  }

  // F12, C8.
  void add_members(const JobBody& body, const std::vector<Index>& root, Codes& codes) const {
    std::vector<std::size_t> size(root.size(), 0);
    for (const Index r : root) {
      ++size[r];
    }
    bool barrier = false;
    bool once = false;
    bool conflict = false;
    for (Index s = 0; s < root.size(); ++s) {
      const Stage& stage = body.stages[s];
      if (size[root[s]] < 2) {
        continue;
      }
      barrier = barrier || stage.barrier;
      once = once || stage.commits == model::Commits::once;
      const Index first = body.stages[root[s]].profile;
      const bool known = stage.profile != no_index && first != no_index;
      const bool one = config().profiles == model::ProfilesAxis::single;
      const bool other = one ? stage.profile != first : stage.profile != 0;
      conflict = conflict || (known && other && config().profiles != model::ProfilesAxis::vector);
    }
    if (barrier) {
      codes.push_back(Code::barrier_member);
    }
    if (once && config().output_commit == model::OutputCommit::immediate) {
      codes.push_back(Code::non_idempotent_commit);
    }
    if (conflict) {
      codes.push_back(Code::profile_conflict);
    }
  }
};

}  // namespace

std::unique_ptr<Monitor> make_fail_fast(const Track& track) {
  return std::make_unique<FailFast>(track);
}

}  // namespace rehearse::properties
