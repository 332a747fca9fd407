// Laws of values: RapidCheck draws them and makes a counterexample small, doctest reports it.
// Inside a law there is no CHECK and no REQUIRE, which would report every step of the shrinking:
// RC_ASSERT.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace rehearse::testing {

struct LawSpec {
  std::string says;
  int cases = 1000;
  int size_max = 100;  // of what is drawn; shrinking takes its time with large structures
};

// One check of doctest: passed, or failed with the counterexample. Draws by a fixed seed.
void holds(const LawSpec& spec, const std::function<void()>& law);

// Within a law: from low to high, both possible; near both ends more often than a plain draw is.
[[nodiscard]] std::int64_t between(std::int64_t low, std::int64_t high);

}  // namespace rehearse::testing
