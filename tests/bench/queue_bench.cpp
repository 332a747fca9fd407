// The event queue in the hold model: take out the earliest event, put one back a random time later,
// with a constant number pending. One iteration is one hold. The increments are exponential with a
// mean of 250 ms, drawn beforehand; "quantised" rounds them up to tenths of a second, so that very
// many events share an instant. std::priority_queue on the same events is the measure.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "model/support/distribution.hpp"
#include "model/support/draw.hpp"
#include "sim/engine/engine.hpp"

namespace {

namespace model = rehearse::model;
namespace sim = rehearse::sim;

constexpr std::size_t increment_count = std::size_t{1} << 15;

enum class Times : std::uint8_t { exact, quantised };

std::vector<model::Duration> increments(Times times) {
  const auto exponential = model::exponential_distribution(250 * model::millisecond);
  std::vector<model::Duration> values;
  for (std::uint32_t i = 0; i < increment_count; ++i) {
    const std::uint64_t bits = model::draw({0x5eed}, {.partition = i});
    const model::Duration exact = model::sample(exponential, bits);
    constexpr model::Duration quantum = 100 * model::millisecond;
    values.push_back(times == Times::exact ? exact : (exact + quantum) / quantum * quantum);
  }
  return values;
}

// The increments again and again, from a different place each round, so that no cycle forms.
class Source {
 public:
  explicit Source(Times times) : values_(increments(times)) {}
  model::Duration next() {
    ++count_;
    return values_[(count_ * 0x9e3779b9U >> 7) % increment_count];
  }

 private:
  std::vector<model::Duration> values_;
  std::uint64_t count_ = 0;
};

class StandardQueue {
 public:
  void push(model::Instant instant, const sim::EventTag& tag) {
    queue_.push(sim::Event::make(instant, tag));
  }
  sim::Event pop() {
    const sim::Event event = queue_.top();
    queue_.pop();
    return event;
  }

 private:
  std::priority_queue<sim::Event, std::vector<sim::Event>, std::greater<>> queue_;
};

template <class Queue>
void hold(benchmark::State& state, Times times) {
  const auto pending = static_cast<std::uint32_t>(state.range(0));
  Source source(times);
  Queue queue;
  std::uint32_t sequence = 0;
  for (; sequence < pending; ++sequence) {
    queue.push(source.next(), {.sequence = sequence, .payload = sequence & 0xffffU});
  }
  const auto one_hold = [&] {
    const sim::Event event = queue.pop();
    queue.push(event.instant() + source.next(),
               {.sequence = sequence++, .payload = event.tag().payload});
    benchmark::DoNotOptimize(event);
  };
  for (std::uint32_t i = 0; i < 2 * pending; ++i) {  // until the times are spread as they will be
    one_hold();
  }
  for (auto step : state) {
    one_hold();
  }
}

// The driver's way: all events of an instant at once. One iteration is one event.
void batches(benchmark::State& state, Times times) {
  const auto pending = static_cast<std::uint32_t>(state.range(0));
  Source source(times);
  sim::Engine engine;
  std::uint32_t sequence = 0;
  for (; sequence < pending; ++sequence) {
    engine.push(source.next(), {.sequence = sequence});
  }
  std::vector<sim::Event> batch;
  std::size_t taken = 0;
  for (auto step : state) {
    if (taken == batch.size()) {
      batch.clear();
      taken = 0;
      engine.pop_batch(engine.peek_time().value(), batch);
    }
    const sim::Event event = batch[taken++];
    engine.push(event.instant() + source.next(), {.sequence = sequence++});
    benchmark::DoNotOptimize(event);
  }
}

void hold_engine(benchmark::State& state, Times times) { hold<sim::Engine>(state, times); }
void hold_standard(benchmark::State& state, Times times) { hold<StandardQueue>(state, times); }

void pending_counts(benchmark::internal::Benchmark* bench) {
  bench->Arg(1'000)->Arg(10'000)->Arg(100'000)->Arg(1'000'000);
}

BENCHMARK_CAPTURE(hold_engine, exact, Times::exact)->Apply(pending_counts);
BENCHMARK_CAPTURE(hold_engine, quantised, Times::quantised)->Apply(pending_counts);
BENCHMARK_CAPTURE(batches, exact, Times::exact)->Apply(pending_counts);
BENCHMARK_CAPTURE(batches, quantised, Times::quantised)->Apply(pending_counts);
BENCHMARK_CAPTURE(hold_standard, exact, Times::exact)->Apply(pending_counts);
BENCHMARK_CAPTURE(hold_standard, quantised, Times::quantised)->Apply(pending_counts);

}  // namespace
