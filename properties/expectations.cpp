// registry: none (expectations of a scenario, no property)
// One small judge per expectation; each sees every event and keeps what its message will need.
#include "properties/expectations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>

#include "model/support/journal_hash.hpp"
#include "model/support/journal_line.hpp"
#include "model/support/units.hpp"
#include "properties/cluster_state.hpp"
#include "properties/event_match.hpp"

namespace rehearse::properties {

using model::Event;
using model::ExpectationResult;
using model::format_duration;

namespace {

constexpr std::size_t near_lines_max = 4;

struct Finding {
  bool ok = false;
  std::string detail;
};

Finding passed(std::string detail) { return {true, std::move(detail)}; }
Finding failed(std::string expected, std::string seen) {
  return {false, fmt::format("expected {}; {}", expected, seen)};
}

// The last few lines that came close.
class NearLines {
 public:
  void add(const Event& event) {
    ++count_;
    events_.push_back(event);
    if (events_.size() > near_lines_max) {
      events_.pop_front();
    }
  }
  [[nodiscard]] std::string text(const model::NameTable& names) const {
    if (events_.empty()) {
      return "\n  no such line in the journal";
    }
    std::string text;
    if (count_ > static_cast<std::int64_t>(events_.size())) {
      text = fmt::format("\n  the last {} of {} lines:", events_.size(), count_);
    }
    for (const Event& event : events_) {
      text += "\n  " + model::journal_line(event, names);
    }
    return text;
  }

 private:
  std::int64_t count_ = 0;
  std::deque<Event> events_;
};

struct Context {
  const model::NameTable* names = nullptr;
  const ClusterState* cluster = nullptr;
  const RunOutcome* outcome = nullptr;  // at the end only
  std::vector<RepeatedJob> repeated;
};

class Judge {
 public:
  Judge() = default;
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;
  virtual ~Judge() = default;
  virtual void on(const Event& event, const Context& context) = 0;
  [[nodiscard]] virtual Finding finish(const Context& context) const = 0;
};

// ---- a job's end ----

class JobJudge final : public Judge {
 public:
  JobJudge(const model::ExpectJob& expect, const Context& context) : expect_(expect) {
    for (const std::string& name : JobMatcher(expect.job, context.repeated).names()) {
      ends_.push_back({name, "unfinished", "", 0, false});
    }
  }

  void on(const Event& event, const Context& context) override {
    if (const auto* end = event.as<model::JobEnd>()) {
      note(event, context.names->text(end->job), model::name_of(end->outcome),
           end->code ? model::name_of(*end->code) : std::string_view{});
    } else if (const auto* rejected = event.as<model::JobRejected>()) {
      note(event, context.names->text(rejected->job), "rejected", model::name_of(rejected->code));
    }
  }

  [[nodiscard]] Finding finish(const Context&) const override {
    for (const End& end : ends_) {
      const bool any_time = !expect_.at && !expect_.before && !expect_.after;
      const bool time_ok = any_time || (end.ended && (!expect_.at || end.t == *expect_.at) &&
                                        (!expect_.before || end.t < *expect_.before) &&
                                        (!expect_.after || end.t > *expect_.after));
      if (end.outcome != expect_.ends || (expect_.code && *expect_.code != end.code) || !time_ok) {
        return failed(wanted(), seen(end));
      }
    }
    return passed(wanted());
  }

 private:
  struct End {
    std::string job;
    std::string outcome;
    std::string code;
    model::Instant t = 0;
    bool ended = false;
  };

  void note(const Event& event, std::string_view job, std::string_view outcome,
            std::string_view code) {
    for (End& end : ends_) {
      if (end.job == job) {
        end = {end.job, std::string(outcome), std::string(code), event.t, true};
      }
    }
  }

  [[nodiscard]] std::string wanted() const {
    std::string text = fmt::format("job {} ends {}", expect_.job, expect_.ends);
    text += expect_.code ? " with " + *expect_.code : "";
    text += expect_.at ? " at " + format_duration(*expect_.at) : "";
    text += expect_.before ? " before " + format_duration(*expect_.before) : "";
    text += expect_.after ? " after " + format_duration(*expect_.after) : "";
    return text;
  }
  static std::string seen(const End& end) {
    if (!end.ended) {
      return fmt::format("job {} has no end", end.job);
    }
    return fmt::format("job {} ended {}{} at {}", end.job, end.outcome,
                       end.code.empty() ? "" : " with " + end.code, format_duration(end.t));
  }

