// Every sample journal is legal to every monitor: what the other tests break is broken by them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/unit/properties/sample_journals.hpp"

using namespace rehearse;
using namespace rehearse::testing;

namespace {

void check_legal(const char* name, const JournalBuilder& journal) {
  CAPTURE(name);
  const auto monitors = judge(journal);
  CHECK(complaint_text(*monitors) == "");
  for (const properties::PropertyVerdict& verdict : monitors->verdicts()) {
    CAPTURE(verdict.property);
    const bool built = properties::find_property(verdict.property)->built();
    CHECK(verdict.verdict == (built ? properties::Verdict::held : properties::Verdict::not_judged));
  }
}

}  // namespace

TEST_CASE("legal journals violate nothing") {
  check_legal("group_job", group_job());
  check_legal("group_failure", group_failure());
  check_legal("group_rerun", group_rerun());
  check_legal("fetch_failure", fetch_failure());
  check_legal("executor_loss", executor_loss());
  check_legal("refusals", refusals());
  check_legal("waiting_gang", waiting_gang());
  check_legal("barrier_job", barrier_job());
  check_legal("cancelled_job", cancelled_job());
}
