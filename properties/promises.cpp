// Who promises what: the table of properties.md section 2 by dialect, and what an axis drops.
// registry: none (the promises of the properties that registry.cpp lists)
#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <vector>

#include "model/support/check.hpp"
#include "model/waiting_bound.hpp"
#include "properties/registry.hpp"

namespace rehearse::properties {

namespace {

// One letter per dialect in the order of model::Dialect: P promised (a note of the table included),
// o reported only, - void. FAIL_FAST: docs/decisions/0020-rejections.md.
struct PromiseRow {
  std::string_view id;
  std::string_view by_dialect;
};

constexpr std::string_view by_all = "PPPPPPPPP";

constexpr auto promise_rows = std::to_array<PromiseRow>({
    PromiseRow{"NO_OVERSUBSCRIPTION", by_all},
    PromiseRow{"TASK_ACCOUNTING", by_all},
    PromiseRow{"NO_RETRACTION", by_all},
    PromiseRow{"LEDGER", by_all},
    PromiseRow{"LEGAL_ORDER", by_all},
    PromiseRow{"QUIESCENT", by_all},
    PromiseRow{"REJECT_PURE", by_all},
    PromiseRow{"NO_LIVELOCK", by_all},
    PromiseRow{"PROMPT_FAILURE", by_all},
    PromiseRow{"PROGRESS", by_all},
    PromiseRow{"CLAIMS_MATCH", by_all},
    PromiseRow{"FENCED", "PPoPPPPPP"},
    PromiseRow{"RESERVATION", "PPooo-P-P"},
    PromiseRow{"GANG", "PPooP-PoP"},
    PromiseRow{"CO_RESIDENT", "PPooo-PoP"},
    PromiseRow{"CLOSURE", "-PPP--ooP"},
    PromiseRow{"INPUTS_READY", "PPooPPPPP"},
    PromiseRow{"DEFERRED", "-Pooo-ooo"},
    PromiseRow{"JOB_SUCCESS", by_all},
    PromiseRow{"GROUP_ATOMIC", "-PPP--PPP"},
    PromiseRow{"NO_LONE_RETRY", "-PPP--PPP"},
    PromiseRow{"COMMIT_ONCE", by_all},
    PromiseRow{"SINGLE_OWNER", by_all},
    PromiseRow{"NO_STARVATION", "PPPPooo-o"},
    PromiseRow{"WORK_CONSERVING", "PPPPPPPPo"},
    PromiseRow{"SHUFFLE_COMPLETE", by_all},
    PromiseRow{"FAIL_FAST", by_all},
});

using Drops = std::vector<std::string_view>;

void drop(Drops& drops, std::initializer_list<std::string_view> ids) {
  drops.insert(drops.end(), ids);
}

void drop_by_admission(Drops& drops, const model::SchedulerConfig& config) {
  const model::AdmissionConfig& admission = config.admission;
  const bool barrier_only = config.grouping == model::Grouping::stage;
  if (admission.hold == model::Hold::check) {
    drop(drops, {"RESERVATION", "CO_RESIDENT"});
    if (!barrier_only) {  // GANG stays for barrier stages, which launch at once all the same
      drop(drops, {"GANG"});
    }
  }
  if (admission.hold == model::Hold::none) {
    drop(drops, {"RESERVATION", "GANG", "CO_RESIDENT", "NO_STARVATION"});
  }
  if (admission.hold == model::Hold::bulk) {
    drop(drops, {"WORK_CONSERVING"});
  }
  if (admission.capacity == model::Capacity::total) {
    drop(drops, {"RESERVATION", "CO_RESIDENT"});
  }
  if (model::waiting_bound(admission.queue, admission.overtake).kind ==
      model::WaitingBound::unbounded) {
    drop(drops, {"NO_STARVATION"});
  }
  if (admission.queue_object || admission.overtake_object) {  // nothing is known of them
    drop(drops, {"NO_STARVATION", "WORK_CONSERVING"});
  }
}

Drops dropped_by_axes(const model::SchedulerConfig& config, model::Timing timing) {
  Drops drops;
  drop_by_admission(drops, config);
  if (config.edges == model::EdgesAxis::all_pipelined) {
    drop(drops, {"CLOSURE"});
  }
  if (config.edges == model::EdgesAxis::all_regular) {  // void: no groups of two or more
    drop(drops, {"CLOSURE", "DEFERRED", "GROUP_ATOMIC", "NO_LONE_RETRY"});
  }
  if (config.start != model::Start::eager) {
    drop(drops, {"GANG", "CO_RESIDENT"});
  }
  if (config.completion != model::Completion::group) {
    drop(drops, {"DEFERRED"});
  }
  if (config.completion == model::Completion::after_parents) {
    drop(drops, {"INPUTS_READY"});
  }
  if (config.failure.incomplete == model::Incomplete::success_then_rerun) {
    drop(drops, {"INPUTS_READY", "FENCED"});
  }
  if (timing == model::Timing::scripted || timing == model::Timing::coupled) {
    drop(drops, {"SHUFFLE_COMPLETE"});
  }
  return drops;
}

}  // namespace

Promise promise_of(std::string_view id, model::Dialect dialect) {
  for (const PromiseRow& row : promise_rows) {
    if (row.id == id) {
      RH_CHECK(row.by_dialect.size() == model::EnumNames<model::Dialect>::texts.size());
      const char letter = row.by_dialect[static_cast<std::size_t>(dialect)];
      return letter == 'P'   ? Promise::promised
             : letter == 'o' ? Promise::reported
                             : Promise::void_there;
    }
  }
  return Promise::reported;
}

namespace {

// The row of a dialect before axes drop anything, without properties that are not built.
std::span<const Property* const> promised_by(model::Dialect dialect) {
  static const auto rows = [] {
    std::array<std::vector<const Property*>, model::EnumNames<model::Dialect>::texts.size()> all;
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (const Property& property : all_properties()) {
        const auto promise = promise_of(property.id, static_cast<model::Dialect>(i));
        if (property.built() && promise == Promise::promised) {
          all[i].push_back(&property);
        }
      }
    }
    return all;
  }();
  return rows[static_cast<std::size_t>(dialect)];
}

}  // namespace

std::vector<std::string> promised(const model::SchedulerConfig& config, model::Timing timing) {
  const Drops drops = dropped_by_axes(config, timing);
  const std::span<const Property* const> row = promised_by(config.dialect);
  std::vector<std::string> ids;
  ids.reserve(row.size());
  for (const Property* property : row) {
    if (std::ranges::find(drops, property->id) == drops.end()) {
      ids.emplace_back(property->id);
    }
  }
  return ids;
}

}  // namespace rehearse::properties
