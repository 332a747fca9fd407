// RapidCheck under doctest: a law is a function that takes values from generators and says, by
// RC_ASSERT, RC_FAIL or an exception, that it does not hold of them. Seeds are fixed, so that a
// test says the same each time; REHEARSE_LAW_CASES sets how many cases are tried.
#pragma once

#include <functional>
#include <string>

namespace rehearse::testing {

using Law = std::function<void()>;

// A failed check of doctest, with the smallest case found, if some case breaks the law.
void check_law(const std::string& name, const Law& law);
// Is there a case that breaks it? For laws of things that are broken on purpose.
[[nodiscard]] bool is_broken(const Law& law);

}  // namespace rehearse::testing
