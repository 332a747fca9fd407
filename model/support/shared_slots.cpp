#include "model/support/shared_slots.hpp"

#include <algorithm>
#include <iterator>

namespace rehearse::model {

namespace {

std::int64_t running_in(const SharedSlots::Share& share, NameId stage) {
  const auto at = std::ranges::find(share.by_stage, stage, &std::pair<NameId, std::int64_t>::first);
  return at == share.by_stage.end() ? 0 : at->second;
}

}  // namespace

void SharedSlots::begin(const RunStart& run, const NameTable& names) {
  enabled_ = std::ranges::any_of(run.axes, [&names](const AxisValue& item) {
    return names.text(item.axis) == "accounting" && names.text(item.value) != "sum";
  });
}

void SharedSlots::formed(const GroupFormed& group) {
  if (enabled_ && group.stages.size() > 1) {
    for (const NameId stage : group.stages) {
      groups_.insert_or_assign({group.job, stage}, group.stage);
    }
  }
}

void SharedSlots::dissolved(const EdgesChanged& group) {
  std::erase_if(groups_, [&group](const auto& entry) {
    return entry.first.first == group.job && entry.second == group.stage;
  });
}

void SharedSlots::job_over(NameId job) {
  auto at = groups_.lower_bound({job, NameId{0U}});
  while (at != groups_.end() && at->first.first == job) {
    at = groups_.erase(at);
  }
}

const SharedSlots::Share* SharedSlots::find(const TaskRef& task, NameId profile) const {
  const auto list = by_executor_.find(task.executor);
  const auto group = groups_.find({task.job, task.stage});
  if (list == by_executor_.end() || group == groups_.end()) {
    return nullptr;
  }
  const auto at = std::ranges::find_if(list->second, [&](const Share& share) {
    return share.job == task.job && share.group == group->second && share.profile == profile;
  });
  return at == list->second.end() ? nullptr : &*at;
}

SharedSlots::Share* SharedSlots::writable(NameId executor, const Share* share) {
  if (share == nullptr) {
    return nullptr;
  }
  std::vector<Share>& list = by_executor_.at(executor);
  return &list[static_cast<std::size_t>(share - list.data())];
}

bool SharedSlots::takes_slot(const TaskRef& task, NameId profile) const {
  const Share* share = find(task, profile);
  return share == nullptr || running_in(*share, task.stage) >= share->slots;
}

bool SharedSlots::start(const TaskRef& task, NameId profile) {
  Share* share = writable(task.executor, find(task, profile));
  if (share == nullptr) {
    std::vector<Share>& list = by_executor_[task.executor];
    list.push_back({task.job, groups_.at({task.job, task.stage}), profile, 0, 0, {}});
    share = &list.back();
  }
  ++share->running;
  auto stage =
      std::ranges::find(share->by_stage, task.stage, &std::pair<NameId, std::int64_t>::first);
  if (stage == share->by_stage.end()) {
    share->by_stage.emplace_back(task.stage, 0);
    stage = share->by_stage.end() - 1;
  }
  const bool takes = ++stage->second > share->slots;
  share->slots += takes ? 1 : 0;
  return takes;
}

SharedSlots::Share* SharedSlots::end(const TaskRef& task, NameId profile) {
  Share* share = writable(task.executor, find(task, profile));
  if (share == nullptr) {
    return nullptr;
  }
  const auto stage =
      std::ranges::find(share->by_stage, task.stage, &std::pair<NameId, std::int64_t>::first);
  if (stage == share->by_stage.end() || stage->second == 0) {
    return nullptr;
  }
  --stage->second;
  --share->running;
  return share;
}

void SharedSlots::hold(const TaskRef& task, NameId profile) {
  by_executor_[task.executor].push_back({task.job, NameId{}, profile, 1, 0, {}});
}

const SharedSlots::Share* SharedSlots::find(const SlotReturned& line) const {
  const auto list = by_executor_.find(line.executor);
  if (list == by_executor_.end()) {
    return nullptr;
  }
  const Share* running = nullptr;
  bool held = false;
  for (const Share& share : list->second) {
    if (share.job != line.job || share.profile != line.profile) {
      continue;
    }
    held = held || !share.group.valid();
    if (!share.group.valid() || share.slots != line.count) {
      continue;
    }
    if (share.running == 0) {
      return &share;
    }
    running = &share;
  }
  return held ? nullptr : running;
}

std::optional<SharedSlots::Share> SharedSlots::give_back(const SlotReturned& line) {
  Share* share = writable(line.executor, find(line));
  const auto list = by_executor_.find(line.executor);
  if (share != nullptr) {
    Share before = *share;
    share->slots = 0;
    std::erase_if(list->second,
                  [](const Share& one) { return one.slots == 0 && one.running == 0; });
    return before;
  }
  for (std::int64_t i = 0; list != by_executor_.end() && i < line.count; ++i) {
    const auto held = std::ranges::find_if(list->second, [&line](const Share& one) {
      return !one.group.valid() && one.job == line.job && one.profile == line.profile;
    });
    if (held != list->second.end()) {
      list->second.erase(held);
    }
  }
  return std::nullopt;
}

std::vector<SharedSlots::Share> SharedSlots::on(NameId executor) const {
  std::vector<Share> shares;
  if (const auto list = by_executor_.find(executor); list != by_executor_.end()) {
    std::ranges::copy_if(list->second, std::back_inserter(shares),
                         [](const Share& share) { return share.group.valid(); });
  }
  return shares;
}

}  // namespace rehearse::model
