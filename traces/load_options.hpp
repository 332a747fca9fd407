// How strict the reading of a trace is. Shared by all readers of traces.
#pragma once

#include "traces/input_stream.hpp"

namespace rehearse::traces {

struct LoadOptions {
  bool strict = false;   // the first problem is an error; otherwise it is counted and named
  bool lossy = false;    // read on when more than loss_percent_max of the tasks are missing (T012)
  bool partial = false;  // read a trace that says, or shows, that it is not all there was
  StreamOptions stream;
};

inline constexpr int loss_percent_max = 10;
inline constexpr int loss_tasks_min = 20;  // fewer are named, whatever their share

}  // namespace rehearse::traces
