// Notices a call into a policy of a shared object that does not come back.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace rehearse::cli {

// While it lives, a thread looks once a second. A call that has gone on for 10 seconds without any
// other coming back ends the program with exit status 3 and a line that says so: nothing else can
// stop it. REHEARSE_POLICY_SECONDS gives another number of seconds.
class PolicyWatch {
 public:
  PolicyWatch();

 private:
  void watch(const std::stop_token& stop, long seconds);

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace rehearse::cli
