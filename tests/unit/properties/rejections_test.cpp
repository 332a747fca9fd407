// SINGLE_OWNER, FAIL_FAST: who may have a pipelined shuffle, and who must be turned away.
#include <doctest/doctest.h>

#include "tests/unit/properties/sample_journals.hpp"

using namespace rehearse;
using namespace rehearse::model;
using namespace rehearse::testing;

namespace {

constexpr auto held = properties::Verdict::held;
constexpr auto violated = properties::Verdict::violated;

const Slots two{{"default", 2}};
const std::vector<StageSpec> stages_of_two{{"p"}, {"c"}};
const std::vector<EdgeSpec> piped{{"p", "c", true}};

// What is said of one property, and of nothing else.
std::string said_by(const JournalBuilder& journal, std::string_view property) {
  const auto monitors = judge(journal);
  std::string all;
  for (const Violation& violation : monitors->find(property)->violations) {
    all += violation.detail + "\n";
  }
  return all;
}

// `first` runs p and c from 0 to 10; others ask for its shuffle.
JournalBuilder owner(const std::vector<std::pair<std::string, std::string>>& facts) {
  JournalBuilder j;
  j.run({.facts = facts}).executor("e0", 4);
  j.job("first", stages_of_two, piped).started("first").formed("first/p", {"p", "c"}, two);
  j.admitted("first/p", two).submitted("first/p", 1).submitted("first/c", 1);
  return j.start({"first/p/0", "e0"}).start({"first/c/0", "e0"});
}

JournalBuilder& first_ends(JournalBuilder& j) {
  j.at(10).success({"first/p/0", "e0"}).success({"first/c/0", "e0"});
  return j.completed("first/p").completed("first/c").committed("first/p").succeeded("first");
}

void asks_and_starts(JournalBuilder& j, const std::string& job,
                     const std::vector<EdgeSpec>& edges = piped) {
  j.job(job, stages_of_two, edges).started(job).formed(job + "/p", {"p", "c"}, two);
}

const std::vector<std::pair<std::string, std::string>> second_asks{{"reuse", "second/p/first/p"}};

}  // namespace

TEST_CASE("SINGLE_OWNER: nobody starts with the shuffle of a job that lives") {
  const auto verdict = [](const std::function<void(JournalBuilder&)>& lines,
                          const std::vector<std::pair<std::string, std::string>>& facts =
                              second_asks) {
    JournalBuilder j = owner(facts);
    j.at(5);
    lines(j);
    return judge(j.at(20).over(RunEndCause::horizon))->find("SINGLE_OWNER")->verdict;
  };
  CHECK(verdict([](JournalBuilder& j) { asks_and_starts(j, "second"); }) == violated);
  CHECK(verdict([](JournalBuilder& j) { asks_and_starts(j, "second#1"); }) == violated);
  CHECK(verdict([](JournalBuilder& j) { asks_and_starts(j, "third"); }) == held);
  CHECK(verdict([](JournalBuilder& j) { asks_and_starts(j, "second"); }, {}) == held);
  CHECK(verdict([](JournalBuilder& j) { first_ends(j), asks_and_starts(j, "second"); }) == held);
  // The owner was resubmitted: the shuffle is that of its latest run.
  CHECK(verdict([](JournalBuilder& j) {
          first_ends(j);
          asks_and_starts(j, "first#1");
          asks_and_starts(j, "second");
        }) == violated);
  // An edge that the axis `grouping` made regular shares nothing.
  CHECK(verdict([](JournalBuilder& j) {
          j.job("second", stages_of_two, {{"p", "c"}}).started("second");
        }) == held);
  // As another system may write it.
  CHECK(verdict([](JournalBuilder& j) { asks_and_starts(j, "x", {{"first/p", "c", true}}); }, {}) ==
        violated);
  CHECK(verdict([](JournalBuilder& j) { asks_and_starts(j, "x", {{"first/p", "c"}}); }, {}) ==
        held);
}

TEST_CASE("SINGLE_OWNER: nobody is refused for a shuffle whose owner has ended") {
  const auto said = [](bool ended, const std::vector<EdgeSpec>& edges, const char* job) {
    JournalBuilder j = owner(second_asks);
    if (ended) {
      first_ends(j);
    }
    j.at(15).job(job, stages_of_two, edges).rejected(job, Code::shared_producer);
    return said_by(j.at(20).over(RunEndCause::horizon), "SINGLE_OWNER");
  };
  CHECK(said(false, piped, "second") == "");
  CHECK(said(true, piped, "second") ==
        "second is refused for a pipelined shuffle whose owner has ended (F7)\n");
  CHECK(said(true, piped, "third") == "");  // the journal does not say what it asked for
  CHECK(said(true, {{"p", "c", true}, {"first/p", "c"}}, "second") == "");
}

TEST_CASE("SINGLE_OWNER: refused before its owner came is not refused for its owner") {
  JournalBuilder j;
  j.run({.facts = second_asks}).executor("e0", 4);
  j.job("second", stages_of_two, piped).rejected("second", Code::shared_producer);
  CHECK(said_by(j.at(1).over(), "SINGLE_OWNER") != "");
}

// ---- FAIL_FAST ----

