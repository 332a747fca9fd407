// The scenario is written as text, so that a run of it starts where a user's would: at the loader.
// Draws of one statement stand in variables: the order of arguments is up to the compiler.
#include "tests/random/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/random/draws.hpp"

namespace rehearse::testing {

namespace {

// What this seed goes in for; the rest stays plain.
struct Focus {
  bool sequential = false;   // no edge stays pipelined: the dialect,
  bool all_regular = false;  // or the axis
  bool whole_jobs = false;   // dialect ballista-pipelined
  bool regions = false;      // dialect flink-region
  bool bulk = false;         // gangs hold slots while they wait
  bool pipelined = false;
  bool wrong_shapes = false;
  bool distributions = false;
  bool overheads = false;
  bool unbound = false;
  bool two_profiles = false;
  bool losses = false;
  bool fetches = false;
  bool task_failures = false;
  bool moments = false;
  bool cancels = false;
  bool comings = false;     // joins later, holds, decommissions
  bool other_jobs = false;  // edges from other jobs, reuse, after
  bool resubmits = false;
  bool long_grace = true;
  bool spoiled_packing = false;
  bool everything_grouped = false;  // autoscaling beside groups only, or their rejection
};

struct Stage {
  std::string name;
  int tasks = 0;
  bool reads = false;    // has an input of its own job
  bool grouped = false;  // has a pipelined edge
  std::vector<std::string> extra;
};

struct Job {
  std::string name;
  std::vector<Stage> stages;
  std::vector<std::string> edges;
  std::vector<std::pair<int, int>> links;            // producer and consumer of own edges
  std::vector<std::pair<int, std::string>> foreign;  // reader and "job/stage"
  std::vector<std::string> extra;
  bool repeats = false;
};

struct Executor {
  std::string name;
  std::string host;
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed)
      : seed_(seed), draw_(seed), draw_more_(seed, 1), more_(seed ^ 0x5bd1e995ULL << 32U) {
    choose_focus();
    make_cluster();
    const int jobs = draw_.percent(20) ? 1 : draw_.range(2, 6 - static_cast<int>(jobs_.size()));
    for (int i = 0; i < jobs; ++i) {
      make_job(i);
    }
    if (focus_.other_jobs) {
      tie_jobs();
    }
    make_faults();
  }

  [[nodiscard]] std::string text() {
    std::vector<std::string> parts{"\"rehearse\": 1", fmt::format("\"name\": \"random {}\"", seed_),
                                   fmt::format("\"seed\": {}", seed_ % 1000)};
    if (draw_.percent(25)) {
      parts.emplace_back("\"timing\": \"coupled\"");
    }
    if (draw_.percent(35)) {
      parts.emplace_back("\"ties\": \"shuffled\"");
    }
    if (draw_.percent(6)) {
      parts.push_back("\"horizon\": " + ms(draw_.range(5, 60)));
    }
    if (draw_.percent(10)) {
      const int choice = draw_.range(1, 2);
      const int second = draw_.below(12);
      const int first = draw_.below(6);
      parts.push_back(fmt::format("\"choices\": {{\"tie@{}ms\": 1, \"tie@{}ms#2\": {}}}", first,
                                  second, choice));
    }
    parts.push_back("\"cluster\": " + object_of(cluster_));
    parts.push_back("\"scheduler\": " + scheduler());
    std::vector<std::string> jobs;
    for (const Job& job : jobs_) {
      jobs.push_back(job_text(job));
    }
    parts.push_back(fmt::format("\"jobs\": [\n  {}]", fmt::join(jobs, ",\n  ")));
    if (!faults_.empty()) {
      parts.push_back(fmt::format("\"faults\": [\n  {}]", fmt::join(faults_, ",\n  ")));
    }
    return fmt::format("{{{}}}\n", fmt::join(parts, ",\n "));
  }

 private:
  // ---- what this seed is about ----

