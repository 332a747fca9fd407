// What a draw costs: random bits alone, and a sample of each distribution on top of them.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "model/support/distribution.hpp"
#include "model/support/draw.hpp"

namespace {

namespace model = rehearse::model;

const model::DrawKey key{0x0123456789abcdefU};

void draw_bits(benchmark::State& state) {
  std::uint32_t partition = 0;
  for (auto step : state) {
    benchmark::DoNotOptimize(model::draw(key, {.partition = partition++}));
  }
}
BENCHMARK(draw_bits);

void draw_sample(benchmark::State& state, const model::Distribution& distribution) {
  std::uint32_t partition = 0;
  for (auto step : state) {
    const std::uint64_t bits = model::draw(key, {.partition = partition++});
    benchmark::DoNotOptimize(model::sample(distribution, bits));
  }
}
BENCHMARK_CAPTURE(draw_sample, fixed, model::fixed_distribution(model::millisecond));
BENCHMARK_CAPTURE(draw_sample, lognormal,
                  model::lognormal_distribution({.median_ns = 100 * model::millisecond,
                                                 .sigma_e9 = 500'000'000}));
BENCHMARK_CAPTURE(draw_sample, exponential,
                  model::exponential_distribution(100 * model::millisecond));
BENCHMARK_CAPTURE(draw_sample, uniform,
                  model::uniform_distribution({.min_ns = model::millisecond,
                                               .max_ns = 100 * model::millisecond}));
BENCHMARK_CAPTURE(draw_sample, pareto,
                  model::pareto_distribution({.min_ns = 10 * model::millisecond,
                                              .alpha_e9 = 1'500'000'000}));
BENCHMARK_CAPTURE(draw_sample, empirical, model::empirical_distribution({1, 2, 3, 5, 8, 13}));

void mean_of_capped_lognormal(benchmark::State& state) {
  model::Distribution distribution = model::lognormal_distribution(
      {.median_ns = 100 * model::millisecond, .sigma_e9 = 500'000'000});
  distribution.cap_ns = model::second;
  for (auto step : state) {
    benchmark::DoNotOptimize(model::mean_ns(distribution));
  }
}
BENCHMARK(mean_of_capped_lognormal);

}  // namespace
