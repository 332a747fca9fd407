// Explanations with a known answer: each scenario is small enough to be worked out by hand, and
// every part is compared, with its times and its words. Times are in milliseconds.
#include "reports/explain.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/experiment.hpp"
#include "traces/scenario_json.hpp"

using namespace rehearse;

namespace {

reports::Explanation explained(const std::string& body, const std::string& job) {
  auto scenario = traces::read_scenario("{ \"rehearse\": 1, " + body + " }", "a scenario");
  REQUIRE_MESSAGE(scenario, (scenario ? "" : model::to_string(scenario.error())));
  cli::Experiment experiment;
  experiment.scenario = std::move(*scenario);
  reports::Explain explain(
      {.job = job, .horizon = experiment.scenario.horizon, .start_delays = {}});
  const auto simulated = cli::simulate(experiment, {.journal = std::nullopt,
                                                    .judge_expectations = false,
                                                    .probe_one_in = 1,
                                                    .listener = &explain});
  REQUIRE(simulated);
  CHECK(simulated->run.violations.empty());
  auto found = explain.finish();
  REQUIRE(found);
  return std::move(*found);
}

std::string ms(model::Instant t) {
  return t % model::millisecond == 0 ? fmt::format("{}", t / model::millisecond)
                                     : fmt::format("{} ns", t);
}

// "kind from to: detail", one a line.
std::string parts_of(const reports::Explanation& explanation) {
  std::string text;
  for (const reports::ExplainPart& part : explanation.parts) {
    text += fmt::format("{} {} {}: {}\n", part.kind, ms(part.from_ns), ms(part.to_ns), part.detail);
  }
  return text;
}

std::string helps_of(const reports::Explanation& explanation) {
  return fmt::format("{}", fmt::join(explanation.helps, "\n"));
}

// `count` executors of four slots each, and jobs.
std::string on(int count, const std::string& rest) {
  return fmt::format(R"("cluster": {{ "executors": {}, "cpus": 4 }}, {})", count, rest);
}

// Three of four slots are taken for 20 ms.
constexpr const char* busy =
    R"({ "name": "a", "stages": [ { "name": "s", "tasks": 3, "duration": "20ms" } ] })";
// A group of four: map takes 10 ms, sink 5 ms.
constexpr const char* gang = R"("stages": [ { "name": "map", "tasks": 2, "duration": "10ms" },
  { "name": "sink", "tasks": 2, "duration": "5ms" } ],
  "edges": [ { "from": "map", "to": "sink", "kind": "pipelined" } ])";

std::string behind(const std::string& scheduler, const std::string& small_duration) {
  return on(1,
            fmt::format(R"("scheduler": {}, "jobs": [ {}, {{ "name": "wide", "submit": "1ms", {} }},
    {{ "name": "small", "submit": "2ms",
       "stages": [ {{ "name": "s", "tasks": 1, "duration": "{}" }} ] }} ])",
                        scheduler, busy, gang, small_duration));
}

}  // namespace

TEST_CASE("a stage waits for its parent: the parent is on the path") {
  const auto found = explained(on(1, R"("jobs": [ { "name": "q", "submit": "1ms",
    "stages": [ { "name": "map", "tasks": 2, "duration": ["4ms", "10ms"] },
                { "name": "reduce", "tasks": 1, "duration": "5ms" } ],
    "edges": [ { "from": "map", "to": "reduce" } ] } ])"),
                               "q");
  CHECK(parts_of(found) ==
        "running 1 11: q/map/1 on e0, the last of 2 tasks to end\n"
        "running 11 16: q/reduce/0 on e0\n");
  CHECK(found.latency_ns() == 15 * model::millisecond);
}

