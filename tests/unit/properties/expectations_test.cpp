// Expectations over hand-written journals: every form holds, fails, and says why.
#include "properties/expectations.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/journal_builder.hpp"
#include "traces/scenario_json.hpp"

namespace rehearse::properties {

using model::Code;
using model::ExpectationResult;
using model::millisecond;
using model::TaskReason;
using testing::JournalBuilder;

namespace {

// The expectations are read from text, as a scenario has them; the jobs are those of the journals.
model::Scenario expecting(std::string_view expect) {
  std::string text = R"({ "rehearse": 1, "cluster": {
      "profiles": { "default": { "task": { "cpus": 1 } }, "wide": { "task": { "cpus": 2 } },
                    "gpu": { "task": { "cpus": 1, "gpu": 1 } } },
      "executors": [ { "name": "e0", "resources": { "cpus": 2 } } ] },
    "jobs": [ { "name": "q", "on_failure": { "resubmit": 1 }, "stages": [
                  { "name": "map", "tasks": 2, "duration": "1ms" },
                  { "name": "sink", "tasks": 2, "duration": "1ms" } ] },
              { "name": "s", "repeat": { "count": 2, "every": "1ms" },
                "stages": [ { "name": "map", "tasks": 2, "duration": "1ms" } ] } ],
    "expect": [)";
  text += expect;
  text += "] }";
  model::Result<model::Scenario> scenario = traces::read_scenario(text, "s.json");
  if (!scenario) {
    FAIL(model::to_string(scenario.error()));
  }
  return std::move(*scenario);
}

ExpectationResult judge(const JournalBuilder& journal, std::string_view expect,
                        const RunOutcome& outcome = {}) {
  const model::Scenario scenario = expecting(expect);
  Expectations expectations(scenario);
  expectations.begin(journal.names());
  for (const model::Event& event : journal.events()) {
    expectations.on(event);
  }
  const std::vector<ExpectationResult> results = expectations.finish(outcome);
  REQUIRE(results.size() == 1);
  CHECK_FALSE(results[0].detail.empty());
  return results[0];
}

bool holds(const JournalBuilder& journal, std::string_view expect, const RunOutcome& outcome = {}) {
  const ExpectationResult result = judge(journal, expect, outcome);
  INFO(result.detail);
  return result.ok;
}

// q fails at 5 ms with a group of four on two executors of two, q#1 succeeds at 30 ms; s1 waits.
JournalBuilder sample() {
  JournalBuilder j;
  j.at(0).run().executor("e0", 2).executor("e1", 2);
  j.job("q", {{"map", 2}, {"sink", 2}}, {{"map", "sink", true}}).started("q");
  j.formed("q/map", {"map", "sink"}, {{"default", 4}}).admitted("q/map", {{"default", 4}});
  j.submitted("q/map", 2).submitted("q/sink", 2);
  j.start({"q/map/0", "e0"}).start({"q/map/1", "e1"});
  j.start({"q/sink/0", "e0"}).start({"q/sink/1", "e1"});
  j.job("s1", {{"map", 2}}).started("s1").submitted("s1/map", 2);
  j.at(4 * millisecond).success({"q/map/0", "e0"});
  j.at(5 * millisecond).failure({"q/map/1", "e1"}, TaskReason::exception);
  j.kill({"q/sink/0", "e0"}, TaskReason::group_failed);
  j.kill({"q/sink/1", "e1"}, TaskReason::group_failed, model::SlotState::held);
  j.completed("q/map", 0, model::StageStatus::failed, model::StageReason::group_failed);
  j.completed("q/sink", 0, model::StageStatus::failed, model::StageReason::group_failed);
  j.group_failed("q/map", Code::task_failed)
      .failed("q", Code::task_failed, {{"default", 4}}, {{"default", 2}});
  j.start({"s1/map/0", "e0"});
  j.at(7 * millisecond).slots_back("e1", 1, "q");
  j.at(8 * millisecond).held("e1");
  j.at(9 * millisecond).released("e1");
  j.at(10 * millisecond).job("q#1", {{"map", 2}, {"sink", 2}}).started("q#1");
  j.job("s2", {{"map", 2}}).rejected("s2", Code::dag_cycle);
  j.at(20 * millisecond).lost("e0").failure({"s1/map/0", "e0"}, TaskReason::executor_lost);
  j.at(30 * millisecond).succeeded("q#1").over();
  return j;
}

}  // namespace

