// The presets against the matrix of the specification, and the completion of reject lists (F13).
#include "model/scheduler_config.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "model/axes.hpp"

namespace rehearse::model {

namespace {

constexpr std::size_t dialects = EnumNames<Dialect>::texts.size();

std::string trim(std::string text) {
  const auto blank = [](char c) { return c == ' ' || c == '*' || c == '`'; };
  text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), blank));
  text.erase(std::find_if_not(text.rbegin(), text.rend(), blank).base(), text.end());
  return text;
}

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> found;
  for (std::size_t start = 1; start < line.size();) {
    const std::size_t bar = line.find('|', start);
    if (bar == std::string::npos) {
      break;
    }
    found.push_back(trim(line.substr(start, bar - start)));
    start = bar + 1;
  }
  return found;
}

// retry[interval=15s,max=40] as the matrix writes it: retry{15s,40}.
std::string braced(const AxisText& text) {
  std::string out = text.value;
  if (text.bracketed) {
    out += '{';
    for (const AxisParameter& item : text.parameters) {
      out += (&item == &text.parameters.front() ? "" : ",") + item.value.value;
    }
    out += '}';
  }
  return out;
}

std::vector<std::string> reject_of(Dialect dialect) {
  std::vector<std::string> codes;
  for (const Code code : preset(dialect).reject) {
    codes.emplace_back(name_of(code));
  }
  return codes;
}

bool rejects(const SchedulerConfig& config, Code code) {
  return std::find(config.reject.begin(), config.reject.end(), code) != config.reject.end();
}

}  // namespace

TEST_CASE("every cell of the specification's matrix") {
  std::ifstream spec("../shared/spec/scenario.md");
  if (!spec) {
    MESSAGE("skipped: no ../shared");
    return;
  }
  const NameTable names;
  std::string line;
  bool inside = false;
  int rows = 0;
  while (std::getline(spec, line)) {
    if (line.starts_with("| axis | `sequential`")) {
      inside = true;
      continue;
    }
    if (!inside || line.starts_with("|---")) {
      continue;
    }
    const std::vector<std::string> row = cells(line);
    if (row.size() != dialects + 1) {
      break;
    }
    if (row[0] == "reject") {
      continue;
    }
    ++rows;
    const std::string& axis = row[0];
    const std::string of_psd = braced(get_axis(preset(Dialect::psd), names, axis));
    for (std::size_t i = 0; i < dialects; ++i) {
      CAPTURE(axis);
      CAPTURE(name_of(static_cast<Dialect>(i)));
      // "stage attempt" comes with grouping stage: the axis itself has its usual value.
      const bool usual = row[i + 1] == "n.a." || row[i + 1] == "stage attempt";
      CHECK(braced(get_axis(preset(static_cast<Dialect>(i)), names, axis)) ==
            (usual ? of_psd : row[i + 1]));
    }
  }
  CHECK(rows == 20);
}