TEST_CASE("a gang at the head: the cluster drains to it, and its completion is deferred") {
  const auto found = explained(
      on(1, fmt::format(R"("jobs": [ {}, {{ "name": "q", "submit": "1ms", {} }} ])", busy, gang)),
      "q");
  CHECK(parts_of(found) ==
        "drain 1 20: q/map+sink heads the queue, which nobody overtakes (never): needs 4 slots of "
        "profile default, 1 free; held by a 3\n"
        "running 20 25: q/sink/1 on e0, the last of 2 tasks to end\n"
        "commit 25 30: q/sink had finished; it completes when group q/map+sink commits, whose last "
        "task to end was q/map/1 on e0\n");
  CHECK(helps_of(found) ==
        "3 slots of profile default more, free at +0 s, would have admitted q/map+sink then, "
        "19.0 ms earlier.");
}

TEST_CASE("a gang that holds a part of what it needs lacks the rest") {
  const std::string rest = fmt::format(
      R"("scheduler": {{ "admission": {{ "hold": {{ "bulk": {{ "timeout": "1s" }} }},
                                         "overtake": "backfill" }} }},
         "jobs": [ {}, {{ "name": "q", "submit": "1ms", {} }} ])",
      busy, gang);
  const auto found = explained(on(1, rest), "q");
  CHECK(parts_of(found).starts_with(
      "slots 1 20: q/map+sink waits for slots: needs 3 slots of profile default, 0 free; held by a "
      "3, itself 1\nrunning 20 25: "));
  CHECK(helps_of(found) ==
        "3 slots of profile default more, free at +0 s, would have admitted q/map+sink then, "
        "19.0 ms earlier, had no unit ahead of it taken them.");
}

TEST_CASE("behind the waiting head of another job, under never") {
  const auto found = explained(behind(R"({ "dialect": "psd" })", "5ms"), "small");
  CHECK(
      parts_of(found) ==
      "head 2 20: small/s stands behind wide/map, which waits for slots (overtake never): needs 1 "
      "slot of profile default, 1 free; held by a 3\n"
      "slots 20 25: small/s waits for slots: needs 1 slot of profile default, 0 free; held by "
      "wide 4\n"
      "running 25 30: small/s/0 on e0\n");
  CHECK(helps_of(found) ==
        "With overtake backfill instead of never small/s could have started at +0 s, at most "
        "18.0 ms earlier: what else would have passed is not computed.\n"
        "1 slot of profile default more, free at +18.0 ms, would have started all waiting tasks of "
        "small/s then, 5.00 ms earlier.");
}

TEST_CASE("behind a head under easy, because it would make the head late") {
  const std::string easy = R"({ "dialect": "psd", "admission": { "overtake": "easy" } })";
  CHECK(parts_of(explained(behind(easy, "100ms"), "small")) ==
        "head 2 20: small/s stands behind wide/map, which waits for slots (overtake easy): needs 1 "
        "slot of profile default, 1 free; held by a 3\n"
        "slots 20 25: small/s waits for slots: needs 1 slot of profile default, 0 free; held by "
        "wide 4\n"
        "running 25 125: small/s/0 on e0\n");
  CHECK(parts_of(explained(behind(easy, "5ms"), "small")) == "running 2 7: small/s/0 on e0\n");
}

TEST_CASE("behind a head that has aged") {
  const auto found = explained(
      behind(
          R"({ "dialect": "psd", "admission": { "overtake": { "aging": { "after": "1ms" } } } })",
          "5ms"),
      "small");
  CHECK(parts_of(found).starts_with(
      "head 2 20: small/s stands behind wide/map, which waits for slots (overtake "
      "aging[after=1ms]): needs 1 slot of profile default, 1 free; held by a 3\n"));
}

