// Marks: which edges become pipelined, which stay, why, and what narrowing makes of wide stages.
#include "traces/marking.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "traces/group_builder.hpp"
#include "traces/narrow.hpp"

using namespace rehearse;
using traces::MarkingOptions;
using traces::TooWide;

namespace {

constexpr model::Duration ms = model::millisecond;

// Jobs by hand: stages have 10 ms tasks, edges are numbers of stages.
struct Workload {
  model::Scenario scenario;
  std::vector<model::RecordedJob> recorded;

  explicit Workload(std::int64_t slots) {
    scenario.cluster.resources = {scenario.names.intern("cpus")};
    scenario.cluster.profiles = {{scenario.names.intern("default"), {model::milli}}};
    model::ExecutorSpec executor;
    executor.name = scenario.names.intern("e");
    executor.profile = model::ProfileId(0U);
    executor.resources = {slots * model::milli};
    scenario.cluster.executors.push_back(executor);
  }

  model::JobSpec& job(std::string_view name, const std::vector<std::int32_t>& widths,
                      const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges) {
    model::JobSpec spec;
    spec.name = scenario.names.intern(name);
    for (std::size_t i = 0; i < widths.size(); ++i) {
      model::StageSpec stage;
      stage.name = scenario.names.intern("s" + std::to_string(i));
      stage.tasks = widths[i];
      stage.profile = model::ProfileId(0U);
      stage.duration = std::vector<model::Duration>(static_cast<std::size_t>(widths[i]), 10 * ms);
      spec.stages.push_back(stage);
    }
    for (const auto& [from, to] : edges) {
      model::EdgeSpec edge;
      edge.from = model::StageIndex(from);
      edge.to = {model::StageIndex(to)};
      spec.edges.push_back(edge);
    }
    scenario.jobs.push_back(spec);
    return scenario.jobs.back();
  }

  traces::MarkingReport mark(std::string_view rule, TooWide too_wide = TooWide::leave) {
    MarkingOptions options = *traces::parse_pipelined(rule);
    options.too_wide = too_wide;
    auto report = traces::mark_edges(scenario, recorded, options);
    REQUIRE(report);
    return *report;
  }

  // Kinds of the edges of a job, in order: P or r per reader.
  [[nodiscard]] std::string kinds(std::size_t job = 0) const {
    std::string text;
    for (const model::EdgeSpec& edge : scenario.jobs[job].edges) {
      text += std::string(edge.to.size(), edge.kind == model::EdgeKind::pipelined ? 'P' : 'r');
    }
    return text;
  }
};

using Left = std::map<std::string, std::int64_t>;

}  // namespace

