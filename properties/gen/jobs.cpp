// Jobs: stages in blocks that pipelined edges join, regular edges between blocks, and, where a seed
// goes in for it, shapes and settings that must be rejected.
// registry: none (a part of the generator)
#include <algorithm>
#include <utility>

#include "properties/gen/making.hpp"

namespace rehearse::properties {

namespace {

using model::EdgeKind;
using model::StageIndex;

StageIndex stage_index(std::int64_t number) {
  return StageIndex{static_cast<std::uint32_t>(number)};
}

class JobMaker {
 public:
  JobMaker(Making& making, Draws& shapes, Draws& times)
      : making_(making), swarm_(making.swarm), shapes_(shapes), times_(times) {}

  [[nodiscard]] model::JobSpec make(std::int64_t number, bool large) {
    job_ = {};
    job_.name = making_.name('j', number);
    job_.pool = making_.scenario.names.intern("default");
    renew_room();
    block_first_ = 0;
    large_ = large;
    small_ = swarm_.theme == Theme::many_small_one_large && !large;
    const bool groups = making_.shape.groups && swarm_.pipelined;
    one_kind_ = making_.shape.no_mixing;
    all_pipelined_ = groups && (large || shapes_.percent(70));
    const std::int64_t count = stage_count();
    job_.stages.reserve(static_cast<std::size_t>(count));
    job_.edges.reserve(static_cast<std::size_t>(2 * count));
    for (std::int64_t s = 0; s < count; ++s) {
      add_stage(s, count);
    }
    if (swarm_.wrong_shapes && shapes_.percent(50)) {
      spoil(count);
    }
    finish();
    return std::move(job_);
  }

 private:
  [[nodiscard]] std::int64_t stage_count() {
    if (large_) {
      return 2;
    }
    if (small_) {
      return shapes_.range(1, 3);
    }
    return shapes_.percent(10) ? 1 : shapes_.range(2, shapes_.percent(15) ? 8 : 5);
  }

  // Slots that a block may ask for; where nobody waits for slots, often few.
  void renew_room() {
    room_ = making_.capacity;
    if (making_.shape.impatient && shapes_.percent(75)) {
      for (std::int64_t& slots : room_) {
        slots = std::max<std::int64_t>(slots / 3, std::min<std::int64_t>(slots, 2));
      }
    }
  }

  // Does this stage belong to the block of the stage before it?
  [[nodiscard]] bool joins_block(std::int64_t s) {
    if (s == 0 || !making_.shape.groups || !swarm_.pipelined) {
      return false;
    }
    if (one_kind_) {
      return all_pipelined_;
    }
    return large_ || (shapes_.percent(55) && room_left() > 0);
  }

  [[nodiscard]] std::int64_t room_left() const {
    return making_.shape.by_widest ? making_.capacity.front() : room_.front();
  }

  void add_edge(std::int64_t from, std::int64_t to, EdgeKind kind) {
    model::EdgeSpec edge;
    edge.from = stage_index(from);
    edge.to = {stage_index(to)};
    edge.kind = kind;
    job_.edges.push_back(std::move(edge));
  }

  void add_stage(std::int64_t s, std::int64_t count) {
    const bool joined = joins_block(s);
    if (!joined) {
      block_first_ = s;
      // Where a job is one group whatever its edges are, all its stages share the room.
      if (!making_.shape.whole_jobs || one_kind_ || s == 0) {
        renew_room();
      }
    }
    link(s, joined);
    model::StageSpec stage;
    stage.name = making_.name('s', s);
    const bool second = making_.capacity.size() > 1 && making_.capacity[1] > 0 &&
                        (!one_kind_ || !all_pipelined_ || swarm_.wrong_shapes) &&
                        shapes_.percent(30);
    stage.profile = model::ProfileId{second ? 1U : 0U};
    if (joined && making_.shape.one_profile && making_.capacity.size() > 1 && shapes_.percent(70)) {
      stage.profile = job_.stages[static_cast<std::size_t>(block_first_)].profile;
    }
    stage.tasks = tasks_of(s, count, joined, stage.profile.index());
    room_[stage.profile.index()] -= stage.tasks;
    set_times(stage);
    if (swarm_.commits && shapes_.percent(50)) {
      stage.commits = model::Commits::idempotent;
    }
    if (swarm_.barriers && !joined && shapes_.percent(25)) {
      barrier_candidates_.push_back(s);
    }
    if (swarm_.gathers && stage.tasks == 1 && shapes_.percent(60)) {
      stage.width = static_cast<std::int32_t>(shapes_.range(1, 9));
    }
    if (swarm_.preferences && !making_.executors.empty() && shapes_.percent(40)) {
      set_preferences(stage);
    }
    job_.stages.push_back(std::move(stage));
  }

