// The table of named mutants against the enum, and what hunts say of a scheduler that is sound.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "model/config_support.hpp"
#include "model/configuration_text.hpp"
#include "policies/registry.hpp"
#include "properties/mutants/hunt.hpp"
#include "properties/mutants/mutant_table.hpp"
#include "scheduler/plant.hpp"

using namespace rehearse;
using namespace rehearse::properties;

namespace {

Harness sound() {
  return {.policies = [](const model::SchedulerConfig& config) { return policies::make(config); },
          .between = {},
          .interrupted = nullptr};
}

HuntOptions one_after_another(std::int64_t runs) {
  HuntOptions options;
  options.runs_max = runs;
  options.for_each = [](std::size_t count, const std::function<void(std::size_t)>& work) {
    for (std::size_t i = 0; i < count; ++i) {
      work(i);
    }
  };
  return options;
}

}  // namespace

TEST_CASE("the table has a row for each mutant of the enum, in its order") {
  const auto& names = model::EnumNames<model::Mutant>::texts;
  REQUIRE(all_mutants().size() + 1 == names.size());
  std::set<std::string_view> ids;
  std::set<std::string_view> texts;
  for (std::size_t i = 0; i < all_mutants().size(); ++i) {
    const MutantInfo& mutant = all_mutants()[i];
    CHECK(mutant.mutant == static_cast<model::Mutant>(i + 1));
    CHECK(mutant.id() == names[i + 1]);
    CHECK(find_mutant(mutant.id()) == &mutant);
    CHECK(ids.insert(mutant.id()).second);
    CHECK(texts.insert(mutant.what).second);
    CHECK_FALSE(mutant.source.empty());
  }
  CHECK(find_mutant("none") == nullptr);
}

TEST_CASE("every mutant is looked for under a configuration that is executed") {
  for (const MutantInfo& mutant : all_mutants()) {
    CAPTURE(mutant.configuration);
    const auto text = model::parse_configuration(mutant.configuration);
    REQUIRE(text.has_value());
    GenOptions gen;
    const auto config = model::resolve_configuration(*text, gen.names);
    REQUIRE(config.has_value());
    gen.scheduler = *config;
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      CHECK_FALSE(model::unsupported(generate(gen, seed)));
    }
  }
}

TEST_CASE("an ordinary build has no mutants") {
  CHECK_FALSE(scheduler::has_mutants());
  scheduler::plant(model::Mutant::none);
  CHECK_FALSE(model::planted(model::Mutant::mu01));
}

TEST_CASE("a hunt in a sound scheduler finds nothing and counts its runs") {
  const Hunt nothing = hunt(one_after_another(100), sound());
  CHECK_FALSE(nothing.by);
  CHECK(nothing.runs == 100);
}

TEST_CASE("a hunt reports the lowest seed that is clean otherwise") {
  HuntOptions options = one_after_another(200);
  options.first_seed = 5;
  Harness broken = sound();
  broken.policies = [](const model::SchedulerConfig&) -> model::Result<scheduler::PolicySet> {
    return std::unexpected(model::Error{.what = "no policies"});
  };
  const Hunt first = hunt(options, broken);
  CHECK(first.by == std::string(policy_fault));
  CHECK(first.runs == 1);
  CHECK(first.seed == std::uint64_t{5});
  options.is_clean = [](const model::Scenario& scenario) { return scenario.name == "fuzz 13"; };
  const Hunt later = hunt(options, broken);
  CHECK(later.seed == std::uint64_t{13});
  CHECK(later.runs == 9);
  options.without = {std::string(policy_fault)};
  CHECK_FALSE(hunt(options, broken).by);
}
