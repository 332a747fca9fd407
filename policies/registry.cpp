// The one table of policies. Adding one: its file, its maker in builtin.hpp, its line here.
#include "policies/registry.hpp"

#include <array>
#include <string>

#include "policies/builtin.hpp"

namespace rehearse::policies {

namespace {

template <class Interface>
struct Row {
  std::string_view name;
  std::unique_ptr<Interface> (*make)(const model::SchedulerConfig& config);
};

// A maker whose policy reads nothing of the configuration.
template <auto plain>
auto plainly(const model::SchedulerConfig& /*config*/) {
  return plain();
}

std::unique_ptr<scheduler::OvertakePolicy> aging(const model::SchedulerConfig& config) {
  return make_aging(config.admission.aging_after);
}

constexpr std::array queue_rows{
    Row<scheduler::QueuePolicy>{"fifo", plainly<make_fifo>},
    Row<scheduler::QueuePolicy>{"fair", plainly<make_fifo>},  // inside a pool; pools: the core
    Row<scheduler::QueuePolicy>{"priority", plainly<make_priority>},
    Row<scheduler::QueuePolicy>{"smallest-first", plainly<make_smallest_first>},
    Row<scheduler::QueuePolicy>{"unordered", plainly<make_unordered>},
};
constexpr std::array overtake_rows{
    Row<scheduler::OvertakePolicy>{"never", plainly<make_never>},
    Row<scheduler::OvertakePolicy>{"backfill", plainly<make_backfill>},
    Row<scheduler::OvertakePolicy>{"easy", plainly<make_easy>},
    Row<scheduler::OvertakePolicy>{"aging", aging},
};
constexpr std::array placement_rows{
    Row<scheduler::PlacementPolicy>{"spread", plainly<make_spread>},
    Row<scheduler::PlacementPolicy>{"pack", plainly<make_pack>},
    Row<scheduler::PlacementPolicy>{"round-robin", plainly<make_round_robin>},
    Row<scheduler::PlacementPolicy>{"nested", plainly<make_nested>},
    Row<scheduler::PlacementPolicy>{"consistent-hash", plainly<make_consistent_hash>},
    Row<scheduler::PlacementPolicy>{"random", plainly<make_random>},
};

constexpr std::array infos{
    PolicyInfo{"fifo", "admission.queue", "submit time, then file order"},
    PolicyInfo{"fair", "admission.queue", "Spark's comparator over pools, then fifo"},
    PolicyInfo{"priority", "admission.queue", "jobs of greater priority first, then fifo"},
    PolicyInfo{"smallest-first", "admission.queue",
               "least demand, then least estimated work, then fifo"},
    PolicyInfo{"unordered", "admission.queue", "by the seed"},
    PolicyInfo{"never", "admission.overtake", "nothing behind a waiting head starts new tasks"},
    PolicyInfo{"backfill", "admission.overtake", "whatever fits may start while a head waits"},
    PolicyInfo{"easy", "admission.overtake",
               "what does not delay the head's earliest start may start"},
    PolicyInfo{"aging", "admission.overtake",
               "backfill until the head has waited `after`, then never"},
    PolicyInfo{"spread", "placement", "the executor with most free slots, then the lowest number"},
    PolicyInfo{"pack", "placement", "executors filled one after another, fullest supply first"},
    PolicyInfo{"round-robin", "placement", "one task each in turn, fullest supply first"},
    PolicyInfo{"nested", "placement", "number order, from the first again for each stage"},
    PolicyInfo{"consistent-hash", "placement", "the next executor with room by hashes of names"},
    PolicyInfo{"random", "placement", "any executor with room, by the seed"},
};

template <class Interface, std::size_t N>
model::Result<std::unique_ptr<Interface>> find(const std::array<Row<Interface>, N>& rows,
                                               std::string_view axis, std::string_view name,
                                               const model::SchedulerConfig& config) {
  for (const Row<Interface>& row : rows) {
    if (row.name == name) {
      return row.make(config);
    }
  }
  model::Error error{.what = std::string(axis) + ": no policy named " + std::string(name)};
  error.remedy = "one of:";
  for (const Row<Interface>& row : rows) {
    error.remedy += " " + std::string(row.name);
  }
  return std::unexpected(std::move(error));
}

}  // namespace

std::span<const PolicyInfo> policies() { return infos; }

model::Result<scheduler::PolicySet> make(const model::SchedulerConfig& config) {
  scheduler::PolicySet set;
  const model::AdmissionConfig& admission = config.admission;
  auto queue = admission.queue_object
                   ? load_queue(*admission.queue_object)
                   : find(queue_rows, "admission.queue", name_of(admission.queue), config);
  auto overtake = admission.overtake_object ? load_overtake(*admission.overtake_object)
                                            : find(overtake_rows, "admission.overtake",
                                                   name_of(admission.overtake), config);
  auto placement = config.placement_object
                       ? load_placement(*config.placement_object)
                       : find(placement_rows, "placement", name_of(config.placement), config);
  for (const model::Error* error :
       {queue ? nullptr : &queue.error(), overtake ? nullptr : &overtake.error(),
        placement ? nullptr : &placement.error()}) {
    if (error != nullptr) {
      return std::unexpected(*error);
    }
  }
  set.queue = std::move(*queue);
  set.overtake = std::move(*overtake);
  set.placement = std::move(*placement);
  return set;
}

}  // namespace rehearse::policies
