// Damaged scenario files: each loads, or gives one error with a place and a remedy that fits a
// screen. Nothing else may happen, whatever the damage.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/sample_scenarios.hpp"
#include "traces/json_document.hpp"
#include "traces/scenario_json.hpp"

namespace rehearse::traces {

namespace {

// Equal on every machine; splitmix64.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t bound) {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return static_cast<std::size_t>((z ^ (z >> 31U)) % bound);
  }

 private:
  std::uint64_t state_;
};

void collect(JsonValue& value, std::vector<JsonValue*>& all) {
  all.push_back(&value);
  for (JsonValue& item : value.items) {
    collect(item, all);
  }
}

JsonValue strange_value(Dice& dice) {
  switch (dice.below(12)) {
    case 0:
      return {};
    case 1:
      return json_number(-1);
    case 2:
      return json_decimal("9223372036854775808");
    case 3:
      return json_decimal("1e30");
    case 4:
      return json_string("");
    case 5:
      return json_string("9999999h");
    case 6:
      return json_string("a/b#c");
    case 7:
      return json_array();
    case 8:
      return json_object();
    case 9:
      return json_boolean(true);
    case 10:
      return json_number(9'223'372'036'854'775'807);
    default:
      return json_string(std::string(5000, 'x'));
  }
}

// Changes the meaning: a value, a key, an item.
std::string mutated_tree(std::string_view text, Dice& dice) {
  JsonValue document = *parse_json(text, "");
  std::vector<JsonValue*> all;
  collect(document, all);
  JsonValue& target = *all[dice.below(all.size())];
  const std::size_t item = target.items.empty() ? 0 : dice.below(target.items.size());
  switch (dice.below(6)) {
    case 0:
      target = strange_value(dice);
      break;
    case 1:
      if (!target.keys.empty()) {
        target.keys[item].insert(dice.below(target.keys[item].size() + 1), 1, 'z');
      }
      break;
    case 2:
      if (!target.items.empty()) {
        target.items.erase(target.items.begin() + static_cast<std::ptrdiff_t>(item));
        if (!target.keys.empty()) {
          target.keys.erase(target.keys.begin() + static_cast<std::ptrdiff_t>(item));
        }
      }
      break;
    case 3:
      if (target.kind == JsonKind::array && !target.items.empty()) {
        target.items.push_back(target.items[item]);
      }
      break;
    case 4:
      if (target.kind == JsonKind::string) {
        target.text += "0";
      } else if (target.kind == JsonKind::number) {
        target.text += "7";
      }
      break;
    default:
      if (target.items.size() > 1) {
        std::swap(target.items.front(), target.items[item]);
      }
      break;
  }
  return pretty_json(document);
}

// Changes the text: what a broken editor or a cut-off download does.
std::string mutated_text(std::string_view original, Dice& dice) {
  std::string text(original);
  const std::size_t at = dice.below(text.size());
  const std::size_t length = 1 + dice.below(std::min<std::size_t>(text.size() - at, 40));
  switch (dice.below(5)) {
    case 0:
      text.resize(at);
      break;
    case 1:
      text.erase(at, length);
      break;
    case 2:
      text.insert(at, text.substr(at, length));
      break;
    case 3:
      text[at] = static_cast<char>(dice.below(256));
      break;
    default:
      std::swap(text[at], text[dice.below(text.size())]);
      break;
  }
  return text;
}

// "" when all is well.
std::string judge(const std::string& text) {
  try {
    const model::Result<model::Scenario> scenario = read_scenario(text, "mutant.json");
    if (scenario) {
      const std::string canonical = write_scenario(*scenario);
      const auto again = read_scenario(canonical, "again");
      if (!again) {
        return "the canonical form does not load: " + model::to_string(again.error());
      }
      return same_scenario(*scenario, *again) && write_scenario(*again) == canonical
                 ? ""
                 : "the canonical form is no fixed point";
    }
    const model::Error& error = scenario.error();
    const std::string message = model::to_string(error);
    constexpr std::size_t screen = 1600;
    if (error.line <= 0 && error.field.empty()) {
      return "no place: " + message;
    }
    if (error.what.empty() || error.remedy.empty()) {
      return "no text or no remedy: " + message;
    }
    if (message.size() > screen || std::count(message.begin(), message.end(), '\n') > 10) {
      return "longer than a screen: " + message;
    }
    return "";
  } catch (const std::exception& exception) {
    return std::string("an exception: ") + exception.what();
  }
}

struct Tally {
  int loaded = 0;
  int refused = 0;
};

Tally mutate(std::string_view text, int rounds, Dice& dice) {
  Tally tally;
  for (int i = 0; i < rounds; ++i) {
    const std::string mutant = i % 3 == 2 ? mutated_text(text, dice) : mutated_tree(text, dice);
    const std::string problem = judge(mutant);
    if (!problem.empty()) {
      CAPTURE(mutant);
      FAIL_CHECK(problem);
    }
    ++(read_scenario(mutant, "").has_value() ? tally.loaded : tally.refused);
  }
  return tally;
}

}  // namespace

TEST_CASE("mutants of a scenario that uses every key") {
  Dice dice(1);
  const Tally tally = mutate(testing::rich_scenario, 600, dice);
  CHECK(tally.refused > 200);
  CHECK(tally.loaded > 20);
}

TEST_CASE("mutants of the shared cases") {
  const std::filesystem::path folder = "../shared/cases/bugs";
  if (!std::filesystem::is_directory(folder)) {
    MESSAGE("skipped: no ../shared");
    return;
  }
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  Dice dice(2);
  Tally tally;
  for (const std::filesystem::path& path : paths) {
    std::stringstream content;
    content << std::ifstream(path).rdbuf();
    const Tally part = mutate(content.str(), 12, dice);
    tally.loaded += part.loaded;
    tally.refused += part.refused;
  }
  CHECK(tally.refused > 200);
  CHECK(tally.loaded > 20);
}

}  // namespace rehearse::traces
