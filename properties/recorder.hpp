// An observer that keeps a whole journal, for those that look at it afterwards.
#pragma once

#include <vector>

#include "model/support/events.hpp"

namespace rehearse::properties {

// The names of the events are those of the run's result.
class Recorder final : public model::Observer {
 public:
  void begin(const model::NameTable& /*names*/) override {}
  void on(const model::Event& event) override { events.push_back(event); }
  std::vector<model::Event> events;
};

}  // namespace rehearse::properties