  // From the stage before it, or another of its block; then, if allowed, from earlier blocks.
  void link(std::int64_t s, bool joined) {
    if (s == 0) {
      return;
    }
    const bool whole = one_kind_ && all_pipelined_;
    if (joined) {
      const std::int64_t size = s - block_first_;
      const std::int64_t from = shapes_.percent(60) ? s - 1 : block_first_ + shapes_.below(size);
      add_edge(from, s, EdgeKind::pipelined);
      const std::int64_t other = block_first_ + shapes_.below(size);
      if (other != from && shapes_.percent(40)) {
        add_edge(other, s, EdgeKind::pipelined);
      }
    } else if (shapes_.percent(85)) {
      add_edge(shapes_.percent(50) ? s - 1 : shapes_.below(s), s, EdgeKind::regular);
    }
    if (block_first_ > 0 && !whole && shapes_.percent(20)) {
      add_edge(shapes_.below(block_first_), s, EdgeKind::regular);
    }
  }

  [[nodiscard]] std::int32_t tasks_of(std::int64_t s, std::int64_t count, bool joined,
                                      std::size_t profile) {
    const std::int64_t room = std::max<std::int64_t>(
        making_.shape.by_widest ? making_.capacity[profile] : room_[profile], 1);
    if (swarm_.zero_tasks && shapes_.percent(15)) {
      return 0;
    }
    if (large_ || swarm_.theme == Theme::exact_fit) {
      // What the stages before it left, with the last one taking all of it.
      const std::int64_t share = large_ && s + 1 < count ? room / 2 : room;
      return static_cast<std::int32_t>(large_ || joined ? std::max<std::int64_t>(share, 1)
                                                        : std::max<std::int64_t>(room / 2, 1));
    }
    if (small_) {
      return static_cast<std::int32_t>(shapes_.range(1, 4));
    }
    const bool grouped = making_.shape.groups && swarm_.pipelined;
    const std::int64_t wide = shapes_.percent(10) ? 48 : 28;
    const std::int64_t tasks = shapes_.percent(8) ? 1 : shapes_.range(3, wide);
    // Where little fits at once, something is left for the stages to come.
    const std::int64_t share = making_.shape.impatient ? (room + 1) / 2 : room;
    return static_cast<std::int32_t>(grouped ? std::min(tasks, share) : tasks);
  }

  void set_times(model::StageSpec& stage) {
    if (swarm_.times == Times::equal) {
      stage.duration = model::fixed_distribution(5 * model::millisecond);
    } else if (swarm_.times == Times::drawn && times_.percent(60)) {
      stage.duration = drawn_time();
    } else if (swarm_.times == Times::per_task && stage.tasks > 0 && times_.percent(50)) {
      std::vector<model::Duration> list(static_cast<std::size_t>(stage.tasks));
      for (model::Duration& time : list) {
        time = times_.ms(swarm_.zero_durations ? 0 : 1, 10);
      }
      stage.duration = std::move(list);
    } else {
      const bool zero = swarm_.zero_durations && times_.percent(25);
      stage.duration = model::fixed_distribution(zero ? 0 : times_.ms(1, 6));
    }
  }

  [[nodiscard]] model::Distribution drawn_time() {
    const std::int64_t kind = times_.below(3);
    if (kind == 0) {
      model::Distribution time = model::exponential_distribution(3 * model::millisecond);
      time.cap_ns = 20 * model::millisecond;
      return time;
    }
    if (kind == 1) {
      return model::uniform_distribution(
          {.min_ns = model::millisecond, .max_ns = 8 * model::millisecond});
    }
    return model::empirical_distribution({model::millisecond, 2 * model::millisecond,
                                          2 * model::millisecond, 30 * model::millisecond});
  }

  void set_preferences(model::StageSpec& stage) {
    stage.prefers.resize(static_cast<std::size_t>(stage.tasks));
    for (std::vector<model::NameId>& places : stage.prefers) {
      for (std::int64_t n = shapes_.below(3); n > 0; --n) {
        const model::NameId place = shapes_.of(making_.executors);
        if (std::ranges::find(places, place) == places.end()) {
          places.push_back(place);
        }
      }
    }
  }

  // ---- shapes and settings that a list of codes knows ----

  void spoil(std::int64_t count) {
    for (std::int64_t n = shapes_.percent(25) ? 2 : 1; n > 0; --n) {
      const std::int64_t kind = shapes_.below(15);
      if (kind < 9) {
        spoil_member(kind);
      } else {
        spoil_graph(kind, count);
      }
    }
  }