  model::ExpectJob expect_;
  std::vector<End> ends_;
};

// ---- counts of a stage ----

class StageJudge final : public Judge {
 public:
  StageJudge(const model::ExpectStage& expect, const Context& context) : expect_(expect) {
    for (const std::string& name : JobMatcher(expect.job, context.repeated).names()) {
      counts_.push_back({.job = name});
    }
  }

  void on(const Event& event, const Context& context) override {
    if (const auto* submitted = event.as<model::StageSubmitted>()) {
      if (Counts* counts = find(submitted->stage.job, submitted->stage.stage, context)) {
        ++counts->attempts;
        counts->ends.clear();
      }
    } else if (const auto* completed = event.as<model::StageCompleted>()) {
      if (Counts* counts = find(completed->stage.job, completed->stage.stage, context)) {
        counts->ends = model::name_of(completed->status);
      }
    } else if (const auto* start = event.as<model::TaskStart>()) {
      if (Counts* counts = find(start->task.job, start->task.stage, context)) {
        ++counts->tasks;
      }
    }
  }

  [[nodiscard]] Finding finish(const Context&) const override {
    for (const Counts& counts : counts_) {
      if ((expect_.attempts && *expect_.attempts != counts.attempts) ||
          (expect_.tasks_started && *expect_.tasks_started != counts.tasks) ||
          (expect_.ends && *expect_.ends != counts.ends)) {
        return failed(
            wanted(),
            fmt::format("{}/{} had {} attempts, {} tasks started, its last attempt {}", counts.job,
                        expect_.stage, counts.attempts, counts.tasks,
                        counts.ends.empty() ? "did not complete" : "ended " + counts.ends));
      }
    }
    return passed(wanted());
  }

 private:
  struct Counts {
    std::string job;
    std::int64_t attempts = 0;
    std::int64_t tasks = 0;
    std::string ends = {};
  };

  Counts* find(model::NameId job, model::NameId stage, const Context& context) {
    if (context.names->text(stage) != expect_.stage) {
      return nullptr;
    }
    const std::string_view name = context.names->text(job);
    const auto found = std::find_if(counts_.begin(), counts_.end(),
                                    [&](const Counts& counts) { return counts.job == name; });
    return found == counts_.end() ? nullptr : &*found;
  }

  [[nodiscard]] std::string wanted() const {
    std::string text = fmt::format("stage {}/{}:", expect_.job, expect_.stage);
    text += expect_.attempts ? fmt::format(" {} attempts", *expect_.attempts) : "";
    text += expect_.tasks_started ? fmt::format(" {} tasks started", *expect_.tasks_started) : "";
    text += expect_.ends ? " ends " + *expect_.ends : "";
    return text;
  }

  model::ExpectStage expect_;
  std::vector<Counts> counts_;
};

// ---- the state at an instant ----

std::string_view phase_text(StagePhase phase) {
  constexpr std::array<std::string_view, 5> texts{"unknown (its job was not submitted)", "waiting",
                                                  "running", "completed", "over"};
  return texts.at(static_cast<std::size_t>(phase));
}

class StateJudge final : public Judge {
 public:
  explicit StateJudge(const model::ExpectState& expect) : expect_(expect) {}

  void on(const Event& event, const Context& context) override {
    if (!problem_ && event.t > expect_.at) {
      problem_ = problem(context);
    }
    if (!problem_) {
      last_ = event;
    }
  }

  [[nodiscard]] Finding finish(const Context& context) const override {
    const std::string seen = problem_ ? *problem_ : problem(context);
    if (seen.empty()) {
      return passed(wanted());
    }
    const std::string near =
        last_ ? "\n  the last line until then:\n  " + model::journal_line(*last_, *context.names)
              : "\n  no line until then";
    return failed(wanted(), seen + near);
  }

