// What the file of a policy needs: the interfaces, parameters, and the last line that makes it a
// shared object. Its maker is declared by its line in registry.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "scheduler/policy.hpp"

namespace rehearse::policies {

// As written in the brackets, in their order. A maker that does not know a key, or cannot read a
// value, returns null.
using Parameters = std::span<const std::pair<std::string, std::string>>;

// One policy of an object: its name, and the maker of the axis it is for; the others are null.
struct ObjectRow {
  const char* name = nullptr;
  std::unique_ptr<scheduler::QueuePolicy> (*queue)(Parameters) = nullptr;
  std::unique_ptr<scheduler::OvertakePolicy> (*overtake)(Parameters) = nullptr;
  std::unique_ptr<scheduler::PlacementPolicy> (*placement)(Parameters) = nullptr;
};

// Raised whenever scheduler/policy.hpp or scheduler/view.hpp change in what a policy sees.
inline constexpr std::uint32_t policy_interface_version = 2;

// What the exported function `rehearse_policy_object` returns.
struct ObjectTable {
  std::uint32_t version = policy_interface_version;
  const ObjectRow* rows = nullptr;
  std::size_t count = 0;
};

// The row of a maker with or without parameters.
template <auto maker>
constexpr ObjectRow object_row(const char* name) {
  ObjectRow row{.name = name};
  constexpr auto call = [](Parameters parameters) {
    if constexpr (requires { maker(parameters); }) {
      return maker(parameters);
    } else {
      return parameters.empty() ? maker() : nullptr;
    }
  };
  using Made = decltype(call(Parameters{}))::element_type;
  if constexpr (std::is_same_v<Made, scheduler::QueuePolicy>) {
    row.queue = call;
  } else if constexpr (std::is_same_v<Made, scheduler::OvertakePolicy>) {
    row.overtake = call;
  } else {
    row.placement = call;
  }
  return row;
}

}  // namespace rehearse::policies

// At the end of a policy's file, outside of namespaces; in the tree it says nothing.
#ifdef REHEARSE_SHARED_OBJECT
#define REHEARSE_POLICY_OBJECT(name, maker)                                           \
  extern "C" const rehearse::policies::ObjectTable* rehearse_policy_object() {        \
    static constexpr auto row = rehearse::policies::object_row<maker>(name);          \
    static constexpr rehearse::policies::ObjectTable table{.rows = &row, .count = 1}; \
    return &table;                                                                    \
  }                                                                                   \
  static_assert(true)
#else
#define REHEARSE_POLICY_OBJECT(name, maker) static_assert(true)
#endif
