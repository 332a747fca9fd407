// registry: none (part of the explanation)
//
// The walk keeps one cursor: everything from it to the end is cut. Each step adds the part that
// ends at the cursor and moves it to that part's beginning, so parts tile whatever the walk does;
// what it cannot account for becomes a part of its own.
#include "reports/explain_parts.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "model/support/check.hpp"

namespace rehearse::reports {
namespace {

class Walk {
 public:
  Walk(const TryFacts& row, const CutOptions& options)
      : row_(row), options_(options), cursor_(options.end_ns) {
    for (std::size_t i = 0; i < row_.runs.size(); ++i) {
      if (row_.runs[i].succeeded()) {
        by_slot_.push_back(i);
      }
    }
    std::ranges::sort(by_slot_, {}, [&](std::size_t i) { return slot_key(row_.runs[i]); });
  }

  std::vector<Cut> cuts() {
    from_the_end();
    // Every step goes to an earlier attempt, an earlier task or a parent.
    std::size_t steps = 2 * row_.runs.size() + 8;
    for (const StageFacts& stage : row_.stages) {
      steps += 4 * (stage.attempts.size() + 1);
    }
    for (; steps > 0 && cursor_ > row_.submit_ns && next_.what != What::over; --steps) {
      const Where here = next_;
      next_ = {};
      take(here);
    }
    add({}, row_.submit_ns);
    std::ranges::reverse(cuts_);
    merge();
    check_tiles();
    return std::move(cuts_);
  }

 private:
  static constexpr std::int32_t any_attempt = std::numeric_limits<std::int32_t>::max();
  enum class What : std::uint8_t { over, run, stage_done, unit_start, gang_failed, stage_failed };
  struct Where {  // what the cursor is the end of
    What what = What::over;
    std::size_t index = 0;
    std::int32_t attempt = 0;
    PartKind kind = PartKind::running;  // of a run
    bool ends_stage = false;
    std::optional<std::size_t> reader = std::nullopt;  // see Cut
  };
  struct Base {  // when a unit had its inputs
    model::Instant inputs_ns = 0;
    model::Duration delay = 0;
    std::optional<std::size_t> parent;
    std::optional<std::size_t> foreign;  // when it came last
    model::Instant foreign_ns = 0;
    std::size_t stage = 0;

    [[nodiscard]] model::Instant ready_ns() const {
      return std::max(inputs_ns, foreign ? foreign_ns : inputs_ns) + delay;
    }
  };

  // ---- parts ----

  void add(Cut cut, model::Instant from) {
    from = std::clamp(from, row_.submit_ns, cursor_);
    if (from < cursor_) {
      cut.from_ns = from;
      cut.to_ns = cursor_;
      cuts_.push_back(cut);
      cursor_ = from;
    }
  }

  // The spans from `from` to the cursor, and `gap` where there is none.
  void add_waits(const std::vector<WaitSpan>& spans, model::Instant from, const Cut& gap) {
    for (std::size_t i = spans.size(); i-- > 0 && cursor_ > from;) {
      const WaitSpan& span = spans[i];
      if (span.from_ns >= cursor_) {
        continue;
      }
      if (span.to_ns <= from) {
        break;
      }
      add(gap, span.to_ns);
      Cut cut = gap;
      cut.kind = span.kind;
      cut.wait = &span;
      add(cut, std::max(span.from_ns, from));
    }
    add(gap, from);
  }

  // ---- rows ----

  static std::tuple<std::uint32_t, model::Instant, model::Instant> slot_key(const TaskRun& run) {
    return {run.executor.value, *run.end_ns, run.start_ns};
  }

  [[nodiscard]] const StageAttempt* attempt_of(std::size_t stage, std::int32_t attempt) const {
    const auto& all = row_.stages[stage].attempts;
    const auto found = std::ranges::find(all, attempt, &StageAttempt::attempt);
    return found == all.end() ? nullptr : &*found;
  }

