// registry: none (a part of the scenario reader)
// `expect` of a scenario file. Patterns and keys are checked against the events of the journal, so
// that a misspelt one is an error instead of an expectation that always holds.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "model/support/event_schema.hpp"
#include "traces/scenario_parts.hpp"

namespace rehearse::traces {

using model::EventKey;
using model::EventPattern;
using model::EventSchema;
using model::KeyKind;

namespace {

const std::vector<std::string_view> job_ends{"succeeded", "failed", "cancelled", "rejected",
                                             "unfinished"};
const std::vector<std::string_view> stage_ends{"success", "failed", "cancelled"};
const std::vector<std::string_view> totals{"events",   "jobs",   "requests",  "stages",    "tasks",
                                           "rejected", "failed", "cancelled", "unfinished"};

std::vector<std::string_view> event_names() {
  std::vector<std::string_view> names;
  for (const EventSchema& schema : model::event_schemas()) {
    names.push_back(schema.name);
  }
  return names;
}

// "event", "event job/stage/partition", "event executor".
struct PatternOptions {
  bool names_known = true;  // false: names may be those of another scenario
};

// "job/stage/partition" by its form only.
void split_subject(const Node& node, std::string_view subject, EventPattern& pattern) {
  const std::size_t first = subject.find('/');
  pattern.job = subject.substr(0, first);
  if (first == std::string_view::npos) {
    return;
  }
  const std::size_t second = subject.find('/', first + 1);
  pattern.stage = subject.substr(first + 1, second - first - 1);
  if (second == std::string_view::npos) {
    return;
  }
  const std::string_view digits = subject.substr(second + 1);
  std::int32_t partition = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), partition);
  if (error != std::errc{} || end != digits.data() + digits.size() || partition < 0) {
    node.fail(fmt::format("\"{}\" is no partition", digits), "partitions count from 0");
  }
  pattern.partition = partition;
}

EventPattern read_pattern(ScenarioReading& reading, const Node& node,
                          const PatternOptions& options = {}) {
  EventPattern pattern;
  const std::string text = read_string(node, "a pattern");
  const std::size_t blank = text.find(' ');
  pattern.event = text.substr(0, blank);
  if (node.failed()) {
    return pattern;
  }
  const EventSchema* schema = model::find_event(pattern.event);
  if (schema == nullptr) {
    fail_unknown(node, "event", pattern.event, event_names());
    return pattern;
  }
  if (blank == std::string::npos) {
    return pattern;
  }
  const std::string subject = text.substr(blank + 1);
  const bool of_job = schema->find("job") != nullptr;
  if (!of_job && schema->find("executor") == nullptr) {
    node.fail(fmt::format("{} names no job and no executor", pattern.event),
              "write the event alone");
    return pattern;
  }
  if (subject.empty() || subject.find(' ') != std::string::npos) {
    node.fail(fmt::format("\"{}\" is no pattern", text), "write event job/stage/partition");
    return pattern;
  }
  if (!of_job) {
    pattern.job = subject;
    return pattern;
  }
  const int parts = schema->find("partition") != nullptr ? 3
                    : schema->find("stage") != nullptr   ? 2
                                                         : 1;
  if (std::count(subject.begin(), subject.end(), '/') + 1 > parts) {
    node.fail(fmt::format("{} has no {}", pattern.event, parts == 2 ? "partition" : "stage"),
              parts == 2 ? "write event job/stage" : "write event job");
    return pattern;
  }
  if (!options.names_known) {
    split_subject(node, subject, pattern);
    return pattern;
  }
  const StageReference reference = read_reference(reading, node, subject, {.min = 1, .max = parts});
  pattern.job = reference.job;
  pattern.stage = reference.stage;
  pattern.partition = reference.partition;
  return pattern;
}

std::string read_stage_name(ScenarioReading& reading, const Node& node) {
  const std::string text = read_string(node, "job/stage");
  if (!node.failed()) {
    static_cast<void>(read_reference(reading, node, text, {.min = 2, .max = 2}));
  }
  return text;
}

