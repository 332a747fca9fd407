// Walks a default value of every event type once and writes down what it has.
#include "model/support/event_schema.hpp"

#include <type_traits>
#include <utility>

#include "model/support/events.hpp"

namespace rehearse::model {

namespace {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

template <class T>
EventKey describe(std::string_view name) {
  EventKey key{.name = name};
  if constexpr (IsOptional<T>::value) {
    key = describe<typename T::value_type>(name);
    key.optional = true;
  } else if constexpr (std::is_same_v<T, PerProfile> || std::is_same_v<T, Amounts>) {
    key.kind = KeyKind::counts;
  } else if constexpr (IsVector<T>::value) {
    key.kind = KeyKind::list;
    if constexpr (NamedEnum<typename T::value_type>) {
      key.texts = EnumNames<typename T::value_type>::texts;
    }
  } else if constexpr (NamedEnum<T>) {
    key.kind = KeyKind::enumeration;
    key.texts = EnumNames<T>::texts;
  } else if constexpr (std::is_same_v<T, bool>) {
    key.kind = KeyKind::boolean;
  } else if constexpr (std::is_integral_v<T>) {
    key.kind = KeyKind::integer;
  } else {
    static_assert(std::is_same_v<T, NameId>);
  }
  return key;
}

template <class Body>
EventSchema schema_of() {
  EventSchema schema{.name = Body::name, .keys = {}};
  const Body body{};
  Body::keys(body, [&](std::string_view name, const auto& value) {
    schema.keys.push_back(describe<std::remove_cvref_t<decltype(value)>>(name));
  });
  return schema;
}

template <std::size_t... Index>
std::vector<EventSchema> all_schemas(std::index_sequence<Index...>) {
  return {schema_of<std::variant_alternative_t<Index, EventBody>>()...};
}

}  // namespace

const EventKey* EventSchema::find(std::string_view key) const {
  for (const EventKey& candidate : keys) {
    if (candidate.name == key) {
      return &candidate;
    }
  }
  return nullptr;
}

const std::vector<EventSchema>& event_schemas() {
  static const std::vector<EventSchema> schemas =
      all_schemas(std::make_index_sequence<std::variant_size_v<EventBody>>{});
  return schemas;
}

const EventSchema* find_event(std::string_view name) {
  for (const EventSchema& schema : event_schemas()) {
    if (schema.name == name) {
      return &schema;
    }
  }
  return nullptr;
}

}  // namespace rehearse::model