TEST_CASE("passed by later work under backfill") {
  const auto found = explained(
      on(1,
         fmt::format(R"("scheduler": {{ "admission": {{ "overtake": "backfill" }} }}, "jobs": [ {},
    {{ "name": "wide", "submit": "1ms", {} }},
    {{ "name": "b", "submit": "2ms",
       "stages": [ {{ "name": "s", "tasks": 1, "duration": "5ms" }} ] }},
    {{ "name": "c", "submit": "8ms",
       "stages": [ {{ "name": "s", "tasks": 1, "duration": "5ms" }} ] }} ])",
                     busy, gang)),
      "wide");
  CHECK(
      parts_of(found) ==
      "slots 1 20: wide/map+sink waits for slots: needs 4 slots of profile default, 1 free; held "
      "by a 3; passed by 2 tasks of later jobs (b, c; overtake backfill)\n"
      "running 20 25: wide/sink/1 on e0, the last of 2 tasks to end\n"
      "commit 25 30: wide/sink had finished; it completes when group wide/map+sink commits, whose "
      "last task to end was wide/map/1 on e0\n");
}

TEST_CASE("one profile is short, the other is free") {
  const auto found = explained(R"("cluster": {
    "profiles": { "default": { "task": { "cpus": 1 } }, "gpu": { "task": { "gpu": 1 } } },
    "executors": [ { "name": "c", "profile": "default", "resources": { "cpus": 4 } },
                   { "name": "g", "profile": "gpu", "resources": { "gpu": 1 } } ] },
    "jobs": [ { "name": "a", "stages": [
                { "name": "s", "tasks": 1, "duration": "30ms", "profile": "gpu" },
                { "name": "t", "tasks": 2, "duration": "60ms" } ] },
              { "name": "q", "submit": "5ms", "stages": [
                { "name": "train", "tasks": 1, "duration": "10ms", "profile": "gpu" } ] } ])",
                               "q");
  CHECK(parts_of(found) ==
        "slots 5 30: q/train waits for slots: needs 1 slot of profile gpu, 0 free; held by a 1\n"
        "running 30 40: q/train/0 on g\n");
}

TEST_CASE("a gang of two profiles names both") {
  const auto found = explained(R"("cluster": {
    "profiles": { "default": { "task": { "cpus": 1 } }, "gpu": { "task": { "gpu": 1 } } },
    "executors": [ { "name": "c", "profile": "default", "resources": { "cpus": 2 } },
                   { "name": "g", "profile": "gpu", "resources": { "gpu": 1 } } ] },
    "jobs": [ { "name": "a", "stages": [
                { "name": "s", "tasks": 1, "duration": "30ms", "profile": "gpu" } ] },
              { "name": "q", "stages": [ { "name": "map", "tasks": 2, "duration": "10ms" },
                { "name": "train", "tasks": 1, "duration": "10ms", "profile": "gpu" } ],
                "edges": [ { "from": "map", "to": "train", "kind": "pipelined" } ] } ])",
                               "q");
  CHECK(parts_of(found) ==
        "drain 0 30: q/map+train heads the queue, which nobody overtakes (never): needs 2 slots of "
        "profile default, 2 free and needs 1 slot of profile gpu, 0 free; held by a 1\n"
        "running 30 40: q/train/0 on g\n");
  CHECK(helps_of(found) ==
        "1 slot of profile gpu more, free at +0 s, would have admitted q/map+train then, 30.0 ms "
        "earlier.");
}

TEST_CASE("a locality wait, level after level") {
  const auto found = explained(R"("cluster": { "executors": 2, "cpus": 1 },
    "scheduler": { "locality_wait": "20ms" },
    "jobs": [ { "name": "a", "stages": [
                { "name": "s", "tasks": 1, "duration": "60ms", "prefers": [["e0"]] } ] },
              { "name": "q", "submit": "5ms", "stages": [
                { "name": "s", "tasks": 1, "duration": "10ms", "prefers": [["e0"]] } ] } ])",
                               "q");
  CHECK(parts_of(found) ==
        "locality 5 45: q/s waits for slots where its tasks prefer to run (locality_wait 20ms): "
        "needs 1 slot of profile default, 1 free; held by a 1\n"
        "running 45 55: q/s/0 on e1\n");
  CHECK(helps_of(found) ==
        "With locality_wait 0s q/s could have started at +0 s in free slots elsewhere (1 of its "
        "tasks waited, 1 free), at most 40.0 ms earlier; what reading from afar costs is not "
        "modelled.");
}

