// The one table of bounds on waiting.
#include "model/waiting_bound.hpp"

#include <array>

#include "model/support/check.hpp"

namespace rehearse::model {

namespace {

constexpr std::size_t overtake_count = EnumNames<Overtake>::texts.size();

constexpr auto bounds = std::to_array<PairBound>({
    PairBound{
        QueueOrder::fifo, Overtake::never, WaitingBound::never_passed,
        "nobody behind it passes: the longest remaining task of units before it and of what runs",
        ""},
    PairBound{QueueOrder::fifo, Overtake::backfill, WaitingBound::unbounded, "unbounded",
              "A7-unbounded-fifo-backfill"},
    PairBound{QueueOrder::fifo, Overtake::easy, WaitingBound::starts_as_planned,
              "its earliest start when it became head, under exact estimates", ""},
    PairBound{QueueOrder::fifo, Overtake::aging, WaitingBound::passed_until_aged,
              "`after`, then as fifo with never", ""},
    PairBound{QueueOrder::fair, Overtake::never, WaitingBound::never_passed,
              "as fifo within its pool; a pool below its min_share goes first", ""},
    PairBound{QueueOrder::fair, Overtake::backfill, WaitingBound::unbounded, "unbounded",
              "A7-unbounded-fair-backfill"},
    PairBound{QueueOrder::fair, Overtake::easy, WaitingBound::starts_as_planned,
              "as fifo within its pool; a pool below its min_share goes first", ""},
    PairBound{QueueOrder::fair, Overtake::aging, WaitingBound::passed_until_aged,
              "as fair with never, `after` later for every head before it", ""},
    PairBound{QueueOrder::priority, Overtake::never, WaitingBound::unbounded, "unbounded",
              "A7-unbounded-priority-never"},
    PairBound{QueueOrder::priority, Overtake::backfill, WaitingBound::unbounded, "unbounded",
              "A7-unbounded-priority-backfill"},
    PairBound{QueueOrder::priority, Overtake::easy, WaitingBound::unbounded, "unbounded",
              "A7-unbounded-priority-easy"},
    PairBound{QueueOrder::priority, Overtake::aging, WaitingBound::unbounded, "unbounded",
              "A7-unbounded-priority-aging"},
    PairBound{QueueOrder::smallest_first, Overtake::never, WaitingBound::unbounded, "unbounded",
              "A7-unbounded-smallest-first-never"},
    PairBound{QueueOrder::smallest_first, Overtake::backfill, WaitingBound::unbounded, "unbounded",
              "A7-unbounded-smallest-first-backfill"},
    PairBound{QueueOrder::smallest_first, Overtake::easy, WaitingBound::unbounded, "unbounded",
              "A7-unbounded-smallest-first-easy"},
    PairBound{QueueOrder::smallest_first, Overtake::aging, WaitingBound::unbounded, "unbounded",
              "A7-unbounded-smallest-first-aging"},
    PairBound{QueueOrder::unordered, Overtake::never, WaitingBound::unbounded, "unbounded",
              "A7-unbounded-unordered-never"},
    PairBound{QueueOrder::unordered, Overtake::backfill, WaitingBound::unbounded, "unbounded",
              "A7-unbounded-unordered-backfill"},
    PairBound{QueueOrder::unordered, Overtake::easy, WaitingBound::unbounded, "unbounded",
              "A7-unbounded-unordered-easy"},
    PairBound{QueueOrder::unordered, Overtake::aging, WaitingBound::unbounded, "unbounded",
              "A7-unbounded-unordered-aging"},
});
static_assert(bounds.size() == EnumNames<QueueOrder>::texts.size() * overtake_count);

}  // namespace

std::span<const PairBound> waiting_bounds() { return bounds; }

const PairBound& waiting_bound(QueueOrder queue, Overtake overtake) {
  const PairBound& bound =
      bounds[static_cast<std::size_t>(queue) * overtake_count + static_cast<std::size_t>(overtake)];
  RH_CHECK(bound.queue == queue && bound.overtake == overtake);
  return bound;
}

}  // namespace rehearse::model
