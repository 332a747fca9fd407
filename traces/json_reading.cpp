// registry: none (the readers of single values)
// Values of scenario.md section 1 out of JSON. What a value means is the caller's business.
#include "traces/json_reading.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/support/units.hpp"

namespace rehearse::traces {

namespace {

std::string_view kind_name(JsonKind kind) {
  switch (kind) {
    case JsonKind::null:
      return "null";
    case JsonKind::boolean:
      return "true or false";
    case JsonKind::number:
      return "a number";
    case JsonKind::string:
      return "a string";
    case JsonKind::array:
      return "a list";
    case JsonKind::object:
      return "an object";
  }
  return "";
}

constexpr std::size_t shown_max = 60;

// At most `length` bytes of a text, cut between characters.
std::string clipped(std::string_view text, std::size_t length = shown_max) {
  if (text.size() <= length) {
    return std::string(text);
  }
  std::size_t end = length;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  return std::string(text.substr(0, end)) + "...";
}

// What stands there, short enough for one line.
std::string shown(const JsonValue& value) { return clipped(compact_json(value)); }

bool is_integer_text(std::string_view text) {
  return text.find_first_not_of("-0123456789") == std::string_view::npos;
}

template <class Parse>
std::int64_t read_quantity(const Node& node, std::string_view what, std::string_view remedy,
                           Parse parse) {
  if (node.is(JsonKind::string)) {
    const model::Result<std::int64_t> value = parse(node.value().text);
    if (value) {
      return *value;
    }
    node.fail(value.error());
    return 0;
  }
  node.fail(fmt::format("{} is expected, not {}", what, shown(node.value())), std::string(remedy));
  return 0;
}

}  // namespace

void Problems::add(model::Error error) {
  constexpr std::size_t part_max = 400;  // a message fits one screen, whatever the file holds
  if (!first_) {
    error.file = file_;
    error.what = clipped(error.what, part_max);
    error.field = clipped(error.field, part_max);
    error.remedy = clipped(error.remedy, part_max);
    first_ = std::move(error);
  }
}

void Node::fail(std::string what, std::string remedy) const {
  problems_->add({.what = std::move(what),
                  .line = line_,
                  .field = pointer_.empty() ? "/" : pointer_,
                  .remedy = std::move(remedy)});
}

void Node::fail(const model::Error& error) const {
  problems_->add(
      {.what = error.what, .line = line_, .field = pointer_ + error.field, .remedy = error.remedy});
}

bool Node::expect(JsonKind kind, std::string_view what) const {
  if (is(kind)) {
    return true;
  }
  fail(fmt::format("{} is {}, not {}", what, kind_name(kind),
                   given() ? shown(*value_) : std::string("absent")),
       fmt::format("write {} here", kind_name(kind)));
  return false;
}

std::vector<Node> Node::items(std::string_view what) const {
  std::vector<Node> nodes;
  if (expect(JsonKind::array, what)) {
    nodes.reserve(value_->items.size());
    for (std::size_t i = 0; i < value_->items.size(); ++i) {
      nodes.emplace_back(&value_->items[i], fmt::format("{}/{}", pointer_, i), problems_);
    }
  }
  return nodes;
}

std::vector<std::pair<std::string, Node>> Node::members(std::string_view what) const {
  std::vector<std::pair<std::string, Node>> nodes;
  if (expect(JsonKind::object, what)) {
    for (std::size_t i = 0; i < value_->keys.size(); ++i) {
      const std::string& key = value_->keys[i];
      nodes.emplace_back(key,
                         Node(&value_->items[i], pointer_ + "/" + pointer_token(key), problems_));
    }
  }
  return nodes;
}

Node Node::member(std::string_view key) const {
  const JsonValue* found = is(JsonKind::object) ? value_->find(key) : nullptr;
  return {found, pointer_ + "/" + pointer_token(key), problems_, line_};
}

bool check_keys(const Node& node, std::string_view what, const KnownKeys& keys) {
  for (const auto& [key, value] : node.members(what)) {
    if (std::find(keys.known.begin(), keys.known.end(), key) != keys.known.end()) {
      continue;
    }
    if (std::find(keys.unbuilt.begin(), keys.unbuilt.end(), key) != keys.unbuilt.end()) {
      value.fail(fmt::format("\"{}\" of {} is not built yet", key, what), "leave it out");
      return false;
    }
    std::vector<std::string_view> known(keys.known);
    known.insert(known.end(), keys.unbuilt.begin(), keys.unbuilt.end());
    fail_unknown(value, "key", key, known);
    return false;
  }
  return node.is(JsonKind::object);
}

bool require(const Node& node, std::string_view key) {
  if (!node.given()) {
    node.fail(fmt::format("\"{}\" is missing", key), fmt::format("\"{}\" is required here", key));
  }
  return node.given();
}

std::int64_t read_integer(const Node& node, std::int64_t absent, const IntegerRange& range) {
  if (!node.given()) {
    return absent;
  }
  if (!node.is(JsonKind::number) || !is_integer_text(node.value().text)) {
    node.fail(fmt::format("an integer is expected, not {}", shown(node.value())),
              "write a whole number without quotes");
    return absent;
  }
  const model::Result<std::int64_t> value = model::parse_decimal(node.value().text, 1);
  if (!value) {
    node.fail(value.error());
    return absent;
  }
  if (*value < range.min || *value > range.max) {
    node.fail(fmt::format("{} is out of range", *value),
              range.max == IntegerRange{}.max ? fmt::format("at least {}", range.min)
                                              : fmt::format("{} to {}", range.min, range.max));
    return absent;
  }
  return *value;
}

bool read_boolean(const Node& node, bool absent) {
  if (!node.given()) {
    return absent;
  }
  return node.expect(JsonKind::boolean, "the value") ? node.value().boolean : absent;
}

std::string read_string(const Node& node, std::string_view what) {
  return node.expect(JsonKind::string, what) ? node.value().text : std::string();
}

model::Duration read_duration(const Node& node, model::Duration absent) {
  if (!node.given()) {
    return absent;
  }
  if (node.is(JsonKind::number)) {
    const std::string& digits = node.value().text;
    if (digits == "0") {
      return 0;
    }
    node.fail(fmt::format("{} has no unit", digits),
              fmt::format("write \"{}ms\" or \"{}s\": a string with a unit", digits, digits));
    return absent;
  }
  return read_quantity(node, "a duration", "write a string with a unit: \"10ms\", \"1.5s\"",
                       model::parse_duration);
}

std::int64_t read_bytes(const Node& node, std::int64_t absent) {
  if (!node.given()) {
    return absent;
  }
  if (node.is(JsonKind::number)) {
    return read_integer(node, absent, {.min = 0});
  }
  return read_quantity(node, "a number of bytes", "write \"32KiB\", \"10MB\" or an integer",
                       model::parse_bytes);
}

std::int64_t read_rate(const Node& node, std::int64_t absent) {
  if (!node.given()) {
    return absent;
  }
  const std::int64_t rate = read_quantity(
      node, "a rate", "write \"1GiB/s\", \"10Gbit/s\" or \"500/s\"", model::parse_rate);
  if (rate == 0 && !node.failed()) {
    node.fail("the rate is 0", "a rate is above 0");
  }
  return rate;
}

std::int64_t read_decimal(const Node& node, std::int64_t absent, std::int64_t scale,
                          std::int64_t min) {
  if (!node.given()) {
    return absent;
  }
  if (!node.expect(JsonKind::number, "the value")) {
    return absent;
  }
  const model::Result<std::int64_t> value = model::parse_decimal(node.value().text, scale);
  if (!value) {
    node.fail(value.error());
    return absent;
  }
  if (*value < min) {
    node.fail(fmt::format("{} is too small", node.value().text),
              fmt::format("at least {}", model::format_decimal(min, scale)));
    return absent;
  }
  return *value;
}

std::string read_name(const Node& node, std::string_view what) {
  if (!require(node, "name") || !node.expect(JsonKind::string, what)) {
    return {};
  }
  const std::string& name = node.value().text;
  if (name.empty() || name.find_first_of("/#") != std::string::npos) {
    node.fail(fmt::format("{} is no name", shown(node.value())),
              "names are not empty and have no / and no #");
  }
  return name;
}

namespace {

// The keys of one kind of distribution, besides `dist` and `cap`.
bool check_distribution_keys(const Node& node, model::DistributionKind kind) {
  using Kind = model::DistributionKind;
  switch (kind) {
    case Kind::lognormal:
      return check_keys(node, "a lognormal distribution", {{"dist", "median", "sigma", "cap"}}) &&
             require(node.member("median"), "median") && require(node.member("sigma"), "sigma");
    case Kind::exponential:
      return check_keys(node, "an exponential distribution", {{"dist", "mean", "cap"}}) &&
             require(node.member("mean"), "mean");
    case Kind::uniform:
      return check_keys(node, "a uniform distribution", {{"dist", "min", "max", "cap"}}) &&
             require(node.member("min"), "min") && require(node.member("max"), "max");
    case Kind::pareto:
      return check_keys(node, "a pareto distribution", {{"dist", "min", "alpha", "cap"}}) &&
             require(node.member("min"), "min") && require(node.member("alpha"), "alpha");
    case Kind::empirical:
      return check_keys(node, "an empirical distribution", {{"dist", "values", "cap"}}) &&
             require(node.member("values"), "values");
    case Kind::fixed:
      break;
  }
  return false;
}

model::Distribution distribution_values(const Node& node, model::DistributionKind kind) {
  using Kind = model::DistributionKind;
  const auto duration = [&](std::string_view key) { return read_duration(node.member(key), 0); };
  const auto shape = [&](std::string_view key) {
    return read_decimal(node.member(key), 0, model::shape_scale, 0);
  };
  switch (kind) {
    case Kind::lognormal:
      return model::lognormal_distribution(
          {.median_ns = duration("median"), .sigma_e9 = shape("sigma")});
    case Kind::exponential:
      return model::exponential_distribution(duration("mean"));
    case Kind::uniform:
      return model::uniform_distribution({.min_ns = duration("min"), .max_ns = duration("max")});
    case Kind::pareto:
      return model::pareto_distribution({.min_ns = duration("min"), .alpha_e9 = shape("alpha")});
    case Kind::empirical: {
      std::vector<model::Duration> values;
      for (const Node& item : node.member("values").items("values")) {
        values.push_back(read_duration(item, 0));
      }
      return model::empirical_distribution(std::move(values));
    }
    case Kind::fixed:
      break;
  }
  return {};
}

}  // namespace

model::Distribution read_distribution(const Node& node, bool mean_needed) {
  if (!node.is(JsonKind::object)) {
    return model::fixed_distribution(read_duration(node, 0));
  }
  const auto& texts = model::EnumNames<model::DistributionKind>::texts;
  const Node name = node.member("dist");
  if (!require(name, "dist")) {
    return {};
  }
  // The first kind, fixed, is written as a plain duration.
  const auto index = read_choice(name, "a distribution", {texts.begin() + 1, texts.end()});
  if (!index) {
    return {};
  }
  const auto kind = static_cast<model::DistributionKind>(*index + 1);
  if (!check_distribution_keys(node, kind)) {
    return {};
  }
  model::Distribution distribution = distribution_values(node, kind);
  if (const Node cap = node.member("cap"); cap.given()) {
    distribution.cap_ns = read_duration(cap, 0);
  }
  if (node.failed()) {
    return {};
  }
  if (const auto defect = model::defect_of(distribution)) {
    node.fail(std::string(*defect), "parameters of distributions are those of their definition");
    return {};
  }
  if (mean_needed && !model::mean_ns(distribution)) {
    node.fail("a pareto distribution with alpha of at most 1 and no cap has no mean",
              "give a cap, or an estimate where a stage has one");
  }
  return distribution;
}

void fail_unknown(const Node& node, std::string_view kind, std::string_view given,
                  const std::vector<std::string_view>& known) {
  constexpr std::size_t listed_max = 16;
  const std::string seen = clipped(given);
  const std::string nearest = model::nearest_name(seen, known.data(), known.data() + known.size());
  std::string remedy;
  if (!nearest.empty()) {
    remedy = fmt::format("did you mean \"{}\"?", nearest);
  } else if (known.empty()) {
    remedy = "there are none";
  } else {
    const std::size_t listed = std::min(known.size(), listed_max);
    remedy = fmt::format(
        "known here: {}{}",
        fmt::join(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(listed), ", "),
        listed < known.size() ? ", ..." : "");
  }
  node.fail(fmt::format("unknown {} \"{}\"", kind, seen), std::move(remedy));
}

std::optional<std::size_t> read_choice(const Node& node, std::string_view what,
                                       const std::vector<std::string_view>& texts) {
  if (!node.expect(JsonKind::string, what)) {
    return std::nullopt;
  }
  const auto found = std::find(texts.begin(), texts.end(), node.value().text);
  if (found == texts.end()) {
    fail_unknown(node, "value", node.value().text, texts);
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - texts.begin());
}

}  // namespace rehearse::traces