TEST_CASE("the slots are on held executors") {
  const auto found = explained(R"("cluster": { "executors": 2, "cpus": 1 },
    "faults": [ { "at": "1ms", "hold_executors": ["e0", "e1"], "for": "29ms" } ],
    "jobs": [ { "name": "q", "submit": "5ms", "stages": [
                { "name": "s", "tasks": 1, "duration": "10ms" } ] } ])",
                               "q");
  CHECK(parts_of(found) ==
        "held 5 30: q/s waits for slots: needs 1 slot of profile default, 0 free; 2 on held "
        "executors e0, e1\n"
        "running 30 40: q/s/0 on e0\n");
  CHECK(helps_of(found) ==
        "Without the hold q/s could have started at +0 s, at most 25.0 ms earlier.");
}

TEST_CASE("a gang that fits waits for its retry timer") {
  const auto found = explained(on(1, fmt::format(R"("scheduler": {{ "admission": {{
        "short": {{ "retry": {{ "interval": "15ms", "max": 3 }} }} }} }},
        "jobs": [ {}, {{ "name": "q", "submit": "1ms", {} }} ])",
                                                 busy, gang)),
                               "q");
  CHECK(parts_of(found) ==
        "slots 1 20: q/map+sink waits for slots: needs 4 slots of profile default, 1 free; held by "
        "a 3\n"
        "retry 20 31: q/map+sink is looked at when its timer fires (short "
        "retry[interval=15ms,max=3]): needs 4 "
        "slots of profile default, 4 free\n"
        "running 31 36: q/sink/1 on e0, the last of 2 tasks to end\n"
        "commit 36 41: q/sink had finished; it completes when group q/map+sink commits, whose last "
        "task to end was q/map/1 on e0\n");
}

TEST_CASE("a group fails, the caller pauses and submits again") {
  const std::string body = on(1, fmt::format(R"("jobs": [ {{ "name": "q", {},
        "on_failure": {{ "resubmit": 1, "backoff": "10ms" }} }} ],
        "faults": [ {{ "task": "q/sink/0", "fails": "exception", "after": "2ms" }} ])",
                                             gang));
  const auto found = explained(body, "q");
  CHECK(parts_of(found) ==
        "repeated 0 2: attempt 0 of group q/map+sink failed, TASK_FAILED: q/sink/0 on e0, try 0: "
        "exception\n"
        "backoff 2 12: the caller, from the end of q to the submission of q#1\n"
        "running 12 17: q#1/sink/1 on e0, the last of 2 tasks to end\n"
        "commit 17 22: q#1/sink had finished; it completes when group q#1/map+sink commits, whose "
        "last task to end was q#1/map/1 on e0\n");
  CHECK(found.tries == 2);
  CHECK(helps_of(found) ==
        "Had q succeeded as q#1 did, the request would have ended 12.0 ms earlier, with everything "
        "else as it was.");
  const auto again = explained(body, "q#1");
  CHECK(again.tries == 1);
  CHECK(again.submit_ns == 12 * model::millisecond);
  CHECK(parts_of(again).starts_with("running 12 17: q#1/sink/1"));
}

TEST_CASE("inputs of another job") {
  const auto found = explained(on(1, R"("jobs": [
    { "name": "a", "stages": [ { "name": "map", "tasks": 1, "duration": "30ms" },
                               { "name": "end", "tasks": 1, "duration": "30ms" } ],
      "edges": [ { "from": "map", "to": "end" } ] },
    { "name": "q", "submit": "5ms", "stages": [
        { "name": "own", "tasks": 1, "duration": "3ms" },
        { "name": "read", "tasks": 1, "duration": "10ms" } ],
      "edges": [ { "from": "a/map", "to": "read" }, { "from": "own", "to": "read" } ] } ])"),
                               "q");
  CHECK(parts_of(found) ==
        "running 5 8: q/own/0 on e0\n"
        "inputs 8 30: q/read waits for stage map of job a\n"
        "running 30 40: q/read/0 on e0\n");
  CHECK(helps_of(found) ==
        "Had stage map of job a been there at +3.00 ms, q/read would have been ready 22.0 ms "
        "earlier.");
}

