// How laws are tried.
#include "tests/support/law.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <sstream>

namespace rehearse::testing {

namespace {

rc::detail::TestResult tried(const LawSpec& spec, const Law& law) {
  rc::detail::TestParams params;
  params.seed = 20260;
  const char* cases = std::getenv("REHEARSE_LAW_CASES");
  params.maxSuccess = cases == nullptr ? spec.cases : std::stoi(cases);
  params.maxSize = spec.size_max;
  return rc::detail::checkTestable(law, rc::detail::TestMetadata{spec.says, spec.says}, params);
}

}  // namespace

void holds(const LawSpec& spec, const Law& law) {
  const rc::detail::TestResult result = tried(spec, law);
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  const bool held = result.is<rc::detail::SuccessResult>();
  CHECK_MESSAGE(held, spec.says, ": ", text.str());
}

bool is_broken(const Law& law) {
  // Without a name: RapidCheck tells at the end how to repeat what has one and failed.
  return tried({.says = "", .cases = 2000}, law).is<rc::detail::FailureResult>();
}

std::int64_t between(std::int64_t low, std::int64_t high) {
  const std::int64_t span = high - low;
  const std::int64_t near = span < 8 ? span : 8;
  const int kind = *rc::gen::inRange(0, 6);
  if (kind == 0 || span == 0) {
    return high;
  }
  if (kind == 1) {
    return *rc::gen::inRange<std::int64_t>(high - near, high);
  }
  return *rc::gen::inRange<std::int64_t>(low, kind == 2 ? low + near : high);
}

}  // namespace rehearse::testing