TEST_CASE("reject lists in order") {
  using List = std::vector<std::string>;
  CHECK(reject_of(Dialect::sequential) == List{"INSUFFICIENT_SLOTS", "DAG_CYCLE", "SHARED_PRODUCER",
                                               "DYNAMIC_ALLOCATION", "NO_EXECUTORS"});
  CHECK(reject_of(Dialect::barrier) == reject_of(Dialect::sequential));
  CHECK(reject_of(Dialect::psd) ==
        List{"INSUFFICIENT_SLOTS", "DAG_CYCLE", "GROUP_CYCLE", "REGULAR_INSIDE_GROUP",
             "SHARED_PRODUCER", "BARRIER_MEMBER", "DYNAMIC_ALLOCATION", "SPECULATION", "PUSH_MERGE",
             "INDETERMINATE_PRODUCER", "CHECKSUM_RETRY", "CACHED_MEMBER", "CHECKPOINTED_MEMBER",
             "ADAPTIVE_EXCHANGE", "NON_IDEMPOTENT_COMMIT", "NO_EXECUTORS"});
  CHECK(reject_of(Dialect::spark) ==
        List{"DAG_CYCLE", "SPECULATION", "DYNAMIC_ALLOCATION", "MIXED_JOB", "INSUFFICIENT_SLOTS",
             "FAN_OUT", "PROFILE_CONFLICT", "CHECKPOINTED_MEMBER", "BARRIER_MEMBER",
             "INDETERMINATE_PRODUCER", "CHECKSUM_RETRY", "PUSH_MERGE", "SHARED_PRODUCER",
             "ADAPTIVE_EXCHANGE", "NO_EXECUTORS"});
  CHECK(reject_of(Dialect::prototype) ==
        List{"INSUFFICIENT_SLOTS", "DAG_CYCLE", "SHARED_PRODUCER", "SPECULATION", "NO_EXECUTORS"});
  CHECK(reject_of(Dialect::ballista) ==
        List{"INSUFFICIENT_SLOTS", "DAG_CYCLE", "SHARED_PRODUCER", "NO_EXECUTORS"});
  CHECK(reject_of(Dialect::ballista_pipelined) ==
        List{"INSUFFICIENT_SLOTS", "DAG_CYCLE", "SHARED_PRODUCER", "PULL_SCHEDULING",
             "DYNAMIC_ALLOCATION", "PROFILE_CONFLICT", "NO_EXECUTORS"});
  CHECK(reject_of(Dialect::trino_phased) == List{"INSUFFICIENT_SLOTS", "DAG_CYCLE",
                                                 "SHARED_PRODUCER", "SPECULATION",
                                                 "PROFILE_CONFLICT", "NO_EXECUTORS"});
  CHECK(reject_of(Dialect::flink_region) ==
        List{"INSUFFICIENT_SLOTS", "DAG_CYCLE", "SHARED_PRODUCER", "PROFILE_CONFLICT",
             "SPECULATION", "NON_IDEMPOTENT_COMMIT", "NO_EXECUTORS"});
}

TEST_CASE("F13: an override adds the code it can give, before NO_EXECUTORS") {
  SchedulerConfig config = preset(Dialect::psd);
  const std::vector<Code> before = config.reject;
  complete_reject_list(config);
  CHECK(config.reject == before);

  config.profiles = ProfilesAxis::single;
  complete_reject_list(config);
  REQUIRE(rejects(config, Code::profile_conflict));
  CHECK(config.reject.back() == Code::no_executors);
  CHECK(config.reject[config.reject.size() - 2] == Code::profile_conflict);
  const std::vector<Code> once = config.reject;
  complete_reject_list(config);
  CHECK(config.reject == once);

  SchedulerConfig grouped = preset(Dialect::prototype);
  grouped.grouping = Grouping::component;
  complete_reject_list(grouped);
  CHECK(rejects(grouped, Code::group_cycle));
  CHECK(rejects(grouped, Code::regular_inside_group));
  CHECK_FALSE(rejects(grouped, Code::mixed_job));

  SchedulerConfig mixed = preset(Dialect::prototype);
  mixed.mixed = Mixed::rejected;
  complete_reject_list(mixed);
  CHECK(rejects(mixed, Code::mixed_job));

  SchedulerConfig pulled = preset(Dialect::psd);
  pulled.offers = Offers::pull;
  complete_reject_list(pulled);
  CHECK(rejects(pulled, Code::pull_scheduling));

  SchedulerConfig explicit_list = preset(Dialect::psd);
  explicit_list.reject = {Code::speculation, Code::insufficient_slots};
  complete_reject_list(explicit_list);
  CHECK(explicit_list.reject == std::vector<Code>{Code::dag_cycle, Code::shared_producer,
                                                  Code::speculation, Code::insufficient_slots,
                                                  Code::no_executors});
}

}  // namespace rehearse::model
