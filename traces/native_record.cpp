// registry: none (a part of the reader of native traces)
// See native_record.hpp.
#include "traces/native_record.hpp"

#include <simdjson.h>

#include <algorithm>

#include "traces/input_stream.hpp"

namespace rehearse::traces {
namespace {

namespace ondemand = simdjson::ondemand;

static_assert(line_padding >= simdjson::SIMDJSON_PADDING);

constexpr int depth_max = 16;  // no record is deeper than 4

bool is_private(std::string_view key) { return key.starts_with("x_"); }

RecordValue tree_of(ondemand::value value, std::string_view key, int depth);

RecordValue list_of(ondemand::value value, std::string_view key, int depth) {
  std::vector<std::int64_t> numbers;
  std::vector<RecordValue> others;
  for (auto item : value.get_array()) {
    RecordValue element = tree_of(item.value(), key, depth + 1);
    if (const auto* number = std::get_if<std::int64_t>(&element.data);
        number != nullptr && others.empty()) {
      numbers.push_back(*number);
      continue;
    }
    for (const std::int64_t number : numbers) {
      others.emplace_back().data = number;  // in place: a temporary makes gcc 12 see ghosts
    }
    numbers.clear();
    others.push_back(std::move(element));
  }
  if (others.empty() && !numbers.empty()) {
    return {std::move(numbers)};
  }
  return {std::move(others)};
}

RecordValue tree_of(ondemand::value value, std::string_view key, int depth) {
  if (depth > depth_max) {
    fail_record("T005", key, "is nested too deeply");
  }
  switch (value.type()) {
    case ondemand::json_type::null:
      return {};
    case ondemand::json_type::boolean:
      return {bool(value.get_bool())};
    case ondemand::json_type::number: {
      std::int64_t number = 0;
      if (value.get_int64().get(number) != simdjson::SUCCESS) {
        fail_record("T006", key, "is no whole number between -2^63 and 2^63 - 1");
      }
      return {number};
    }
    case ondemand::json_type::string:
      return {std::string(std::string_view(value.get_string()))};
    case ondemand::json_type::array:
      return list_of(value, key, depth);
    case ondemand::json_type::object:
      break;
    default:
      fail_record("T006", key, "is no value that a record may have");
  }
  RecordMembers members;
  for (auto field : value.get_object()) {
    std::string name(std::string_view(field.unescaped_key()));
    if (is_private(name)) {
      continue;
    }
    RecordValue member = tree_of(field.value(), name, depth + 1);
    members.push_back({std::move(name), std::move(member)});
  }
  return {std::move(members)};
}

std::int64_t in_range(std::string_view key, std::int64_t value, std::int64_t most) {
  if (value < 0 || value > most) {
    fail_record("T010", key,
                "is " + std::to_string(value) + ", expected 0 to " + std::to_string(most));
  }
  return value;
}

}  // namespace

void fail_record(std::string_view code, std::string_view field, std::string what,
                 std::string remedy) {
  throw RecordError{std::string(code), std::string(field), std::move(what), std::move(remedy)};
}

RecordFields::RecordFields(const RecordValue& object, std::string_view what, RecordKeys known)
    : members_(std::get_if<RecordMembers>(&object.data)) {
  if (members_ == nullptr) {
    fail_record("T006", what, "is no object");
  }
  for (auto member = members_->begin(); member != members_->end(); ++member) {
    const std::string& key = member->key;
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      const std::string near = model::nearest_name(key, known.begin(), known.end());
      fail_record("T011", key, "is no key of " + std::string(what),
                  (near.empty() ? "" : "did you mean " + near + "? ") +
                      std::string("keys of your own begin with x_"));
    }
    if (std::any_of(members_->begin(), member,
                    [&](const auto& other) { return other.key == key; })) {
      fail_record("T011", key, "is there twice");
    }
  }
}

const RecordValue* RecordFields::find(std::string_view key) const {
  const auto found = std::find_if(members_->begin(), members_->end(),
                                  [&](const auto& member) { return member.key == key; });
  return found == members_->end() ? nullptr : &found->value;
}

const RecordValue& RecordFields::needed(std::string_view key) const {
  const RecordValue* value = find(key);
  if (value == nullptr) {
    fail_record("T006", key, "is missing");
  }
  return *value;
}