 private:
  // What does not hold now; empty when all does.
  [[nodiscard]] std::string problem(const Context& context) const {
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    const auto check = [&](const std::vector<std::string>& stages, auto holds) {
      for (const std::string& name : stages) {
        const std::size_t slash = name.find('/');
        const std::string stage = name.substr(slash + 1);
        for (const std::string& job : JobMatcher(name.substr(0, slash), context.repeated).names()) {
          const StagePhase phase = context.cluster->phase(job, stage);
          if (!holds(phase)) {
            add(fmt::format("{}/{} is {}", job, stage, phase_text(phase)));
          }
        }
      }
    };
    check(expect_.running, [](StagePhase phase) { return phase == StagePhase::running; });
    check(expect_.waiting, [](StagePhase phase) { return phase == StagePhase::waiting; });
    check(expect_.not_running, [](StagePhase phase) { return phase != StagePhase::running; });
    for (const auto& [profile, count] : expect_.free) {
      const std::optional<std::int64_t> free = context.cluster->free(profile);
      if (free != count) {
        add(fmt::format("free slots of {} are {} ({})", profile,
                        free ? std::to_string(*free) : "unknown",
                        context.cluster->free_by_executor(profile)));
      }
    }
    return text;
  }

  [[nodiscard]] std::string wanted() const {
    std::string text = "at " + format_duration(expect_.at);
    const auto list = [&](std::string_view what, const std::vector<std::string>& stages) {
      if (!stages.empty()) {
        text += fmt::format(", {} {}", what, fmt::join(stages, " "));
      }
    };
    list("running", expect_.running);
    list("waiting", expect_.waiting);
    list("not running", expect_.not_running);
    for (const auto& [profile, count] : expect_.free) {
      text += fmt::format(", {} free slots of {}", count, profile);
    }
    return text;
  }

  model::ExpectState expect_;
  std::optional<std::string> problem_;  // once its instant is over
  std::optional<Event> last_;
};

// ---- order ----

class OrderJudge final : public Judge {
 public:
  OrderJudge(const model::ExpectOrder& expect, const Context& context) : expect_(expect) {
    for (const model::EventPattern& pattern : expect.order) {
      matchers_.emplace_back(pattern, context.repeated);
    }
  }

  void on(const Event& event, const Context& context) override {
    // One event is at most one item: the next one is looked for after it.
    if (next_ < matchers_.size() && matches(next_, event, context)) {
      last_ = event;
      ++next_;
      before_ = {};
      return;
    }
    // Of what is still missing, remember the lines that came too early.
    if (next_ < matchers_.size()) {
      for (std::size_t i = next_ + 1; i < matchers_.size(); ++i) {
        if (matches(i, event, context)) {
          before_.add(event);
          return;
        }
      }
    }
  }

  [[nodiscard]] Finding finish(const Context& context) const override {
    std::string wanted = "in this order: ";
    for (const model::EventPattern& pattern : expect_.order) {
      wanted += (&pattern == &expect_.order.front() ? "" : ", ") + to_string(pattern);
    }
    if (next_ == matchers_.size()) {
      return passed(wanted);
    }
    return failed(
        wanted, fmt::format("\"{}\" (item {}) does not come {}{}\n  later items met meanwhile:{}",
                            to_string(expect_.order[next_]), next_, last_ ? "after\n  " : "at all",
                            last_ ? model::journal_line(*last_, *context.names) : "",
                            before_.text(*context.names)));
  }

 private:
  [[nodiscard]] bool matches(std::size_t i, const Event& event, const Context& context) const {
    return matchers_[i].number() == event.number() && matchers_[i].matches(event, *context.names);
  }

  model::ExpectOrder expect_;
  std::vector<EventMatcher> matchers_;
  std::size_t next_ = 0;
  std::optional<Event> last_;
  NearLines before_;
};

// ---- events and their number ----

class EventJudge final : public Judge {
 public:
  EventJudge(const model::ExpectEvent& expect, const Context& context)
      : expect_(expect), matcher_(expect.pattern, context.repeated) {}

