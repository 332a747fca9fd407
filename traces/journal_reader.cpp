// registry: none (journals are no trace format)
// One parser for all events: the keys of each event type are asked for by name.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/support/event_schema.hpp"
#include "traces/input_stream.hpp"
#include "traces/journal_json.hpp"

namespace rehearse::traces {

using model::Error;
using simdjson::dom::element;

namespace {

static_assert(line_padding >= simdjson::SIMDJSON_PADDING);

template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;
template <class T>
constexpr bool is_vector = false;
template <class T>
constexpr bool is_vector<std::vector<T>> = true;

// Names that may be absent where they stand; every other name must be there.
struct OptionalName {
  std::string_view event;
  std::string_view key;
};
constexpr std::array optional_names = std::to_array<OptionalName>({
    {"run", "version"},
    {"run", "dialect"},
    {"executor_added", "rack"},
    {"executor_added", "profile"},
    {"job_rejected", "detail"},
    {"job_end", "detail"},
    {"slot_returned", "job"},
    {"blocked", "of"},
    {"unblocked", "of"},
});

bool may_be_absent(std::string_view event, std::string_view key) {
  return std::any_of(optional_names.begin(), optional_names.end(),
                     [&](const OptionalName& row) { return row.event == event && row.key == key; });
}

// Reads one object into a body or an item; the first problem is kept.
class ObjectReader {
 public:
  ObjectReader(const simdjson::dom::object& object, std::string_view event, model::NameTable& names,
               std::optional<Error>& error)
      : object_(object), event_(event), names_(names), error_(error) {}

  template <class T>
  void operator()(std::string_view key, T&& target) {
    static_assert(std::is_lvalue_reference_v<T>, "a key that is read has room in its event");
    using Target = std::remove_cvref_t<T>;
    element value;
    const bool given = object_.at_key(key).get(value) == simdjson::SUCCESS;
    if (given) {
      ++read_;
      get(key, value, const_cast<Target&>(target));
    } else if constexpr (std::is_same_v<Target, model::NameId>) {
      if (!may_be_absent(event_, key)) {
        missing(key);
      }
    } else if constexpr (!is_optional<Target>) {
      missing(key);
    }
  }

  // Keys found; fewer than the object has means that one is unknown.
  [[nodiscard]] std::size_t read() const { return read_; }

 private:
  void fail(std::string_view key, std::string what, std::string remedy) {
    if (!error_) {
      error_ =
          Error{.what = std::move(what), .field = std::string(key), .remedy = std::move(remedy)};
    }
  }
  void missing(std::string_view key) {
    fail(key, fmt::format("{} lacks \"{}\"", event_, key), "the key is required");
  }
  void wrong(std::string_view key, const element& value, std::string_view expected) {
    constexpr std::size_t shown_max = 60;
    std::string seen = simdjson::minify(value);
    if (seen.size() > shown_max) {
      seen.resize(shown_max);
    }
    fail(key, fmt::format("{} is expected, not {}", expected, seen), "");
  }

  template <class T>
  void get(std::string_view key, const element& value, T& target) {
    if constexpr (is_optional<T>) {
      get(key, value, target.emplace());
    } else if constexpr (std::is_same_v<T, model::NameId>) {
      std::string_view text;
      if (value.get(text) != simdjson::SUCCESS) {
        wrong(key, value, "a name");
        return;
      }
      target = names_.intern(text);
    } else if constexpr (std::is_same_v<T, bool>) {
      if (value.get(target) != simdjson::SUCCESS) {
        wrong(key, value, "true or false");
      }
    } else if constexpr (model::NamedEnum<T>) {
      get_enum(key, value, target);
    } else if constexpr (std::is_integral_v<T>) {
      std::int64_t number = 0;
      if (value.get(number) != simdjson::SUCCESS || !std::in_range<T>(number)) {
        wrong(key, value, "an integer");
        return;
      }
      target = static_cast<T>(number);
    } else if constexpr (std::is_same_v<T, model::PerProfile> ||
                         std::is_same_v<T, model::Amounts>) {
      get_counts(key, value, target);
    } else if constexpr (is_vector<T>) {
      get_list(key, value, target);
    } else {
      get_item(key, value, target);
    }
  }

