// A10 against brute force: a group fits exactly when some placement exists, that is exactly when
// its widest stage fits, and what it reserves is that width. Clusters of at most 4 executors of at
// most 4 slots, some of them taken.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "model/support/draw.hpp"
#include "policies/registry.hpp"
#include "scheduler/core.hpp"

using namespace rehearse;
using namespace rehearse::scheduler;

namespace {

using Slots = std::vector<int>;  // by executor

class Draws {
 public:
  explicit Draws(std::uint64_t seed)
      : key_(model::draw_key({seed, model::DrawPurpose::workload, 0, 0})) {}
  [[nodiscard]] int range(int low, int high) {
    const auto count = static_cast<std::uint64_t>(std::int64_t{high} - low + 1);
    return low + static_cast<int>(model::uniform_below(model::draw(key_, {next_++, 0, 0}), count));
  }

 private:
  model::DrawKey key_;
  std::uint32_t next_ = 0;
};

struct Case {
  Slots total;
  Slots taken;
  std::vector<int> widths;  // tasks by stage
};

Case draw_case(Draws& draws) {
  Case one;
  const int executors = draws.range(1, 4);
  for (int e = 0; e < executors; ++e) {
    one.total.push_back(draws.range(1, 4));
    one.taken.push_back(draws.range(0, 2) == 0 ? draws.range(0, one.total.back()) : 0);
  }
  const int stages = draws.range(2, 4);
  for (int s = 0; s < stages; ++s) {
    one.widths.push_back(draws.range(1, 7));
  }
  return one;
}

// ---- brute force ----

// Can the stage run inside `room`, its tasks one by one on any executor?
bool places(int tasks, Slots room) {
  if (tasks == 0) {
    return true;
  }
  for (int& left : room) {
    if (left > 0) {
      --left;
      if (places(tasks - 1, room)) {
        return true;
      }
      ++left;
    }
  }
  return false;
}

// The least number of slots that hold every stage, each on its own; -1: no placement exists. Every
// reservation within `room` is tried.
int least_reservation(const std::vector<int>& widths, const Slots& room) {
  int least = -1;
  Slots reserved(room.size(), 0);
  while (true) {
    const int slots = std::accumulate(reserved.begin(), reserved.end(), 0);
    const bool holds = std::ranges::all_of(
        widths, [&](int tasks) { return tasks <= slots && places(tasks, reserved); });
    if (holds && (least < 0 || slots < least)) {
      least = slots;
    }
    std::size_t e = 0;
    while (e < room.size() && ++reserved[e] > room[e]) {
      reserved[e++] = 0;
    }
    if (e == room.size()) {
      return least;
    }
  }
}

Slots room_of(const Case& one, model::Accounting accounting) {
  Slots room;
  for (std::size_t e = 0; e < one.total.size(); ++e) {
    const bool whole = accounting == model::Accounting::whole_executor;
    room.push_back(whole && one.taken[e] > 0 ? 0 : one.total[e] - one.taken[e]);
  }
  return room;
}

// ---- the core ----

struct Answer {
  bool rejected = false;
  bool admitted = false;
  int slots = 0;                      // of group_admitted
  int reserved = 0;                   // free slots fewer than before
  int rests = 0;                      // slots of `reservation` lines
  std::map<std::uint32_t, int> held;  // by executor: the most that one stage runs there
};

class Cluster {
 public:
  Cluster(const Case& one, const model::SchedulerConfig& config, bool bound)
      : core_(make_core(config)) {
    for (std::size_t e = 0; e < one.total.size(); ++e) {
      JoinExecutor join;
      join.spec.name = names_.intern("e" + std::to_string(e));
      join.spec.host = join.spec.name;
      join.spec.resources = {one.total[e] * model::milli};
      join.spec.profile = bound ? ProfileId{0U} : ProfileId{};
      step(join);
      if (one.taken[e] > 0) {  // the only executor that is open: the tasks go there
        submit({one.taken[e]}, "r" + std::to_string(e));
        core_.pass(out_);
        out_.clear();
      }
      if (e + 1 < one.total.size()) {
        step(HoldExecutor{ExecutorId{e}, model::HoldCause::hold});
      }
    }
    for (std::size_t e = 0; e + 1 < one.total.size(); ++e) {
      step(ReleaseExecutor{ExecutorId{e}});
    }
  }