TEST_CASE("a straggler is the critical path") {
  const auto found = explained(on(1, R"("jobs": [ { "name": "q", "stages": [
    { "name": "s", "tasks": 4, "duration": ["10ms", "50ms", "10ms", "10ms"] } ] } ])"),
                               "q");
  CHECK(parts_of(found) == "running 0 50: q/s/1 on e0, the last of 4 tasks to end\n");
  CHECK(helps_of(found) ==
        "q/s/1 took 50.0 ms, the median of its stage is 10.0 ms; everything else of its stage had "
        "ended 40.0 ms before it.");
}

TEST_CASE("a reader waits for the commit of a group whose member finished long before") {
  const auto found = explained(on(1, R"("jobs": [ { "name": "q", "stages": [
    { "name": "map", "tasks": 1, "duration": "40ms" },
    { "name": "mid", "tasks": 1, "duration": "5ms" },
    { "name": "read", "tasks": 1, "duration": "10ms" } ],
    "edges": [ { "from": "map", "to": "mid", "kind": "pipelined" },
               { "from": "mid", "to": "read" } ] } ])"),
                               "q");
  CHECK(parts_of(found) ==
        "running 0 5: q/mid/0 on e0\n"
        "commit 5 40: q/mid had finished; it completes when group q/map+mid commits, whose last "
        "task to end was q/map/0 on e0\n"
        "running 40 50: q/read/0 on e0\n");
}

TEST_CASE("under coupled timing the producer that a reader waited for took the time") {
  const auto found = explained(
      on(1, fmt::format(R"("timing": "coupled", "jobs": [ {{ "name": "q", {} }} ])", gang)), "q");
  CHECK(parts_of(found) ==
        "running 0 10: q/map/1 on e0, the last of 2 tasks to end; q/sink, downstream of it over "
        "a pipe, ended with it (timing coupled)\n");
}

TEST_CASE("unfinished at the horizon") {
  const std::string jobs = fmt::format(R"("horizon": "25ms", "jobs": [
    {{ "name": "a", "stages": [ {{ "name": "s", "tasks": 3, "duration": "100ms" }} ] }},
    {{ "name": "q", "submit": "1ms", {} }} ])",
                                       gang);
  const auto cut = explained(on(1, jobs), "a");
  CHECK(parts_of(cut) == "unfinished 0 25: a/s/0 on e0 ran when the run ended\n");
  CHECK(cut.outcome == reports::Outcome::unfinished);
  CHECK(parts_of(explained(on(1, jobs), "q")) ==
        "drain 1 25: q/map+sink heads the queue, which nobody overtakes (never): needs 4 slots of "
        "profile default, 1 free; held by a 3\n");
}

TEST_CASE("tasks one after the other in one slot") {
  const auto found = explained(R"("cluster": { "executors": 1, "cpus": 1 },
    "jobs": [ { "name": "q", "stages": [
      { "name": "s", "tasks": 3, "duration": ["10ms", "20ms", "30ms"] } ] } ])",
                               "q");
  CHECK(
      parts_of(found) ==
      "running 0 60: q/s/2 on e0, the last of 3 tasks to end, after 2 tasks in the same slot, the "
      "first q/s/0\n");
}

TEST_CASE("a task that failed is repeated") {
  const auto found = explained(on(1, R"("jobs": [ { "name": "q", "stages": [
    { "name": "s", "tasks": 1, "duration": "10ms" } ] } ],
    "faults": [ { "task": "q/s/0", "fails": "exception", "after": "2ms" } ])"),
                               "q");
  CHECK(parts_of(found) ==
        "repeated 0 2: q/s/0 on e0, try 0: exception\n"
        "running 2 12: q/s/0 on e0\n");
  CHECK(helps_of(found) ==
        "2.00 ms of q are work that was repeated and the pauses before it. Without the first "
        "failure, at +2.00 ms, it could have ended at most 10.0 ms earlier.");
}