TEST_CASE("all: a chain that fits becomes one group") {
  Workload work(10);
  work.job("q", {4, 3, 3}, {{0, 1}, {1, 2}});
  const auto report = work.mark("all");
  CHECK(report.candidates == 2);
  CHECK(report.marked == 2);
  CHECK(report.left.empty());
  CHECK(report.groups == 1);
  CHECK(report.work_in_groups_us == report.work_us);
  CHECK(report.work_us == 100'000);
  CHECK(report.widest_group_slots == 10);
  CHECK(report.widest_group_stages == 3);
  CHECK(work.kinds() == "PP");
}

TEST_CASE("none adds no mark and still says how wide a group there could be") {
  Workload work(2);
  work.job("q", {4, 3}, {{0, 1}});
  const auto report = work.mark("none");
  CHECK(report.candidates == 0);
  CHECK(report.marked == 0);
  CHECK(report.widest_group_slots == 7);
  CHECK(work.kinds() == "r");
}

TEST_CASE("a diamond is one group, not a group with a regular edge inside") {
  Workload work(4);
  work.job("q", {1, 1, 1, 1}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  CHECK(work.mark("all").marked == 4);
  CHECK(work.kinds() == "PPPP");
}

TEST_CASE("too wide, leave: that edge stays regular and the rest goes on") {
  Workload work(7);
  work.job("q", {4, 3, 3}, {{0, 1}, {1, 2}});
  const auto report = work.mark("all");
  CHECK(report.marked == 1);
  CHECK(report.left == Left{{"too-wide", 1}});
  CHECK(work.kinds() == "Pr");
  CHECK(report.widest_group_slots == 10);
}

TEST_CASE("too wide, reject: marked all the same") {
  Workload work(7);
  work.job("q", {4, 3, 3}, {{0, 1}, {1, 2}});
  const auto report = work.mark("all", TooWide::reject);
  CHECK(report.marked == 2);
  CHECK_FALSE(report.narrowed);
}

TEST_CASE("too wide, fit: narrowed to the share, work preserved to the nanosecond") {
  Workload work(8);
  work.job("q", {10, 6, 0}, {{0, 1}, {1, 2}});
  auto& each = std::get<std::vector<model::Duration>>(work.scenario.jobs[0].stages[0].duration);
  std::iota(each.begin(), each.end(), 1);
  const auto sum = std::accumulate(each.begin(), each.end(), model::Duration{0});
  const auto report = work.mark("all", TooWide::fit);
  CHECK(report.marked == 2);
  CHECK(report.narrowed);
  CHECK(report.tasks_before == 16);
  CHECK(report.tasks_after == 4);  // half of eight
  const model::JobSpec& job = work.scenario.jobs[0];
  CHECK(job.stages[0].tasks + job.stages[1].tasks == 4);
  const auto& now = std::get<std::vector<model::Duration>>(job.stages[0].duration);
  CHECK(std::accumulate(now.begin(), now.end(), model::Duration{0}) == sum);
  CHECK(now[0] == 1 + 4 + 7 + 10);  // every third
}

TEST_CASE("fit: a slot for each stage is the least; more stages than slots stay apart") {
  Workload work(3);
  work.job("q", {5, 5, 5, 5, 5}, {{0, 1}, {1, 2}, {2, 3}, {3, 4}});
  const auto report = work.mark("all", TooWide::fit);
  CHECK(report.marked == 3);
  CHECK(report.left == Left{{"too-wide", 1}});
  CHECK(work.kinds() == "PPrP");
  for (const auto& stage : work.scenario.jobs[0].stages) {
    CHECK(stage.tasks == 1);
  }
}

TEST_CASE("fit leaves stages with drawn durations alone") {
  Workload work(4);
  model::JobSpec& job = work.job("q", {5, 5}, {{0, 1}});
  job.stages[0].duration = model::exponential_distribution(ms);
  const auto report = work.mark("all", TooWide::fit);
  CHECK(report.left == Left{{"too-wide", 1}});
  CHECK(job.stages[0].tasks == 5);
}

TEST_CASE("a regular edge between the two groups: inside; one that leads out and back: cycle") {
  Workload direct(9);
  model::JobSpec& job = direct.job("q", {1, 1, 1}, {{0, 1}, {0, 2}, {1, 2}});
  job.stages[1].barrier = false;
  MarkingOptions options = *traces::parse_pipelined("match:^s0$");
  auto report = traces::mark_edges(direct.scenario, {}, options);
  REQUIRE(report);
  // s0 -> s1 first; s0 -> s2 would then have the regular s1 -> s2 inside.
  CHECK(direct.kinds() == "Prr");
  CHECK(report->left == Left{{"inside", 1}});

  Workload around(9);
  around.job("q", {1, 1, 1}, {{0, 2}, {0, 1}, {1, 2}}).stages[1].barrier = true;
  const auto second = around.mark("all");
  CHECK(second.candidates == 1);
  CHECK(second.left == Left{{"cycle", 1}, {"idiom", 2}});
  CHECK(around.kinds() == "rrr");
}

TEST_CASE("outputs that another unit reads stay regular, and so do edges from another unit") {
  Workload work(9);
  work.job("q", {1, 1}, {{0, 1}});
  model::JobSpec& reader = work.job("p", {1, 1}, {{0, 1}});
  model::EdgeSpec foreign;
  foreign.from_job = work.scenario.names.intern("q");
  foreign.from_stage = work.scenario.names.intern("s0");
  foreign.to = {model::StageIndex(0U)};
  reader.edges.push_back(foreign);
  const auto report = work.mark("all");
  CHECK(report.candidates == 1);
  CHECK(report.marked == 1);
  CHECK(report.left == Left{{"other-unit", 2}});
  CHECK(work.kinds(0) == "r");
  CHECK(work.kinds(1) == "Pr");
}

TEST_CASE("a shuffle whose readers differ becomes two edges") {
  Workload work(2);
  model::JobSpec& job = work.job("q", {1, 1, 1}, {{0, 1}});
  job.edges[0].to = {model::StageIndex(1U), model::StageIndex(2U)};
  job.edges[0].bytes = 5;
  const auto report = work.mark("all");
  CHECK(report.candidates == 2);
  CHECK(report.marked == 1);
  REQUIRE(job.edges.size() == 2);
  CHECK(job.edges[0].kind == model::EdgeKind::pipelined);
  CHECK(job.edges[0].to == std::vector<model::StageIndex>{model::StageIndex(1U)});
  CHECK(job.edges[1].kind == model::EdgeKind::regular);
  CHECK(job.edges[1].bytes == 5);
}

TEST_CASE("marks that are there stand, and new ones are judged with them") {
  Workload work(3);
  model::JobSpec& job = work.job("q", {2, 1, 1}, {{0, 1}, {1, 2}});
  job.edges[0].kind = model::EdgeKind::pipelined;
  const auto report = work.mark("all");
  CHECK(report.candidates == 1);
  CHECK(report.left == Left{{"too-wide", 1}});
  CHECK(report.groups == 1);
  CHECK(work.kinds() == "Pr");
}

TEST_CASE("candidates are taken by the recorded submission of their reader") {
  Workload work(2);
  work.job("q", {1, 1, 1}, {{0, 1}, {0, 2}});
  model::RecordedJob seen;
  seen.stages.resize(3);
  seen.stages[1].submitted = 20;
  seen.stages[2].submitted = 10;
  work.recorded = {seen};
  CHECK(work.mark("all").marked == 1);
  CHECK(work.kinds() == "rP");
}

TEST_CASE("auto, streaming and match select what they say") {
  const auto recorded = [](model::Instant launch, model::Instant completed) {
    model::RecordedJob seen;
    seen.stages.resize(2);
    seen.stages[0].last_finish = 50;
    seen.stages[0].completed = 90;
    seen.stages[1].first_launch = launch;
    seen.stages[1].completed = completed;
    return seen;
  };
  const auto marks = [](std::string_view rule, model::RecordedJob seen) {
    Workload work(9);
    work.job("q", {1, 1}, {{0, 1}});
    work.recorded = {std::move(seen)};
    return work.mark(rule).marked;
  };
  CHECK(marks("auto", recorded(40, 90)) == 1);
  CHECK(marks("auto", recorded(50, 90)) == 0);
  CHECK(marks("auto", recorded(40, 91)) == 0);
  CHECK(marks("streaming", recorded(40, 90)) == 0);
  model::RecordedJob batch = recorded(40, 90);
  batch.batch = model::NameId(0U);
  CHECK(marks("streaming", batch) == 1);
  CHECK(marks("match:^s0$", recorded(0, 0)) == 1);
  CHECK(marks("match:s1", recorded(0, 0)) == 0);
}

TEST_CASE("capacity is that of the unit's submission") {
  Workload work(4);
  work.job("q", {2, 2}, {{0, 1}}).submit = 100;
  model::TimedFault leaves;
  leaves.at = 100;
  leaves.action = model::LoseExecutor{work.scenario.names.intern("e"),
                                      model::LossCause::decommission, std::nullopt};
  work.scenario.faults.timed = {leaves};
  CHECK(work.mark("all").left == Left{{"too-wide", 1}});
  work.scenario.faults.timed[0].at = 101;
  CHECK(work.mark("all").marked == 1);
}

TEST_CASE("words of the command line") {
  CHECK(traces::parse_pipelined("auto")->rule == traces::PipelinedRule::automatic);
  CHECK(traces::parse_pipelined("match:a.*b")->pattern == "a.*b");
  CHECK(traces::parse_pipelined("al").error().remedy == "did you mean all?");
  CHECK_FALSE(traces::parse_pipelined("match:("));
  CHECK_FALSE(traces::parse_pipelined("match"));
  CHECK(traces::parse_too_wide("fit") == TooWide::fit);
  CHECK_FALSE(traces::parse_too_wide("fits"));
  Workload work(1);
  MarkingOptions options;
  options.fit_share_milli = 0;
  CHECK(traces::mark_edges(work.scenario, {}, options).error().field == "--fit-share");
}

TEST_CASE("narrowed widths: in proportion, one at least, never more than there were") {
  using Widths = std::vector<std::int64_t>;
  CHECK(traces::narrowed_widths({580, 131, 324, 128, 128, 128}, {64}) ==
        Widths{26, 6, 14, 6, 6, 6});
  CHECK(traces::narrowed_widths({1000, 1, 1}, {4}) == Widths{2, 1, 1});
  CHECK(traces::narrowed_widths({5, 5, 5}, {2}) == Widths{1, 1, 1});
  CHECK(traces::narrowed_widths({3, 0, 3}, {4}) == Widths{2, 0, 2});
  CHECK(traces::narrowed_widths({2, 2}, {9}) == Widths{2, 2});
  std::uint64_t state = 3;
  for (int i = 0; i < 2000; ++i) {
    Widths tasks;
    std::int64_t stages = 0;
    for (std::size_t k = 0; k <= state % 7; ++k) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      tasks.push_back(static_cast<std::int64_t>((state >> 40U) % 50));
      stages += tasks.back() > 0 ? 1 : 0;
    }
    const auto target = static_cast<std::int64_t>((state >> 20U) % 60);
    const Widths widths = traces::narrowed_widths(tasks, {target});
    const std::int64_t total = std::accumulate(tasks.begin(), tasks.end(), std::int64_t{0});
    const std::int64_t now = std::accumulate(widths.begin(), widths.end(), std::int64_t{0});
    CHECK(now == std::min(total, std::max(target, stages)));
    for (std::size_t k = 0; k < tasks.size(); ++k) {
      CHECK(widths[k] <= tasks[k]);
      CHECK((widths[k] > 0) == (tasks[k] > 0));
    }
  }
}

TEST_CASE("groups never hold a regular pair and never stand in a cycle") {
  std::uint64_t state = 11;
  const auto next = [&](std::uint64_t below) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::uint32_t>((state >> 33U) % below);
  };
  for (int round = 0; round < 500; ++round) {
    const std::uint32_t stages = 2 + next(7);
    std::vector<traces::ShufflePair> pairs;
    for (std::uint32_t to = 1; to < stages; ++to) {
      for (std::uint32_t from = 0; from < to; ++from) {
        if (next(3) == 0) {
          const auto edge = static_cast<std::uint32_t>(pairs.size());
          pairs.push_back(
              {edge, from, to,
               next(4) == 0 ? traces::PairState::regular : traces::PairState::undecided});
        }
      }
    }
    traces::GroupBuilder builder(stages, pairs);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (builder.pairs()[i].state == traces::PairState::undecided) {
        const auto proposal = builder.propose(i);
        if (proposal.refused.empty() && next(5) != 0) {
          builder.accept(proposal);
        } else {
          builder.refuse(i);
        }
      }
    }
    std::vector<std::uint32_t> group(stages);
    std::iota(group.begin(), group.end(), 0U);
    for (const auto& members : builder.groups()) {
      for (const std::uint32_t member : members) {
        group[member] = members.front();
      }
    }
    // Longest distance between groups over regular pairs: it cannot reach their number.
    std::vector<std::uint32_t> depth(stages, 0);
    bool cycle = false;
    for (std::uint32_t pass = 0; pass <= stages; ++pass) {
      for (const auto& pair : builder.pairs()) {
        if (pair.state == traces::PairState::pipelined) {
          CHECK(group[pair.from] == group[pair.to]);
          continue;
        }
        CHECK(group[pair.from] != group[pair.to]);
        auto& reader = depth[group[pair.to]];
        reader = std::max(reader, depth[group[pair.from]] + 1);
        cycle = cycle || reader > stages;
      }
    }
    CHECK_FALSE(cycle);
  }
}
