// Members of a group share one attempt number: a rerun is a rerun of all (X2, X10, X16).
// registry: NO_LONE_RETRY
#include <fmt/format.h>

#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

class NoLoneRetry final : public MonitorOf<NoLoneRetry> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override { return kinds<model::StageSubmitted>(); }

  void event(const model::Event& event, const Seen& seen) override {
    const auto* submitted = event.as<model::StageSubmitted>();
    if (submitted == nullptr || seen.group == nullptr || !seen.group->gang_of_several()) {
      return;
    }
    if (submitted->stage.attempt != seen.group->attempt) {
      found(fmt::format("{} submitted as attempt {}, its group is at {} (X2)",
                        track().name(submitted->stage), submitted->stage.attempt.value_or(-1),
                        seen.group->attempt));
    }
  }

  void instant_over() override {
    for (const GroupRef ref : track().touched_groups()) {
      const Group& group = track().group(ref);
      const Job& job = track().job(ref.job);
      if (!group.gang_of_several() || group.admitted_in != track().instant()) {
        continue;
      }
      for (const Index member : group.members) {
        const Stage& stage = job.body->stages[member];
        if (stage.attempt != group.attempt) {
          found(fmt::format("{} is at attempt {}, its group {} at {} (X2)",
                            track().name(job, stage), stage.attempt, track().name(job, group),
                            group.attempt));
        }
      }
    }
  }
};

}  // namespace

std::unique_ptr<Monitor> make_no_lone_retry(const Track& track) {
  return std::make_unique<NoLoneRetry>(track);
}

}  // namespace rehearse::properties