namespace {

struct Case {
  std::vector<std::pair<std::string, std::string>> axes;
  std::vector<StageSpec> stages;
  std::vector<EdgeSpec> edges;
  const char* dialect = "psd";
  std::vector<std::pair<std::string, std::string>> facts = {};
};

std::string when_started(const Case& of) {
  JournalBuilder j;
  j.run({.dialect = of.dialect, .axes = of.axes, .facts = of.facts}).executor("e0", 9);
  j.job("q", of.stages, of.edges).started("q");
  return said_by(j.at(1).over(RunEndCause::horizon), "FAIL_FAST");
}

std::string when_rejected(const Case& of, const std::vector<Code>& codes) {
  JournalBuilder j;
  j.run({.dialect = of.dialect, .axes = of.axes, .facts = of.facts}).executor("e0", 9);
  j.job("q", of.stages, of.edges).rejected("q", codes.front());
  std::get<JobRejected>(j.events().back().body).codes = codes;
  return said_by(j.at(1).over(), "FAIL_FAST");
}

// Is missed where the job starts, and right where it is rejected with the code.
void check_code(const Case& of, Code code) {
  const std::string name(name_of(code));
  CAPTURE(name);
  CHECK(when_started(of) == "q started though " + name + " applies (F12)\n");
  CHECK(when_rejected(of, {code}) == "");
}

const std::pair<std::string, std::string> copies{"speculation", "[quantile=0.75]"};
const std::pair<std::string, std::string> autoscale{"autoscale", "on"};

}  // namespace

TEST_CASE("FAIL_FAST: what the line shows to be wrong does not start") {
  check_code({{copies}, stages_of_two, piped}, Code::speculation);
  check_code({{}, stages_of_two, piped, "psd", {autoscale}}, Code::dynamic_allocation);
  check_code({{}, {{"b", 2, Commits::none, true}}, {}, "sequential", {autoscale}},
             Code::dynamic_allocation);
  check_code({{}, {{"p", 1, Commits::none, true}, {"c"}}, piped}, Code::barrier_member);
  check_code({{}, {{"p", 1, Commits::once}, {"c"}}, piped}, Code::non_idempotent_commit);
  check_code({{{"offers", "pull"}}, stages_of_two, piped, "ballista-pipelined"},
             Code::pull_scheduling);
  check_code({{}, {{"p"}, {"c"}}, {{"p", "c"}, {"c", "p"}}}, Code::dag_cycle);
  const std::vector<StageSpec> abc{{"a"}, {"b"}, {"c"}};
  check_code({{}, abc, {{"a", "b", true}, {"b", "c", true}, {"a", "c"}}},
             Code::regular_inside_group);
  check_code({{}, abc, {{"a", "b", true}, {"a", "c"}, {"c", "b"}}}, Code::group_cycle);
  check_code({{}, abc, {{"a", "b", true}, {"b", "c"}}, "spark"}, Code::mixed_job);
  const std::vector<StageSpec> wide{{"p"}, {"c", 1, Commits::none, false, "wide"}};
  const std::vector<StageSpec> both{{"p", 1, Commits::none, false, "wide"},
                                    {"c", 1, Commits::none, false, "wide"}};
  check_code({{}, wide, piped, "spark"}, Code::profile_conflict);
  check_code({{}, both, piped, "spark"}, Code::profile_conflict);
  check_code({{}, wide, piped, "ballista-pipelined"}, Code::profile_conflict);
  CHECK(when_started({{}, both, piped, "ballista-pipelined"}) == "");
}

TEST_CASE("FAIL_FAST: what is no concern of a job lets it start") {
  CHECK(when_started({{}, stages_of_two, piped}) == "");
  CHECK(when_started({{copies}, stages_of_two, {{"p", "c"}}}) == "");
  CHECK(when_started({{}, stages_of_two, {{"p", "c"}}, "psd", {autoscale}}) == "");
  CHECK(when_started(
            {{{"output_commit", "at-group-commit"}}, {{"p", 1, Commits::once}, {"c"}}, piped}) ==
        "");
  CHECK(when_started({{}, {{"p", 1, Commits::once}}, {}}) == "");
  // `prototype` rejects for copies only.
  CHECK(when_started({{}, {{"p"}, {"c", 1, Commits::none, false, "wide"}}, piped, "prototype"}) ==
        "");
}

TEST_CASE("FAIL_FAST: all codes that apply, in the order of the list, and no others") {
  const Case speculating{{copies}, {{"p", 1, Commits::once}, {"c"}}, piped};
  CHECK(when_rejected(speculating, {Code::speculation, Code::non_idempotent_commit}) == "");
  CHECK(when_rejected(speculating, {Code::speculation}) ==
        "q was rejected without its code though NON_IDEMPOTENT_COMMIT applies (F12)\n");
  CHECK(when_rejected(speculating, {Code::non_idempotent_commit, Code::speculation}) ==
        "q was rejected with SPECULATION, which is out of the order of `reject` (F13)\n");
  CHECK(when_rejected({{}, stages_of_two, piped}, {Code::fan_out}) ==
        "q was rejected with FAN_OUT, which is not in `reject` (F13)\n");
  CHECK(when_rejected({{}, stages_of_two, piped}, {Code::push_merge}) ==
        "");  // the line does not show it
  CHECK(when_rejected({{}, stages_of_two, {{"p", "c"}}}, {Code::push_merge}) ==
        "q was rejected with PUSH_MERGE, which does not apply to it (F12)\n");
  CHECK(when_rejected({{}, stages_of_two, piped}, {Code::barrier_member}) ==
        "q was rejected with BARRIER_MEMBER, which does not apply to it (F12)\n");
}
