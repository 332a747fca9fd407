// Policies that come from outside of the tree, as shared objects. One is built from the same file
// as a built-in policy, with the headers and the compiler of the program:
//   g++ -std=c++23 -shared -fPIC -DREHEARSE_SHARED_OBJECT -I TREE by_size.cpp -o by_size.so
// and named by a configuration as "by_size.so:by-size[key=value]".
#pragma once

#include <memory>

#include "model/scheduler_config.hpp"
#include "model/support/error.hpp"
#include "policies/policy_file.hpp"

namespace rehearse::policies {

// The policies of objects, guarded (guard.hpp). Errors name the file, the policy and the remedy:
// no such file, no table in it, another interface, no such policy or not of this axis, parameters
// that it does not take. An object stays loaded until the program ends.
[[nodiscard]] model::Result<std::unique_ptr<scheduler::QueuePolicy>> load_queue(
    const model::PolicyObject& object);
[[nodiscard]] model::Result<std::unique_ptr<scheduler::OvertakePolicy>> load_overtake(
    const model::PolicyObject& object);
[[nodiscard]] model::Result<std::unique_ptr<scheduler::PlacementPolicy>> load_placement(
    const model::PolicyObject& object);

}  // namespace rehearse::policies