  void choose_focus() {
    focus_.pipelined = draw_.percent(85);
    focus_.wrong_shapes = draw_.percent(12);
    focus_.distributions = draw_.percent(20);
    focus_.overheads = draw_.percent(50);
    focus_.unbound = draw_.percent(50);
    focus_.two_profiles = draw_.percent(40);
    focus_.losses = draw_.percent(55);
    focus_.fetches = draw_.percent(40);
    focus_.task_failures = draw_.percent(40);
    focus_.moments = draw_.percent(45);
    focus_.cancels = draw_.percent(20);
    focus_.comings = draw_.percent(40);
    focus_.other_jobs = draw_.percent(40);
    focus_.resubmits = draw_.percent(40);
    focus_.long_grace = draw_.percent(40);
    focus_.everything_grouped = draw_.percent(2);
    focus_.spoiled_packing = !focus_.everything_grouped && draw_.percent(1);
    focus_.two_profiles = focus_.two_profiles || focus_.spoiled_packing;
    focus_.sequential = !focus_.everything_grouped && draw_.percent(12);
    focus_.all_regular = !focus_.everything_grouped && !focus_.sequential && draw_.percent(5);
    focus_.whole_jobs =
        !focus_.everything_grouped && !focus_.sequential && !focus_.all_regular && draw_.percent(6);
    focus_.bulk = draw_more_.percent(12);
    focus_.regions = !focus_.everything_grouped && !focus_.sequential && !focus_.all_regular &&
                     !focus_.whole_jobs && draw_more_.percent(5);
    // Where a job is one group, one that reads its own stages through another job waits for ever.
    focus_.other_jobs = focus_.other_jobs && !focus_.whole_jobs && !focus_.regions;
  }

  // ---- the cluster ----

  std::string delay() {
    if (!focus_.overheads || draw_.percent(40)) {
      return "\"0s\"";
    }
    if (focus_.distributions && draw_.percent(50)) {
      return R"({"dist": "uniform", "min": "0s", "max": "4ms"})";
    }
    return ms(draw_.range(1, 4));
  }

  std::string resources() {
    std::vector<std::string> amounts{fmt::format("\"cpus\": {}", draw_.range(1, 4))};
    if (focus_.two_profiles && draw_.percent(75)) {
      amounts.push_back(fmt::format("\"gpus\": {}", draw_.range(1, 3)));
    }
    return object_of(amounts);
  }

  std::string executor(const std::string& name, bool may_join_later) {
    const std::string host = fmt::format("h{}", draw_.below(3));
    std::vector<std::string> keys{fmt::format("\"name\": \"{}\"", name),
                                  "\"resources\": " + resources()};
    if (!focus_.unbound || draw_.percent(30)) {
      const bool big = focus_.two_profiles && draw_.percent(40);
      keys.push_back(fmt::format("\"profile\": \"{}\"", big ? "big" : "default"));
    }
    if (draw_.percent(60)) {
      keys.push_back(fmt::format("\"host\": \"{}\"", host));
    }
    if (draw_.percent(20)) {
      keys.push_back(fmt::format("\"rack\": \"r{}\"", draw_.below(2)));
    }
    if (draw_.percent(15)) {
      keys.push_back("\"speed\": " + draw_.pick({"0.5", "2", "3"}));
    }
    if (may_join_later && focus_.comings && draw_.percent(35)) {
      keys.push_back("\"joins\": " + ms(draw_.range(1, 25)));
    }
    return object_of(keys);
  }

  // A4: what one task prefers leaves no room for the others, on an idle cluster too.
  void make_spoiled_packing() {
    cluster_.emplace_back(R"("profiles": {"default": {"task": {"cpus": 1}}, )"
                          R"("big": {"task": {"cpus": 2}}, "huge": {"task": {"cpus": 3}}})");
    executors_ = {"e0", "e1"};
    cluster_.emplace_back(R"("executors": [{"name": "e0", "resources": {"cpus": 3}}, )"
                          R"({"name": "e1", "resources": {"cpus": 4}}])");
    Job job;
    job.name = "spoiled";
    job.stages = {{"s0", 1, false, true, {R"("profile": "huge", "prefers": [["e1"]])"}},
                  {"s1", 2, true, true, {R"("profile": "big")"}}};
    for (Stage& stage : job.stages) {
      stage.extra.push_back("\"duration\": " + duration(stage.tasks));
    }
    add_edge(job, 0, 1, true);
    jobs_.push_back(std::move(job));
  }

