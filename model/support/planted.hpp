// Named mutants: known scheduler bugs that a build of their own plants one at a time, to see
// whether the harness notices (docs/mutants.md says what each is and where it comes from).
//
// A mutant is a call `planted(Mutant::mu07)` in a condition of scheduler/ or policies/. Where
// RH_MUTANTS is not defined, which is everywhere but in the second compilation of these folders for
// `rehearse-mutants`, the call is the constant false, and the compiler drops what depends on it.
#pragma once

#include <cstdint>

#include "model/support/enum_names.hpp"

namespace rehearse::model {

// mu and m: the numbers of the research, MU01 to MU60 and SS-M1 to SS-M66. act: journals what is
// right and does something else; log: does what is right and journals something else; c: breaks a
// clause that no number of the research stands for.
enum class Mutant : std::uint8_t {
  none,
  mu01,
  mu02,
  mu03,
  mu04,
  mu05,
  mu06,
  mu07,
  mu08,
  mu09,
  mu10,
  mu11,
  mu12,
  mu13,
  mu14,
  mu15,
  mu16,
  mu17,
  mu18,
  mu19,
  mu20,
  mu21,
  mu22,
  mu23,
  mu24,
  mu25,
  mu26,
  mu27,
  mu28,
  mu29,
  mu30,
  mu31,
  mu32,
  mu34,
  mu37,
  mu44,
  mu46,
  mu47,
  mu49,
  mu50,
  mu51,
  mu52,
  mu53,
  mu55,
  mu56,
  mu58,
  mu59,
  mu60,
  m01,
  m02,
  m03,
  m04,
  m06,
  m07,
  m08,
  m09,
  m11,
  m12,
  m14,
  m15,
  m16,
  m17,
  m19,
  m20,
  m24,
  m25,
  m26,
  m28,
  m29,
  m31,
  m32,
  m33,
  m34,
  m36,
  m37,
  m40,
  m41,
  m44,
  m47,
  m48,
  m50,
  m62,
  m64,
  m66,
  act01,
  act02,
  act03,
  act04,
  act05,
  act06,
  log01,
  log02,
  log03,
  log04,
  log05,
  log06,
  c01,
  c02,
  c03,
  c04,
  c05,
  c06,
  c07,
  c08,
  c09,
  c10,
  c11,
  c12,
  c13,
  c14
};
RH_ENUM_NAMES(Mutant, "none", "mu01", "mu02", "mu03", "mu04", "mu05", "mu06", "mu07", "mu08",
              "mu09", "mu10", "mu11", "mu12", "mu13", "mu14", "mu15", "mu16", "mu17", "mu18",
              "mu19", "mu20", "mu21", "mu22", "mu23", "mu24", "mu25", "mu26", "mu27", "mu28",
              "mu29", "mu30", "mu31", "mu32", "mu34", "mu37", "mu44", "mu46", "mu47", "mu49",
              "mu50", "mu51", "mu52", "mu53", "mu55", "mu56", "mu58", "mu59", "mu60", "m01", "m02",
              "m03", "m04", "m06", "m07", "m08", "m09", "m11", "m12", "m14", "m15", "m16", "m17",
              "m19", "m20", "m24", "m25", "m26", "m28", "m29", "m31", "m32", "m33", "m34", "m36",
              "m37", "m40", "m41", "m44", "m47", "m48", "m50", "m62", "m64", "m66", "act01",
              "act02", "act03", "act04", "act05", "act06", "log01", "log02", "log03", "log04",
              "log05", "log06", "c01", "c02", "c03", "c04", "c05", "c06", "c07", "c08", "c09",
              "c10", "c11", "c12", "c13", "c14");

// Both are inline namespaces because one program holds code of either kind: the rest of
// `rehearse-mutants` is compiled as everywhere.
#ifdef RH_MUTANTS
inline namespace with_mutants {

// The one that is planted: set between runs, before the threads that read it begin.
inline Mutant planted_mutant = Mutant::none;

[[nodiscard]] inline bool planted(Mutant mutant) { return mutant == planted_mutant; }

}  // namespace with_mutants
#else
inline namespace without_mutants {

[[nodiscard]] constexpr bool planted(Mutant /*mutant*/) { return false; }

}  // namespace without_mutants
#endif

}  // namespace rehearse::model