TEST_CASE("ends of jobs") {
  const JournalBuilder j = sample();
  CHECK(holds(j, R"({"job":"q","ends":"failed","code":"TASK_FAILED","at":"5ms"})"));
  CHECK(holds(j, R"({"job":"q","ends":"failed","before":"6ms","after":"4ms"})"));
  CHECK_FALSE(holds(j, R"({"job":"q","ends":"failed","before":"5ms"})"));
  CHECK_FALSE(holds(j, R"({"job":"q","ends":"failed","after":"5ms"})"));
  CHECK_FALSE(holds(j, R"({"job":"q","ends":"succeeded"})"));
  CHECK_FALSE(holds(j, R"({"job":"q","ends":"failed","code":"EXECUTOR_LOST"})"));
  CHECK_FALSE(holds(j, R"({"job":"q","ends":"failed","at":"6ms"})"));
  CHECK(holds(j, R"({"job":"q#1","ends":"succeeded","at":"30ms"})"));
  CHECK(holds(j, R"({"job":"s1","ends":"unfinished"})"));
  CHECK(holds(j, R"({"job":"s2","ends":"rejected","code":"DAG_CYCLE"})"));
  // A repeated job's bare name stands for all its copies.
  CHECK_FALSE(holds(j, R"({"job":"s","ends":"unfinished"})"));
  const ExpectationResult wrong = judge(j, R"({"job":"q","ends":"succeeded","at":"7ms"})");
  CHECK(wrong.detail ==
        "expected job q ends succeeded at 7ms; job q ended failed with TASK_FAILED at 5ms");
}

TEST_CASE("counts of stages") {
  const JournalBuilder j = sample();
  CHECK(holds(j, R"({"stage":"q/map","attempts":1,"tasks_started":2,"ends":"failed"})"));
  CHECK_FALSE(holds(j, R"({"stage":"q/map","attempts":2})"));
  CHECK_FALSE(holds(j, R"({"stage":"q/map","tasks_started":3})"));
  CHECK_FALSE(holds(j, R"({"stage":"q/map","ends":"success"})"));
  CHECK_FALSE(holds(j, R"({"stage":"s1/map","ends":"success"})"));  // never completed
  CHECK(holds(j, R"({"stage":"q#1/map","attempts":0,"tasks_started":0})"));
  CHECK_FALSE(holds(j, R"({"stage":"s/map","attempts":1})"));  // s2 has none
}

TEST_CASE("the state at an instant is that after its last round") {
  const JournalBuilder j = sample();
  CHECK(holds(j, R"({"at":"0s","running":["q/map","q/sink","s1/map"],"free":{"default":0}})"));
  CHECK(holds(j, R"({"at":"4ms","free":{"default":1}})"));
  // At 5 ms one slot is held until its kill took effect, and s1 has taken one.
  CHECK(holds(j, R"({"at":"5ms","free":{"default":2},"not_running":["q/map"]})"));
  CHECK(holds(j, R"({"at":"6999999ns","free":{"default":2}})"));
  CHECK(holds(j, R"({"at":"7ms","free":{"default":3}})"));
  CHECK(holds(j, R"({"at":"8ms","free":{"default":1}})"));  // e1 is held
  CHECK(holds(j, R"({"at":"9ms","free":{"default":3}})"));
  CHECK(holds(j, R"({"at":"10ms","waiting":["q#1/map","q#1/sink"],"running":["s1/map"]})"));
  CHECK_FALSE(holds(j, R"({"at":"10ms","waiting":["q/map"]})"));  // its job has ended
  CHECK_FALSE(holds(j, R"({"at":"10ms","running":["q#1/map"]})"));
  CHECK_FALSE(holds(j, R"({"at":"9ms","waiting":["q#1/map"]})"));  // not yet submitted
  CHECK_FALSE(holds(j, R"({"at":"0s","not_running":["q/map"]})"));
  CHECK(holds(j, R"({"at":"20ms","free":{"default":2,"wide":0}})"));
  CHECK(holds(j, R"({"at":"20ms","free":{"default":2}})"));  // e0 is gone
  CHECK(holds(j, R"({"at":"1h","free":{"default":2},"not_running":["q#1/map"]})"));
  const ExpectationResult wrong = judge(j, R"({"at":"7ms","free":{"default":4}})");
  CHECK(wrong.detail.find("free slots of default are 3 (e0 1, e1 2)") != std::string::npos);
  CHECK(wrong.detail.find("slot_returned") != std::string::npos);  // the last line until then
}

TEST_CASE("free slots count what is reserved, and unbound executors by what still fits") {
  JournalBuilder j;
  j.at(0).run().executor("u", 5, "").executor("w", 4, "wide");
  j.job("q", {{"map", 2, model::Commits::none, false, "wide"}, {"sink", 2}}).started("q");
  j.start({"q/map/0", "u"});
  CHECK(holds(j, R"({"at":"0s","free":{"default":3,"wide":3,"gpu":0}})"));
  j.reserve("q/map", "u", 2, 2);
  CHECK(holds(j, R"({"at":"0s","free":{"default":1,"wide":2}})"));
  j.at(1).reserve("q/map", "u", 0, -2).start({"q/sink/0", "u"});
  CHECK(holds(j, R"({"at":"1ns","free":{"default":2,"wide":3}})"));
}

TEST_CASE("events: how many, which, when") {
  const JournalBuilder j = sample();
  CHECK(holds(j, R"({"event":"task_end q/sink","status":"killed","count":2})"));
  CHECK(holds(j, R"({"event":"task_end q/sink/1","slot":"held","at":"5ms"})"));
  CHECK_FALSE(holds(j, R"({"event":"task_end q/sink/0","slot":"held"})"));
  CHECK_FALSE(holds(j, R"({"event":"task_end q/sink","at":"6ms"})"));
  CHECK(holds(j, R"({"event":"task_end q","min":3,"max":4})"));
  CHECK_FALSE(holds(j, R"({"event":"task_end q","min":5})"));
  CHECK_FALSE(holds(j, R"({"event":"task_end q","max":3})"));
  CHECK(holds(j, R"({"event":"task_start q","at":"1ms","max":0})"));
  CHECK(holds(j, R"({"event":"executor_lost","count":1})"));
  CHECK(holds(j, R"({"event":"executor_lost e0","cause":"process"})"));
  CHECK(holds(j, R"({"never":"executor_lost e1"})"));
  CHECK_FALSE(holds(j, R"({"never":"task_end q","status":"failed"})"));
  CHECK(holds(j, R"({"event":"task_start s","count":1})"));  // s1 and s2
  CHECK_FALSE(holds(j, R"({"event":"job_end q#1","count":2})"));
  // `j` alone means the first, not its resubmission.
  CHECK(holds(j, R"({"event":"job_submitted q","count":1})"));
  // Objects compare whole, lists too; booleans and integers as such.
  CHECK(holds(j, R"({"event":"job_end q","need":{"default":4},"have":{"default":2}})"));
  CHECK_FALSE(holds(j, R"({"event":"job_end q","need":{}})"));
  CHECK_FALSE(holds(j, R"({"event":"job_end q#1","need":{"default":4}})"));
  CHECK(holds(j, R"({"event":"group_formed q","stages":["map","sink"]})"));
  CHECK_FALSE(holds(j, R"({"event":"group_formed q","stages":["sink","map"]})"));
  CHECK(holds(j, R"({"event":"job_rejected s2","codes":["DAG_CYCLE"]})"));
  CHECK(holds(j, R"({"event":"task_start q","speculative":false,"attempt":0,"count":4})"));
  CHECK(holds(j, R"({"never":"task_start q","try":1})"));

  const ExpectationResult few = judge(j, R"({"event":"task_end q/sink","status":"success"})");
  CHECK(few.detail.find("at least 1 \"task_end q/sink\" with status success") != std::string::npos);
  CHECK(few.detail.find("\"reason\":\"group_failed\"") != std::string::npos);
  const ExpectationResult many = judge(j, R"({"never":"job_end q"})");
  CHECK(many.detail.find("there are 1\n  {\"t\":5000000,\"e\":\"job_end\"") != std::string::npos);
}

TEST_CASE("detail matches by substring") {
  JournalBuilder j;
  j.at(0).run().job("q", {{"map", 2}});
  j.add(model::JobRejected{.job = j.id("q"),
                           .code = Code::insufficient_slots,
                           .codes = {Code::insufficient_slots},
                           .detail = j.id("never fits by trial on 2 executors"),
                           .need = std::nullopt,
                           .have = std::nullopt});
  CHECK(holds(j, R"({"event":"job_rejected q","detail":"by trial"})"));
  CHECK_FALSE(holds(j, R"({"event":"job_rejected q","detail":"by count"})"));
}

TEST_CASE("order: each after the one before") {
  const JournalBuilder j = sample();
  CHECK(holds(j, R"({"order":["task_start q/map/0","task_end q/map","job_end q","job_end"]})"));
  CHECK(holds(j, R"({"order":["task_end q","task_end q","task_end q","task_end q"]})"));
  CHECK_FALSE(
      holds(j, R"({"order":["task_end q","task_end q","task_end q","task_end q","task_end q"]})"));
  const ExpectationResult wrong =
      judge(j, R"({"order":["job_end q","stage_completed q/map","job_end q#1"]})");
  CHECK_FALSE(wrong.ok);
  CHECK(wrong.detail.find("\"stage_completed q/map\" (item 1) does not come after") !=
        std::string::npos);
  CHECK(wrong.detail.find("\"job\":\"q#1\"") != std::string::npos);
}

TEST_CASE("properties, hashes, totals, other journals") {
  const JournalBuilder j = sample();
  std::vector<PropertyVerdict> verdicts(2);
  verdicts[0].property = "GANG";
  verdicts[0].verdict = Verdict::violated;
  verdicts[0].violations = {{.property = "GANG", .t = millisecond, .detail = "half a gang"}};
  verdicts[1].property = "LEDGER";
  verdicts[1].verdict = Verdict::not_judged;
  RunOutcome outcome;
  outcome.verdicts = &verdicts;
  outcome.journal_hash = 0xABC;
  CHECK(holds(j, R"({"invariant":"GANG","holds":false})", outcome));
  CHECK_FALSE(holds(j, R"({"invariant":"GANG"})", outcome));
  CHECK(judge(j, R"({"invariant":"GANG"})", outcome).detail.find("half a gang") !=
        std::string::npos);
  CHECK_FALSE(holds(j, R"({"invariant":"LEDGER"})", outcome));
  CHECK_FALSE(holds(j, R"({"invariant":"LEDGER","holds":false})", outcome));
  CHECK(judge(j, R"({"invariant":"GNAG","holds":false})", outcome)
            .detail.find("did you mean GANG?") != std::string::npos);
  CHECK_FALSE(holds(j, R"({"invariant":"GANG","holds":false})"));

  CHECK(holds(j, R"({"journal_hash":"xxh3:0000000000000abc"})", outcome));
  CHECK_FALSE(holds(j, R"({"journal_hash":"xxh3:0000000000000abd"})", outcome));

  CHECK_FALSE(holds(j, R"({"same_journal_as":"x.json"})", outcome));
  outcome.differences[0] = "";
  CHECK(holds(j, R"({"same_journal_as":"x.json"})", outcome));
  outcome.differences[0] = "line 3 differs";
  CHECK_FALSE(holds(j, R"({"same_journal_as":"x.json"})", outcome));

  CHECK(holds(j, R"({"totals":{"jobs":{"min":4,"max":4},"requests":{"min":3,"max":3}}})"));
  CHECK(holds(j, R"({"totals":{"tasks":{"min":5,"max":5},"stages":{"min":3,"max":3}}})"));
  CHECK(holds(j, R"({"totals":{"rejected":{"min":1,"max":1},"unfinished":{"max":1}}})"));
  CHECK(holds(j, R"({"totals":{"failed":{"min":1,"max":1},"cancelled":{"max":0}}})"));
  CHECK_FALSE(holds(j, R"({"totals":{"events":{"max":10}}})"));
  CHECK_FALSE(holds(j, R"({"load_error":"/jobs"})"));
}

TEST_CASE("comparing journals: hashed lines but those excepted") {
  const auto lines_of = [](const JournalBuilder& journal, std::string_view expect) {
    const model::Scenario scenario = expecting(expect);
    const auto& same = std::get<model::ExpectSameJournal>(scenario.expect[0]);
    JournalLines lines(same.except, scenario);
    lines.begin(journal.names());
    for (const model::Event& event : journal.events()) {
      lines.on(event);
    }
    return lines.lines();
  };
  constexpr std::string_view plain = R"({"same_journal_as":"x"})";
  constexpr std::string_view excepting = R"({"same_journal_as":"x","except":["executor_added x"]})";
  JournalBuilder left;
  left.at(0).run().executor("e0", 2).started("q");
  JournalBuilder right;
  right.at(0).run({.dialect = "sequential"}).executor("x", 1).executor("e0", 2).started("q");
  CHECK(first_difference(lines_of(left, excepting), lines_of(right, excepting)).empty());
  const std::string difference = first_difference(lines_of(left, plain), lines_of(right, plain));
  CHECK(difference.starts_with("line 1 differs:\n  {\"t\":0,\"e\":\"executor_added\""));
  right.started("r");
  CHECK(first_difference(lines_of(left, excepting), lines_of(right, excepting))
            .find("(the journal ends here)") != std::string::npos);
}

}  // namespace rehearse::properties
