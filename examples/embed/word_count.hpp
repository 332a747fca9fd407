// The job: generate writes words, count counts them while they are written, merge adds up what
// count stored. Nothing here knows of a scheduler.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "examples/embed/channel.hpp"

namespace embed {

enum class Step : std::uint8_t { generate, count, merge };  // in the order of the job's stages

using Batch = std::vector<std::string>;
using Counts = std::map<std::string, std::int64_t>;

struct Plan {
  std::uint64_t words = 0;
  std::uint32_t generators = 1;
  std::uint32_t counters = 1;
};

// The pipelined edge of one attempt of the group, by reading task. An attempt has its own: words of
// one that failed must not reach the next.
using Exchange = std::vector<std::unique_ptr<Channel<Batch>>>;

// One try of one task.
struct Work {
  Step step{};
  std::uint32_t partition = 0;
  std::stop_token stop;                               // the kill
  std::shared_ptr<Exchange> exchange;                 // generate, count
  std::vector<std::shared_ptr<const Counts>> inputs;  // merge: the stored partitions of count
  bool dies = false;                                  // its worker goes with it, halfway
};

// Any function of the number will do, if some words are more frequent than others.
inline std::string word(std::uint64_t number) {
  const std::uint64_t mixed = (number + 1) * 0x9E3779B97F4A7C15U >> 20U;
  return "w" + std::to_string(mixed % 1'000 * (mixed / 1'000 % 1'000) / 1'000);
}

// False when the worker dies of it.
inline bool generate(const Work& work, const Plan& plan) {
  constexpr std::size_t batch_max = 256;
  std::vector<Batch> batches(plan.counters);
  for (std::uint64_t n = work.partition; n < plan.words; n += plan.generators) {
    if (work.dies && n >= plan.words / 2) {
      return false;
    }
    std::string text = word(n);
    const std::size_t reader = std::hash<std::string>{}(text) % plan.counters;
    batches[reader].push_back(std::move(text));
    if (batches[reader].size() == batch_max &&
        !(*work.exchange)[reader]->push(std::exchange(batches[reader], {}), work.stop)) {
      return true;  // killed
    }
  }
  for (std::size_t reader = 0; reader < batches.size(); ++reader) {
    if ((*work.exchange)[reader]->push(std::move(batches[reader]), work.stop)) {
      (*work.exchange)[reader]->close();
    }
  }
  return true;
}

inline bool run(const Work& work, const Plan& plan, Counts& output) {
  if (work.step == Step::generate) {
    return generate(work, plan);
  }
  if (work.step == Step::count) {
    while (const std::optional<Batch> batch = (*work.exchange)[work.partition]->pop(work.stop)) {
      for (const std::string& text : *batch) {
        ++output[text];
      }
    }
  }
  for (const auto& input : work.inputs) {
    for (const auto& [text, n] : *input) {
      output[text] += n;
    }
  }
  return true;
}

// What the job must give, by no other means than counting.
inline Counts plain_counts(const Plan& plan) {
  Counts counts;
  for (std::uint64_t n = 0; n < plan.words; ++n) {
    ++counts[word(n)];
  }
  return counts;
}

}  // namespace embed
