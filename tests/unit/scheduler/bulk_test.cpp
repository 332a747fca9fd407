// What waiting gangs hold is state (F9): copied, compared, digested and counted with the rest.
#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "policies/registry.hpp"
#include "scheduler/core.hpp"

using namespace rehearse;
using namespace rehearse::scheduler;

namespace {

// Three executors of one slot, the last of which job h has taken; no slot comes back by itself.
class Cluster {
 public:
  Cluster() : core(make_core()) {
    for (std::uint32_t e = 0; e < 3; ++e) {
      JoinExecutor join;
      join.spec.name = names_.intern("e" + std::to_string(e));
      join.spec.host = join.spec.name;
      join.spec.resources = {model::milli};
      join.spec.profile = ProfileId{0U};
      step(join);
    }
    step(HoldExecutor{ExecutorId{0U}, model::HoldCause::hold});
    step(HoldExecutor{ExecutorId{1U}, model::HoldCause::hold});
    submit("h", 1, 0);
    step(ReleaseExecutor{ExecutorId{0U}});
    step(ReleaseExecutor{ExecutorId{1U}});
  }

  // One stage of `first` tasks, and if `second` is not 0 another one behind a pipelined edge.
  void submit(const std::string& name, std::int32_t first, std::int32_t second,
              std::int32_t priority = 0) {
    auto spec = std::make_shared<model::JobSpec>();
    spec->name = names_.intern(name);
    spec->priority = priority;
    for (const std::int32_t tasks : {first, second}) {
      if (tasks > 0) {
        model::StageSpec stage;
        stage.name = names_.intern("s" + std::to_string(spec->stages.size()));
        stage.tasks = tasks;
        stage.profile = ProfileId{0U};
        spec->stages.push_back(stage);
      }
    }
    if (second > 0) {
      model::EdgeSpec edge;
      edge.from = StageIndex{0U};
      edge.to = {StageIndex{1U}};
      edge.kind = model::EdgeKind::pipelined;
      spec->edges.push_back(edge);
    }
    SubmitJob input;
    input.job = JobId{jobs_};
    input.own_stages = static_cast<std::uint32_t>(spec->stages.size());
    input.spec = spec;
    input.rank = jobs_++;
    step(input);
  }

  // With a pass if it is due, as at the end of an instant.
  void step(const Input& input) {
    out_.clear();
    core.step(input, out_);
    while (core.wants_pass()) {
      core.pass(out_);
    }
  }

  // Holds by the lines of the last step: the sum of their changes.
  [[nodiscard]] std::int64_t told() const {
    std::int64_t slots = 0;
    for (const Action& action : out_.list) {
      if (const auto* entry = std::get_if<Entry>(&action)) {
        const auto* line = std::get_if<model::Reservation>(&out_.entries[entry->index]);
        slots += line == nullptr ? 0 : line->delta;
      }
    }
    return slots;
  }

 private:
  model::NameTable names_;
  Actions out_;
  std::uint32_t jobs_ = 0;

  Core make_core() {
    CoreOptions options;
    options.config = model::preset(model::Dialect::psd);
    options.config.admission.hold = model::Hold::bulk;
    options.config.admission.bulk_timeout = model::second;
    options.config.admission.queue = model::QueueOrder::priority;
    options.config.admission.overtake = model::Overtake::backfill;
    options.profile_names = {names_.intern("default")};
    options.profile_tasks = {{model::milli}};
    options.names = &names_;
    const auto policies = policies::make(options.config);
    REQUIRE(policies.has_value());
    return Core(options, *policies);
  }

 public:
  Core core;
};

}  // namespace

TEST_CASE("what is held is copied with the core, and given up in one copy only") {
  Cluster cluster;
  cluster.submit("g", 2, 1);
  CHECK(cluster.told() == 2);
  CHECK(cluster.core.digest() == cluster.core.full_digest());
  const model::Probe holding = cluster.core.probe(model::ProbeWhen::end);
  CHECK(holding.reservations == 1);
  CHECK(holding.busy == 1);
  CHECK(holding.free.front().n == 0);

  Core copy = cluster.core;
  CHECK(copy == cluster.core);
  CHECK(copy.digest() == cluster.core.digest());
  Actions out;
  copy.step(CancelJob{JobId{1U}}, out);
  CHECK(copy.digest() == copy.full_digest());
  CHECK_FALSE(copy == cluster.core);
  CHECK(copy.probe(model::ProbeWhen::end).reservations == 0);
  CHECK(copy.probe(model::ProbeWhen::end).timers == 0);
  CHECK(copy.probe(model::ProbeWhen::end).free.front().n == 2);
  CHECK(cluster.core.probe(model::ProbeWhen::end) == holding);

  cluster.step(CancelJob{JobId{1U}});
  CHECK(cluster.told() == -2);
  copy.pass(out);
  CHECK(copy == cluster.core);
  CHECK(copy.digest() == cluster.core.digest());
}

TEST_CASE("who holds which slot tells two cores apart") {
  // Two gangs hold one slot each; nothing but whose is which differs.
  const auto holding = [](std::uint32_t of_first) {
    auto cluster = std::make_unique<Cluster>();
    const ExecutorId other{1U - of_first};
    cluster->step(HoldExecutor{other, model::HoldCause::hold});
    cluster->submit("a", 2, 1);
    CHECK(cluster->told() == 1);
    cluster->submit("b", 2, 1, 5);
    CHECK(cluster->told() == 0);
    cluster->step(ReleaseExecutor{other});
    CHECK(cluster->told() == 1);
    CHECK(cluster->core.probe(model::ProbeWhen::end).reservations == 2);
    return cluster;
  };
  const auto straight = holding(0);
  const auto crossed = holding(1);
  const auto again = holding(0);
  CHECK(straight->core == again->core);
  CHECK(straight->core.digest() == again->core.digest());
  CHECK_FALSE(straight->core == crossed->core);
  CHECK(straight->core.digest() != crossed->core.digest());
}
