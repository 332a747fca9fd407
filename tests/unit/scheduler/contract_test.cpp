// What an engine may not tell the core (scheduler/input.hpp): it is refused where it is taken.
#include <doctest/doctest.h>

#include "model/support/check.hpp"
#include "tests/support/offered_core.hpp"

using namespace rehearse;
using namespace rehearse::testing;

namespace {

// A job of one stage, which nobody submitted yet.
scheduler::SubmitJob job_of_one_stage(OfferedCore& core, std::uint32_t id) {
  auto spec = std::make_shared<model::JobSpec>();
  spec->name = core.name("j" + std::to_string(id));
  model::StageSpec& stage = spec->stages.emplace_back();
  stage.name = core.name("s");
  stage.tasks = 1;
  stage.profile = scheduler::ProfileId{0U};
  scheduler::SubmitJob input;
  input.job = JobId{id};
  input.spec = spec;
  input.own_stages = 1;
  input.rank = id;
  return input;
}

}  // namespace

TEST_CASE("a job that is in use is not submitted again") {
  OfferedCore core({});
  core.join("a", "host-a");
  core.submit("q", {{"m", 1}});
  CHECK_THROWS_AS(core.step(job_of_one_stage(core, 0)), model::InternalFault);
}

TEST_CASE("every stage of a job is its own or stands for one of another job") {
  OfferedCore core({});
  core.join("a", "host-a");
  scheduler::SubmitJob input = job_of_one_stage(core, 0);
  input.own_stages = 0;
  CHECK_THROWS_AS(core.step(input), model::InternalFault);
}

TEST_CASE("the job whose shuffle is reused lives (F7)") {
  OfferedCore core({});
  const ExecutorId executor = core.join("a", "host-a");
  const JobId first = core.submit("q", {{"m", 1}});
  const auto tasks = core.round({executor});
  REQUIRE(tasks.size() == 1);

  scheduler::SubmitJob second = job_of_one_stage(core, 1);
  second.reused_job = first;
  core.step(second);  // it names no edge of that job, so nothing is refused

  core.end(tasks[0]);
  REQUIRE(core.succeeded(first));
  scheduler::SubmitJob third = job_of_one_stage(core, 2);
  third.reused_job = first;
  CHECK_THROWS_AS(core.step(third), model::InternalFault);  // it has ended
  third.reused_job = JobId{7U};
  CHECK_THROWS_AS(core.step(third), model::InternalFault);  // there is none
}