TEST_CASE("a job whose task used up its tries") {
  const auto found = explained(on(1, R"("scheduler": { "failure": { "max_task_failures": 2 } },
    "jobs": [ { "name": "q", "stages": [ { "name": "s", "tasks": 1, "duration": "10ms" } ] } ],
    "faults": [ { "task": "q/s/0", "try": "any", "fails": "exception", "after": "2ms" } ])"),
                               "q");
  CHECK(parts_of(found) ==
        "repeated 0 2: q/s/0 on e0, try 0: exception\n"
        "failed 2 4: q/s/0 on e0, try 1: exception\n");
  CHECK(found.outcome == reports::Outcome::failed);
}

TEST_CASE("a fetch failure repeats the parent") {
  const auto found = explained(on(1, R"("jobs": [ { "name": "q", "stages": [
    { "name": "map", "tasks": 1, "duration": "10ms" },
    { "name": "reduce", "tasks": 1, "duration": "5ms" } ],
    "edges": [ { "from": "map", "to": "reduce" } ] } ],
    "faults": [ { "task": "q/reduce/0", "fetch_fails": { "from": "map", "partition": 0 },
                  "after": "2ms" } ])"),
                               "q");
  CHECK(parts_of(found) ==
        "running 0 10: q/map/0 on e0\n"
        "repeated 10 12: q/reduce/0 on e0, try 0: fetch_failed\n"
        "resubmit 12 212: until q/map may start again: delay, and kills that take effect\n"
        "running 212 222: q/map/0 on e0\n"
        "running 222 227: q/reduce/0 on e0\n");
}

TEST_CASE("a group that is run again after a delay") {
  const auto found = explained(on(1, fmt::format(R"("scheduler": {{ "failure": {{
        "group": {{ "rerun-group": {{ "max": 2, "delay": "7ms" }} }} }} }},
        "jobs": [ {{ "name": "q", {} }} ],
        "faults": [ {{ "task": "q/map/1", "fails": "exception", "after": "3ms" }} ])",
                                                 gang)),
                               "q");
  CHECK(parts_of(found) ==
        "repeated 0 3: attempt 0 of group q/map+sink failed, TASK_FAILED: q/map/1 on e0, try 0: "
        "exception\n"
        "resubmit 3 10: until q/map+sink may start again: delay, and kills that take effect\n"
        "running 10 15: q/sink/1 on e0, the last of 2 tasks to end\n"
        "commit 15 20: q/sink had finished; it completes when group q/map+sink commits, whose last "
        "task to end was q/map/1 on e0\n");
}

TEST_CASE("rejected, and rejected again") {
  const auto found = explained(
      R"("cluster": { "executors": 1, "cpus": 3 }, "jobs": [ { "name": "q", )" + std::string(gang) +
          R"(, "on_failure": { "resubmit": 1, "backoff": "10ms" } } ])",
      "q");
  REQUIRE(found.parts.size() == 3);
  CHECK(found.parts[0].detail.starts_with("q: INSUFFICIENT_SLOTS"));
  CHECK(found.parts[0].detail.ends_with("needs default 4, has default 3"));
  CHECK(parts_of(found).find("rejected 0 0: q: ") == 0);
  CHECK(parts_of(found).find("backoff 0 10: the caller, from the end of q to the submission of "
                             "q#1\nrejected 10 10: q#1: ") != std::string::npos);
  CHECK(found.outcome == reports::Outcome::rejected);
}