std::int64_t RecordFields::integer(std::string_view key) const {
  const auto* number = std::get_if<std::int64_t>(&needed(key).data);
  if (number == nullptr) {
    fail_record("T006", key, "is no whole number");
  }
  return *number;
}

std::int64_t RecordFields::number(std::string_view key, std::int64_t most) const {
  return in_range(key, integer(key), most);
}

std::int64_t RecordFields::number_or(std::string_view key, std::int64_t absent,
                                     std::int64_t most) const {
  return has(key) ? number(key, most) : absent;
}

std::optional<std::int64_t> RecordFields::number_if(std::string_view key) const {
  const RecordValue* value = find(key);
  if (value == nullptr || value->is_null()) {
    return std::nullopt;
  }
  return number(key, std::numeric_limits<std::int64_t>::max());
}

std::string RecordFields::text(std::string_view key) const {
  const auto* text = std::get_if<std::string>(&needed(key).data);
  if (text == nullptr || text->empty()) {
    fail_record("T006", key, "is no text, or empty");
  }
  return *text;
}

std::string RecordFields::text_or(std::string_view key, std::string_view absent) const {
  return has(key) ? text(key) : std::string(absent);
}

std::string RecordFields::id(std::string_view key) const {
  std::string id = text(key);
  const bool plain = id.size() <= 128 && std::all_of(id.begin(), id.end(), [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '.' || c == '_' || c == ':' ||
                              c == '-';
                     });
  if (!plain) {
    fail_record("T006", key, "is \"" + id.substr(0, 40) + "\"",
                "ids are 1 to 128 of A-Z a-z 0-9 . _ : -");
  }
  return id;
}

bool RecordFields::flag(std::string_view key) const {
  const RecordValue* value = find(key);
  if (value == nullptr) {
    return false;
  }
  const auto* flag = std::get_if<bool>(&value->data);
  if (flag == nullptr) {
    fail_record("T006", key, "is neither true nor false");
  }
  return *flag;
}

const std::vector<RecordValue>& RecordFields::list(std::string_view key) const {
  static const std::vector<RecordValue> none;
  const RecordValue* value = find(key);
  if (value == nullptr) {
    return none;
  }
  const auto* list = std::get_if<std::vector<RecordValue>>(&value->data);
  if (list == nullptr) {
    fail_record("T006", key, "is no list of objects or texts");
  }
  return *list;
}

std::vector<std::int64_t> RecordFields::column(std::string_view key, std::size_t tasks,
                                               std::int64_t most) const {
  return column_of(key, needed(key), tasks, most);
}

std::vector<std::int64_t> column_of(std::string_view key, const RecordValue& value,
                                    std::size_t tasks, std::int64_t most) {
  if (const auto* number = std::get_if<std::int64_t>(&value.data)) {
    std::vector<std::int64_t> column(tasks, in_range(key, *number, most));
    return column;
  }
  std::vector<std::int64_t> column;
  if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value.data)) {
    column = *numbers;
  } else if (const auto* list = std::get_if<std::vector<RecordValue>>(&value.data);
             list == nullptr || !list->empty()) {
    fail_record("T006", key, "is neither a whole number nor a list of them");
  }
  if (column.size() != tasks) {
    fail_record("T011", key,
                "has " + std::to_string(column.size()) + " entries, expected " +
                    std::to_string(tasks) + ", one per task");
  }
  for (const std::int64_t number : column) {
    in_range(key, number, most);
  }
  return column;
}

struct RecordParser::State {
  ondemand::parser parser;
};

RecordParser::RecordParser() : state_(std::make_unique<State>()) {}
RecordParser::~RecordParser() = default;

RecordValue RecordParser::parse(std::string_view line) {
  try {
    ondemand::document document = state_->parser.iterate(simdjson::padded_string_view(
        line.data(), line.size(), line.size() + simdjson::SIMDJSON_PADDING));
    RecordValue tree = tree_of(document.get_value(), "r", 0);
    if (document.current_location().error() == simdjson::SUCCESS) {
      fail_record("T005", "", "has something after its object");
    }
    return tree;
  } catch (const simdjson::simdjson_error& thrown) {
    fail_record("T005", "",
                std::string("malformed JSON: ") + simdjson::error_message(thrown.error()));
  }
}

}  // namespace rehearse::traces
