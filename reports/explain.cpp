// registry: none (what the explanation is made of)
//
// Puts the tries of a request together. That the parts tile is checked in every run.
#include "reports/explain.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/support/check.hpp"
#include "reports/explain_text.hpp"

namespace rehearse::reports {

struct Explain::State {
  explicit State(ExplainOptions given) : options(std::move(given)), facts(options.job) {}

  ExplainOptions options;
  ExplainFacts facts;

  [[nodiscard]] model::Instant end_of(const TryFacts& row) const;
  [[nodiscard]] Explanation explain() const;
};

namespace {

Outcome outcome_of_try(const TryFacts& row) {
  if (row.rejected) {
    return Outcome::rejected;
  }
  if (!row.outcome) {
    return Outcome::unfinished;
  }
  return outcome_of(*row.outcome);
}

void check_tiles(const Explanation& result) {
  model::Instant at = result.submit_ns;
  for (const ExplainPart& part : result.parts) {
    RH_CHECK(part.from_ns == at && part.to_ns >= at, part.from_ns, part.to_ns, at);
    at = part.to_ns;
  }
  RH_CHECK(at == result.end_ns, at, result.end_ns);
}

}  // namespace

model::Instant Explain::State::end_of(const TryFacts& row) const {
  return row.end_ns.value_or(facts.now());
}

Explanation Explain::State::explain() const {
  const std::vector<TryFacts>& rows = facts.tries();
  std::vector<CutTry> tries;
  Explanation result;
  result.job = options.job;
  result.tries = std::ssize(rows);
  result.submit_ns = rows.front().submit_ns;
  result.end_ns = end_of(rows.back());
  result.outcome = outcome_of_try(rows.back());
  result.code = rows.back().code;
  for (const TryFacts& row : rows) {
    const bool last = &row == &rows.back();
    const CutOptions cut{.end_ns = end_of(row),
                         .coupled = facts.rules().coupled,
                         .last_try = last,
                         .start_delays = &options.start_delays,
                         .names = &facts.names()};
    tries.push_back({.row = &row, .cuts = cut_try(row, cut)});
    for (const Cut& each : tries.back().cuts) {
      result.parts.push_back({.kind = std::string(name_of(each.kind)),
                              .from_ns = each.from_ns,
                              .to_ns = each.to_ns,
                              .detail = detail_of(facts, row, each)});
    }
    if (row.rejected) {
      result.parts.push_back({.kind = std::string(name_of(PartKind::rejected)),
                              .from_ns = cut.end_ns,
                              .to_ns = cut.end_ns,
                              .detail = rejection_text(facts, row)});
    }
    if (!last) {
      const TryFacts& next = *(&row + 1);
      result.parts.push_back(
          {.kind = std::string(name_of(PartKind::backoff)),
           .from_ns = cut.end_ns,
           .to_ns = next.submit_ns,
           .detail = fmt::format("the caller, from the end of {} to the submission of {}",
                                 facts.names().text(row.job), facts.names().text(next.job))});
    }
  }
  result.helps = helps_of(facts, tries);
  check_tiles(result);
  return result;
}

Explain::Explain(ExplainOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Explain::Explain(Explain&&) noexcept = default;
Explain& Explain::operator=(Explain&&) noexcept = default;
Explain::~Explain() = default;

void Explain::begin(const model::NameTable& names) { state_->facts.begin(names); }

void Explain::on(const model::Event& event) { state_->facts.on(event); }

std::optional<Explanation> Explain::finish() {
  if (state_->facts.tries().empty()) {
    return std::nullopt;
  }
  // A run that is cut off is stamped with its last event, which may be long before.
  if (state_->facts.run_end() == model::RunEndCause::horizon && state_->options.horizon) {
    state_->facts.last_until(*state_->options.horizon);
  }
  return state_->explain();
}

}  // namespace rehearse::reports
