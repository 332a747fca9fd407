// Exclusion (SS-2.7) against a second account of it: stages of which tasks fail, end and are
// excluded at random. After every pass no task runs where it is excluded, none waits beside a free
// slot it may take, and the core says which stages have a task that may run nowhere.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/support/draw.hpp"
#include "tests/support/offered_core.hpp"

using namespace rehearse;
using namespace rehearse::scheduler;
using namespace rehearse::testing;

namespace {

struct Place {
  int host = 0;
  int slots = 1;
  bool live = true;
  bool drains = false;
};

struct Work {  // a job of one stage
  JobId id;
  std::int32_t tasks = 0;
  std::set<std::int32_t> done;
  std::map<std::int32_t, Launch> running;
  std::map<std::pair<std::int32_t, std::size_t>, int> failures;  // by partition and executor
  std::set<std::pair<std::int32_t, std::size_t>> told;           // executors; partition -1: all
  std::set<std::pair<std::int32_t, int>> told_hosts;
  bool asked = false;  // said to be unschedulable since anything was launched
};

class World {
 public:
  World(std::uint64_t seed, const OfferedCore::Made& made)
      : limits_(made.engine.exclusion),
        core_(made),
        key_(model::draw_key({seed, model::DrawPurpose::workload, 0, 0})) {
    for (int i = 0; i < 5; ++i) {
      join();
    }
    for (int i = 0; i < 3; ++i) {
      submit();
    }
  }

  void take_step() {
    switch (range(0, 11)) {
      case 0:
        tell();
        break;
      case 1:
        places_.size() < 12 ? join() : submit();
        break;
      case 2:
        lose(range(0, 1) == 0);
        break;
      case 3:
        range(0, 3) == 0 ? drain() : submit();
        break;
      default:
        end_task();
    }
    pass();
  }

  std::size_t excluded = 0;  // free slots that a pending task was kept from
  std::size_t asked = 0;     // Unschedulable actions

 private:
  int range(int low, int high) {
    const std::uint64_t count = static_cast<std::uint64_t>(high - low) + 1;
    return low + static_cast<int>(model::uniform_below(model::draw(key_, {next_++, 0, 0}), count));
  }
  void join() {
    const Place place{range(0, 2), range(1, 2), true, false};
    core_.join("e" + std::to_string(places_.size()), host(place.host), place.slots);
    places_.push_back(place);
  }
  static std::string host(int number) { return "h" + std::to_string(number); }
  void submit() {
    Work work;
    work.tasks = range(1, 4);
    work.id = core_.submit("j" + std::to_string(submitted_++), {{"s", work.tasks}});
    works_.push_back(work);
  }
  void tell() {
    if (works_.empty()) {
      return;
    }
    Work& work = works_[std::size_t(range(0, int(works_.size()) - 1))];
    const std::int32_t partition = range(-1, work.tasks - 1);
    if (range(0, 1) == 0) {
      const auto executor = std::size_t(range(0, int(places_.size()) - 1));
      work.told.insert({partition, executor});
      core_.step(Exclude{work.id, StageIndex{0U}, partition, ExecutorId{executor}, {}});
    } else {
      const int where = range(0, 2);
      work.told_hosts.insert({partition, where});
      core_.step(Exclude{work.id, StageIndex{0U}, partition, {}, core_.name(host(where))});
    }
  }
  // Its tasks fail; that counts if it was their doing.
  void lose(bool by_app) {
    const auto executor = std::size_t(range(0, int(places_.size()) - 1));
    if (!std::exchange(places_[executor].live, false)) {
      return;
    }
    for (Work& work : works_) {
      std::erase_if(work.running, [&](const auto& entry) {
        const bool here = entry.second.executor.index() == executor;
        work.failures[{entry.first, executor}] += here && by_app ? 1 : 0;
        return here;
      });
    }
    core_.step(LoseExecutor{ExecutorId{executor},
                            by_app ? model::LossCause::exit_by_app : model::LossCause::process});
  }
  void drain() {
    const auto executor = std::size_t(range(0, int(places_.size()) - 1));
    if (places_[executor].live) {
      places_[executor].drains = true;
      core_.step(HoldExecutor{ExecutorId{executor}, model::HoldCause::decommission});
    }
  }
  void end_task() {
    for (int tries = 0; tries < 10 && !works_.empty(); ++tries) {
      Work& work = works_[std::size_t(range(0, int(works_.size()) - 1))];
      if (work.running.empty()) {
        continue;
      }
      const Launch task =
          std::next(work.running.begin(), range(0, int(work.running.size()) - 1))->second;
      work.running.erase(task.partition);
      switch (range(0, 5)) {
        case 0:
          work.done.insert(task.partition);
          core_.end(task);
          return;
        case 1:
          core_.fail(task, model::TaskReason::external);
          return;
        case 2:
          core_.fail(task, model::TaskReason::commit_denied);
          return;
        default:
          ++work.failures[{task.partition, task.executor.index()}];
          core_.fail(task);
          return;
      }
    }
  }

  // ---- the second account, from the definitions ----

