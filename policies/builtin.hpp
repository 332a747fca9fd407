// Makers of the built-in policies, one per file of this folder; registry.cpp names them.
#pragma once

#include <memory>

#include "policies/shared_object.hpp"
#include "scheduler/policy.hpp"

namespace rehearse::policies {

[[nodiscard]] std::unique_ptr<scheduler::QueuePolicy> make_fifo();
[[nodiscard]] std::unique_ptr<scheduler::QueuePolicy> make_priority();
[[nodiscard]] std::unique_ptr<scheduler::QueuePolicy> make_smallest_first();
[[nodiscard]] std::unique_ptr<scheduler::QueuePolicy> make_unordered();
[[nodiscard]] std::unique_ptr<scheduler::OvertakePolicy> make_never();
[[nodiscard]] std::unique_ptr<scheduler::OvertakePolicy> make_backfill();
[[nodiscard]] std::unique_ptr<scheduler::OvertakePolicy> make_easy();
[[nodiscard]] std::unique_ptr<scheduler::OvertakePolicy> make_aging(model::Duration after);
[[nodiscard]] std::unique_ptr<scheduler::PlacementPolicy> make_spread();
[[nodiscard]] std::unique_ptr<scheduler::PlacementPolicy> make_pack();
[[nodiscard]] std::unique_ptr<scheduler::PlacementPolicy> make_round_robin();
[[nodiscard]] std::unique_ptr<scheduler::PlacementPolicy> make_nested();
[[nodiscard]] std::unique_ptr<scheduler::PlacementPolicy> make_consistent_hash();
[[nodiscard]] std::unique_ptr<scheduler::PlacementPolicy> make_random();

}  // namespace rehearse::policies