  template <class E>
  void get_enum(std::string_view key, const element& value, E& target) {
    const auto& texts = model::EnumNames<E>::texts;
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) {
      wrong(key, value, "a string");
      return;
    }
    const std::optional<E> parsed = model::parse_enum<E>(text);
    if (!parsed) {
      const std::string nearest =
          model::nearest_name(text.substr(0, 60), texts.data(), texts.data() + texts.size());
      fail(key, fmt::format("unknown value \"{}\" of {}", text.substr(0, 60), key),
           nearest.empty() ? fmt::format("known are: {}", fmt::join(texts, ", "))
                           : fmt::format("did you mean \"{}\"?", nearest));
      return;
    }
    target = *parsed;
  }

  template <class T>
  void get_counts(std::string_view key, const element& value, std::vector<T>& target) {
    simdjson::dom::object object;
    if (value.get(object) != simdjson::SUCCESS) {
      wrong(key, value, "an object of integers");
      return;
    }
    for (const auto& member : object) {
      std::int64_t number = 0;
      if (member.value.get(number) != simdjson::SUCCESS) {
        wrong(key, member.value, "an integer");
        return;
      }
      target.push_back({names_.intern(member.key), number});
    }
  }

  template <class T>
  void get_list(std::string_view key, const element& value, std::vector<T>& target) {
    simdjson::dom::array array;
    if (value.get(array) != simdjson::SUCCESS) {
      wrong(key, value, "a list");
      return;
    }
    for (const element& item : array) {
      get(key, item, target.emplace_back());
    }
  }

  template <class T>
  void get_item(std::string_view key, const element& value, T& target) {
    simdjson::dom::object object;
    if (value.get(object) != simdjson::SUCCESS) {
      wrong(key, value, "an object");
      return;
    }
    ObjectReader inner(object, event_, names_, error_);
    T::keys(target, inner);
    if (inner.read() != object.size()) {
      fail(key, fmt::format("an item of {} has an unknown key", key), "");
    }
  }

  const simdjson::dom::object& object_;
  std::string_view event_;
  model::NameTable& names_;
  std::optional<Error>& error_;
  std::size_t read_ = 0;
};

// Names a key of `object` that the event does not have.
Error unknown_key(const simdjson::dom::object& object, const model::EventSchema& schema) {
  std::vector<std::string_view> known{"t", "e"};
  for (const model::EventKey& key : schema.keys) {
    known.push_back(key.name);
  }
  std::vector<std::string_view> seen;
  for (const auto& member : object) {
    const bool is_known = std::find(known.begin(), known.end(), member.key) != known.end();
    const bool twice = std::find(seen.begin(), seen.end(), member.key) != seen.end();
    seen.push_back(member.key);
    if (is_known && !twice) {
      continue;
    }
    const std::string_view shown = member.key.substr(0, 60);
    if (twice) {
      return {.what = fmt::format("the key \"{}\" is given twice", shown),
              .field = std::string(shown),
              .remedy = "keep one of them"};
    }
    const std::string nearest =
        model::nearest_name(shown, known.data(), known.data() + known.size());
    return {.what = fmt::format("unknown key \"{}\" of {}", shown, schema.name),
            .field = std::string(shown),
            .remedy = nearest.empty() ? fmt::format("known are: {}", fmt::join(known, ", "))
                                      : fmt::format("did you mean \"{}\"?", nearest)};
  }
  return {.what = "unknown key"};
}

template <std::size_t... Index>
void choose_body(model::EventBody& body, std::size_t index, std::index_sequence<Index...>) {
  ((Index == index ? static_cast<void>(body.emplace<Index>()) : void()), ...);
}

class Reader {
 public:
  explicit Reader(model::NameTable& names) : names_(names) {
    for (const model::EventSchema& schema : model::event_schemas()) {
      known_.push_back(schema.name);
    }
  }

