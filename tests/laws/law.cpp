// RapidCheck under doctest; see the header.
#include "tests/laws/law.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <sstream>

namespace rehearse::testing {

void holds(const LawSpec& spec, const std::function<void()>& law) {
  rc::detail::TestParams params;
  params.seed = 20260;
  params.maxSuccess = spec.cases;
  params.maxSize = spec.size_max;
  const rc::detail::TestMetadata metadata{spec.says, spec.says};
  const rc::detail::TestResult result = rc::detail::checkTestable(law, metadata, params);
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  const bool held = result.is<rc::detail::SuccessResult>();
  CHECK_MESSAGE(held, spec.says, ": ", text.str());
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
