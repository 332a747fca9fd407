// Comparing what two cores ask for.
#include "tests/random/actions.hpp"

#include <variant>

namespace rehearse::testing {

using namespace scheduler;

namespace {

bool same_action(const Action& left, const Action& right, const Actions& of_left,
                 const Actions& of_right) {
  if (left.index() != right.index()) {
    return false;
  }
  if (const auto* entry = std::get_if<Entry>(&left)) {
    return of_left.entries[entry->index] == of_right.entries[std::get<Entry>(right).index];
  }
  if (const auto* a = std::get_if<Launch>(&left)) {
    const auto& b = std::get<Launch>(right);
    return a->run == b.run && a->job == b.job && a->stage == b.stage && a->executor == b.executor &&
           a->partition == b.partition && a->attempt == b.attempt &&
           a->try_number == b.try_number && a->speculative == b.speculative && a->more == b.more;
  }
  if (const auto* a = std::get_if<EndTask>(&left)) {
    const auto& b = std::get<EndTask>(right);
    return a->run == b.run && a->status == b.status && a->reason == b.reason &&
           a->counted == b.counted && a->shared == b.shared;
  }
  if (const auto* a = std::get_if<Kill>(&left)) {
    const auto& b = std::get<Kill>(right);
    return a->run == b.run && a->reason == b.reason && a->shared == b.shared;
  }
  if (const auto* a = std::get_if<ReturnSlot>(&left)) {
    return a->run == std::get<ReturnSlot>(right).run;
  }
  if (const auto* a = std::get_if<ReturnShared>(&left)) {
    const auto& b = std::get<ReturnShared>(right);
    return a->job_name == b.job_name && a->executor_name == b.executor_name &&
           a->profile_name == b.profile_name && a->count == b.count;
  }
  const auto& a = std::get<SetTimer>(left);
  return a.timer == std::get<SetTimer>(right).timer && a.delay == std::get<SetTimer>(right).delay;
}

}  // namespace

bool same_actions(const Actions& left, const Actions& right) {
  if (left.list.size() != right.list.size()) {
    return false;
  }
  for (std::size_t i = 0; i < left.list.size(); ++i) {
    if (!same_action(left.list[i], right.list[i], left, right)) {
      return false;
    }
  }
  return true;
}

}  // namespace rehearse::testing