TEST_CASE("a job that fails at once because its gang does not fit now") {
  const auto found =
      explained(on(1, fmt::format(R"("scheduler": {{ "admission": {{ "short": "fail" }} }},
        "jobs": [ {}, {{ "name": "p", "submit": "1ms", "stages": [
            {{ "name": "first", "tasks": 1, "duration": "2ms" }},
            {{ "name": "map", "tasks": 2, "duration": "10ms" }},
            {{ "name": "sink", "tasks": 2, "duration": "5ms" }} ],
          "edges": [ {{ "from": "first", "to": "map" }},
                     {{ "from": "map", "to": "sink", "kind": "pipelined" }} ] }} ])",
                                  busy)),
                "p");
  CHECK(parts_of(found) == "running 1 3: p/first/0 on e0\n");
  CHECK(found.code == model::Code::insufficient_slots);
}

TEST_CASE("more than what lives can offer, after a loss") {
  const auto found = explained(R"("cluster": { "executors": 2, "cpus": 2 },
    "scheduler": { "no_executor_grace": "50ms" },
    "faults": [ { "at": "3ms", "lose_executor": "e1" } ],
    "jobs": [ { "name": "a", "stages": [ { "name": "s", "tasks": 1, "duration": "20ms" } ] },
              { "name": "q", "submit": "1ms", )" +
                                   std::string(gang) + " } ]",
                               "q");
  CHECK(parts_of(found) ==
        "drain 1 3: q/map+sink heads the queue, which nobody overtakes (never): needs 4 slots of "
        "profile default, 3 free; held by a 1\n"
        "starved 3 53: q/map+sink needs more than what lives can offer: needs 4 slots of profile "
        "default, 1 free; held by a 1\n");
  CHECK(found.code == model::Code::admission_timeout);
}

TEST_CASE("a group that falls back to regular edges") {
  const auto found = explained(on(1, fmt::format(R"("scheduler": {{ "admission": {{
        "short": {{ "fall-back": {{ "after": "5ms" }} }} }} }},
        "jobs": [ {}, {{ "name": "q", "submit": "1ms", {} }} ])",
                                                 busy, gang)),
                               "q");
  CHECK(
      parts_of(found) ==
      "drain 1 6: q/map+sink heads the queue, which nobody overtakes (never): needs 4 slots of "
      "profile default, 1 free; held by a 3\n"
      "running 6 26: q/map/1 on e0, the last of 2 tasks to end, after 1 task in the same slot, the "
      "first q/map/0; slots were held by a 3, itself 1\n"
      "running 26 31: q/sink/1 on e0, the last of 2 tasks to end\n");
}

TEST_CASE("a cancelled job names what ran") {
  const auto found = explained(on(1, R"("jobs": [ { "name": "q", "stages": [
    { "name": "s", "tasks": 1, "duration": "10ms" } ] } ],
    "faults": [ { "at": "4ms", "cancel_job": "q" } ])"),
                               "q");
  CHECK(parts_of(found) == "failed 0 4: q/s/0 on e0, try 0: cancelled\n");
  CHECK(found.outcome == reports::Outcome::cancelled);
}

TEST_CASE("a lost executor repeats its tasks and loses its outputs") {
  const auto found = explained(R"("cluster": { "executors": 2, "cpus": 1 },
    "jobs": [ { "name": "q", "stages": [
      { "name": "s", "tasks": 2, "duration": ["10ms", "30ms"] } ] } ],
    "faults": [ { "at": "20ms", "lose_executor": "e0" } ])",
                               "q");
  // A sink has no outputs to lose: partition 1 alone decides.
  CHECK(parts_of(found) == "running 0 30: q/s/1 on e1, the last of 2 tasks to end\n");
  const auto other = explained(R"("cluster": { "executors": 2, "cpus": 1 },
    "jobs": [ { "name": "q", "stages": [
      { "name": "s", "tasks": 2, "duration": ["10ms", "30ms"] } ] } ],
    "faults": [ { "at": "20ms", "lose_executor": "e1" } ])",
                               "q");
  CHECK(parts_of(other) ==
        "repeated 0 20: q/s/1 on e1, try 0: executor_lost\n"
        "running 20 50: q/s/1 on e0, the last of 2 tasks to end\n");
}

