// Laws of values: RapidCheck draws them and makes a counterexample small, doctest reports it.
// Inside a law there is no CHECK and no REQUIRE, which would report every step of the shrinking:
// RC_ASSERT.
#pragma once

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <utility>

namespace rehearse::testing {

struct LawSpec {
  std::string says;
  int cases = 1000;
  int size_max = 100;  // of what is drawn; shrinking takes its time with large structures
};

// One failed check of doctest with the counterexample, or a passed one. Draws by a fixed seed.
template <class Law>
void holds(const LawSpec& spec, Law law) {
  rc::detail::TestParams params;
  params.seed = 20260;
  params.maxSuccess = spec.cases;
  params.maxSize = spec.size_max;
  const rc::detail::TestMetadata metadata{spec.says, spec.says};
  const rc::detail::TestResult result = rc::detail::checkTestable(std::move(law), metadata, params);
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  const bool held = result.template is<rc::detail::SuccessResult>();
  CHECK_MESSAGE(held, spec.says, ": ", text.str());
}

// From low to high, both possible; near both ends more often than a plain draw would be.
inline rc::Gen<std::int64_t> between(std::int64_t low, std::int64_t high) {
  const std::int64_t span = high - low;
  const std::int64_t near = span < 8 ? span : 8;
  return rc::gen::oneOf(rc::gen::inRange<std::int64_t>(low, high), rc::gen::just(high),
                        rc::gen::inRange<std::int64_t>(low, low + near + 1),
                        rc::gen::inRange<std::int64_t>(high - near, high));
}

}  // namespace rehearse::testing
