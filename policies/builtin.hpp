// Makers of the built-in policies, one per file of this folder; registry.cpp names them.
#pragma once

#include <memory>

#include "scheduler/policy.hpp"

namespace rehearse::policies {

[[nodiscard]] std::unique_ptr<scheduler::QueuePolicy> make_fifo();
[[nodiscard]] std::unique_ptr<scheduler::OvertakePolicy> make_never();
[[nodiscard]] std::unique_ptr<scheduler::OvertakePolicy> make_backfill();
[[nodiscard]] std::unique_ptr<scheduler::PlacementPolicy> make_spread();
[[nodiscard]] std::unique_ptr<scheduler::PlacementPolicy> make_pack();

}  // namespace rehearse::policies
