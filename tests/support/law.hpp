// RapidCheck under doctest: a law takes values from generators and says, by RC_ASSERT, RC_FAIL or
// an exception, that it does not hold of them; a counterexample is made small. Inside a law there
// is no CHECK and no REQUIRE, which would report every step of the shrinking. The seed is fixed, so
// that a test says the same each time; REHEARSE_LAW_CASES sets how many cases each law is tried on.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace rehearse::testing {

using Law = std::function<void()>;

struct LawSpec {
  std::string says;
  int cases = 1000;
  int size_max = 100;  // of what is drawn; shrinking takes its time with large structures
};

// One check of doctest: passed, or failed with the counterexample.
void holds(const LawSpec& spec, const Law& law);
// Is there a case that breaks it? For laws of things that are broken on purpose.
[[nodiscard]] bool is_broken(const Law& law);

// Within a law: from low to high, both possible; near both ends more often than a plain draw is.
[[nodiscard]] std::int64_t between(std::int64_t low, std::int64_t high);

}  // namespace rehearse::testing
