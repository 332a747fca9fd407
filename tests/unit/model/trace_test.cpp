// Arrivals and sinks of recorded jobs.
#include "model/trace.hpp"

#include <doctest/doctest.h>

using namespace rehearse;

namespace {

model::TraceJob job(model::NameTable& names, std::string_view name, model::Instant submit,
                    std::optional<model::Instant> end) {
  model::TraceJob made;
  made.spec.name = names.intern(name);
  made.spec.submit = submit;
  made.recorded.submitted = submit;
  made.recorded.end = end;
  return made;
}

}  // namespace

TEST_CASE("a job follows the job with the latest end not later than its submission") {
  model::NameTable names;
  std::vector<model::TraceJob> jobs{
      job(names, "a", 0, 50),  job(names, "b", 10, 30),           job(names, "c", 30, 90),
      job(names, "d", 60, 70), job(names, "e", 70, std::nullopt), job(names, "f", 90, 90)};
  model::link_arrivals(jobs);
  CHECK(jobs[0].spec.after.empty());
  CHECK(jobs[1].spec.after.empty());  // a had not ended
  REQUIRE(jobs[2].spec.after.size() == 1);
  CHECK(jobs[2].spec.after[0] == model::AfterSpec{names.intern("b"), 0});
  CHECK(jobs[3].spec.after[0] == model::AfterSpec{names.intern("a"), 10});
  CHECK(jobs[4].spec.after[0] == model::AfterSpec{names.intern("d"), 0});
  CHECK(jobs[5].spec.after[0] == model::AfterSpec{names.intern("c"), 0});  // never itself
}

TEST_CASE("of equal ends the later job is followed") {
  model::NameTable names;
  std::vector<model::TraceJob> jobs{job(names, "a", 0, 20), job(names, "b", 5, 20),
                                    job(names, "c", 25, 30)};
  model::link_arrivals(jobs);
  CHECK(jobs[2].spec.after[0] == model::AfterSpec{names.intern("b"), 5});
}

TEST_CASE("the sinks are the stages that no edge of the job reads") {
  model::JobSpec spec;
  spec.stages.resize(4);
  model::EdgeSpec edge;
  edge.from = model::StageIndex(0U);
  edge.to = {model::StageIndex(2U)};
  spec.edges.push_back(edge);
  model::EdgeSpec foreign;
  foreign.to = {model::StageIndex(1U)};  // its producer is in another job
  spec.edges.push_back(foreign);
  CHECK(model::sinks_of(spec) == std::vector<model::StageIndex>{model::StageIndex(1U),
                                                                model::StageIndex(2U),
                                                                model::StageIndex(3U)});
}

TEST_CASE("computing is what the other parts leave of a task") {
  model::TaskParts parts;
  CHECK(parts.compute_ns(0, 500) == 500);  // nothing recorded: all of it
  parts.resize(2);
  parts.deserialize_us = {1, 900};
  parts.rest_us = {2, 900};
  CHECK(parts.compute_ns(0, 10'000) == 7'000);
  CHECK(parts.compute_ns(1, 10'000) == 0);  // clocks disagree: never below 0
}