  void on(const Event& event, const Context& context) override {
    if (event.number() != matcher_.number() || !matcher_.matches(event, *context.names)) {
      return;
    }
    const bool counts =
        (!expect_.at || event.t == *expect_.at) && keys_match(event, expect_.keys, *context.names);
    count_ += counts ? 1 : 0;
    // What is in the way: matching lines when there are too many, the others when too few.
    (counts ? matching_ : others_).add(event);
  }

  [[nodiscard]] Finding finish(const Context& context) const override {
    std::int64_t min = 0;
    std::optional<std::int64_t> max;
    if (expect_.never) {
      max = 0;
    } else if (expect_.count) {
      min = *expect_.count;
      max = expect_.count;
    } else {
      min = expect_.min.value_or(expect_.max ? 0 : 1);
      max = expect_.max;
    }
    if (count_ >= min && (!max || count_ <= *max)) {
      return passed(wanted());
    }
    const bool too_many = count_ >= min;
    return failed(wanted(),
                  fmt::format("there are {}{}{}", count_,
                              too_many || count_ == 0 ? "" : matching_.text(*context.names),
                              too_many ? matching_.text(*context.names)
                                       : "\n  lines of that pattern that differ:" +
                                             others_.text(*context.names)));
  }

 private:
  [[nodiscard]] std::string wanted() const {
    std::string text;
    if (expect_.never) {
      text = "no ";
    } else if (expect_.count) {
      text = fmt::format("exactly {} ", *expect_.count);
    } else if (expect_.min && expect_.max) {
      text = fmt::format("{} to {} ", *expect_.min, *expect_.max);
    } else if (expect_.max) {
      text = fmt::format("at most {} ", *expect_.max);
    } else {
      text = fmt::format("at least {} ", expect_.min.value_or(1));
    }
    text += fmt::format("\"{}\"", to_string(expect_.pattern));
    text += expect_.keys.empty() ? "" : " with " + to_string(expect_.keys);
    text += expect_.at ? " at " + format_duration(*expect_.at) : "";
    return text;
  }

  model::ExpectEvent expect_;
  EventMatcher matcher_;
  std::int64_t count_ = 0;
  NearLines matching_;
  NearLines others_;
};

// ---- what is known at the end only ----

class InvariantJudge final : public Judge {
 public:
  explicit InvariantJudge(const model::ExpectInvariant& expect) : expect_(expect) {}
  void on(const Event&, const Context&) override {}

  [[nodiscard]] Finding finish(const Context& context) const override {
    const std::string wanted =
        fmt::format("{} {}", expect_.property, expect_.holds ? "to hold" : "to be violated");
    if (context.outcome->verdicts == nullptr) {
      return failed(wanted, "no property was judged");
    }
    std::vector<std::string_view> known;
    for (const PropertyVerdict& row : *context.outcome->verdicts) {
      known.push_back(row.property);
      if (row.property != expect_.property) {
        continue;
      }
      const Verdict needed = expect_.holds ? Verdict::held : Verdict::violated;
      if (row.verdict == needed) {
        return passed(wanted);
      }
      std::string seen = fmt::format("it is {}", model::name_of(row.verdict));
      for (const model::Violation& violation : row.violations) {
        seen += fmt::format("\n  {}: {}", format_duration(violation.t), violation.detail);
        break;
      }
      return failed(wanted, seen);
    }
    const std::string nearest =
        model::nearest_name(expect_.property, known.data(), known.data() + known.size());
    return failed(wanted,
                  nearest.empty()
                      ? std::string("there is no property of that name")
                      : fmt::format("there is no such property; did you mean {}?", nearest));
  }

 private:
  model::ExpectInvariant expect_;
};

class HashJudge final : public Judge {
 public:
  explicit HashJudge(const model::ExpectJournalHash& expect) : expect_(expect) {}
  void on(const Event&, const Context&) override {}
  [[nodiscard]] Finding finish(const Context& context) const override {
    const std::string seen = model::format_journal_hash(context.outcome->journal_hash);
    const std::string wanted = "journal hash " + expect_.hash;
    return seen == expect_.hash ? passed(wanted) : failed(wanted, "it is " + seen);
  }

