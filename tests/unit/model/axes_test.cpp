// The axes table: every axis is set and shown the same way, errors name what is near.
#include "model/axes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

#include "model/configuration_text.hpp"

namespace rehearse::model {

namespace {

Result<void> set(SchedulerConfig& config, std::string_view axis, std::string_view value) {
  NameTable names;
  const Result<AxisText> text = parse_axis_text(value);
  REQUIRE(text.has_value());
  return set_axis(config, names, axis, *text);
}

std::string shown(const SchedulerConfig& config, std::string_view axis) {
  const NameTable names;
  return to_string(get_axis(config, names, axis));
}

Error error_of(std::string_view axis, std::string_view value) {
  SchedulerConfig config = preset(Dialect::psd);
  const Result<void> result = set(config, axis, value);
  REQUIRE_FALSE(result.has_value());
  CHECK_FALSE(result.error().remedy.empty());
  return result.error();
}

}  // namespace

TEST_CASE("axis text is read and printed") {
  for (const std::string_view text : {"wait", "retry[interval=7ms,max=3]", "[A,B]", "[]", "off",
                                      "12", "[prod[mode=fair,weight=2],dev[]]"}) {
    const Result<AxisText> parsed = parse_axis_text(text);
    REQUIRE(parsed.has_value());
    CHECK(to_string(*parsed) == text);
  }
  for (const std::string_view text : {"retry[", "retry]", "a[b=c", "a[=c]", "a[b=c]d", "a,b",
                                      "[[[[[[a]]]]]]", "a[b[c]=d]", "a[,]"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_axis_text(text).has_value());
  }
}

TEST_CASE("what is shown can be set again, for every axis of every dialect") {
  for (std::size_t i = 0; i < EnumNames<Dialect>::texts.size(); ++i) {
    SchedulerConfig config = preset(static_cast<Dialect>(i));
    const SchedulerConfig before = config;
    for (const AxisInfo& info : axis_table()) {
      if (info.built) {
        CAPTURE(info.name);
        const Result<void> result = set(config, info.name, shown(config, info.name));
        CHECK(result.has_value());
      }
    }
    CHECK(config == before);
  }
}

TEST_CASE("every value of every choice is known to the table") {
  for (const AxisInfo& info : axis_table()) {
    if (!info.built || info.kind != AxisKind::choice) {
      continue;
    }
    std::string_view rest = info.values;
    while (!rest.empty()) {
      std::string value(rest.substr(0, rest.find_first_of(",[")));
      const bool with_parameters = rest.size() > value.size() && rest[value.size()] == '[';
      const std::size_t end = with_parameters ? rest.find(']') : value.size();
      const std::size_t comma = rest.find(", ", end);
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 2);
      CAPTURE(info.name);
      CAPTURE(value);
      if (value == "bulk" || value == "bubble" || value == "shared" || value == "aging" ||
          value == "rerun-group") {
        const Error error = error_of(info.name, value);
        CHECK(error.what.find("needs") != std::string::npos);
        continue;
      }
      SchedulerConfig config = preset(Dialect::psd);
      CHECK(set(config, info.name, value).has_value());
      CHECK(shown(config, info.name).starts_with(value));
    }
  }
}

TEST_CASE("the axes of a journal's first line are written as one axis is") {
  const NameTable names;
  for (std::size_t i = 0; i < EnumNames<Dialect>::texts.size(); ++i) {
    const SchedulerConfig config = preset(static_cast<Dialect>(i));
    const auto axes = resolved_axes(config, names);
    CHECK(std::ranges::count_if(axis_table(), &AxisInfo::built) == std::ssize(axes));
    for (const auto& [axis, text] : axes) {
      CAPTURE(axis);
      CHECK(text == to_string(get_axis(config, names, axis)));
    }
  }
}