  void make_cluster() {
    if (focus_.spoiled_packing) {
      make_spoiled_packing();
      return;
    }
    if (focus_.two_profiles) {
      const std::string big =
          draw_.pick({R"({"cpus": 1, "gpus": 1})", R"({"gpus": 1})", R"({"cpus": 2})",
                      R"({"cpus": 3})", R"({"cpus": 0, "gpus": 1})"});
      cluster_.push_back(fmt::format(
          R"("profiles": {{"default": {{"task": {{"cpus": 1}}}}, "big": {{"task": {}}}}})", big));
    }
    const int count = draw_.percent(3) ? 0 : draw_.range(1, 6);
    std::vector<std::string> list;
    for (int i = 0; i < count; ++i) {
      executors_.push_back(fmt::format("e{}", i));
      list.push_back(executor(executors_.back(), true));
    }
    cluster_.push_back("\"executors\": " + list_of(list));
    const std::string loss_detection = delay();
    const std::string kill = delay();
    const std::string status = delay();
    const std::string launch = delay();
    cluster_.push_back(fmt::format(
        R"("overheads": {{"launch": {}, "status": {}, "kill": {}, "loss_detection": {}}})", launch,
        status, kill, loss_detection));
    if (focus_.everything_grouped && draw_.percent(50)) {
      cluster_.push_back(R"("autoscale": {"min": 0, "max": 4, "executor": )"
                         R"({"resources": {"cpus": 2}}})");
      autoscaled_ = true;
    } else if (more_.percent(15)) {
      cluster_.push_back(autoscale());
      scales_ = true;
    }
  }

  std::string autoscale() {
    const int min = more_.percent(60) ? 0 : more_.range(1, 2);
    std::vector<std::string> keys{
        fmt::format("\"min\": {}", min), fmt::format("\"max\": {}", min + more_.range(0, 5)),
        "\"backlog\": " + more_.pick({"\"0s\"", "\"1ms\"", "\"5ms\""}),
        "\"idle\": " + more_.pick({"\"0s\"", "\"2ms\"", "\"10ms\"", "\"30ms\""}),
        "\"startup\": " +
            more_.pick({"\"0s\"", "\"3ms\"", R"({"dist": "uniform", "min": "0s", "max": "9ms"})"})};
    if (executors_.empty() || more_.percent(40)) {
      const bool bound = more_.percent(40);
      const bool named = more_.percent(30);
      const bool two = focus_.two_profiles && more_.percent(50);
      keys.push_back(fmt::format(R"("executor": {{"resources": {{"cpus": {}{}}}{}{}}})",
                                 more_.range(1, 4), two ? ", \"gpus\": 2" : "",
                                 bound ? R"(, "profile": "default")" : "",
                                 named ? R"(, "host": "h{i}")" : ""));
    }
    return "\"autoscale\": " + object_of(keys);
  }

  // ---- the scheduler ----

  std::string scheduler() {
    std::vector<std::string> keys;
    std::string accounting =
        draw_.percent(70) ? "sum" : draw_.pick({"largest-stage", "whole-executor"});
    const bool shares = accounting != "sum";
    const bool whole = accounting == "whole-executor";
    const bool bulk = focus_.bulk || focus_.regions;
    accounting = bulk && whole ? "largest-stage" : accounting;
    keys.push_back("\"accounting\": \"" + accounting + "\"");
    if (focus_.sequential) {
      keys.emplace_back("\"dialect\": \"sequential\"");
    } else if (focus_.all_regular) {
      keys.emplace_back("\"edges\": \"all-regular\"");
    } else if (focus_.whole_jobs) {
      keys.emplace_back("\"dialect\": \"ballista-pipelined\"");
    } else if (focus_.regions) {
      keys.emplace_back("\"dialect\": \"flink-region\"");
    }
    keys.push_back(admission(shares, whole));
    if (!focus_.sequential && draw_.percent(40)) {
      keys.push_back("\"completion\": \"" +
                     draw_.pick({"group", "after-parents", "immediate", "final-stage"}) + "\"");
      keys.push_back("\"task_end\": \"" +
                     draw_.pick({"at-once", shares ? "at-once" : "with-release"}) + "\"");
    }
    if (draw_.percent(30)) {
      keys.push_back("\"locality_wait\": \"3ms\"");
    }
    keys.push_back(failure(shares));
    keys.push_back(
        "\"placement\": \"" +
        draw_.pick({"spread", "pack", "round-robin", "nested", "consistent-hash", "random"}) +
        "\"");
    keys.push_back("\"output_commit\": \"" + draw_.pick({"immediate", "at-group-commit"}) + "\"");
    if (draw_.percent(25)) {
      keys.emplace_back("\"outputs_survive_executor\": true");
    }
    if (!focus_.long_grace) {
      keys.push_back("\"no_executor_grace\": " + ms(draw_.range(0, 20)));
    }
    if (focus_.everything_grouped && !autoscaled_) {
      keys.emplace_back(R"("speculation": {"quantile": 0.5, "multiplier": 2})");
    }
    if (focus_.wrong_shapes && draw_.percent(20)) {
      keys.emplace_back(R"("reject": ["GROUP_CYCLE", "REGULAR_INSIDE_GROUP", "FAN_OUT", )"
                        R"("BARRIER_MEMBER", "SPECULATION", "DYNAMIC_ALLOCATION", )"
                        R"("NON_IDEMPOTENT_COMMIT"])");
    }
    // Last, so that it moves no other draw.
    if (!focus_.everything_grouped && !autoscaled_ && draw_.percent(35)) {
      keys.push_back(copies());
    } else if (!focus_.everything_grouped && draw_.percent(40)) {
      keys.push_back(slices());
    }
    add_later_axes(shares, keys);
    return object_of(keys);
  }

