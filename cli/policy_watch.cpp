// See policy_watch.hpp.
#include "cli/policy_watch.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "cli/verbs.hpp"
#include "policies/guard.hpp"

namespace rehearse::cli {

namespace {

constexpr long seconds_by_default = 10;

long seconds_allowed() {
  const char* text = std::getenv("REHEARSE_POLICY_SECONDS");
  const long given = text == nullptr ? 0 : std::strtol(text, nullptr, 10);
  return given > 0 ? given : seconds_by_default;
}

}  // namespace

PolicyWatch::PolicyWatch()
    : thread_([this, seconds = seconds_allowed()](const std::stop_token& stop) {
        watch(stop, seconds);
      }) {}

void PolicyWatch::watch(const std::stop_token& stop, long seconds) {
  std::uint64_t left_before = 0;
  long stuck = 0;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, stop, std::chrono::seconds(1),
                         [&stop] { return stop.stop_requested(); })) {
    const policies::CallCounts& calls = policies::guarded_calls();
    const std::uint64_t left = calls.left;
    const bool waits = calls.entered > left && left == left_before;
    stuck = waits ? stuck + 1 : 0;
    left_before = left;
    if (stuck >= seconds) {
      fmt::print(stderr,
                 "rehearse: policy {} broke the contract of scheduler/policy.hpp: {} has not "
                 "returned for {} seconds\n",
                 calls.policy.load(), calls.call.load(), stuck);
      std::_Exit(exit_finding);
    }
  }
}

}  // namespace rehearse::cli