  // The latest success of a stage up to an instant.
  [[nodiscard]] std::optional<model::Instant> done_ns(std::size_t stage, model::Instant to) const {
    std::optional<model::Instant> latest;
    for (const StageAttempt& attempt : row_.stages[stage].attempts) {
      if (attempt.end_ns && attempt.status == model::StageStatus::success &&
          *attempt.end_ns <= to) {
        latest = std::max(latest.value_or(*attempt.end_ns), *attempt.end_ns);
      }
    }
    return latest;
  }

  [[nodiscard]] const GangFacts* gang_of(std::size_t stage, model::Instant at) const {
    const auto& gang = row_.stages[stage].gang;
    if (!gang) {
      return nullptr;
    }
    const GangFacts& row = row_.gangs[*gang];
    return row.dissolved_ns && *row.dissolved_ns <= at ? nullptr : &row;
  }

  [[nodiscard]] std::vector<std::size_t> members_of(std::size_t stage,
                                                    const GangFacts* gang) const {
    return gang == nullptr ? std::vector<std::size_t>{stage} : gang->stages;
  }

  [[nodiscard]] Cut of_unit(std::size_t stage, const GangFacts* gang, PartKind kind) const {
    Cut cut;
    cut.kind = kind;
    cut.stage = stage;
    if (gang != nullptr) {
      cut.gang = row_.stages[stage].gang;
    }
    return cut;
  }

  // The run among those of a stage that satisfies `good` and ended last, not after the cursor.
  template <class Good>
  [[nodiscard]] std::optional<std::size_t> last_run(std::size_t stage, Good good) const {
    std::optional<std::size_t> last;
    for (const std::size_t i : row_.stages[stage].runs) {
      const TaskRun& run = row_.runs[i];
      if (run.end_ns && *run.end_ns <= cursor_ && good(run) &&
          (!last || *run.end_ns >= *row_.runs[*last].end_ns)) {
        last = i;
      }
    }
    return last;
  }

  // ---- the end ----

  void from_the_end() {
    if (row_.outcome == model::JobOutcome::succeeded) {
      from_success();
    } else if (row_.outcome == model::JobOutcome::failed && from_failure()) {
      return;
    } else if (!row_.rejected) {
      from_pending();
    }
  }

  void from_success() {
    std::optional<std::tuple<bool, model::Instant, model::Instant, std::size_t>> best;
    for (std::size_t i = 0; i < row_.stages.size(); ++i) {
      auto done = done_ns(i, cursor_);
      const auto run = last_run(i, [](const TaskRun& each) { return each.succeeded(); });
      const model::Instant last = run ? *row_.runs[*run].end_ns : row_.submit_ns;
      if (row_.stages[i].sink && run) {  // a task of an older attempt may complete it (C9)
        done = std::max(done.value_or(last), last);
      }
      if (!done) {
        continue;
      }
      const std::tuple candidate{row_.stages[i].sink, *done, last, i};
      best = best ? std::max(*best, candidate) : candidate;
    }
    if (best) {
      add({}, std::get<1>(*best));
      next_ = {.what = What::stage_done, .index = std::get<3>(*best), .ends_stage = true};
    }
  }

  bool from_failure() {
    const PartKind kind = options_.last_try ? PartKind::failed : PartKind::repeated;
    for (std::size_t g = 0; g < row_.gangs.size(); ++g) {
      const auto& attempts = row_.gangs[g].attempts;
      if (!attempts.empty() && attempts.back().failed_ns == cursor_) {
        next_ = {.what = What::gang_failed,
                 .index = g,
                 .attempt = attempts.back().attempt,
                 .kind = kind};
        return true;
      }
    }
    for (std::size_t s = 0; s < row_.stages.size(); ++s) {
      const auto& attempts = row_.stages[s].attempts;
      if (!attempts.empty() && attempts.back().end_ns == cursor_ &&
          attempts.back().status == model::StageStatus::failed) {
        next_ = {.what = What::stage_failed,
                 .index = s,
                 .attempt = attempts.back().attempt,
                 .kind = kind};
        return true;
      }
    }
    return false;
  }

