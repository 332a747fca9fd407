// Enum <-> text, from one table per enum. The order of the table is the order of the enum and, for
// enums of the journal, the wire value (scenario.md section 5); append only.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace rehearse::model {

// Specialize as: template <> struct EnumNames<E> { static constexpr std::array texts = {...sv}; };
template <class E>
struct EnumNames;

template <class E>
concept NamedEnum = requires { EnumNames<E>::texts.size(); };

template <NamedEnum E>
[[nodiscard]] constexpr std::string_view name_of(E value) {
  return EnumNames<E>::texts.at(static_cast<std::size_t>(value));
}

template <NamedEnum E>
[[nodiscard]] constexpr std::optional<E> parse_enum(std::string_view text) {
  for (std::size_t i = 0; i < EnumNames<E>::texts.size(); ++i) {
    if (EnumNames<E>::texts[i] == text) {
      return static_cast<E>(i);
    }
  }
  return std::nullopt;
}

// Defines the name table of E inside namespace rehearse::model.
#define RH_ENUM_NAMES(E, ...)                                                     \
  template <>                                                                     \
  struct EnumNames<E> {                                                           \
    static constexpr auto texts = std::to_array<std::string_view>({__VA_ARGS__}); \
  }

}  // namespace rehearse::model
