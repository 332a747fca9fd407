// Typed indices into dense arrays: an id of one table cannot be used for another.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace rehearse::model {

template <class Tag>
struct Id {
  static constexpr std::uint32_t none_value = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t value = none_value;  // index; none_value = no such thing

  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t index) : value(index) {}
  constexpr explicit Id(std::size_t index) : value(static_cast<std::uint32_t>(index)) {}

  [[nodiscard]] constexpr bool valid() const { return value != none_value; }
  [[nodiscard]] constexpr std::size_t index() const { return value; }
  constexpr auto operator<=>(const Id&) const = default;
};

}  // namespace rehearse::model