 private:
  model::ExpectJournalHash expect_;
};

class SameJournalJudge final : public Judge {
 public:
  SameJournalJudge(const model::ExpectSameJournal& expect, std::int32_t index)
      : expect_(expect), index_(index) {}
  void on(const Event&, const Context&) override {}
  [[nodiscard]] Finding finish(const Context& context) const override {
    const std::string wanted = "the same journal as " + expect_.file;
    const auto difference = context.outcome->differences.find(index_);
    if (difference == context.outcome->differences.end()) {
      return failed(wanted, "it was not compared");
    }
    return difference->second.empty() ? passed(wanted) : failed(wanted, difference->second);
  }

 private:
  model::ExpectSameJournal expect_;
  std::int32_t index_;
};

class LoadErrorJudge final : public Judge {
 public:
  explicit LoadErrorJudge(const model::ExpectLoadError& expect) : expect_(expect) {}
  void on(const Event&, const Context&) override {}
  [[nodiscard]] Finding finish(const Context&) const override {
    return failed("the file to fail to load at " + expect_.pointer, "it loads");
  }

 private:
  model::ExpectLoadError expect_;
};

class TotalsJudge final : public Judge {
 public:
  explicit TotalsJudge(const model::ExpectTotals& expect) : expect_(expect) {}

  void on(const Event& event, const Context& context) override {
    count("events", model::is_hashed(event) ? 1 : 0);
    if (const auto* submitted = event.as<model::JobSubmitted>()) {
      count("jobs", 1);
      const bool first = context.names->text(submitted->job).find('#') == std::string_view::npos;
      count("requests", first ? 1 : 0);
    } else if (event.as<model::StageSubmitted>() != nullptr) {
      count("stages", 1);
    } else if (event.as<model::TaskStart>() != nullptr) {
      count("tasks", 1);
    } else if (event.as<model::JobRejected>() != nullptr) {
      count("rejected", 1);
    } else if (const auto* end = event.as<model::JobEnd>()) {
      count(model::name_of(end->outcome), 1);
    }
  }

  [[nodiscard]] Finding finish(const Context&) const override {
    std::string wanted = "totals:";
    for (const model::ExpectTotals::Bound& bound : expect_.bounds) {
      wanted += fmt::format(" {}{}{}", bound.name,
                            bound.min ? fmt::format(" at least {}", *bound.min) : "",
                            bound.max ? fmt::format(" at most {}", *bound.max) : "");
    }
    for (const model::ExpectTotals::Bound& bound : expect_.bounds) {
      const std::int64_t seen = total(bound.name);
      if ((bound.min && seen < *bound.min) || (bound.max && seen > *bound.max)) {
        return failed(wanted, fmt::format("there are {} {}", seen, bound.name));
      }
    }
    return passed(wanted);
  }

 private:
  void count(std::string_view name, std::int64_t number) { totals_[name] += number; }

  [[nodiscard]] std::int64_t plain(std::string_view name) const {
    const auto found = totals_.find(name);
    return found == totals_.end() ? 0 : found->second;
  }
  [[nodiscard]] std::int64_t total(std::string_view name) const {
    if (name != "unfinished") {
      return plain(name);
    }
    return plain("jobs") - plain("rejected") - plain("succeeded") - plain("failed") -
           plain("cancelled");
  }

  model::ExpectTotals expect_;
  std::map<std::string_view, std::int64_t> totals_;  // keys are literals
};

struct MakeJudge {
  const Context& context;
  std::int32_t index;

