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
  std::unique_ptr<Interface> (*make)();
};

constexpr std::array queue_rows{
    Row<scheduler::QueuePolicy>{"fifo", make_fifo},
};
constexpr std::array overtake_rows{
    Row<scheduler::OvertakePolicy>{"never", make_never},
    Row<scheduler::OvertakePolicy>{"backfill", make_backfill},
};
constexpr std::array placement_rows{
    Row<scheduler::PlacementPolicy>{"spread", make_spread},
    Row<scheduler::PlacementPolicy>{"pack", make_pack},
};

constexpr std::array infos{
    PolicyInfo{"fifo", "admission.queue", "submit time, then file order", ""},
    PolicyInfo{"never", "admission.overtake", "nothing behind a waiting head starts new tasks",
               "the longest remaining task of units before the head and of what already runs"},
    PolicyInfo{"backfill", "admission.overtake", "whatever fits may start while a head waits",
               "unbounded"},
    PolicyInfo{"spread", "placement", "the executor with most free slots, then the lowest number",
               ""},
    PolicyInfo{"pack", "placement", "executors filled one after another, fullest supply first", ""},
};

template <class Interface, std::size_t N>
model::Result<std::unique_ptr<Interface>> find(const std::array<Row<Interface>, N>& rows,
                                               std::string_view axis, std::string_view name) {
  for (const Row<Interface>& row : rows) {
    if (row.name == name) {
      return row.make();
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
  auto queue = find(queue_rows, "admission.queue", name_of(config.admission.queue));
  auto overtake = find(overtake_rows, "admission.overtake", name_of(config.admission.overtake));
  auto placement = find(placement_rows, "placement", name_of(config.placement));
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
