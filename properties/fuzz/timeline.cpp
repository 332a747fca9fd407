// registry: none (what a person sees of a counterexample)
#include "properties/fuzz/timeline.hpp"

#include <fmt/format.h>

#include <exception>
#include <string_view>

#include "model/support/journal_line.hpp"
#include "properties/monitor_set.hpp"

namespace rehearse::properties {

namespace {

// Behind the monitors, so that what they know stands beside each event.
class Recorder final : public model::Observer {
 public:
  explicit Recorder(MonitorSet& monitors) : monitors_(monitors) {}

  void begin(const model::NameTable& names) override {
    names_ = &names;
    monitors_.begin(names);
  }

  void on(const model::Event& event) override {
    monitors_.on(event);
    ++number_;
    const std::string_view name = event.name();
    if (name == "run" || name == "probe") {
      return;
    }
    TimelineRow row;
    row.t = event.t;
    row.number = number_;
    row.event = name;
    row.subject = subject(event);
    row.note = note(event);
    const Track& track = monitors_.track();
    for (const std::int64_t slots : track.slots().free()) {
      row.free += slots;
    }
    row.waiting = static_cast<std::int64_t>(track.waits().gang_count());
    row.running = track.live_tasks();
    rows.push_back(std::move(row));
  }

  std::vector<TimelineRow> rows;

 private:
  // The value of a key as text, without quotes; empty when the event has none.
  [[nodiscard]] std::string value(const model::Event& event, std::string_view key) const {
    std::string text;
    if (!model::append_key_value(text, event, key, *names_)) {
      return {};
    }
    if (text.size() > 1 && text.front() == '"') {
      text = text.substr(1, text.size() - 2);
    }
    return text;
  }

  [[nodiscard]] std::string subject(const model::Event& event) const {
    std::string text = value(event, "job");
    for (const std::string_view key : {"stage", "partition"}) {
      if (const std::string part = value(event, key); !part.empty()) {
        text += "/" + part;
      }
    }
    if (const std::string executor = value(event, "executor"); !executor.empty()) {
      text += text.empty() ? executor : " on " + executor;
    }
    return text;
  }

  [[nodiscard]] std::string note(const model::Event& event) const {
    std::string text;
    for (const std::string_view key : {"attempt", "try"}) {
      if (const std::string number = value(event, key); !number.empty() && number != "0") {
        text += fmt::format("{} {} ", key, number);
      }
    }
    for (const std::string_view key : {"status", "outcome", "reason", "cause", "code", "need",
                                       "have", "slots", "slot", "counted", "demand", "delta"}) {
      if (const std::string word = value(event, key); !word.empty()) {
        text += fmt::format("{}={} ", key, word);
      }
    }
    if (!text.empty()) {
      text.pop_back();
    }
    return text;
  }

  MonitorSet& monitors_;
  const model::NameTable* names_ = nullptr;
  std::uint64_t number_ = 0;
};

}  // namespace

std::vector<TimelineRow> timeline_of(const model::Scenario& scenario, const Harness& harness) {
  MonitorSet monitors;
  Recorder recorder(monitors);
  try {
    const auto policies = harness.policies(scenario.scheduler);
    if (!policies) {
      return {};
    }
    const auto between = harness.between ? harness.between(recorder) : nullptr;
    std::vector<model::Observer*> observers{between ? between.get() : &recorder};
    static_cast<void>(sim::run(scenario, *policies, observers, {}));
  } catch (const std::exception&) {
    // What there is up to the fault is what is asked for; the fault itself is a finding.
    return std::move(recorder.rows);
  }
  return std::move(recorder.rows);
}

}  // namespace rehearse::properties