  std::string failure(bool shares) {
    const std::string member = draw_.pick({"any", "any", shares ? "any" : "counted"});
    const std::string group = draw_.pick(
        {"\"fail-job\"", "\"fail-job\"", R"({"rerun-group": {"max": 2, "delay": "1ms"}})"});
    const std::string delay = draw_.pick({"0s", "1ms", "3ms", "10ms"});
    const int attempts = draw_.range(1, 4);
    const int failures = draw_.range(1, 3);
    const std::string loss = draw_.pick({"needed", "any-member", "running-only"});
    return fmt::format(
        R"("failure": {{"executor_loss": "{}", "max_task_failures": {}, "max_stage_attempts": {}, )"
        R"("resubmit_delay": "{}", "group": {}, "member": "{}"}})",
        loss, failures, attempts, delay, group, member);
  }

  std::string admission(bool shares, bool whole) {
    const int depth = draw_.percent(80) ? 64 : draw_.range(1, 3);
    std::string overtake =
        draw_.pick({"\"never\"", "\"backfill\"", whole ? "\"never\"" : "\"easy\"",
                    R"({"aging": {"after": "5ms"}})"});
    std::string when_short = draw_.pick(
        {"\"wait\"", "\"wait\"", "\"fail\"", R"({"retry": {"interval": "2ms", "max": 5}})",
         R"({"fall-back": {"after": "0s"}})", R"({"fall-back": {"after": "3ms"}})"});
    std::string hold =
        shares || draw_.percent(70) ? "\"reserve\"" : "\"" + draw_.pick({"check", "none"}) + "\"";
    const std::string queue =
        draw_.pick({"fifo", "fifo", "fair", "priority", "smallest-first", "unordered"});
    if (focus_.bulk || focus_.regions) {
      hold = fmt::format(R"({{"bulk": {{"timeout": "{}"}}}})",
                         draw_more_.pick({"0s", "2ms", "5ms", "9ms", "20ms", "1s"}));
      when_short = "\"wait\"";
      overtake = overtake == "\"easy\"" ? "\"backfill\"" : overtake;
    }
    return fmt::format(
        R"("admission": {{"queue": "{}", "hold": {}, "short": {}, "overtake": {}, "depth": {}}})",
        queue, hold, when_short, overtake, depth);
  }

  // Moves no draw of the others.
  void add_later_axes(bool shares, std::vector<std::string>& keys) {
    if (!shares && !focus_.bulk && !focus_.regions && more_.percent(20)) {
      keys.push_back(fmt::format(R"("slots": {{"shared": {{"factor": {}}}}})", more_.below(4)));
    }
    const bool one_by_one = std::ranges::any_of(keys, [](const std::string& key) {
      return key.find(R"("hold": "none")") != std::string::npos;
    });
    if (one_by_one && more_.percent(60)) {
      keys.emplace_back(R"("start": "phased")");
    }
    const bool rejects = focus_.wrong_shapes || focus_.everything_grouped;
    if (scales_ && !rejects && more_.percent(70)) {
      keys.emplace_back(R"("reject": ["GROUP_CYCLE", "REGULAR_INSIDE_GROUP", "FAN_OUT"])");
    }
  }