  [[nodiscard]] int failures_of(const Work& work, std::int32_t partition, auto which) const {
    int sum = 0;
    for (const auto& [key, count] : work.failures) {
      sum += key.first == partition && which(key.second) ? count : 0;
    }
    return sum;
  }
  [[nodiscard]] bool failed_often(const Work& work, std::size_t executor) const {
    int tasks = 0;
    for (const auto& [key, count] : work.failures) {
      tasks += key.second == executor && count > 0 ? 1 : 0;
    }
    return tasks >= limits_.failed_tasks_per_executor;
  }
  [[nodiscard]] bool is_excluded(const Work& work, std::int32_t partition,
                                 std::size_t executor) const {
    const int here = places_[executor].host;
    int bad_executors = 0;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      bad_executors += places_[i].host == here && failed_often(work, i) ? 1 : 0;
    }
    const auto same_host = [&](std::size_t i) { return places_[i].host == here; };
    return failed_often(work, executor) || bad_executors >= limits_.failed_executors_per_host ||
           failures_of(work, partition, [&](std::size_t i) { return i == executor; }) >=
               limits_.task_attempts_per_executor ||
           failures_of(work, partition, same_host) >= limits_.task_attempts_per_host ||
           work.told.contains({partition, executor}) || work.told.contains({-1, executor}) ||
           work.told_hosts.contains({partition, here}) || work.told_hosts.contains({-1, here});
  }
  [[nodiscard]] int free_slots(std::size_t executor) const {
    int taken = 0;
    for (const Work& work : works_) {
      taken += int(std::ranges::count_if(work.running, [&](const auto& entry) {
        return entry.second.executor.index() == executor;
      }));
    }
    return takes_tasks(executor) ? places_[executor].slots - taken : 0;
  }
  [[nodiscard]] bool takes_tasks(std::size_t executor) const {
    return places_[executor].live && !places_[executor].drains;
  }
  [[nodiscard]] bool runs_nowhere(const Work& work, std::int32_t partition) const {
    bool any = false;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      any = any || takes_tasks(i);
      if (takes_tasks(i) && !is_excluded(work, partition, i)) {
        return false;
      }
    }
    return any;
  }

  void forget_ended() {
    std::erase_if(works_, [this](const Work& work) { return !core_.lives(work.id); });
  }
  void pass() {
    forget_ended();
    std::set<std::uint32_t> launched;
    do {
      const std::vector<Launch> tasks = core_.pass();
      launched.clear();
      for (const Launch& task : tasks) {
        Work& work = *std::ranges::find(works_, task.job, &Work::id);
        CHECK_FALSE(is_excluded(work, task.partition, task.executor.index()));
        CHECK(free_slots(task.executor.index()) > 0);
        work.running.insert_or_assign(task.partition, task);
        launched.insert(task.job.value);
      }
      if (!launched.empty()) {
        for (Work& work : works_) {
          work.asked = false;
        }
      }
      for (; asked < core_.unschedulable().size(); ++asked) {
        Work& work = *std::ranges::find(works_, core_.unschedulable()[asked].job, &Work::id);
        CHECK_FALSE(work.asked);
        work.asked = true;
      }
    } while (core_.core().wants_pass());
    forget_ended();
    for (const Work& work : works_) {
      judge(work, launched.contains(work.id.value));
    }
  }
  void judge(const Work& work, bool launched) {
    bool nowhere = false;
    for (std::int32_t p = 0; p < work.tasks; ++p) {
      if (work.done.contains(p) || work.running.contains(p)) {
        continue;
      }
      for (std::size_t i = 0; i < places_.size(); ++i) {
        CHECK((free_slots(i) <= 0 || is_excluded(work, p, i)));
        excluded += std::size_t{free_slots(i) > 0};
      }
      nowhere = nowhere || runs_nowhere(work, p);
    }
    CHECK((!nowhere || work.asked || launched));
  }

  ExclusionOptions limits_;
  OfferedCore core_;
  model::DrawKey key_;
  std::uint32_t next_ = 0;
  std::uint32_t submitted_ = 0;
  std::vector<Place> places_;
  std::vector<Work> works_;
};

}  // namespace

TEST_CASE("places and stages are excluded as a second account says") {
  std::size_t excluded = 0;
  std::size_t asked = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    OfferedCore::Made made;
    made.autoscaling = true;  // nothing is given up for good while this runs
    made.config.outputs_survive_executor = true;
    made.config.failure.max_task_failures = seed % 3 == 0 ? 100 : 4;
    made.engine.exclusion.on_failure = true;
    if (seed % 2 == 0) {
      made.engine.exclusion.task_attempts_per_executor = 2;
      made.engine.exclusion.task_attempts_per_host = 3;
      made.engine.exclusion.failed_tasks_per_executor = 1 + std::int32_t(seed % 3);
    }
    World world(seed, made);
    for (int i = 0; i < 80; ++i) {
      CAPTURE(i);
      world.take_step();
    }
    excluded += world.excluded;
    asked += world.asked;
  }
  CHECK(excluded > 500);
  CHECK(asked > 50);
}