  // An edge of a group, if there is one.
  [[nodiscard]] model::EdgeSpec* some_pipelined_edge() {
    for (std::size_t i = 0; i < job_.edges.size(); ++i) {
      if (job_.edges[i].kind == EdgeKind::pipelined) {
        return &job_.edges[i];
      }
    }
    return nullptr;
  }

  void spoil_member(std::int64_t kind) {
    model::EdgeSpec* edge = some_pipelined_edge();
    if (edge == nullptr) {
      return;
    }
    model::StageSpec& producer = job_.stages[edge->from.index()];
    switch (kind) {
      case 0:
        edge->push_merge = true;
        break;
      case 1:
        edge->checksum_retry = true;
        break;
      case 2:
        edge->adaptive = true;
        break;
      case 3:
        producer.indeterminate = true;
        break;
      case 4:
        producer.cached = true;
        break;
      case 5:
        producer.checkpoint =
            shapes_.percent(70) ? model::Checkpoint::reliable : model::Checkpoint::local;
        break;
      case 6:
        producer.commits = model::Commits::once;
        break;
      case 7:
        producer.barrier = true;
        break;
      default:
        producer.tasks += static_cast<std::int32_t>(making_.capacity.front());
        producer.duration = model::fixed_distribution(model::millisecond);
        producer.prefers.clear();
        break;
    }
  }

  void spoil_graph(std::int64_t kind, std::int64_t count) {
    if (count < 2) {
      job_.stages.front().tasks = 400;  // too many for a gang, no matter for a regular stage
      job_.stages.front().barrier = making_.shape.gangs;
      job_.stages.front().duration = model::fixed_distribution(model::millisecond);
      job_.stages.front().prefers.clear();
      return;
    }
    const std::int64_t from = shapes_.below(count - 1);
    switch (kind) {
      case 9:
      case 10:
        add_edge(count - 1, from, shapes_.percent(40) ? EdgeKind::pipelined : EdgeKind::regular);
        break;
      case 11:
        if (model::EdgeSpec* edge = some_pipelined_edge()) {
          add_edge(edge->from.value, edge->to.front().value, EdgeKind::regular);
        }
        break;
      case 12:
        if (count > 2) {  // A to B as a group, A to C to B beside it
          add_edge(0, 2, EdgeKind::pipelined);
          add_edge(0, 1, EdgeKind::regular);
          add_edge(1, 2, EdgeKind::regular);
        }
        break;
      case 13:
        if (count > 2) {
          model::EdgeSpec edge;
          edge.from = stage_index(0);
          edge.to = {stage_index(1), stage_index(2)};
          edge.kind = EdgeKind::pipelined;
          job_.edges.push_back(std::move(edge));
        }
        break;
      default:
        add_edge(from, count - 1, EdgeKind::pipelined);
        break;
    }
  }

  // Gangs of one stage, and all sinks as results, as a file that names none gets them.
  void finish() {
    std::vector<bool> grouped(job_.stages.size());
    std::vector<bool> read(job_.stages.size());
    for (const model::EdgeSpec& edge : job_.edges) {
      read[edge.from.index()] = true;
      for (const StageIndex to : edge.to) {
        grouped[to.index()] = grouped[to.index()] || edge.kind == EdgeKind::pipelined;
      }
      grouped[edge.from.index()] = grouped[edge.from.index()] || edge.kind == EdgeKind::pipelined;
    }
    const bool any_grouped = std::ranges::find(grouped, true) != grouped.end();
    for (const std::int64_t s : std::exchange(barrier_candidates_, {})) {
      const auto at = static_cast<std::size_t>(s);
      model::StageSpec& stage = job_.stages[at];
      const bool alone =
          making_.shape.whole_jobs ? !any_grouped : !grouped[at] || !making_.shape.groups;
      stage.barrier =
          alone && making_.shape.gangs && stage.tasks <= making_.capacity[stage.profile.index()];
    }
    for (std::size_t s = 0; s < read.size(); ++s) {
      if (!read[s]) {
        job_.result.push_back(StageIndex{static_cast<std::uint32_t>(s)});
      }
    }
    if (job_.result.empty()) {
      job_.result.push_back(stage_index(std::ssize(job_.stages) - 1));
    }
  }