  std::string copies() {
    const int interval = draw_.range(1, 3);
    const int least = draw_.below(3);
    const std::string multiplier = draw_.pick({"0", "0.5", "1", "1.5", "2"});
    const std::string quantile = draw_.pick({"0", "0.3", "0.5", "0.5", "0.9"});
    return fmt::format(R"("speculation": {{"quantile": {}, "multiplier": {}, "min_runtime": {}, )"
                       R"("interval": {}}})",
                       quantile, multiplier, ms(least), ms(interval));
  }

  std::string slices() {
    const std::string most = draw_.pick({"\"unbounded\"", "2", "3"});
    if (draw_.percent(50)) {
      gather_stages();
    }
    return "\"max_partitions_per_task\": " + most;
  }

  // A21: some stages of one task read what they read together.
  void gather_stages() {
    for (Job& job : jobs_) {
      for (Stage& stage : job.stages) {
        if (stage.tasks == 1 && draw_.percent(30)) {
          stage.extra.push_back(fmt::format("\"width\": {}", draw_.range(1, 9)));
        }
      }
    }
  }

  // ---- jobs ----

  std::string duration(int tasks) {
    if (focus_.distributions && draw_.percent(40)) {
      return draw_.pick({R"({"dist": "exponential", "mean": "3ms", "cap": "20ms"})",
                         R"({"dist": "empirical", "values": ["1ms", "2ms", "2ms", "5ms"]})"});
    }
    if (tasks == 0 || draw_.percent(60)) {
      return ms(draw_.percent(8) ? 0 : draw_.range(1, 5));
    }
    std::vector<std::string> list;
    for (int i = 0; i < tasks; ++i) {
      list.push_back(ms(draw_.percent(6) ? 0 : draw_.range(1, 10)));
    }
    return list_of(list);
  }

  std::string prefers(int tasks) {
    std::vector<std::string> partitions;
    for (int i = 0; i < tasks; ++i) {
      std::vector<std::string> places;
      for (int n = draw_.below(3); n > 0; --n) {
        places.push_back(fmt::format("\"{}\"", draw_.of(executors_)));
      }
      partitions.push_back(list_of(places));
    }
    return list_of(partitions);
  }

  std::string idiom() {
    if (!focus_.sequential && !focus_.all_regular && draw_.percent(20)) {
      return "\"barrier\": true";
    }
    return draw_.pick({"\"indeterminate\": true", "\"cached\": true",
                       "\"checkpoint\": \"reliable\"", "\"checkpoint\": \"local\""});
  }

  void make_stage(Job& job, int index) {
    Stage stage;
    stage.name = fmt::format("s{}", index);
    stage.tasks = draw_.percent(10) ? 0 : draw_.range(1, draw_.percent(15) ? 6 : 3);
    stage.extra.push_back("\"duration\": " + duration(stage.tasks));
    if (focus_.two_profiles && draw_.percent(35)) {
      stage.extra.emplace_back("\"profile\": \"big\"");
    }
    const bool packing = focus_.two_profiles && focus_.unbound;
    if (!executors_.empty() && draw_.percent(packing ? 30 : 12)) {
      stage.extra.push_back("\"prefers\": " + prefers(stage.tasks));
    }
    if (draw_.percent(35)) {
      stage.extra.push_back("\"commits\": \"" +
                            draw_.pick({"idempotent", "idempotent", "idempotent", "once"}) + "\"");
    }
    if (more_.percent(25)) {
      stage.extra.push_back("\"operator\": \"" +
                            more_.pick({"build-probe", "build-probe", "dam", "merge"}) + "\"");
    }
    job.stages.push_back(std::move(stage));
  }

  void add_edge(Job& job, int from, int to, bool pipelined) {
    std::string text = fmt::format(R"({{"from": "s{}", "to": "s{}")", from, to);
    if (pipelined) {
      text += R"(, "kind": "pipelined")";
      job.stages[static_cast<std::size_t>(from)].grouped = true;
      job.stages[static_cast<std::size_t>(to)].grouped = true;
      if (focus_.wrong_shapes && draw_.percent(10)) {
        text += draw_.pick(
            {R"(, "push_merge": true)", R"(, "checksum_retry": true)", R"(, "adaptive": true)"});
      }
    }
    job.stages[static_cast<std::size_t>(to)].reads = true;
    job.links.emplace_back(from, to);
    job.edges.push_back(text + "}");
  }