  Answer ask(const std::vector<int>& widths) {
    Answer answer;
    const std::int64_t before = free();
    out_.clear();
    submit(widths, "q");
    core_.pass(out_);
    answer.reserved = static_cast<int>(before - free());
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> runs;
    for (const Action& action : out_.list) {
      if (const auto* launch = std::get_if<Launch>(&action)) {
        int& most = answer.held[launch->executor.value];
        most = std::max(most, ++runs[{launch->executor.value, launch->stage.value}]);
      } else if (const auto* entry = std::get_if<Entry>(&action)) {
        const model::EventBody& body = out_.entries[entry->index];
        answer.rejected = answer.rejected || std::holds_alternative<model::JobRejected>(body);
        if (const auto* admitted = std::get_if<model::GroupAdmitted>(&body)) {
          answer.admitted = true;
          answer.slots = static_cast<int>(admitted->slots.front().n);
        } else if (const auto* rest = std::get_if<model::Reservation>(&body)) {
          answer.rests += static_cast<int>(rest->delta);
        }
      }
    }
    CHECK(core_.digest() == core_.full_digest());
    CHECK(core_ == Core(core_));
    return answer;
  }

 private:
  Core make_core(const model::SchedulerConfig& config) {
    CoreOptions options;
    options.config = config;
    options.profile_names = {names_.intern("default")};
    options.profile_tasks = {{model::milli}};
    options.names = &names_;
    const auto policies = policies::make(config);
    REQUIRE(policies.has_value());
    return Core(options, *policies);
  }
  void step(const Input& input) { core_.step(input, out_); }
  std::int64_t free() { return core_.probe(model::ProbeWhen::end).free.front().n; }

  // One stage, or several in a row of pipelined edges.
  void submit(const std::vector<int>& widths, const std::string& name) {
    auto spec = std::make_shared<model::JobSpec>();
    spec->name = names_.intern(name);
    for (std::size_t s = 0; s < widths.size(); ++s) {
      model::StageSpec stage;
      stage.name = names_.intern("s" + std::to_string(s));
      stage.tasks = widths[s];
      stage.profile = ProfileId{0U};
      spec->stages.push_back(stage);
      if (s > 0) {
        model::EdgeSpec edge;
        edge.from = StageIndex{s - 1};
        edge.to = {StageIndex{s}};
        edge.kind = model::EdgeKind::pipelined;
        spec->edges.push_back(edge);
      }
    }
    SubmitJob input;
    input.job = JobId{jobs_};
    input.spec = spec;
    input.own_stages = static_cast<std::uint32_t>(widths.size());
    input.rank = jobs_++;
    step(input);
  }

  model::NameTable names_;
  Core core_;
  Actions out_;
  std::uint32_t jobs_ = 0;
};

model::SchedulerConfig config_of(model::Accounting accounting, model::Placement placement) {
  model::SchedulerConfig config = model::preset(model::Dialect::psd);
  config.accounting = accounting;
  config.placement = placement;
  return config;
}

void judge(const Case& one, model::Accounting accounting, model::Placement placement, bool bound) {
  const int width = *std::ranges::max_element(one.widths);
  const Slots room = room_of(one, accounting);
  const int least = least_reservation(one.widths, room);
  const int open = std::accumulate(room.begin(), room.end(), 0);
  const int idle = std::accumulate(one.total.begin(), one.total.end(), 0);
  REQUIRE((least >= 0) == (width <= open));  // the oracle's own claim
  REQUIRE((least < 0 || least == width));
  Cluster cluster(one, config_of(accounting, placement), bound);
  const Answer answer = cluster.ask(one.widths);
  CHECK(answer.rejected == (width > idle));
  REQUIRE(answer.admitted == (least >= 0));
  if (!answer.admitted) {
    CHECK(answer.reserved == 0);
    return;
  }
  CHECK(answer.slots == width);
  CHECK(answer.reserved == width + answer.rests);
  int held = 0;
  int offered = 0;
  for (const auto& [executor, slots] : answer.held) {
    CHECK(slots <= room[executor]);
    held += slots;
    offered += room[executor];
  }
  CHECK(held == width);
  CHECK(answer.rests == (accounting == model::Accounting::whole_executor ? offered - held : 0));
}

}  // namespace

TEST_CASE("a group fits exactly when its widest stage fits, and reserves its width") {
  Draws draws(10);
  int fits = 0;
  int waits = 0;
  int never = 0;
  for (int i = 0; i < 1500; ++i) {
    CAPTURE(i);
    const Case one = draw_case(draws);
    const bool bound = draws.range(0, 1) == 0;
    judge(one, model::Accounting::largest_stage, model::Placement::nested, bound);
    judge(one, model::Accounting::whole_executor, model::Placement::nested, bound);
    judge(one, model::Accounting::largest_stage, model::Placement::spread, bound);
    judge(one, model::Accounting::whole_executor, model::Placement::pack, bound);
    const int width = *std::ranges::max_element(one.widths);
    const Slots room = room_of(one, model::Accounting::largest_stage);
    const bool now = width <= std::accumulate(room.begin(), room.end(), 0);
    const bool ever = width <= std::accumulate(one.total.begin(), one.total.end(), 0);
    fits += now ? 1 : 0;
    waits += !now && ever ? 1 : 0;
    never += ever ? 0 : 1;
  }
  CHECK(fits > 100);
  CHECK(waits > 100);
  CHECK(never > 50);
}
