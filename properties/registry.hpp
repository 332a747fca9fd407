// All properties in the order of properties.md section 1, and who promises which (section 2).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/scheduler_config.hpp"
#include "properties/property.hpp"

namespace rehearse::properties {

[[nodiscard]] std::span<const Property> all_properties();

// Null if there is no property of that name.
[[nodiscard]] const Property* find_property(std::string_view id);

// What section 2's table says of a property under a dialect. `void_there`: nothing to judge.
enum class Promise : std::uint8_t { promised, reported, void_there };
[[nodiscard]] Promise promise_of(std::string_view id, model::Dialect dialect);

// The promises of a run, in the order of all_properties(): the dialect's row after what the axes
// drop, without properties whose monitor is not built. For the journal's first line.
[[nodiscard]] std::vector<std::string> promised(const model::SchedulerConfig& config,
                                                model::Timing timing);

}  // namespace rehearse::properties