  // Cut off, cancelled, or failed for another reason than its work: what runs, else what waits.
  void from_pending() {
    std::optional<std::size_t> oldest;
    for (std::size_t i = 0; i < row_.runs.size(); ++i) {
      const TaskRun& run = row_.runs[i];
      const bool cut_off = !run.end_ns || (*run.end_ns == cursor_ && !run.succeeded());
      if (cut_off && (!oldest || run.start_ns < row_.runs[*oldest].start_ns)) {
        oldest = i;
      }
    }
    if (oldest) {
      next_ = {.what = What::run,
               .index = *oldest,
               .kind = row_.end_ns ? PartKind::failed : PartKind::unfinished};
    } else if (!from_waiting() && !from_submitted()) {
      from_not_ready();
    }
  }

  bool from_waiting() {
    for (const GangFacts& gang : row_.gangs) {
      if (!gang.waits.empty() && gang.waits.back().to_ns == cursor_ && !gang.dissolved_ns) {
        const std::size_t stage = gang.stages.front();
        if (gang.attempts.empty()) {
          start_first(stage, &gang);
        } else {
          start_again(stage, &gang, any_attempt);
        }
        return true;
      }
    }
    for (std::size_t s = 0; s < row_.stages.size(); ++s) {
      const StageFacts& stage = row_.stages[s];
      if (!stage.waits.empty() && stage.waits.back().to_ns == cursor_ && !stage.attempts.empty()) {
        from_waiting_stage(s);
        return true;
      }
    }
    return false;
  }

  // An attempt that was submitted in the last instant: nothing of it has waited yet.
  bool from_submitted() {
    for (std::size_t s = 0; s < row_.stages.size(); ++s) {
      const auto& attempts = row_.stages[s].attempts;
      if (!attempts.empty() && attempts.back().submit_ns == cursor_ &&
          attempts.back().status != model::StageStatus::failed) {
        next_ = {.what = What::unit_start, .index = s, .attempt = attempts.back().attempt};
        return true;
      }
    }
    return false;
  }

  // Back to when its tasks began to wait: its submission, or the end of a task since.
  void from_waiting_stage(std::size_t s) {
    const StageFacts& stage = row_.stages[s];
    const StageAttempt& attempt = stage.attempts.back();
    model::Instant since = cursor_;
    for (std::size_t i = stage.waits.size(); i > 0 && stage.waits[i - 1].to_ns == since; --i) {
      since = stage.waits[i - 1].from_ns;
    }
    since = std::max(since, attempt.submit_ns);
    const Cut gap = of_unit(s, nullptr, PartKind::unexplained);
    add_waits(stage.waits, since, gap);
    const auto before = last_run(
        s, [&](const TaskRun& run) { return run.attempt == attempt.attempt && !run.succeeded(); });
    if (since > attempt.submit_ns && before) {
      add(gap, *row_.runs[*before].end_ns);
      next_ = {.what = What::run, .index = *before, .kind = PartKind::repeated};
      return;
    }
    next_ = {.what = What::unit_start, .index = s, .attempt = attempt.attempt};
    add(gap, attempt.submit_ns);
  }

  void from_not_ready() {
    for (std::size_t s = 0; s < row_.stages.size(); ++s) {
      const StageFacts& stage = row_.stages[s];
      const bool parents = std::ranges::all_of(
          stage.regular, [&](std::size_t parent) { return done_ns(parent, cursor_).has_value(); });
      const GangFacts* gang = gang_of(s, cursor_);
      if (parents && stage.attempts.empty()) {
        start_first(s, gang);
        return;
      }
    }
    start_again(0, nullptr, any_attempt);
  }

  // ---- steps ----

  void take(const Where& here) {
    switch (here.what) {
      case What::over:
        return;
      case What::run:
        return take_run(here);
      case What::stage_done:
        return take_stage_done(here);
      case What::unit_start:
        return take_unit_start(here.index, here.attempt);
      case What::gang_failed:
        return take_gang_failed(here);
      case What::stage_failed:
        return take_stage_failed(here);
    }
  }

