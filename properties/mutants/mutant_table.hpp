// What named mutants there are: what each breaks, where it comes from, and under which
// configuration a campaign looks for it. Data only: whether they are compiled in is
// model/support/planted.hpp's business.
#pragma once

#include <span>
#include <string_view>

#include "model/support/planted.hpp"

namespace rehearse::properties {

struct MutantInfo {
  model::Mutant mutant = model::Mutant::none;
  std::string_view what;           // one sentence
  std::string_view source;         // numbers of the research, or the clause that it breaks
  std::string_view configuration;  // as --dialect takes it

  [[nodiscard]] std::string_view id() const { return model::name_of(mutant); }
};

[[nodiscard]] std::span<const MutantInfo> all_mutants();

// Null when there is none of this name.
[[nodiscard]] const MutantInfo* find_mutant(std::string_view id);

}  // namespace rehearse::properties