  Making& making_;
  const Swarm& swarm_;
  Draws& shapes_;
  Draws& times_;
  model::JobSpec job_;
  std::vector<std::int64_t> room_;  // by profile, of the block at hand
  std::vector<std::int64_t> barrier_candidates_;
  std::int64_t block_first_ = 0;
  bool large_ = false;
  bool small_ = false;
  bool one_kind_ = false;
  bool all_pipelined_ = false;
};

void set_submission(Making& making, Draws& draws, model::JobSpec& job) {
  const Swarm& swarm = making.swarm;
  if (swarm.arrivals == Arrivals::bursts) {
    job.submit = draws.range(0, 3) * 5 * model::millisecond;
  } else if (swarm.arrivals == Arrivals::spread) {
    job.submit = draws.ms(0, 30);
  }
  if (making.shape.impatient && draws.percent(60)) {
    job.submit = draws.ms(0, 150);
  }
  if (swarm.priorities) {
    job.priority = draws.below(4);
    const bool pooled = making.scenario.scheduler.admission.queue == model::QueueOrder::fair;
    if (pooled && draws.percent(70)) {
      job.pool = making.name('p', draws.below(3));
    }
  }
  if (swarm.resubmits && (swarm.theme == Theme::rerun || draws.percent(50))) {
    job.resubmit = static_cast<std::int32_t>(draws.range(1, 2));
    job.backoff = draws.ms(0, 4);
  }
  if (swarm.repeats && draws.percent(30)) {
    job.repeat_count = static_cast<std::int32_t>(draws.range(2, 3));
    job.repeat_every = draws.ms(0, 6);
  }
}

void read_foreign(Draws& draws, model::JobSpec& job, model::NameId other, model::NameId stage) {
  model::EdgeSpec edge;
  edge.from_job = other;
  edge.from_stage = stage;
  edge.to = {stage_index(draws.below(std::ssize(job.stages)))};
  edge.kind = draws.percent(5) ? EdgeKind::pipelined : EdgeKind::regular;
  job.edges.push_back(std::move(edge));
}

// Inputs from other jobs' stages, shuffles used again, and jobs that wait for the end of others.
void tie_jobs(Making& making, Draws& draws) {
  std::vector<model::JobSpec>& jobs = making.scenario.jobs;
  for (std::int64_t reader = 1; reader < std::ssize(jobs); ++reader) {
    model::JobSpec& job = jobs[static_cast<std::size_t>(reader)];
    const model::JobSpec& other = jobs[static_cast<std::size_t>(draws.below(reader))];
    if (draws.percent(25)) {
      job.after.push_back({other.name, draws.ms(0, 5)});
    }
    if (!draws.percent(45)) {
      continue;
    }
    const model::NameId stage = draws.of(other.stages).name;
    const bool marked = !job.edges.empty() && job.edges.front().kind == EdgeKind::pipelined;
    if (marked && (!making.swarm.foreign_edges || draws.percent(20))) {
      job.edges.front().reuse_job = other.name;
      job.edges.front().reuse_stage = stage;
    } else if (making.swarm.foreign_edges) {
      read_foreign(draws, job, other.name, stage);
    }
  }
}

bool feeds_group(const model::JobSpec& job, std::size_t stage) {
  return std::ranges::any_of(job.edges, [stage](const model::EdgeSpec& edge) {
    return edge.kind == EdgeKind::pipelined && edge.from.valid() && edge.from.index() == stage;
  });
}

// Stages of which a second attempt may give other outputs (SS-1.10). What feeds a pipelined shuffle
// must not be one; `spoil` sees to those.
void mark_indeterminate(Making& making) {
  Draws draws = making.draws(Concern::data);
  if (!draws.percent(15)) {
    return;
  }
  for (model::JobSpec& job : making.scenario.jobs) {
    for (std::size_t s = 0; s < job.stages.size(); ++s) {
      if (!feeds_group(job, s) && draws.percent(40)) {
        job.stages[s].indeterminate = true;
      }
    }
  }
}

}  // namespace

void make_jobs(Making& making) {
  Draws shapes = making.draws(Concern::shapes);
  Draws times = making.draws(Concern::times);
  Draws arrivals = making.draws(Concern::arrivals);
  const bool many = making.swarm.theme == Theme::many_small_one_large;
  const std::int64_t count = many                ? shapes.range(8, 12)
                             : shapes.percent(8) ? shapes.range(1, 2)
                                                 : shapes.range(3, 5);
  const std::int64_t large = many ? shapes.below(4) : -1;
  JobMaker maker(making, shapes, times);
  making.scenario.jobs.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    model::JobSpec job = maker.make(i, i == large);
    set_submission(making, arrivals, job);
    making.scenario.jobs.push_back(std::move(job));
  }
  if (making.swarm.other_jobs) {
    tie_jobs(making, shapes);
  }
  mark_indeterminate(making);
}

}  // namespace rehearse::properties
