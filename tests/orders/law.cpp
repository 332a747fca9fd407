// How laws are tried.
#include "tests/orders/law.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <sstream>

namespace rehearse::testing {

namespace {

rc::detail::TestResult tried(const std::string& name, const Law& law) {
  rc::detail::TestParams params;
  params.seed = 20260101;
  const char* cases = std::getenv("REHEARSE_LAW_CASES");
  params.maxSuccess = cases == nullptr ? 2000 : std::stoi(cases);
  return rc::detail::checkTestable(law, rc::detail::TestMetadata{name, name}, params);
}

}  // namespace

void check_law(const std::string& name, const Law& law) {
  const rc::detail::TestResult result = tried(name, law);
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  INFO(name << ": " << text.str());
  CHECK(result.is<rc::detail::SuccessResult>());
}

bool is_broken(const Law& law) {
  // Without a name: RapidCheck tells at the end how to repeat what has one and failed.
  return tried("", law).is<rc::detail::FailureResult>();
}

}  // namespace rehearse::testing