  void take_stage_done(const Where& here) {
    const std::size_t stage = here.index;
    const GangFacts* gang = gang_of(stage, cursor_);
    auto run = last_run(stage, [](const TaskRun& each) { return each.succeeded(); });
    if (!run && gang != nullptr) {  // a member without tasks
      run = last_of_gang(*gang);
    }
    if (!run) {
      const auto& attempts = row_.stages[stage].attempts;
      if (!attempts.empty()) {
        next_ = {.what = What::unit_start, .index = stage, .attempt = attempts.front().attempt};
        for (const StageAttempt& attempt : attempts) {
          if (attempt.submit_ns <= cursor_) {
            next_.attempt = attempt.attempt;
          }
        }
      }
      return;
    }
    const bool member = gang != nullptr && gang->stages.size() > 1;
    if (*row_.runs[*run].end_ns < cursor_) {
      Cut cut = of_unit(stage, gang, member ? PartKind::commit : PartKind::unexplained);
      if (member) {
        cut.run = last_of_gang(*gang);
      }
      add(cut, *row_.runs[*run].end_ns);
    }
    next_ = through_producers(*run);
  }

  // Under coupled timing a reader's task may have ended only because a producer's did: then the
  // producer is what took the time.
  [[nodiscard]] Where through_producers(std::size_t run) const {
    Where where{.what = What::run, .index = run, .ends_stage = true};
    for (bool moved = options_.coupled; moved;) {
      moved = false;
      for (const std::size_t parent : row_.stages[row_.runs[where.index].stage].pipelined) {
        const auto last = last_run(parent, [](const TaskRun& each) { return each.succeeded(); });
        if (last && row_.runs[*last].end_ns == row_.runs[run].end_ns) {
          where.reader = row_.runs[run].stage;
          where.index = *last;
          moved = true;
          break;
        }
      }
    }
    return where;
  }

  [[nodiscard]] std::optional<std::size_t> last_of_gang(const GangFacts& gang) const {
    std::optional<std::size_t> last;
    for (const std::size_t member : gang.stages) {
      const auto run = last_run(member, [](const TaskRun& each) { return each.succeeded(); });
      if (run && (!last || *row_.runs[*run].end_ns > *row_.runs[*last].end_ns)) {
        last = run;
      }
    }
    return last;
  }

  void take_run(const Where& here) {
    const TaskRun& run = row_.runs[here.index];
    Cut cut = of_unit(run.stage, nullptr, here.kind);
    cut.attempt = run.attempt;
    cut.run = here.index;
    cut.first_run = here.index;
    cut.runs = 1;
    cut.shared_ns = run.shared_ns;
    cut.ends_stage = here.ends_stage;
    cut.reader = here.reader;
    add(cut, run.start_ns);
    if (again(run)) {
      return;
    }
    const StageAttempt* attempt = attempt_of(run.stage, run.attempt);
    const model::Instant submitted = attempt == nullptr ? row_.submit_ns : attempt->submit_ns;
    if (run.start_ns > submitted) {
      if (const auto before = slot_before(run)) {
        next_ = {.what = What::run, .index = *before};
        return;
      }
      add_waits(row_.stages[run.stage].waits, submitted,
                of_unit(run.stage, nullptr, PartKind::unexplained));
    }
    next_ = {.what = What::unit_start, .index = run.stage, .attempt = run.attempt};
  }

  // A later try of its partition: what came before it is the end of the earlier one, or the loss of
  // its output.
  bool again(const TaskRun& run) {
    if (run.try_number == 0) {
      return false;
    }
    std::optional<std::size_t> last;
    for (const std::size_t i : row_.stages[run.stage].runs) {
      const TaskRun& prior = row_.runs[i];
      if (run.follows(prior) && prior.end_ns && *prior.end_ns <= run.start_ns &&
          (!last || *prior.end_ns > *row_.runs[*last].end_ns)) {
        last = i;
      }
    }
    if (!last) {
      return false;
    }
    const TaskRun& prior = row_.runs[*last];
    model::Instant lost = *prior.end_ns;
    if (prior.succeeded()) {
      for (const OutputLoss& loss : row_.losses) {
        if (loss.stage == run.stage && loss.executor == prior.executor && loss.t <= run.start_ns) {
          lost = std::max(lost, loss.t);
        }
      }
    }
    add_waits(row_.stages[run.stage].waits, lost,
              of_unit(run.stage, nullptr, PartKind::unexplained));
    next_ = {.what = What::run, .index = *last, .kind = PartKind::repeated};
    return true;
  }