  // Most of what is drawn at random forms cycles of groups or regular edges inside one, which is
  // rejected; so edges are pipelined in runs: from one stage of a block to the next of it.
  void make_edges(Job& job) {
    const int count = static_cast<int>(job.stages.size());
    std::vector<int> block(job.stages.size(), 0);
    for (int i = 1; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const bool together = focus_.pipelined && draw_.percent(60);
      block[at] = block[at - 1] + (together ? 0 : 1);
    }
    for (int to = 1; to < count; ++to) {
      bool linked = false;
      for (int from = 0; from < to; ++from) {
        const bool same =
            block[static_cast<std::size_t>(from)] == block[static_cast<std::size_t>(to)];
        const bool last = from == to - 1;
        if (draw_.percent(last && !linked ? 75 : 25)) {
          const bool flip = focus_.wrong_shapes && draw_.percent(12);
          add_edge(job, from, to, focus_.pipelined && same != flip);
          linked = true;
        }
      }
    }
    if (focus_.wrong_shapes && count > 1 && draw_.percent(20)) {
      const bool pipelined = draw_.percent(40);
      add_edge(job, count - 1, draw_.below(count - 1), pipelined);
    }
    if (focus_.pipelined && count > 2 && draw_.percent(12)) {
      job.edges.push_back(R"({"from": "s0", "to": ["s1", "s2"], "kind": "pipelined"})");
      job.stages[0].grouped = job.stages[1].grouped = job.stages[2].grouped = true;
    }
    const bool grouped = std::ranges::any_of(job.stages, &Stage::grouped);
    if (focus_.everything_grouped && !grouped) {
      make_stage(job, count);
      add_edge(job, count - 1, count, true);
    }
  }

  void make_job(int index) {
    Job job;
    job.name = fmt::format("j{}", index);
    const int stages = draw_.percent(25) ? 1 : draw_.range(2, draw_.percent(30) ? 7 : 4);
    for (int i = 0; i < stages; ++i) {
      make_stage(job, i);
    }
    make_edges(job);
    if (focus_.wrong_shapes) {
      for (Stage& stage : job.stages) {
        if (stage.grouped && draw_.percent(10)) {
          stage.extra.push_back(idiom());
        }
      }
    }
    if (draw_.percent(60)) {
      job.extra.push_back("\"submit\": " + ms(draw_.range(0, 12)));
    }
    if (focus_.resubmits && draw_.percent(50)) {
      const int backoff = draw_.below(4);
      job.extra.push_back(fmt::format(R"("on_failure": {{"resubmit": {}, "backoff": "{}ms"}})",
                                      draw_.range(1, 2), backoff));
    }
    if (draw_.percent(8)) {
      job.repeats = true;
      const int every = draw_.below(6);
      job.extra.push_back(
          fmt::format(R"("repeat": {{"count": {}, "every": "{}ms"}})", draw_.range(2, 3), every));
    }
    jobs_.push_back(std::move(job));
  }

  // Inputs from other jobs' stages, shuffles used again, and jobs that wait for the end of others.
  void tie_jobs() {
    const int count = static_cast<int>(jobs_.size());
    for (int reader = 0; reader < count; ++reader) {
      Job& job = jobs_[static_cast<std::size_t>(reader)];
      for (int other = 0; other < count; ++other) {
        const bool earlier = other < reader;
        if (other == reader || !draw_.percent(earlier ? 35 : 4)) {
          continue;
        }
        const Job& source = jobs_[static_cast<std::size_t>(other)];
        const std::string stage = draw_.of(source.stages).name;
        const int to = draw_.below(static_cast<int>(job.stages.size()));
        const std::string from = source.name + "/" + stage;
        if (draw_.percent(10) && job.stages.size() > 1) {
          job.edges.push_back(fmt::format(
              R"({{"from": "s0", "to": "s1", "kind": "pipelined", "reuse": "{}"}})", from));
          job.stages[0].grouped = job.stages[1].grouped = true;
          continue;
        }
        job.edges.push_back(fmt::format(R"({{"from": "{}", "to": "s{}"{}}})", from, to,
                                        draw_.percent(4) ? R"(, "kind": "pipelined")" : ""));
        job.foreign.emplace_back(to, from);
      }
      if (reader > 0 && draw_.percent(20)) {
        const Job& awaited = jobs_[static_cast<std::size_t>(draw_.below(reader))];
        job.extra.push_back(fmt::format(R"("after": [{{"job": "{}", "delay": "{}ms"}}])",
                                        awaited.name, draw_.below(5)));
      }
    }
  }