std::optional<model::Instant> read_instant(const Node& node) {
  return node.given() ? std::optional(read_duration(node, 0)) : std::nullopt;
}

std::optional<std::int64_t> read_count(const Node& node) {
  return node.given() ? std::optional(read_integer(node, 0, {.min = 0})) : std::nullopt;
}

std::string read_text_choice(const Node& node, std::string_view what,
                             const std::vector<std::string_view>& texts) {
  const auto index = read_choice(node, what, texts);
  return index ? std::string(texts[*index]) : std::string();
}

std::optional<std::string> read_code(const Node& node) {
  if (!node.given()) {
    return std::nullopt;
  }
  const auto& texts = model::EnumNames<model::Code>::texts;
  return read_text_choice(node, "a code", {texts.begin(), texts.end()});
}

model::Expectation read_job_end(ScenarioReading& reading, const Node& node) {
  model::ExpectJob expect;
  if (check_keys(node, "an expected end of a job",
                 {{"job", "ends", "code", "at", "before", "after"}}) &&
      require(node.member("ends"), "ends")) {
    expect.job = read_string(node.member("job"), "a job's name");
    static_cast<void>(
        read_reference(reading, node.member("job"), expect.job, {.min = 1, .max = 1}));
    expect.ends = read_text_choice(node.member("ends"), "an end", job_ends);
    expect.code = read_code(node.member("code"));
    expect.at = read_instant(node.member("at"));
    expect.before = read_instant(node.member("before"));
    expect.after = read_instant(node.member("after"));
  }
  return expect;
}

model::Expectation read_stage_counts(ScenarioReading& reading, const Node& node) {
  model::ExpectStage expect;
  if (check_keys(node, "an expectation of a stage",
                 {{"stage", "attempts", "tasks_started", "ends"}})) {
    const std::string text = read_string(node.member("stage"), "job/stage");
    const StageReference reference =
        read_reference(reading, node.member("stage"), text, {.min = 2, .max = 2});
    expect.job = reference.job;
    expect.stage = reference.stage;
    expect.attempts = read_count(node.member("attempts"));
    expect.tasks_started = read_count(node.member("tasks_started"));
    if (const Node ends = node.member("ends"); ends.given()) {
      expect.ends = read_text_choice(ends, "an end", stage_ends);
    }
    if (!expect.attempts && !expect.tasks_started && !expect.ends) {
      node.fail("nothing is expected of the stage", "add attempts, tasks_started or ends");
    }
  }
  return expect;
}

std::vector<std::string> read_stage_list(ScenarioReading& reading, const Node& node) {
  std::vector<std::string> stages;
  if (node.given()) {
    for (const Node& item : node.items("a list of stages")) {
      stages.push_back(read_stage_name(reading, item));
    }
  }
  return stages;
}

model::Expectation read_state(ScenarioReading& reading, const Node& node) {
  model::ExpectState expect;
  if (!check_keys(node, "an expected state",
                  {{"at", "running", "waiting", "not_running", "free"}})) {
    return expect;
  }
  expect.at = read_duration(node.member("at"), 0);
  expect.running = read_stage_list(reading, node.member("running"));
  expect.waiting = read_stage_list(reading, node.member("waiting"));
  expect.not_running = read_stage_list(reading, node.member("not_running"));
  if (const Node free = node.member("free"); free.given()) {
    std::vector<std::string_view> known;
    for (const model::Profile& profile : reading.scenario.cluster.profiles) {
      known.push_back(reading.scenario.names.text(profile.name));
    }
    for (const auto& [profile, count] : free.members("free")) {
      if (std::find(known.begin(), known.end(), profile) == known.end()) {
        fail_unknown(count, "profile", profile, known);
      }
      expect.free[profile] = read_integer(count, 0, {.min = 0});
    }
  }
  return expect;
}

model::Expectation read_order(ScenarioReading& reading, const Node& node) {
  model::ExpectOrder expect;
  if (check_keys(node, "an expected order", {{"order"}})) {
    for (const Node& item : node.member("order").items("order")) {
      expect.order.push_back(read_pattern(reading, item));
    }
  }
  return expect;
}

