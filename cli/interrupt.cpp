// A signal can only reach what is global; it is one flag, and nothing but these functions sees it.
#include "cli/interrupt.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>

namespace rehearse::cli {
namespace {

std::atomic<bool>& flag() {
  static std::atomic<bool> asked{false};
  static_assert(std::atomic<bool>::is_always_lock_free);
  return asked;
}

extern "C" void on_interrupt(int /*signal*/) {
  flag().store(true, std::memory_order_relaxed);
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace

void install_interrupt_handler() {
  flag().store(false, std::memory_order_relaxed);
  std::signal(SIGINT, on_interrupt);
}

bool interrupted() { return flag().load(std::memory_order_relaxed); }

}  // namespace rehearse::cli
