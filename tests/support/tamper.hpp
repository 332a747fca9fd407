// A deliberately broken driver: stands between whoever writes a journal and its observers, and
// drops, doubles or changes the nth event that matches. Everything else passes untouched.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "model/support/events.hpp"

namespace rehearse::testing {

// What to break. `becomes` gives what is passed on instead of the event, in order.
struct Tampering {
  std::function<bool(const model::Event&, const model::NameTable&)> matches;
  std::function<std::vector<model::Event>(const model::Event&)> becomes;
  std::int64_t nth = 1;  // 1 = the first that matches; 0 = every one
};

class Tamper final : public model::Observer {
 public:
  Tamper(model::Observer& next, Tampering tampering)
      : next_(&next), tampering_(std::move(tampering)) {}

  void begin(const model::NameTable& names) override {
    names_ = &names;
    next_->begin(names);
  }

  void on(const model::Event& event) override {
    if (tampering_.matches(event, *names_) &&
        (++matched_ == tampering_.nth || tampering_.nth == 0)) {
      ++applied_;
      for (const model::Event& other : tampering_.becomes(event)) {
        next_->on(other);
      }
      return;
    }
    next_->on(event);
  }

  // How often it changed something: a test that tampered with nothing shows nothing.
  [[nodiscard]] std::int64_t applied() const { return applied_; }

 private:
  model::Observer* next_;
  Tampering tampering_;
  const model::NameTable* names_ = nullptr;
  std::int64_t matched_ = 0;
  std::int64_t applied_ = 0;
};

// Matches events of one kind for which `also` holds.
template <class Body>
auto matching(std::function<bool(const Body&, const model::NameTable&)> also = {}) {
  return [also = std::move(also)](const model::Event& event, const model::NameTable& names) {
    const auto* body = event.as<Body>();
    return body != nullptr && (!also || also(*body, names));
  };
}

inline std::vector<model::Event> dropped(const model::Event& /*event*/) { return {}; }

inline std::vector<model::Event> doubled(const model::Event& event) { return {event, event}; }

template <class Body>
auto edited(std::function<void(Body&)> edit) {
  return [edit = std::move(edit)](const model::Event& event) {
    model::Event changed = event;
    edit(std::get<Body>(changed.body));
    return std::vector{changed};
  };
}

}  // namespace rehearse::testing