  // The event of one line, or what is wrong with it (without file and line).
  model::Result<model::Event> read(std::string_view line) {
    element document;
    simdjson::dom::object object;
    constexpr bool copy = false;  // the line is padded
    if (parser_.parse(line.data(), line.size(), copy).get(document) != simdjson::SUCCESS) {
      return bad("", "not JSON", "one JSON object per line");
    }
    if (document.get(object) != simdjson::SUCCESS) {
      return bad("", "not an object", "one JSON object per line");
    }
    std::string_view name;
    model::Event event;
    if (object.at_key("e").get(name) != simdjson::SUCCESS) {
      return bad("e", "no event is named", "\"e\" is the name of the event");
    }
    if (object.at_key("t").get(event.t) != simdjson::SUCCESS || event.t < 0) {
      return bad("t", "no time is given", "\"t\" is the time in integer nanoseconds");
    }
    const auto found = std::find(known_.begin(), known_.end(), name);
    if (found == known_.end()) {
      const std::string nearest =
          model::nearest_name(name.substr(0, 60), known_.data(), known_.data() + known_.size());
      return bad("e", fmt::format("unknown event \"{}\"", name.substr(0, 60)),
                 nearest.empty() ? "events are those of the journal's table"
                                 : fmt::format("did you mean \"{}\"?", nearest));
    }
    const auto index = static_cast<std::size_t>(found - known_.begin());
    choose_body(event.body, index,
                std::make_index_sequence<std::variant_size_v<model::EventBody>>{});
    return read_keys(object, std::move(event), model::event_schemas()[index]);
  }

 private:
  static std::unexpected<Error> bad(std::string field, std::string what, std::string remedy) {
    return std::unexpected(
        Error{.what = std::move(what), .field = std::move(field), .remedy = std::move(remedy)});
  }

  model::Result<model::Event> read_keys(const simdjson::dom::object& object, model::Event event,
                                        const model::EventSchema& schema) {
    std::optional<Error> error;
    ObjectReader reader(object, schema.name, names_, error);
    std::visit(
        [&]<class Body>(Body& body) {
          Body::keys(body, reader);
          if constexpr (requires { body.task.more; }) {
            if (!error && body.task.more < 0) {
              error = Error{.what =
                                "the partitions of a slice are one range of several that begins "
                                "with its partition",
                            .field = "partitions",
                            .remedy = "a task of one partition has no such key"};
            }
          }
        },
        event.body);
    constexpr std::size_t own_keys = 2;  // t and e
    if (!error && reader.read() + own_keys != object.size()) {
      error = unknown_key(object, schema);
    }
    if (error) {
      return std::unexpected(std::move(*error));
    }
    return event;
  }

  model::NameTable& names_;
  std::vector<std::string_view> known_;
  simdjson::dom::parser parser_;
};

}  // namespace

model::Result<JournalReadResult> read_journal(const std::string& path, model::NameTable& names,
                                              model::Observer& observer) {
  model::Result<LineReader> lines = LineReader::open(path);
  if (!lines) {
    return std::unexpected(lines.error());
  }
  JournalReadResult result;
  Reader reader(names);
  observer.begin(names);
  model::Instant last = 0;
  while (const std::optional<Line> line = lines->next()) {
    model::Result<model::Event> event = reader.read(line->text);
    if (event && event->t < last) {
      event =
          std::unexpected(Error{.what = fmt::format("time goes back from {} to {}", last, event->t),
                                .field = "t",
                                .remedy = "a journal is in the order in which things happened"});
    }
    if (!event) {
      Error error = event.error();
      error.file = path;
      error.line = line->number;
      if (!line->terminated || line->cut) {
        error.what = "the last line is cut off: " + error.what;
        result.damage = std::move(error);
        break;
      }
      return std::unexpected(std::move(error));
    }
    last = event->t;
    ++result.events;
    result.complete = event->as<model::RunEnd>() != nullptr;
    observer.on(*event);
  }
  if (!result.damage) {
    result.damage = lines->damage();
  }
  if (result.events == 0 && !result.damage) {
    return std::unexpected(Error{.what = "holds no events",
                                 .file = path,
                                 .remedy = "a journal is written by --journal FILE"});
  }
  return result;
}

}  // namespace rehearse::traces
