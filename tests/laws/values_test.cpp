// Laws of the values that everything else is made of: amounts and slots, durations, sizes, rates,
// decimals and their texts, division, draws, lists of ranges.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "model/resources.hpp"
#include "model/support/distribution.hpp"
#include "model/support/draw.hpp"
#include "model/support/units.hpp"
#include "properties/oracle/world.hpp"
#include "tests/support/law.hpp"

using namespace rehearse;
using testing::between;
using testing::holds;

namespace {

__extension__ using Wide = __int128;

constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();

// What an executor has and what one task takes, over the same resources.
struct Demand {
  model::ResourceVector free;
  model::ResourceVector task;
};

Demand some_demand() {
  const auto resources = static_cast<std::size_t>(*rc::gen::inRange(1, 5));
  Demand demand;
  for (std::size_t r = 0; r < resources; ++r) {
    demand.free.push_back(between(0, 64'000));
    demand.task.push_back(*rc::gen::inRange(0, 5) == 0 ? 0 : between(1, 9'000));
  }
  return demand;
}

// Are so many tasks within what there is?
bool within(const Demand& demand, std::int64_t tasks) {
  for (std::size_t r = 0; r < demand.task.size(); ++r) {
    if (Wide{demand.task[r]} * tasks > Wide{demand.free[r]} && demand.task[r] > 0) {
      return false;
    }
  }
  return true;
}

// Drawn by its number of digits, so that small and huge ones are equally likely.
std::int64_t some_amount() {
  const int bits = *rc::gen::inRange(0, 64);
  return between(0, bits == 0 ? 0 : int64_max >> (63 - bits));
}

}  // namespace

TEST_CASE("slots (A4)") {
  holds({.says = "as many tasks as fit, and not one more"}, [] {
    const Demand demand = some_demand();
    const std::int64_t slots = model::slots_of(demand.free, demand.task);
    RC_ASSERT(slots >= 0);
    RC_ASSERT(within(demand, slots));
    RC_ASSERT(slots == model::unbounded_slots || !within(demand, slots + 1));
  });
  holds({.says = "a task that starts takes one slot"}, [] {
    Demand demand = some_demand();
    const std::int64_t slots = model::slots_of(demand.free, demand.task);
    RC_PRE(slots > 0 && slots < model::unbounded_slots);
    for (std::size_t r = 0; r < demand.task.size(); ++r) {
      demand.free[r] -= demand.task[r];
    }
    RC_ASSERT(model::slots_of(demand.free, demand.task) == slots - 1);
  });
  holds({.says = "more of a resource never gives fewer slots, a larger task never more"}, [] {
    const Demand demand = some_demand();
    const std::int64_t slots = model::slots_of(demand.free, demand.task);
    const auto r =
        static_cast<std::size_t>(*rc::gen::inRange<std::int64_t>(0, std::ssize(demand.task)));
    Demand more = demand;
    more.free[r] += between(0, 5'000);
    RC_ASSERT(model::slots_of(more.free, more.task) >= slots);
    Demand larger = demand;
    larger.task[r] += between(0, 5'000);
    RC_ASSERT(model::slots_of(larger.free, larger.task) <= slots);
  });
  holds({.says = "the order of resources is no matter"}, [] {
    Demand demand = some_demand();
    const std::int64_t slots = model::slots_of(demand.free, demand.task);
    std::ranges::reverse(demand.free);
    std::ranges::reverse(demand.task);
    RC_ASSERT(model::slots_of(demand.free, demand.task) == slots);
  });
}

TEST_CASE("texts of durations, sizes, rates and decimals") {
  holds({.says = "a duration is read back as it was", .cases = 5000}, [] {
    const model::Duration duration = some_amount();
    const auto back = model::parse_duration(model::format_duration(duration));
    RC_ASSERT(back.has_value());
    RC_ASSERT(*back == duration);
  });
  holds({.says = "a duration is its decimal times its unit"}, [] {
    const std::int64_t value = between(0, 1'000'000'000);
    struct Unit {
      std::string name;
      std::int64_t thousandth;
    };
    const auto unit = *rc::gen::elementOf(std::vector<Unit>{
        {"us", 1}, {"ms", 1'000}, {"s", 1'000'000}, {"m", 60'000'000}, {"h", 3'600'000'000}});
    const auto duration = model::parse_duration(model::format_decimal(value, 1000) + unit.name);
    RC_ASSERT(duration.has_value());
    RC_ASSERT(*duration == value * unit.thousandth);
  });
  holds({.says = "a size and a rate are read back as they were", .cases = 5000}, [] {
    const std::int64_t amount = some_amount();
    const auto bytes = model::parse_bytes(model::format_bytes(amount));
    RC_ASSERT(bytes.has_value());
    RC_ASSERT(*bytes == amount);
    const auto rate = model::parse_rate(model::format_rate(amount));
    RC_ASSERT(rate.has_value());
    RC_ASSERT(*rate == amount);
  });
  holds({.says = "a decimal means the same at a finer scale, and with zeros behind it"}, [] {
    const std::int64_t value = between(0, int64_max / 1'000'000);
    const std::string text = model::format_decimal(value, 1000);
    const auto finer = model::parse_decimal(text, 1'000'000);
    RC_ASSERT(finer.has_value());
    RC_ASSERT(*finer == value * 1000);
    const std::string longer = text.find('.') == std::string::npos ? text + ".0" : text + "00";
    const auto same = model::parse_decimal(longer, 1000);
    RC_ASSERT(same.has_value());
    RC_ASSERT(*same == value);
  });
}

TEST_CASE("a division with one rounding") {
  holds({.says = "half a divisor off at most, and up at exactly half", .cases = 5000}, [] {
    const std::int64_t c = between(1, int64_max >> 1);
    const std::int64_t a = some_amount();
    const std::int64_t b = between(0, a == 0 ? 1000 : int64_max / a);
    const Wide product = Wide{a} * b;
    RC_PRE(product / c < Wide{int64_max});
    const std::int64_t quotient = model::mul_div_round(a, b, c);
    const Wide twice_off = 2 * (Wide{quotient} * c - product);
    RC_ASSERT(twice_off <= Wide{c});
    RC_ASSERT(twice_off > -Wide{c});
    RC_ASSERT(model::mul_div_round(b, a, c) == quotient);
  });
  holds({.says = "a common factor is no matter"}, [] {
    const std::int64_t a = between(0, 1'000'000);
    const std::int64_t b = between(0, 1'000'000);
    const std::int64_t c = between(1, 1'000'000);
    const std::int64_t k = between(1, 1'000'000);
    RC_ASSERT(model::mul_div_round(a * k, b, c * k) == model::mul_div_round(a, b, c));
  });
}

TEST_CASE("draws") {
  holds({.says = "below its bound, and greater bits give no smaller number"}, [] {
    const auto count = static_cast<std::uint64_t>(between(1, int64_max));
    const auto one = *rc::gen::arbitrary<std::uint64_t>();
    const auto other = *rc::gen::arbitrary<std::uint64_t>();
    const auto [low, high] = std::minmax(one, other);
    RC_ASSERT(model::uniform_below(high, count) < count);
    RC_ASSERT(model::uniform_below(low, count) <= model::uniform_below(high, count));
    RC_ASSERT(model::uniform_below(0, count) == 0);
  });
  holds({.says = "a sample is never negative, nor above its cap, and both ends are kept"}, [] {
    const model::Duration low = between(0, 1'000'000);
    const model::Duration high = low + between(0, 1'000'000);
    const auto bits = *rc::gen::arbitrary<std::uint64_t>();
    const model::Duration uniform =
        model::sample(model::uniform_distribution({.min_ns = low, .max_ns = high}), bits);
    RC_ASSERT(uniform >= low);
    RC_ASSERT(uniform <= high);
    model::Distribution capped = model::exponential_distribution(high + 1);
    const model::Duration free = model::sample(capped, bits);
    capped.cap_ns = low;
    RC_ASSERT(free >= 0);
    RC_ASSERT(model::sample(capped, bits) == std::min(free, low));
  });
}

TEST_CASE("ranges of partitions") {
  holds({.says = "what they cover is the list, and no two of them touch"}, [] {
    const auto drawn = *rc::gen::container<std::set<int>>(rc::gen::inRange(0, 200));
    const std::vector<int> partitions(drawn.begin(), drawn.end());
    const model::Ranges ranges = properties::oracle::ranges_of(partitions);
    std::vector<int> covered;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      RC_ASSERT(ranges[i].first <= ranges[i].last);
      if (i > 0) {  // RC_ASSERT evaluates both sides of an or
        RC_ASSERT(ranges[i].first > ranges[i - 1].last + 1);
      }
      for (int p = ranges[i].first; p <= ranges[i].last; ++p) {
        covered.push_back(p);
      }
    }
    RC_ASSERT(covered == partitions);
  });
}