TEST_CASE("parameters") {
  SchedulerConfig config = preset(Dialect::psd);
  REQUIRE(set(config, "admission.short", "retry[interval=7ms,max=3]").has_value());
  CHECK(config.admission.when_short == Short::retry);
  CHECK(config.admission.retry_interval == 7 * millisecond);
  CHECK(config.admission.retry_max == 3);
  CHECK(shown(config, "admission.short") == "retry[interval=7ms,max=3]");
  // Another value forgets them: equal texts mean equal configurations.
  REQUIRE(set(config, "admission.short", "wait").has_value());
  CHECK(config == preset(Dialect::psd));

  REQUIRE(set(config, "speculation", "[quantile=0.75]").has_value());
  CHECK(config.speculation->quantile_milli == 750);
  CHECK(config.speculation->multiplier_milli == 3000);
  CHECK(shown(config, "speculation") ==
        "[quantile=0.75,multiplier=3,min_runtime=100ms,interval=100ms]");
  REQUIRE(set(config, "max_partitions_per_task", "4").has_value());
  CHECK(config.max_partitions_per_task == 4);
  REQUIRE(set(config, "max_partitions_per_task", "none").has_value());
  CHECK_FALSE(config.max_partitions_per_task.has_value());
  REQUIRE(set(config, "max_partitions_per_task", "unbounded").has_value());
  CHECK(config.max_partitions_per_task == any_number_of_partitions);
  CHECK(shown(config, "max_partitions_per_task") == "unbounded");

  SchedulerConfig spark = preset(Dialect::spark);
  REQUIRE(set(spark, "admission.queue", "fair").has_value());
  CHECK(spark.admission.fair_ties_text);  // A18: the default of ties in this dialect
  REQUIRE(set(spark, "admission.queue", "fair[ties=submission]").has_value());
  CHECK_FALSE(spark.admission.fair_ties_text);
}

TEST_CASE("errors say where, what and what else") {
  CHECK(error_of("admission.shrt", "wait").remedy == "did you mean \"admission.short\"?");
  CHECK(error_of("admission.short", "wiat").remedy.find("\"wait\"") != std::string::npos);
  CHECK(error_of("admission.short", "retry[interval=0s]").field == "/retry/interval");
  CHECK(error_of("admission.short", "retry[interval=5]").field == "/retry/interval");
  CHECK(error_of("admission.short", "retry[intervall=5ms]").field == "/retry/intervall");
  CHECK(error_of("admission.short", "retry[max=1,max=2]").field == "/retry/max");
  CHECK(error_of("admission.short", "wait[after=1s]").field == "/wait/after");
  CHECK(error_of("admission.depth", "0").what.find("too small") != std::string::npos);
  CHECK(error_of("admission.depth", "1.5").what.find("whole number") != std::string::npos);
  CHECK(error_of("admission.depth", "99999999999999999999").what.find("too large") !=
        std::string::npos);
  CHECK(error_of("locality_wait", "3").what.find("no unit") != std::string::npos);
  CHECK(error_of("outputs_survive_executor", "yes").remedy.find("true") != std::string::npos);
  CHECK(error_of("reject", "[SPECULATON]").remedy == "did you mean \"SPECULATION\"?");
  CHECK(error_of("reject", "[SPECULATION,TASK_FAILED]").field == "/1");
  CHECK(error_of("reject", "[SPECULATION,SPECULATION]").field == "/1");
  CHECK(error_of("speculation", "[quantile=1.5]").field == "/quantile");
  CHECK(error_of("pools", "[a[weight=0]]").field == "/a/weight");
  CHECK(error_of("pools", "[a,a]").field == "/a");
  CHECK(error_of("placement", "mine.so:").what.find("names no policy") != std::string::npos);
  CHECK(error_of("placement", "mine.so:best[k]").what.find("no parameter") != std::string::npos);
  CHECK(error_of("start", "mine.so:best").what.find("mine.so:best") != std::string::npos);
  CHECK(error_of("overflow", "block").what == "overflow is not built yet");
}

TEST_CASE("A6: retry is refused where a shortfall is a rejection") {
  SchedulerConfig config = preset(Dialect::spark);
  REQUIRE(set(config, "admission.short", "retry").has_value());
  const Result<void> finished = finish_axes(config);
  REQUIRE_FALSE(finished.has_value());
  CHECK(finished.error().field == "admission.short");
}