  // The task of this job whose slot it took, of its own stage if there is one.
  [[nodiscard]] std::optional<std::size_t> slot_before(const TaskRun& run) const {
    const std::pair key{run.executor.value, run.start_ns};
    const auto slot = [&](std::size_t i) {
      return std::pair{row_.runs[i].executor.value, *row_.runs[i].end_ns};
    };
    std::optional<std::size_t> found;
    for (auto it = std::ranges::lower_bound(by_slot_, key, {}, slot);
         it != by_slot_.end() && slot(*it) == key; ++it) {
      const TaskRun& before = row_.runs[*it];
      const bool better =
          !found || row_.runs[*found].stage != run.stage || before.stage == run.stage;
      if (before.start_ns < run.start_ns && better) {
        found = *it;
      }
    }
    return found;
  }

  void take_gang_failed(const Where& here) {
    const GangFacts& gang = row_.gangs[here.index];
    const auto found = std::ranges::find(gang.attempts, here.attempt, &GangAttempt::attempt);
    RH_CHECK(found != gang.attempts.end(), here.attempt);
    Cut cut = of_unit(gang.stages.front(), &gang, here.kind);
    cut.attempt = here.attempt;
    for (const std::size_t member : gang.stages) {
      const auto run = last_run(member, [&](const TaskRun& each) {
        return each.attempt == here.attempt && each.status == model::TaskStatus::failed;
      });
      cut.run = cut.run ? cut.run : run;
    }
    add(cut, found->admit_ns);
    next_ = {.what = What::unit_start, .index = gang.stages.front(), .attempt = here.attempt};
  }

  void take_stage_failed(const Where& here) {
    const auto run = last_run(here.index, [&](const TaskRun& each) {
      return each.attempt == here.attempt && !each.succeeded();
    });
    if (run) {
      add_waits(row_.stages[here.index].waits, *row_.runs[*run].end_ns,
                of_unit(here.index, nullptr, PartKind::unexplained));
      next_ = {.what = What::run, .index = *run, .kind = here.kind};
      return;
    }
    const StageAttempt* attempt = attempt_of(here.index, here.attempt);
    Cut cut = of_unit(here.index, nullptr, here.kind);
    cut.attempt = here.attempt;
    add(cut, attempt == nullptr ? row_.submit_ns : attempt->submit_ns);
    next_ = {.what = What::unit_start, .index = here.index, .attempt = here.attempt};
  }

  void take_unit_start(std::size_t stage, std::int32_t attempt) {
    const GangFacts* gang = gang_of(stage, cursor_);
    if (attempt > 0) {
      return start_again(stage, gang, attempt);
    }
    start_first(stage, gang);
  }

  // ---- what made a unit start ----

  [[nodiscard]] model::Duration start_delay(std::size_t stage) const {
    if (options_.start_delays == nullptr || options_.names == nullptr) {
      return 0;
    }
    const auto found =
        options_.start_delays->find(std::string(options_.names->text(row_.stages[stage].name)));
    return found == options_.start_delays->end() ? 0 : found->second;
  }

  // The inputs of one stage that are not its unit's own.
  [[nodiscard]] Base base_of(std::size_t stage, const std::vector<std::size_t>& members,
                             bool dissolved) const {
    Base base{.inputs_ns = row_.submit_ns,
              .delay = start_delay(stage),
              .parent = std::nullopt,
              .foreign = std::nullopt,
              .stage = stage};
    const auto look = [&](std::size_t parent) {
      const auto done = done_ns(parent, cursor_);
      const bool inside = std::ranges::find(members, parent) != members.end();
      if (!inside && done && (*done > base.inputs_ns || !base.parent)) {
        base.inputs_ns = std::max(base.inputs_ns, *done);
        base.parent = parent;
      }
    };
    std::ranges::for_each(row_.stages[stage].regular, look);
    for (std::size_t s = 0; row_.stages[stage].copy && s < row_.stages.size(); ++s) {
      if (s != stage && row_.stages[s].copy) {  // edges between copies are in no event
        look(s);
      }
    }
    if (dissolved) {
      std::ranges::for_each(row_.stages[stage].pipelined, look);
    }
    for (const std::size_t f : row_.stages[stage].foreign) {
      bool known = false;
      for (const auto& [t, by] : row_.foreign[f].done) {
        if (t <= cursor_ && t > std::max(base.inputs_ns, base.foreign_ns)) {
          base.foreign = f;
          base.foreign_ns = t;
        }
        known = known || t <= cursor_;
      }
      if (!known && row_.stages[stage].attempts.empty()) {  // it waits still
        base.foreign = f;
        base.foreign_ns = cursor_;
      }
    }
    return base;
  }