  static std::string job_text(const Job& job) {
    std::vector<std::string> stages;
    for (const Stage& stage : job.stages) {
      stages.push_back(fmt::format(R"({{"name": "{}", "tasks": {}, {}}})", stage.name, stage.tasks,
                                   fmt::join(stage.extra, ", ")));
    }
    std::vector<std::string> keys{fmt::format("\"name\": \"{}\"", job.name)};
    keys.insert(keys.end(), job.extra.begin(), job.extra.end());
    keys.push_back(fmt::format("\"stages\": [\n    {}]", fmt::join(stages, ",\n    ")));
    if (!job.edges.empty()) {
      keys.push_back(fmt::format("\"edges\": [\n    {}]", fmt::join(job.edges, ",\n    ")));
    }
    return object_of(keys);
  }

  // ---- faults ----

  // `lose_executor` and the like, without `at`.
  std::string timed_action() {
    const int kind = draw_.below(10);
    if (kind < 1 || (focus_.cancels && kind < 3)) {
      return fmt::format(R"("cancel_job": "{}")", job_reference());
    }
    if (executors_.empty() || kind == 9 || (focus_.comings && kind == 8)) {
      added_.push_back(fmt::format("x{}", added_.size()));
      return R"("add_executor": )" + executor(added_.back(), false);
    }
    if (kind == 7 || (focus_.comings && kind == 6)) {
      const int time = draw_.range(1, 12);
      return fmt::format(R"("hold_executors": ["{}"], "for": "{}ms")", draw_.of(executors_), time);
    }
    const std::string cause =
        draw_.pick({"process", "process", "exit_by_app", "host", "decommission"});
    std::string text =
        fmt::format(R"("lose_executor": "{}", "cause": "{}")", draw_.of(executors_), cause);
    if (draw_.percent(25)) {
      text += ", \"noticed\": " + ms(draw_.below(8));
    }
    return text;
  }

  std::string job_reference() {
    const Job& job = draw_.of(jobs_);
    return job.name + (focus_.resubmits && draw_.percent(20) ? "#1" : "");
  }

  std::string moment_match(const std::string& moment) {
    std::vector<std::string> keys;
    const Job& job = draw_.of(jobs_);
    if (moment == "executor_lost") {
      if (!executors_.empty() && draw_.percent(50)) {
        keys.push_back(fmt::format(R"("executor": "{}")", draw_.of(executors_)));
      }
    } else if (draw_.percent(50)) {
      keys.push_back(fmt::format(R"("job": "{}")", job.name));
    } else if (moment != "job_end" && moment != "timer_armed" && draw_.percent(50)) {
      keys.push_back(fmt::format(R"("stage": "{}/{}")", job.name, draw_.of(job.stages).name));
    }
    return object_of(keys);
  }

  std::string moment_fault() {
    const std::string moment =
        draw_.pick({"group_queued", "group_admitted", "first_launch", "all_launched",
                    "member_finished", "last_but_one_task", "group_commit", "teardown", "job_end",
                    "timer_armed", "executor_lost", "external_input_lost"});
    std::vector<std::string> keys{fmt::format(R"("moment": "{}")", moment),
                                  "\"match\": " + moment_match(moment)};
    if (draw_.percent(30)) {
      keys.push_back(fmt::format("\"nth\": {}", draw_.range(2, 3)));
    }
    if (draw_.percent(40)) {
      keys.push_back("\"after\": " + ms(draw_.range(0, 4)));
    }
    keys.push_back("\"do\": {" + timed_action() + "}");
    return object_of(keys);
  }

  std::string task_name(const Job& job, const Stage& stage) {
    return fmt::format(R"("task": "{}/{}/{}")", job.name, stage.name, draw_.below(stage.tasks));
  }

  void add_which_try(std::vector<std::string>& keys, bool any_try) {
    if (draw_.percent(25)) {
      keys.push_back(fmt::format("\"attempt\": {}", draw_.range(1, 2)));
    }
    if (draw_.percent(30)) {
      keys.push_back("\"try\": " + draw_.pick({"1", "2", any_try ? "\"any\"" : "1", "2"}));
    }
  }