TEST_CASE("every axis of the specification is in the table") {
  std::ifstream spec("../shared/spec/scenario.md");
  if (!spec) {
    MESSAGE("skipped: no ../shared");
    return;
  }
  std::set<std::string> named;
  std::string line;
  bool inside = false;
  while (std::getline(spec, line)) {
    inside = (inside && line.starts_with("|")) || line.starts_with("| axis | values");
    if (!inside || line.starts_with("|---")) {
      continue;
    }
    const std::string first = line.substr(1, line.find('|', 1) - 1);
    for (std::size_t at = first.find('`'); at != std::string::npos;) {
      const std::size_t end = first.find('`', at + 1);
      named.insert(first.substr(at + 1, end - at - 1));
      at = first.find('`', end + 1);
    }
  }
  named.erase("dialect");
  CHECK(named.size() == axis_table().size());
  for (const std::string& name : named) {
    CAPTURE(name);
    // Two rows name axes of a section without repeating it.
    const bool known = find_axis(name) != nullptr || find_axis("failure." + name) != nullptr;
    CHECK(known);
  }
}

TEST_CASE("configurations of the command line") {
  const Result<ConfigurationText> parsed = parse_configuration(
      "psd[admission.short=retry[interval=7ms,max=3],cluster=[40x4,gpu=1],name=b]");
  REQUIRE(parsed.has_value());
  CHECK(parsed->dialect == Dialect::psd);
  CHECK(parsed->label == "b");
  CHECK(parsed->cluster == "40x4,gpu=1");
  NameTable names;
  const Result<SchedulerConfig> config = resolve_configuration(*parsed, names);
  REQUIRE(config.has_value());
  CHECK(config->admission.retry_max == 3);
  CHECK(configuration_text(*config, names) == "psd[admission.short=retry[interval=7ms,max=3]]");

  CHECK(parse_configuration("sequential")->label == "sequential");
  CHECK(parse_configuration("psd[cluster=20x4]")->cluster == "20x4");
  CHECK(parse_configuration("pds").error().remedy.find("\"psd\"") != std::string::npos);
  CHECK(parse_configuration("psd[grouppin=job]").error().remedy == "did you mean \"grouping\"?");
  CHECK_FALSE(parse_configuration("psd[grouping=job,grouping=stage]").has_value());
  CHECK_FALSE(parse_configuration("psd[grouping=job").has_value());
  CHECK_FALSE(parse_configuration("psd[job]").has_value());
  CHECK_FALSE(parse_configuration("").has_value());
  CHECK(parse_override("placement=pack")->axis == "placement");
  CHECK_FALSE(parse_override("placement").has_value());
  CHECK_FALSE(parse_override("placment=pack").has_value());
}

TEST_CASE("a configuration's text resolves to the same configuration") {
  for (const std::string_view text :
       {"psd", "spark[admission.queue=fair[ties=submission]]", "sequential[placement=pack]",
        "flink-region[failure.group=rerun-group[max=1,delay=0s],reject=[SPECULATION]]",
        "psd[pools=[prod[mode=fair,weight=2,min_share=1]],profiles=single]"}) {
    CAPTURE(text);
    NameTable names;
    const Result<ConfigurationText> parsed = parse_configuration(text);
    REQUIRE(parsed.has_value());
    const Result<SchedulerConfig> config = resolve_configuration(*parsed, names);
    REQUIRE(config.has_value());
    const std::string canonical = configuration_text(*config, names);
    const Result<ConfigurationText> again = parse_configuration(canonical);
    REQUIRE(again.has_value());
    CHECK(resolve_configuration(*again, names).value() == *config);
  }
}

TEST_CASE("resolved axes list every built axis once") {
  const NameTable names;
  const auto resolved = resolved_axes(preset(Dialect::barrier), names);
  CHECK(resolved.size() == 35);
  bool found = false;
  for (const auto& [axis, value] : resolved) {
    found = found || (axis == "admission.short" && value == "retry[interval=15s,max=40]");
  }
  CHECK(found);
}

}  // namespace rehearse::model
