// The one table of policies. Adding one: its file in this folder and its line here.
#include "policies/registry.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "model/axes.hpp"
#include "policies/guard.hpp"
#include "policies/shared_object.hpp"

namespace rehearse::policies {

// Axis, maker, name, what it does. The maker of `fifo` is make_fifo(), in one of the files here;
// that of a line with _OF takes Parameters.
#define REHEARSE_POLICIES                                                                         \
  QUEUE(fifo, "fifo", "submit time, then file order")                                             \
  QUEUE_OF(fair, "fair", "Spark's comparator over pools, then fifo")                              \
  QUEUE(priority, "priority", "jobs of greater priority first, then fifo")                        \
  QUEUE(smallest_first, "smallest-first", "least demand, then least estimated work, then fifo")   \
  QUEUE(unordered, "unordered", "by the seed")                                                    \
  OVERTAKE(never, "never", "nothing behind a waiting head starts new tasks")                      \
  OVERTAKE(backfill, "backfill", "whatever fits may start while a head waits")                    \
  OVERTAKE(easy, "easy", "what does not delay the head's earliest start may start")               \
  OVERTAKE_OF(aging, "aging", "backfill until the head has waited `after`, then never")           \
  PLACEMENT(spread, "spread", "the executor with most free slots, then the lowest number")        \
  PLACEMENT(pack, "pack", "executors filled one after another, fullest supply first")             \
  PLACEMENT(round_robin, "round-robin", "one task each in turn, fullest supply first")            \
  PLACEMENT(nested, "nested", "number order, from the first again for each stage")                \
  PLACEMENT(consistent_hash, "consistent-hash", "the next executor with room by hashes of names") \
  PLACEMENT(random, "random", "any executor with room, by the seed")

#define QUEUE(id, name, what) std::unique_ptr<scheduler::QueuePolicy> make_##id();
#define QUEUE_OF(id, name, what) std::unique_ptr<scheduler::QueuePolicy> make_##id(Parameters);
#define OVERTAKE(id, name, what) std::unique_ptr<scheduler::OvertakePolicy> make_##id();
#define OVERTAKE_OF(id, name, what) \
  std::unique_ptr<scheduler::OvertakePolicy> make_##id(Parameters);
#define PLACEMENT(id, name, what) std::unique_ptr<scheduler::PlacementPolicy> make_##id();
#define PLACEMENT_OF(id, name, what) \
  std::unique_ptr<scheduler::PlacementPolicy> make_##id(Parameters);
REHEARSE_POLICIES
#undef QUEUE
#undef QUEUE_OF
#undef OVERTAKE
#undef OVERTAKE_OF
#undef PLACEMENT
#undef PLACEMENT_OF

namespace {

struct Row {
  PolicyInfo info;
  ObjectRow makers;  // that of its axis; the others are null
};

#define QUEUE(id, name, what) Row{{name, "admission.queue", what}, object_row<make_##id>(name)},
#define QUEUE_OF QUEUE
#define OVERTAKE(id, name, what) \
  Row{{name, "admission.overtake", what}, object_row<make_##id>(name)},
#define OVERTAKE_OF OVERTAKE
#define PLACEMENT(id, name, what) Row{{name, "placement", what}, object_row<make_##id>(name)},
#define PLACEMENT_OF PLACEMENT
constexpr auto rows = std::to_array<Row>({REHEARSE_POLICIES});
#undef QUEUE
#undef QUEUE_OF
#undef OVERTAKE
#undef OVERTAKE_OF
#undef PLACEMENT
#undef PLACEMENT_OF

constexpr auto infos = [] {
  std::array<PolicyInfo, rows.size()> list;
  std::transform(rows.begin(), rows.end(), list.begin(), [](const Row& row) { return row.info; });
  return list;
}();

std::unexpected<model::Error> refused(std::string what, std::string remedy) {
  model::Error error{.what = std::move(what)};
  error.remedy = std::move(remedy);
  return std::unexpected(std::move(error));
}

template <class Interface>
struct Axis {
  std::string_view name;
  std::unique_ptr<Interface> (*ObjectRow::*maker)(Parameters);
};

constexpr Axis<scheduler::QueuePolicy> queue_axis{"admission.queue", &ObjectRow::queue};
constexpr Axis<scheduler::OvertakePolicy> overtake_axis{"admission.overtake", &ObjectRow::overtake};
constexpr Axis<scheduler::PlacementPolicy> placement_axis{"placement", &ObjectRow::placement};

// The policy of the table; its parameters are whole, the axis has filled in what was not given.
template <class Interface>
model::Result<std::unique_ptr<Interface>> find(const Axis<Interface>& axis, std::string_view name,
                                               Parameters parameters) {
  std::string known;
  for (const Row& row : rows) {
    if (row.makers.*axis.maker == nullptr) {
      continue;
    }
    if (row.info.name == name) {
      std::unique_ptr<Interface> policy = (row.makers.*axis.maker)(parameters);
      if (policy == nullptr) {
        return refused(
            std::string(axis.name) + ": " + std::string(name) + " does not take these parameters",
            "see docs/add-a-policy.md, or the head of its file");
      }
      return policy;
    }
    known += " " + std::string(row.info.name);
  }
  return refused(std::string(axis.name) + ": no policy named " + std::string(name),
                 "one of:" + known);
}

template <class Interface>
model::Result<std::unique_ptr<Interface>> make_one(
    const Axis<Interface>& axis, const model::SchedulerConfig& config,
    const std::optional<model::PolicyObject>& object,
    model::Result<std::unique_ptr<Interface>> (*load)(const model::PolicyObject&)) {
  if (object && !object->file.empty()) {
    return load(*object);
  }
  if (object) {
    auto policy = find(axis, object->name, object->parameters);
    return policy ? guarded(std::move(*policy), object->name) : std::move(policy);
  }
  const model::AxisText value = model::get_axis(config, model::NameTable{}, axis.name);
  std::vector<std::pair<std::string, std::string>> parameters;
  for (const model::AxisParameter& item : value.parameters) {
    parameters.emplace_back(item.key, model::to_string(item.value));
  }
  return find(axis, value.value, parameters);
}

template <model::NamedEnum E>
void tell_others(std::string_view axis) {
  std::vector<std::string_view> names;
  for (const PolicyInfo& info : infos) {
    if (info.axis == axis && !model::parse_enum<E>(info.name)) {
      names.push_back(info.name);
    }
  }
  model::know_policies(axis, names);
}

}  // namespace

std::span<const PolicyInfo> policies() { return infos; }

void introduce() {
  tell_others<model::QueueOrder>(queue_axis.name);
  tell_others<model::Overtake>(overtake_axis.name);
  tell_others<model::Placement>(placement_axis.name);
}

model::Result<scheduler::PolicySet> make(const model::SchedulerConfig& config) {
  const model::AdmissionConfig& admission = config.admission;
  auto queue = make_one(queue_axis, config, admission.queue_object, load_queue);
  auto overtake = make_one(overtake_axis, config, admission.overtake_object, load_overtake);
  auto placement = make_one(placement_axis, config, config.placement_object, load_placement);
  for (const model::Error* error :
       {queue ? nullptr : &queue.error(), overtake ? nullptr : &overtake.error(),
        placement ? nullptr : &placement.error()}) {
    if (error != nullptr) {
      return std::unexpected(*error);
    }
  }
  scheduler::PolicySet set;
  set.queue = std::move(*queue);
  set.overtake = std::move(*overtake);
  set.placement = std::move(*placement);
  return set;
}

}  // namespace rehearse::policies