  void start_first(std::size_t stage, const GangFacts* gang) {
    const std::vector<std::size_t> members = members_of(stage, gang);
    const bool dissolved = gang == nullptr && row_.stages[stage].gang.has_value();
    Base base = base_of(members.front(), members, dissolved);
    for (const std::size_t member : members) {
      const Base other = base_of(member, members, dissolved);
      base = other.ready_ns() > base.ready_ns() ? other : base;
    }
    static const std::vector<WaitSpan> no_waits;
    const GangFacts* before = dissolved ? &row_.gangs[*row_.stages[stage].gang] : nullptr;
    const bool fell_back = before != nullptr && base.ready_ns() < *before->dissolved_ns;
    const StageFacts& reader = row_.stages[base.stage];
    Cut gap = of_unit(stage, gang, PartKind::unexplained);
    if (!reader.foreign.empty() || reader.copy) {
      gap.kind = PartKind::inputs;
      gap.foreign = reader.copy_of;
      if (!reader.foreign.empty()) {
        gap.foreign = reader.foreign.front();
      }
    }
    if (fell_back) {
      add(gap, *before->dissolved_ns);
      return start_first(stage, before);
    }
    add_waits(gang == nullptr ? no_waits : gang->waits, base.ready_ns(), gap);
    add(of_unit(base.stage, gang, PartKind::start_delay), base.ready_ns() - base.delay);
    if (base.foreign) {
      Cut cut = of_unit(base.stage, gang, PartKind::inputs);
      cut.foreign = base.foreign;
      add(cut, base.inputs_ns);
    }
    if (base.parent) {
      next_ = {.what = What::stage_done, .index = *base.parent, .ends_stage = true};
    }
  }

  // A later attempt: after the last of a failure, a loss, or a parent that was done again.
  void start_again(std::size_t stage, const GangFacts* gang, std::int32_t attempt) {
    static const std::vector<WaitSpan> no_waits;
    const std::vector<WaitSpan>& waits = gang == nullptr ? no_waits : gang->waits;
    const std::vector<std::size_t> members = members_of(stage, gang);
    const Cut gap = of_unit(stage, gang, PartKind::resubmit);
    const auto [failed_ns, failed] = last_failure(stage, attempt);
    const model::Instant loss_ns = last_loss(members);
    Base base = base_of(members.front(), members, false);
    for (const std::size_t member : members) {
      const Base other = base_of(member, members, false);
      base = other.parent && other.inputs_ns > base.inputs_ns ? other : base;
    }
    const bool with_parent = base.inputs_ns == cursor_ && attempt != any_attempt;
    if (base.parent && (with_parent || base.inputs_ns > std::max(failed_ns, loss_ns))) {
      add_waits(waits, base.inputs_ns, gap);
      next_ = {.what = What::stage_done, .index = *base.parent, .ends_stage = true};
    } else if (loss_ns > failed_ns) {
      add_waits(waits, loss_ns, gap);
      repeat_lost(stage);
    } else if (failed.what != What::over) {
      add_waits(waits, failed_ns, gap);
      next_ = failed;
    }
  }