  std::unique_ptr<Judge> operator()(const model::ExpectJob& expect) const {
    return std::make_unique<JobJudge>(expect, context);
  }
  std::unique_ptr<Judge> operator()(const model::ExpectStage& expect) const {
    return std::make_unique<StageJudge>(expect, context);
  }
  std::unique_ptr<Judge> operator()(const model::ExpectState& expect) const {
    return std::make_unique<StateJudge>(expect);
  }
  std::unique_ptr<Judge> operator()(const model::ExpectOrder& expect) const {
    return std::make_unique<OrderJudge>(expect, context);
  }
  std::unique_ptr<Judge> operator()(const model::ExpectEvent& expect) const {
    return std::make_unique<EventJudge>(expect, context);
  }
  std::unique_ptr<Judge> operator()(const model::ExpectInvariant& expect) const {
    return std::make_unique<InvariantJudge>(expect);
  }
  std::unique_ptr<Judge> operator()(const model::ExpectLoadError& expect) const {
    return std::make_unique<LoadErrorJudge>(expect);
  }
  std::unique_ptr<Judge> operator()(const model::ExpectJournalHash& expect) const {
    return std::make_unique<HashJudge>(expect);
  }
  std::unique_ptr<Judge> operator()(const model::ExpectSameJournal& expect) const {
    return std::make_unique<SameJournalJudge>(expect, index);
  }
  std::unique_ptr<Judge> operator()(const model::ExpectTotals& expect) const {
    return std::make_unique<TotalsJudge>(expect);
  }
};

}  // namespace

struct Expectations::State {
  std::vector<model::Expectation> expectations;
  Context context;
  ClusterState cluster;
  bool needs_cluster = false;
  std::vector<std::unique_ptr<Judge>> judges;
};

Expectations::Expectations(const model::Scenario& scenario) : state_(std::make_unique<State>()) {
  state_->expectations = scenario.expect;
  state_->context.repeated = repeated_jobs(scenario.jobs, scenario.names);
  state_->context.cluster = &state_->cluster;
}

Expectations::~Expectations() = default;

void Expectations::begin(const model::NameTable& names) {
  state_->context.names = &names;
  state_->cluster.begin(names);
  state_->judges.clear();
  std::int32_t index = 0;
  for (const model::Expectation& expectation : state_->expectations) {
    state_->needs_cluster |= std::holds_alternative<model::ExpectState>(expectation);
    state_->judges.push_back(std::visit(MakeJudge{state_->context, index}, expectation));
    ++index;
  }
}

void Expectations::on(const Event& event) {
  for (const std::unique_ptr<Judge>& judge : state_->judges) {
    judge->on(event, state_->context);
  }
  // After the judges: those of an instant look at the state before the first later event.
  if (state_->needs_cluster) {
    state_->cluster.apply(event);
  }
}

std::vector<ExpectationResult> Expectations::finish(const RunOutcome& outcome) {
  state_->context.outcome = &outcome;
  std::vector<ExpectationResult> results;
  std::int32_t index = 0;
  for (const std::unique_ptr<Judge>& judge : state_->judges) {
    Finding verdict = judge->finish(state_->context);
    results.push_back({.index = index, .ok = verdict.ok, .detail = std::move(verdict.detail)});
    ++index;
  }
  state_->context.outcome = nullptr;
  return results;
}

struct JournalLines::State {
  std::vector<EventMatcher> except;
  const model::NameTable* names = nullptr;
  std::vector<std::string> lines;
};

JournalLines::JournalLines(const std::vector<model::EventPattern>& except,
                           const model::Scenario& scenario)
    : state_(std::make_unique<State>()) {
  const std::vector<RepeatedJob> repeated = repeated_jobs(scenario.jobs, scenario.names);
  for (const model::EventPattern& pattern : except) {
    state_->except.emplace_back(pattern, repeated);
  }
}

JournalLines::~JournalLines() = default;

void JournalLines::begin(const model::NameTable& names) {
  state_->names = &names;
  state_->lines.clear();
}

void JournalLines::on(const Event& event) {
  if (!model::is_hashed(event)) {
    return;
  }
  for (const EventMatcher& matcher : state_->except) {
    if (matcher.number() == event.number() && matcher.matches(event, *state_->names)) {
      return;
    }
  }
  state_->lines.push_back(model::journal_line(event, *state_->names));
}

const std::vector<std::string>& JournalLines::lines() const { return state_->lines; }

std::string first_difference(const std::vector<std::string>& left,
                             const std::vector<std::string>& right) {
  const std::size_t shared = std::min(left.size(), right.size());
  std::size_t i = 0;
  while (i < shared && left[i] == right[i]) {
    ++i;
  }
  if (i == left.size() && i == right.size()) {
    return {};
  }
  const auto shown = [&](const std::vector<std::string>& lines) {
    return i < lines.size() ? lines[i] : std::string("(the journal ends here)");
  };
  return fmt::format("line {} differs:\n  {}\n  {}", i + 1, shown(left), shown(right));
}

}  // namespace rehearse::properties