  std::optional<std::string> task_fault() {
    const Job& job = draw_.of(jobs_);
    const Stage& stage = draw_.of(job.stages);
    if (stage.tasks == 0) {
      return std::nullopt;
    }
    std::vector<std::string> keys{task_name(job, stage)};
    if (focus_.task_failures && draw_.percent(60)) {
      // What does not count towards max_task_failures may not hit every try: that never ends.
      const bool counts = draw_.percent(65);
      add_which_try(keys, counts);
      keys.push_back("\"fails\": \"" +
                     (counts
                          ? draw_.pick({"exception", "exception", "result_lost", "out_of_memory"})
                          : draw_.pick({"killed", "commit_denied"})) +
                     "\"");
      if (draw_.percent(70)) {
        keys.push_back("\"after\": " + ms(draw_.below(6)));
      }
      return object_of(keys);
    }
    add_which_try(keys, true);
    if (draw_.percent(50)) {
      keys.push_back("\"slow\": " + draw_.pick({"0.5", "2", "5"}));
    } else {
      keys.push_back("\"status_late\": " + ms(draw_.below(6)));
    }
    return object_of(keys);
  }

  // The output of a stage that the task's stage reads.
  std::optional<std::string> fetch_fault() {
    const Job& job = draw_.of(jobs_);
    std::vector<std::pair<int, std::string>> inputs = job.foreign;
    for (const auto& [from, to] : job.links) {
      inputs.emplace_back(to, fmt::format("s{}", from));
    }
    if (inputs.empty()) {
      return std::nullopt;
    }
    const auto& [to, from] = draw_.of(inputs);
    const Stage& stage = job.stages[static_cast<std::size_t>(to)];
    const int tasks = tasks_of(job, from);
    if (stage.tasks == 0 || tasks == 0) {
      return std::nullopt;
    }
    std::vector<std::string> keys{task_name(job, stage)};
    add_which_try(keys, true);
    keys.push_back(fmt::format(R"("fetch_fails": {{"from": "{}", "partition": {}}})", from,
                               draw_.below(tasks)));
    keys.push_back("\"after\": " + ms(draw_.below(5)));
    return object_of(keys);
  }

  [[nodiscard]] int tasks_of(const Job& own, const std::string& reference) const {
    const std::size_t slash = reference.find('/');
    const Job* job = &own;
    for (const Job& other : jobs_) {
      if (slash != std::string::npos && other.name == reference.substr(0, slash)) {
        job = &other;
      }
    }
    const std::string name = slash == std::string::npos ? reference : reference.substr(slash + 1);
    const auto found = std::ranges::find(job->stages, name, &Stage::name);
    return found == job->stages.end() ? 0 : found->tasks;
  }

  void add(const std::optional<std::string>& fault) {
    if (fault) {
      faults_.push_back(*fault);
    }
  }

  void make_faults() {
    if (focus_.losses || focus_.comings || focus_.cancels) {
      for (int n = draw_.range(1, 4); n > 0; --n) {
        const std::string action = timed_action();
        faults_.push_back("{\"at\": " + ms(draw_.range(0, 30)) + ", " + action + "}");
      }
    }
    if (focus_.moments) {
      for (int n = draw_.range(1, 4); n > 0; --n) {
        faults_.push_back(moment_fault());
      }
    }
    for (int n = focus_.task_failures ? draw_.range(1, 5) : draw_.below(2); n > 0; --n) {
      add(task_fault());
    }
    for (int n = focus_.fetches ? draw_.range(1, 4) : 0; n > 0; --n) {
      add(fetch_fault());
    }
  }

  std::uint64_t seed_;
  Draws draw_;
  Draws draw_more_, more_;  // of what came later: they move none of the others
  Focus focus_;
  std::vector<std::string> cluster_;
  std::vector<std::string> executors_;
  std::vector<std::string> added_;
  bool autoscaled_ = false;  // beside groups, for their rejection
  bool scales_ = false;
  std::vector<Job> jobs_;
  std::vector<std::string> faults_;
};

}  // namespace

std::string random_scenario(std::uint64_t seed) { return Generator(seed).text(); }

}  // namespace rehearse::testing