void check_enumerated(const Node& node, const EventKey& key) {
  const std::vector<std::string_view> texts(key.texts.begin(), key.texts.end());
  if (node.is(JsonKind::string) && !texts.empty() &&
      std::find(texts.begin(), texts.end(), node.value().text) == texts.end()) {
    fail_unknown(node, fmt::format("value of \"{}\":", key.name), node.value().text, texts);
  }
}

model::KeyMatch read_key(const Node& node, const EventKey& key) {
  switch (key.kind) {
    case KeyKind::name:
      return read_string(node, fmt::format("\"{}\"", key.name));
    case KeyKind::enumeration:
      check_enumerated(node, key);
      return read_string(node, fmt::format("\"{}\"", key.name));
    case KeyKind::integer:
      return read_integer(node, 0);
    case KeyKind::boolean:
      return read_boolean(node, false);
    case KeyKind::counts: {
      std::map<std::string, std::int64_t> counts;
      for (const auto& [name, count] : node.members(fmt::format("\"{}\"", key.name))) {
        counts[name] = read_integer(count, 0);
      }
      return counts;
    }
    case KeyKind::list:
      for (const Node& item : node.items(fmt::format("\"{}\"", key.name))) {
        check_enumerated(item, key);
      }
      return model::ListMatch{node.given() ? compact_json(node.value()) : ""};
  }
  return std::int64_t{0};
}

model::Expectation read_event(ScenarioReading& reading, const Node& node, bool never) {
  model::ExpectEvent expect;
  expect.never = never;
  const std::string_view form = never ? "never" : "event";
  expect.pattern = read_pattern(reading, node.member(form));
  const EventSchema* schema = model::find_event(expect.pattern.event);
  if (node.failed() || schema == nullptr) {
    return expect;
  }
  std::vector<std::string_view> known{form, "at"};
  if (!never) {
    known.insert(known.end(), {"count", "min", "max"});
  }
  for (const auto& [key, value] : node.members("an expected event")) {
    if (std::find(known.begin(), known.end(), key) != known.end()) {
      continue;
    }
    const EventKey* event_key = schema->find(key);
    if (event_key == nullptr) {
      std::vector<std::string_view> candidates = known;
      for (const EventKey& candidate : schema->keys) {
        candidates.push_back(candidate.name);
      }
      fail_unknown(value, fmt::format("key of {}", expect.pattern.event), key, candidates);
      return expect;
    }
    expect.keys[key] = read_key(value, *event_key);
  }
  expect.at = read_instant(node.member("at"));
  if (!never) {
    expect.count = read_count(node.member("count"));
    expect.min = read_count(node.member("min"));
    expect.max = read_count(node.member("max"));
  }
  return expect;
}

model::Expectation read_invariant(const Node& node) {
  model::ExpectInvariant expect;
  if (check_keys(node, "an expected verdict", {{"invariant", "holds"}})) {
    expect.property = read_string(node.member("invariant"), "a property's name");
    expect.holds = read_boolean(node.member("holds"), true);
  }
  return expect;
}

model::Expectation read_load_error(const Node& node, bool alone) {
  model::ExpectLoadError expect;
  if (check_keys(node, "an expected load error", {{"load_error"}})) {
    expect.pointer = read_string(node.member("load_error"), "a JSON pointer");
    if (!alone) {
      node.fail("a file that fails to load has nothing else to expect",
                "let load_error be the sole entry");
    }
  }
  return expect;
}

model::Expectation read_hash(const Node& node) {
  model::ExpectJournalHash expect;
  if (check_keys(node, "an expected hash", {{"journal_hash"}})) {
    expect.hash = read_string(node.member("journal_hash"), "a journal hash");
    constexpr std::size_t digits = 16;
    constexpr std::string_view prefix = "xxh3:";
    const bool formed =
        expect.hash.starts_with(prefix) && expect.hash.size() == prefix.size() + digits &&
        expect.hash.find_first_not_of("0123456789abcdef", prefix.size()) == std::string::npos;
    if (!formed) {
      node.member("journal_hash").fail("that is no journal hash", "write xxh3: and 16 hex digits");
    }
  }
  return expect;
}