TEST_CASE("tasks that share slots take longer") {
  const auto found = explained(R"("cluster": { "executors": 1, "cpus": 1 },
    "scheduler": { "slots": { "shared": { "factor": 2 } } },
    "jobs": [ { "name": "q", "stages": [ { "name": "s", "tasks": 1, "duration": "10ms" } ] },
              { "name": "r", "submit": "2ms",
                "stages": [ { "name": "s", "tasks": 1, "duration": "4ms" } ] } ])",
                               "q");
  // From 2 to 10 at half the speed.
  CHECK(parts_of(found) ==
        "running 0 14: q/s/0 on e0; slots were shared meanwhile, which cost about 4.00 ms of it\n");
  CHECK(helps_of(found) ==
        "With slots exclusive the tasks on the path of q/s would have taken about 4.00 ms less, "
        "once they had a slot; how long they would have waited for one is not computed.");
}

TEST_CASE("profiles share by the resource of which most is taken") {
  const auto found = explained(R"("cluster": {
      "profiles": { "large": { "task": { "cpus": 1, "memory": 4 } } },
      "executors": [ { "name": "e0", "resources": { "cpus": 2, "memory": 4 } } ] },
    "scheduler": { "slots": { "shared": { "factor": 2 } } },
    "jobs": [ { "name": "q", "stages": [ { "name": "s", "tasks": 1, "duration": "10ms",
                                           "profile": "large" } ] },
              { "name": "r", "stages": [ { "name": "s", "tasks": 1, "duration": "5ms",
                                           "profile": "large" } ] } ])",
                               "q");
  // Eight of four units of memory until 10, though both cpus are there.
  CHECK(parts_of(found) ==
        "running 0 15: q/s/0 on e0; slots were shared meanwhile, which cost about 5.00 ms of it\n");
}

TEST_CASE("launch and status overheads are said to be inside") {
  const auto found =
      explained(R"("cluster": { "executors": [ { "name": "e", "resources": { "cpus": 1 } } ],
    "overheads": { "launch": "2ms", "status": "1ms" } },
    "jobs": [ { "name": "q", "stages": [ { "name": "s", "tasks": 1, "duration": "10ms" } ] } ])",
                "q");
  CHECK(parts_of(found) == "running 0 13: q/s/0 on e, launch 2ms and status 1ms included\n");
}

TEST_CASE("a job without tasks takes no time; one that is not there is not explained") {
  const auto found = explained(on(1, R"("jobs": [ { "name": "q", "stages": [
    { "name": "s", "tasks": 0, "duration": "10ms" } ] } ])"),
                               "q");
  CHECK(found.parts.empty());
  CHECK(found.latency_ns() == 0);
  reports::Explain explain({.job = "q", .horizon = {}, .start_delays = {}});
  CHECK_FALSE(explain.finish().has_value());
}

TEST_CASE("what is said to help does help") {
  // Behind a head under never: under backfill it starts when it is said to.
  const auto never = explained(behind(R"({ "dialect": "psd" })", "5ms"), "small");
  CHECK(never.helps.front().find("could have started at +0 s, at most 18.0 ms earlier") !=
        std::string::npos);
  const auto backfill = explained(
      behind(R"({ "dialect": "psd", "admission": { "overtake": "backfill" } })", "5ms"), "small");
  CHECK(parts_of(backfill) == "running 2 7: small/s/0 on e0\n");
  // Three slots are missing: with three more the gang starts at once, with two it does not.
  const auto with_cpus = [](int cpus) {
    return parts_of(
        explained(fmt::format(R"("cluster": {{ "executors": 1, "cpus": {} }}, "jobs": [ {},
          {{ "name": "q", "submit": "1ms", {} }} ])",
                              cpus, busy, gang),
                  "q"));
  };
  CHECK(with_cpus(7).starts_with("running 1 6: q/sink/1"));
  CHECK(with_cpus(6).starts_with("drain 1 20: q/map+sink"));
}
