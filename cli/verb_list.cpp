// rehearse list: the registries, and the matrix of dialects.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/console.hpp"
#include "cli/help.hpp"
#include "cli/verb_shared.hpp"
#include "cli/verbs.hpp"
#include "model/axes.hpp"
#include "model/waiting_bound.hpp"
#include "policies/registry.hpp"
#include "properties/mutants/mutant_table.hpp"
#include "properties/registry.hpp"
#include "reports/text_table.hpp"
#include "traces/registry.hpp"

namespace rehearse::cli {
namespace {

using reports::ListItem;

const auto& dialect_names = model::EnumNames<model::Dialect>::texts;

std::vector<ListItem> list_policies() {
  std::vector<ListItem> items;
  const model::SchedulerConfig standard = model::preset(model::Dialect::psd);
  model::NameTable names;
  for (const policies::PolicyInfo& policy : policies::policies()) {
    const std::string chosen = model::get_axis(standard, names, policy.axis).value;
    items.push_back({fmt::format("{}={}", policy.axis, policy.name), std::string(policy.what),
                     chosen == policy.name ? std::optional<std::string>(policy.name) : std::nullopt,
                     std::nullopt});
  }
  for (const model::PairBound& pair : model::waiting_bounds()) {
    items.push_back(
        {fmt::format("{} x {}", model::name_of(pair.queue), model::name_of(pair.overtake)),
         pair.shown_by.empty()
             ? "bound on the waiting of a head"
             : fmt::format("shown by tests/spec/scenarios/{}.json", pair.shown_by),
         std::nullopt, std::string(pair.text)});
  }
  return items;
}

std::string axes_of(model::Dialect dialect) {
  model::NameTable names;
  std::string text;
  for (const auto& [axis, value] : model::resolved_axes(model::preset(dialect), names)) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", axis, value);
  }
  return text;
}

std::vector<ListItem> list_dialects() {
  std::vector<ListItem> items;
  for (std::size_t i = 0; i < dialect_names.size(); ++i) {
    const auto dialect = static_cast<model::Dialect>(i);
    items.push_back(
        {std::string(dialect_names.at(i)), axes_of(dialect),
         dialect == model::Dialect::psd ? std::optional<std::string>("psd") : std::nullopt,
         std::nullopt});
  }
  return items;
}

std::vector<ListItem> list_properties() {
  std::vector<ListItem> items;
  for (const properties::Property& property : properties::all_properties()) {
    const bool promised =
        property.built() &&
        properties::promise_of(property.id, model::Dialect::psd) == properties::Promise::promised;
    items.push_back(
        {std::string(property.id),
         fmt::format("{}{} ({}; {})", property.built() ? "" : "not built yet; ", property.statement,
                     model::name_of(property.kind), property.clause),
         promised ? std::optional<std::string>("promised by psd") : std::nullopt, std::nullopt});
  }
  return items;
}

std::vector<ListItem> list_formats() {
  std::vector<ListItem> items{
      {"scenario", "one self-contained experiment (*.json)", std::nullopt, std::nullopt},
      {"journal", "what happened in a run, one event per line", std::nullopt, std::nullopt}};
  for (const traces::Format& format : traces::formats()) {
    items.push_back({std::string(format.name),
                     fmt::format("{}{}", format.built ? "" : "not built yet; ", format.what),
                     std::nullopt, std::nullopt});
  }
  return items;
}

std::vector<ListItem> list_mutants() {
  std::vector<ListItem> items;
  for (const properties::MutantInfo& mutant : properties::all_mutants()) {
    items.push_back({std::string(mutant.id()),
                     fmt::format("{} ({}; {})", mutant.what, mutant.source, mutant.configuration),
                     std::nullopt, std::nullopt});
  }
  return items;
}

// Axis by dialect, a few dialects at a time so that it fits a terminal.
std::string matrix() {
  constexpr std::size_t at_a_time = 3;
  std::string text;
  for (std::size_t first = 0; first < dialect_names.size(); first += at_a_time) {
    const std::size_t last = std::min(first + at_a_time, dialect_names.size());
    std::vector<reports::TextTable::Align> columns(1 + last - first,
                                                   reports::TextTable::Align::left);
    reports::TextTable table(columns);
    std::vector<std::string> head{"axis"};
    std::vector<std::vector<std::pair<std::string_view, std::string>>> axes;
    model::NameTable names;
    for (std::size_t i = first; i < last; ++i) {
      const auto dialect = static_cast<model::Dialect>(i);
      head.push_back(fmt::format("{}{}", dialect_names.at(i),
                                 dialect == model::Dialect::psd ? " (default)" : ""));
      axes.push_back(model::resolved_axes(model::preset(dialect), names));
    }
    table.row(head);
    for (std::size_t a = 0; a < axes.front().size(); ++a) {
      std::vector<std::string> cells{std::string(axes.front()[a].first)};
      for (const auto& of_dialect : axes) {
        cells.push_back(reports::shortened(of_dialect[a].second, 34));
      }
      table.row(std::move(cells));
    }
    text += table.text(200) + "\n";
  }
  text += "Lists that are cut short (...) are whole in --json. Values of an axis:\n";
  for (const model::AxisInfo& axis : model::axis_table()) {
    text +=
        fmt::format("  {:28}{}{}\n", axis.name, axis.built ? "" : "not built yet; ", axis.values);
  }
  return text;
}

}  // namespace

VerbResult list_registry(const CommandLine& line, const Settings& settings) {
  const std::string& what = line.operands.front();
  reports::ListDocument document{.envelope = envelope_of(line), .items = {}};
  if (what == "policies") {
    document.items = list_policies();
  } else if (what == "dialects") {
    document.items = list_dialects();
  } else if (what == "properties") {
    document.items = list_properties();
  } else if (what == "formats") {
    document.items = list_formats();
  } else if (what == "mutants") {
    document.items = list_mutants();
  } else {
    static constexpr auto known = std::to_array<std::string_view>(
        {"policies", "dialects", "properties", "formats", "mutants"});
    const std::string near = model::nearest_name(what, known.data(), known.data() + known.size());
    return std::unexpected(model::Error{
        .what = fmt::format("there is no list of \"{}\"", what),
        .remedy = near.empty() ? "lists are policies, dialects, properties, formats, mutants"
                               : fmt::format("did you mean {}?", near)});
  }
  if (what == "dialects" && !settings.json && !settings.output) {
    const auto printed = print(matrix());
    return printed ? VerbResult(exit_done) : std::unexpected(printed.error());
  }
  const auto shown = emit(document, settings);
  return shown ? VerbResult(exit_done) : std::unexpected(shown.error());
}

VerbResult print_completion(const CommandLine& line, const Settings& settings) {
  const auto script = completion_script(line.operands.front());
  if (!script) {
    return std::unexpected(script.error());
  }
  const auto written =
      settings.output && *settings.output != "-" ? save(*settings.output, *script) : print(*script);
  return written ? VerbResult(exit_done) : std::unexpected(written.error());
}

}  // namespace rehearse::cli