model::Expectation read_same_journal(ScenarioReading& reading, const Node& node) {
  model::ExpectSameJournal expect;
  if (check_keys(node, "an expected equality", {{"same_journal_as", "except"}})) {
    expect.file = read_string(node.member("same_journal_as"), "a file");
    if (const Node except = node.member("except"); except.given()) {
      for (const Node& item : except.items("except")) {
        expect.except.push_back(read_pattern(reading, item, {.names_known = false}));
      }
    }
  }
  return expect;
}

model::Expectation read_totals(const Node& node) {
  model::ExpectTotals expect;
  if (!check_keys(node, "expected totals", {{"totals"}})) {
    return expect;
  }
  for (const auto& [name, bound] : node.member("totals").members("totals")) {
    if (name.starts_with("slot_")) {
      bound.fail(fmt::format("\"{}\" is not built yet in expectations", name), "leave it out");
    } else if (std::find(totals.begin(), totals.end(), name) == totals.end()) {
      fail_unknown(bound, "total", name, totals);
    }
    if (!check_keys(bound, "the bound of a total", {{"min", "max"}})) {
      break;
    }
    expect.bounds.push_back(
        {name, read_count(bound.member("min")), read_count(bound.member("max"))});
  }
  return expect;
}

const std::vector<std::string_view> forms{
    "job",        "stage",        "order",           "event",  "never", "invariant",
    "load_error", "journal_hash", "same_journal_as", "totals", "at"};

model::Expectation read_expectation(ScenarioReading& reading, const Node& node, bool alone) {
  const auto has = [&](std::string_view key) { return node.member(key).given(); };
  if (!node.expect(JsonKind::object, "an expectation")) {
    return {};
  }
  if (has("event") || has("never")) {  // first: their keys may be job, stage, order
    return read_event(reading, node, !has("event"));
  }
  if (has("job")) {
    return read_job_end(reading, node);
  }
  if (has("stage")) {
    return read_stage_counts(reading, node);
  }
  if (has("order")) {
    return read_order(reading, node);
  }
  if (has("invariant")) {
    return read_invariant(node);
  }
  if (has("load_error")) {
    return read_load_error(node, alone);
  }
  if (has("journal_hash")) {
    return read_hash(node);
  }
  if (has("same_journal_as")) {
    return read_same_journal(reading, node);
  }
  if (has("totals")) {
    return read_totals(node);
  }
  if (has("at")) {
    return read_state(reading, node);
  }
  if (node.value().keys.empty()) {
    node.fail("nothing is expected", fmt::format("forms begin with {}", fmt::join(forms, ", ")));
  } else {
    fail_unknown(node.member(node.value().keys.front()), "key", node.value().keys.front(), forms);
  }
  return {};
}

// ---- writing ----

JsonValue write_pattern(const EventPattern& pattern) {
  std::string text = pattern.event;
  if (!pattern.job.empty()) {
    text += " " + pattern.job;
    text += pattern.stage.empty() ? "" : "/" + pattern.stage;
    text += pattern.partition ? "/" + std::to_string(*pattern.partition) : "";
  }
  return json_string(text);
}

JsonValue write_counts(const std::map<std::string, std::int64_t>& counts) {
  JsonValue object = json_object();
  for (const auto& [name, count] : counts) {
    object.add(name, json_number(count));
  }
  return object;
}

JsonValue write_key(const model::KeyMatch& match) {
  if (const auto* integer = std::get_if<std::int64_t>(&match)) {
    return json_number(*integer);
  }
  if (const auto* boolean = std::get_if<bool>(&match)) {
    return json_boolean(*boolean);
  }
  if (const auto* text = std::get_if<std::string>(&match)) {
    return json_string(*text);
  }
  if (const auto* list = std::get_if<model::ListMatch>(&match)) {
    return parse_json(list->json, "").value_or(json_array());
  }
  return write_counts(std::get<std::map<std::string, std::int64_t>>(match));
}

