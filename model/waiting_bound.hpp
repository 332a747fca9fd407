// How often, or how long, a waiting head can be passed over, for every pair of queue order and
// overtaking rule (A7): said once, read by `rehearse list policies`, by the promises of a run and
// by the monitor of NO_STARVATION. Why each holds:
//
// fifo never      Nothing behind the head starts where it could (A16), and what stands before it
//                 was submitted before it, so no more of that comes: it ends, what runs ends, and
//                 then every slot that serves the head is free.
// fifo aging      The same from the moment the head has waited `after`.
// fifo easy       What starts behind the head ends before the head's earliest start or leaves it
//                 its slots then (A17), so that time never grows, while estimates are exact.
// fair            As fifo among the jobs of one pool. A pool whose running tasks have ended goes
//                 before every pool that has some, except for one below its min_share, which may
//                 keep that share for ever.
// the others      Someone who comes later may start first again and again; each names a scenario of
//                 tests/spec/scenarios that shows it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/scheduler_config.hpp"

namespace rehearse::model {

enum class WaitingBound : std::uint8_t {
  never_passed,       // by nobody behind it, where it could start
  passed_until_aged,  // by whoever fits until it has waited `after`, then by nobody
  starts_as_planned,  // by whoever does not move its earliest start, under exact estimates
  unbounded
};

struct PairBound {
  QueueOrder queue{};
  Overtake overtake{};
  WaitingBound kind = WaitingBound::unbounded;
  std::string_view text;      // for people: how long a head can be kept waiting
  std::string_view shown_by;  // unbounded: the scenario that shows it; else empty
};

// Every pair, by queue and then overtaking rule in the order of their enums.
[[nodiscard]] std::span<const PairBound> waiting_bounds();
[[nodiscard]] const PairBound& waiting_bound(QueueOrder queue, Overtake overtake);

}  // namespace rehearse::model
