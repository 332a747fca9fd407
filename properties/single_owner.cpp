// A pipelined shuffle belongs to one live job (F7): nobody starts with one whose owner lives, and
// nobody is refused for one whose owner has ended. Who asks for whose shuffle the first line says
// (`reuse`), or an edge that is pipelined and comes from another job's stage. A job that asks by
// such an edge is refused whether or not the owner lives, and how it was marked no line shows, so
// of a job that reads other jobs' stages a refusal is not judged.
// registry: SINGLE_OWNER
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

bool lists(const std::vector<model::Code>& codes, model::Code code) {
  return std::ranges::find(codes, code) != codes.end();
}

class SingleOwner final : public MonitorOf<SingleOwner> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override {
    return kinds<model::JobSubmitted, model::JobRejected, model::JobStarted>();
  }

  void event(const model::Event& event, const Seen& seen) override {
    if (const auto* submitted = event.as<model::JobSubmitted>()) {
      job_ = submitted->job;
      owners_.clear();
      reads_others_ = false;
      asks_ = false;
      if (lists(track().rules().config.reject, model::Code::shared_producer)) {
        note_edges(*submitted);
        note_facts(*submitted);
      }
    } else if (event.as<model::JobStarted>() != nullptr && seen.job->name == job_) {
      for (const Owner& owner : owners_) {
        found(fmt::format("{} starts with the pipelined shuffle of {}, which belongs to {} (F7)",
                          track().text(job_), owner.stage, owner.job));
      }
    } else if (const auto* rejected = event.as<model::JobRejected>();
               rejected != nullptr && rejected->job == job_) {
      const bool refused = lists(rejected->codes, model::Code::shared_producer);
      if (refused && asks_ && owners_.empty() && !reads_others_) {
        found(fmt::format("{} is refused for a pipelined shuffle whose owner has ended (F7)",
                          track().text(job_)));
      }
    }
  }

 private:
  struct Owner {
    std::string job;
    std::string stage;
  };

  // The latest submission of that job, if it lives.
  void note(std::string_view request, std::string_view stage) {
    const Index owner = track().latest_job(track().name_of(request));
    if (owner != no_index && !track().job(owner).ended()) {
      owners_.push_back({track().name(track().job(owner)), fmt::format("{}/{}", request, stage)});
    }
  }

  void note_edges(const model::JobSubmitted& event) {
    for (const model::EdgeItem& edge : event.edges) {
      const std::string_view path = track().view(edge.from);
      const std::size_t slash = path.find('/');
      if (slash == std::string_view::npos) {
        continue;
      }
      reads_others_ = true;
      if (edge.kind == model::EdgeKind::pipelined) {
        note(path.substr(0, slash), path.substr(slash + 1));
      }
    }
  }

  void note_facts(const model::JobSubmitted& event) {
    const std::vector<Reuse>& reuses = track().rules().reuses;
    if (reuses.empty()) {
      return;
    }
    const std::string name = track().text(event.job);
    const std::string request = name.substr(0, name.find('#'));
    for (const Reuse& reuse : std::ranges::equal_range(reuses, request, {}, &Reuse::reader)) {
      asks_ = true;
      const auto is_it = [&](const model::EdgeItem& edge) {
        return edge.kind == model::EdgeKind::pipelined && track().text(edge.from) == reuse.from;
      };
      if (std::ranges::any_of(event.edges, is_it)) {  // not cut by the axis `grouping`
        note(reuse.owner, reuse.stage);
      }
    }
  }

  // Of the job that was submitted last; its fate is told in the same step (C12).
  model::NameId job_;
  std::vector<Owner> owners_;  // of what it asks for, those that lived then
  bool asks_ = false;          // by a fact
  bool reads_others_ = false;
};

}  // namespace

std::unique_ptr<Monitor> make_single_owner(const Track& track) {
  return std::make_unique<SingleOwner>(track);
}

}  // namespace rehearse::properties