void add_instant(JsonValue& object, std::string_view key,
                 const std::optional<model::Instant>& instant) {
  if (instant) {
    object.add(key, write_duration(*instant));
  }
}

void add_count(JsonValue& object, std::string_view key, const std::optional<std::int64_t>& count) {
  if (count) {
    object.add(key, json_number(*count));
  }
}

JsonValue write_patterns(const std::vector<EventPattern>& patterns) {
  JsonValue list = json_array();
  for (const EventPattern& pattern : patterns) {
    list.items.push_back(write_pattern(pattern));
  }
  return list;
}

void add_stages(JsonValue& object, std::string_view key, const std::vector<std::string>& stages) {
  if (!stages.empty()) {
    JsonValue& list = object.add(key, json_array());
    for (const std::string& stage : stages) {
      list.items.push_back(json_string(stage));
    }
  }
}

struct ExpectationWriter {
  JsonValue& object;

  void operator()(const model::ExpectJob& expect) const {
    object.add("job", json_string(expect.job));
    object.add("ends", json_string(expect.ends));
    if (expect.code) {
      object.add("code", json_string(*expect.code));
    }
    add_instant(object, "at", expect.at);
    add_instant(object, "before", expect.before);
    add_instant(object, "after", expect.after);
  }
  void operator()(const model::ExpectStage& expect) const {
    object.add("stage", json_string(expect.job + "/" + expect.stage));
    add_count(object, "attempts", expect.attempts);
    add_count(object, "tasks_started", expect.tasks_started);
    if (expect.ends) {
      object.add("ends", json_string(*expect.ends));
    }
  }
  void operator()(const model::ExpectState& expect) const {
    object.add("at", write_duration(expect.at));
    add_stages(object, "running", expect.running);
    add_stages(object, "waiting", expect.waiting);
    add_stages(object, "not_running", expect.not_running);
    if (!expect.free.empty()) {
      object.add("free", write_counts(expect.free));
    }
  }
  void operator()(const model::ExpectOrder& expect) const {
    object.add("order", write_patterns(expect.order));
  }
  void operator()(const model::ExpectEvent& expect) const {
    object.add(expect.never ? "never" : "event", write_pattern(expect.pattern));
    for (const auto& [key, match] : expect.keys) {
      object.add(key, write_key(match));
    }
    add_instant(object, "at", expect.at);
    add_count(object, "count", expect.count);
    add_count(object, "min", expect.min);
    add_count(object, "max", expect.max);
  }
  void operator()(const model::ExpectInvariant& expect) const {
    object.add("invariant", json_string(expect.property));
    object.add("holds", json_boolean(expect.holds));
  }
  void operator()(const model::ExpectLoadError& expect) const {
    object.add("load_error", json_string(expect.pointer));
  }
  void operator()(const model::ExpectJournalHash& expect) const {
    object.add("journal_hash", json_string(expect.hash));
  }
  void operator()(const model::ExpectSameJournal& expect) const {
    object.add("same_journal_as", json_string(expect.file));
    if (!expect.except.empty()) {
      object.add("except", write_patterns(expect.except));
    }
  }
  void operator()(const model::ExpectTotals& expect) const {
    JsonValue& bounds = object.add("totals", json_object());
    for (const model::ExpectTotals::Bound& bound : expect.bounds) {
      JsonValue& entry = bounds.add(bound.name, json_object());
      add_count(entry, "min", bound.min);
      add_count(entry, "max", bound.max);
    }
  }
};

}  // namespace

void read_expectations(ScenarioReading& reading, const Node& node) {
  const std::vector<Node> items = node.items("expect");
  for (const Node& item : items) {
    model::Expectation expectation = read_expectation(reading, item, items.size() == 1);
    if (item.failed()) {
      return;
    }
    reading.scenario.expect.push_back(std::move(expectation));
  }
}

JsonValue write_expectations(const model::Scenario& scenario) {
  JsonValue list = json_array();
  for (const model::Expectation& expectation : scenario.expect) {
    std::visit(ExpectationWriter{list.items.emplace_back(json_object())}, expectation);
  }
  return list;
}

}  // namespace rehearse::traces