  [[nodiscard]] std::pair<model::Instant, Where> last_failure(std::size_t stage,
                                                              std::int32_t attempt) const {
    std::pair<model::Instant, Where> last{row_.submit_ns - 1, Where{}};
    for (std::size_t s = 0; s < row_.stages.size(); ++s) {
      for (const StageAttempt& each : row_.stages[s].attempts) {
        if (s == stage && each.attempt >= attempt) {
          continue;  // it is the one that starts
        }
        const bool later = each.end_ns && (*each.end_ns > last.first ||
                                           (*each.end_ns == last.first && s == stage));
        if (later && each.status == model::StageStatus::failed && *each.end_ns <= cursor_) {
          last = {*each.end_ns,
                  {.what = What::stage_failed,
                   .index = s,
                   .attempt = each.attempt,
                   .kind = PartKind::repeated}};
        }
      }
    }
    for (std::size_t g = 0; g < row_.gangs.size(); ++g) {
      for (const GangAttempt& each : row_.gangs[g].attempts) {
        if (each.failed_ns && (row_.stages[stage].gang != g || each.attempt < attempt) &&
            *each.failed_ns <= cursor_ && *each.failed_ns >= last.first) {
          last = {*each.failed_ns,
                  {.what = What::gang_failed,
                   .index = g,
                   .attempt = each.attempt,
                   .kind = PartKind::repeated}};
        }
      }
    }
    return last;
  }

  [[nodiscard]] model::Instant last_loss(const std::vector<std::size_t>& members) const {
    model::Instant last = row_.submit_ns - 1;
    for (const OutputLoss& loss : row_.losses) {
      if (loss.t <= cursor_ && std::ranges::find(members, loss.stage) != members.end()) {
        last = std::max(last, loss.t);
      }
    }
    return last;
  }

  // From the loss back to the submission of the attempt whose outputs are gone.
  void repeat_lost(std::size_t stage) {
    const StageAttempt* lost = nullptr;
    for (const StageAttempt& attempt : row_.stages[stage].attempts) {
      if (attempt.submit_ns < cursor_) {
        lost = &attempt;
      }
    }
    if (lost == nullptr) {
      return;
    }
    Cut cut = of_unit(stage, nullptr, PartKind::repeated);
    cut.attempt = lost->attempt;
    add(cut, lost->submit_ns);
    next_ = {.what = What::unit_start, .index = stage, .attempt = lost->attempt};
  }

  // ---- the result ----

  static bool goes_on(const Cut& left, const Cut& right) {
    if (left.kind != right.kind || left.stage != right.stage || left.gang != right.gang ||
        left.attempt != right.attempt) {
      return false;
    }
    if (left.wait != nullptr && right.wait != nullptr) {
      return left.wait->head_job == right.wait->head_job &&
             left.wait->head_stage == right.wait->head_stage;
    }
    return left.kind == PartKind::running && left.run && right.run;
  }

  void merge() {
    std::vector<Cut> merged;
    for (const Cut& cut : cuts_) {
      if (merged.empty() || !goes_on(merged.back(), cut)) {
        merged.push_back(cut);
        continue;
      }
      merged.back().to_ns = cut.to_ns;
      merged.back().run = cut.run;
      merged.back().runs += cut.runs;
      merged.back().shared_ns += cut.shared_ns;
      merged.back().ends_stage = cut.ends_stage;
      merged.back().reader = cut.reader;
    }
    cuts_ = std::move(merged);
  }

  void check_tiles() const {
    model::Instant at = row_.submit_ns;
    for (const Cut& cut : cuts_) {
      RH_CHECK(cut.from_ns == at && cut.to_ns > at, cut.from_ns, cut.to_ns, at);
      at = cut.to_ns;
    }
    RH_CHECK(at == options_.end_ns, at, options_.end_ns);
  }

  const TryFacts& row_;
  const CutOptions& options_;
  model::Instant cursor_;
  Where next_;
  std::vector<Cut> cuts_;             // backward, until the end
  std::vector<std::size_t> by_slot_;  // runs that succeeded, by executor, end, start
};

}  // namespace

std::vector<Cut> cut_try(const TryFacts& row, const CutOptions& options) {
  RH_CHECK(options.end_ns >= row.submit_ns, options.end_ns, row.submit_ns);
  return Walk(row, options).cuts();
}

}  // namespace rehearse::reports
