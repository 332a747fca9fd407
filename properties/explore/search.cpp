// The places of a path stand on a stack: the next state's path has most of it in common with the
// last one's, because states come in the order in which they were found. So no state is kept.
// registry: none (searches what properties judge)
#include "properties/explore/search.hpp"

#include <xxhash.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "model/support/check.hpp"

namespace rehearse::properties {

namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t pass_bit = 1U << 31U;

std::uint64_t hash_of(const Space& place, std::vector<std::uint64_t>& words) {
  words.clear();
  place.encode(words);
  return XXH3_64bits(words.data(), words.size() * sizeof(words[0]));
}

// A state that was seen, and how it was reached first.
struct Node {
  std::uint64_t hash = 0;
  std::uint32_t parent = none;
  std::uint16_t choice = 0;  // of the parent's choices
  std::uint16_t depth = 0;
  std::uint16_t faults = 0;
  std::uint16_t marks = 0;
};
constexpr std::uint16_t mark_ends = 1;  // an end, or beside one that was not looked at

// Nodes by hash: open addressing, at most half full.
class Seen64 {
 public:
  [[nodiscard]] std::uint32_t find(std::uint64_t hash, const std::vector<Node>& nodes) const {
    if (slots_.empty()) {
      return none;
    }
    for (std::size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == none || nodes[slots_[at]].hash == hash) {
        return slots_[at];
      }
    }
  }
  // `index` is the last node; its hash is not there yet.
  void add(std::uint32_t index, const std::vector<Node>& nodes) {
    if (2 * nodes.size() > slots_.size()) {
      slots_.assign(std::max<std::size_t>(1024, 2 * slots_.size()), none);
      for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        put(i, nodes[i].hash);
      }
      return;
    }
    put(index, nodes[index].hash);
  }

 private:
  void put(std::uint32_t index, std::uint64_t hash) {
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at] != none) {
      at = (at + 1) & (slots_.size() - 1);
    }
    slots_[at] = index;
  }

  std::vector<std::uint32_t> slots_;
};

}  // namespace

struct Search::State {
  State(const Space& root, const SearchOptions& options_of_search)
      : options(options_of_search), scratch(root.copy()) {
    stack.push_back({0, root.copy(), {}});
    stack.front().place->choices(stack.front().choices);
  }

  struct Level {
    std::uint32_t node = none;
    std::unique_ptr<Space> place;
    std::vector<Choice> choices;
  };

  std::uint32_t add(const Node& node) {
    RH_CHECK(nodes.size() < pass_bit, std::ssize(nodes));
    nodes.push_back(node);
    const auto index = static_cast<std::uint32_t>(nodes.size() - 1);
    seen.add(index, nodes);
    result.depth_max = std::max<std::int64_t>(result.depth_max, node.depth);
    ++result.states_by_faults[node.faults];
    return index;
  }

  // Brings the stack to the node's path.
  Level& go_to(std::uint32_t node) {
    std::vector<std::uint32_t> missing;
    std::uint32_t at = node;
    while (nodes[at].depth >= height || stack[nodes[at].depth].node != at) {
      missing.push_back(at);
      at = nodes[at].parent;
    }
    height = nodes[at].depth + std::size_t{1};
    while (!missing.empty()) {
      const Node& next = nodes[missing.back()];
      if (height == stack.size()) {
        stack.push_back({none, stack.front().place->copy(), {}});
      }
      Level& below = stack[height - 1];
      Level& level = stack[height];
      level.node = missing.back();
      level.place->become(*below.place);
      level.place->take(below.choices[next.choice]);
      level.place->choices(level.choices);
      missing.pop_back();
      ++height;
    }
    return stack[height - 1];
  }

  [[nodiscard]] std::vector<Choice> path_to(std::uint32_t node) {
    go_to(node);
    std::vector<Choice> path;
    for (std::size_t i = 1; i < height; ++i) {
      path.push_back(stack[i - 1].choices[nodes[stack[i].node].choice]);
    }
    return path;
  }

  void keep(model::Violation violation, std::uint32_t node, const Choice* last, bool at_end) {
    const bool known = std::ranges::any_of(result.found, [&](const Counterexample& example) {
      return example.violation.property == violation.property;
    });
    if (known) {
      return;
    }
    Counterexample& example = result.found.emplace_back();
    example.violation = std::move(violation);
    example.path = path_to(node);
    example.at_end = at_end;
    example.faults = nodes[node].faults;
    if (last != nullptr) {
      example.path.push_back(*last);
      example.faults += last->kind == Choice::Kind::fault ? 1 : 0;
    }
  }

  // A check failed: says on which path.
  [[noreturn]] void rethrow(const model::InternalFault& fault, std::uint32_t node,
                            const Choice* last) {
    std::string text(fault.what());
    std::string_view separator = "\n  after: ";
    std::vector<Choice> path = path_to(node);
    if (last != nullptr) {
      path.push_back(*last);
    }
    for (std::size_t i = 0; i < path.size(); ++i) {
      text += separator;
      text += stack[i].place->text_of(path[i]);
      separator = ", ";
    }
    throw model::InternalFault(text);
  }

  void expand(std::uint32_t node);
  void judge_end(std::uint32_t node);
  void follow(std::uint32_t node, const Level& level, std::size_t choice);
  void search_level(std::uint16_t faults);
  void judge_liveness();
  void judge_passes();
  [[nodiscard]] bool over();

  SearchOptions options;
  SearchResult result;
  std::unique_ptr<Space> scratch;
  std::vector<Level> stack;  // the first `height` are a path
  std::size_t height = 1;
  std::vector<Node> nodes;
  Seen64 seen;
  std::vector<std::uint64_t> words;
  std::vector<std::uint32_t> fresh;      // nodes of this number of faults, by depth
  std::vector<std::uint32_t> by_faults;  // and of one more, by depth
  // Of the nodes in the order in which they were expanded: where they lead.
  std::vector<std::uint32_t> expanded;
  std::vector<std::uint64_t> first_target;
  std::vector<std::uint32_t> targets;  // pass_bit: by a pass
  bool cut = false;
};

void Search::State::judge_end(std::uint32_t node) {
  ++result.ends;
  nodes[node].marks |= mark_ends;
  scratch->become(*stack[height - 1].place);
  try {
    scratch->finish();
  } catch (const model::InternalFault& fault) {
    rethrow(fault, node, nullptr);
  }
  if (scratch->violation_count() > 0) {
    for (model::Violation& violation : scratch->violations()) {
      keep(std::move(violation), node, nullptr, true);
    }
  }
}

void Search::State::follow(std::uint32_t node, const Level& level, std::size_t choice) {
  const Choice taken = level.choices[choice];
  ++result.transitions;
  scratch->become(*level.place);
  try {
    scratch->take(taken);
  } catch (const model::InternalFault& fault) {
    rethrow(fault, node, &taken);
  }
  if (scratch->violation_count() > 0) {
    nodes[node].marks |= mark_ends;
    for (model::Violation& violation : scratch->violations()) {
      keep(std::move(violation), node, &taken, false);
    }
    return;
  }
  const std::uint64_t hash = hash_of(*scratch, words);
  std::uint32_t target = seen.find(hash, nodes);
  if (target == none) {
    const bool fault = taken.kind == Choice::Kind::fault;
    RH_CHECK(nodes[node].depth < std::numeric_limits<std::uint16_t>::max() && choice <= 0xFFFF,
             node);
    target = add({.hash = hash,
                  .parent = node,
                  .choice = static_cast<std::uint16_t>(choice),
                  .depth = static_cast<std::uint16_t>(nodes[node].depth + 1),
                  .faults = static_cast<std::uint16_t>(nodes[node].faults + (fault ? 1 : 0))});
    (fault ? by_faults : fresh).push_back(target);
  }
  targets.push_back(taken.kind == Choice::Kind::pass ? target | pass_bit : target);
}

void Search::State::expand(std::uint32_t node) {
  go_to(node);
  expanded.push_back(node);
  first_target.push_back(targets.size());
  // What is kept of a find moves the stack along its own path, which is this one.
  const std::size_t count = stack[height - 1].choices.size();
  const bool more_faults = nodes[node].faults < options.faults_max;
  const auto is_fault = [](const Choice& choice) { return choice.kind == Choice::Kind::fault; };
  if (std::ranges::all_of(stack[height - 1].choices, is_fault)) {
    judge_end(node);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t choice = options.backwards ? count - 1 - i : i;
    const Level& level = stack[height - 1];
    if (more_faults || !is_fault(level.choices[choice])) {
      follow(node, level, choice);
    }
  }
}

bool Search::State::over() {
  constexpr std::size_t states_between_questions = 64;
  if (std::ssize(nodes) > options.states_max ||
      (expanded.size() % states_between_questions == 0 && options.stop && options.stop())) {
    cut = true;
  }
  return cut;
}

// Two lists by depth, as one: those that a fault led to and those found here.
void Search::State::search_level(std::uint16_t faults) {
  const std::vector<std::uint32_t> seeds = std::exchange(by_faults, {});
  fresh.clear();
  std::size_t seed = 0;
  std::size_t next = 0;
  while ((seed < seeds.size() || next < fresh.size()) && !over()) {
    const bool from_seeds =
        next == fresh.size() ||
        (seed < seeds.size() && nodes[seeds[seed]].depth <= nodes[fresh[next]].depth);
    const std::uint32_t node = from_seeds ? seeds[seed++] : fresh[next++];
    RH_CHECK(nodes[node].faults == faults, node);
    expand(node);
  }
}

// From where can no end be reached, whatever happens but a fault?
void Search::State::judge_liveness() {
  std::vector<std::uint64_t> first_source(nodes.size() + 1, 0);
  std::vector<std::uint32_t> sources;
  const auto each_edge = [this](const auto& call) {
    for (std::size_t i = 0; i < expanded.size(); ++i) {
      const std::uint64_t end = i + 1 < expanded.size() ? first_target[i + 1] : targets.size();
      for (std::uint64_t e = first_target[i]; e < end; ++e) {
        const std::uint32_t target = targets[e] & ~pass_bit;
        if (nodes[target].faults == nodes[expanded[i]].faults) {
          call(expanded[i], target);
        }
      }
    }
  };
  each_edge([&](std::uint32_t /*from*/, std::uint32_t to) { ++first_source[to + 1]; });
  for (std::size_t i = 1; i < first_source.size(); ++i) {
    first_source[i] += first_source[i - 1];
  }
  sources.resize(first_source.back());
  std::vector<std::uint64_t> fill(first_source.begin(), first_source.end() - 1);
  each_edge([&](std::uint32_t from, std::uint32_t to) { sources[fill[to]++] = from; });

  std::vector<bool> can_end(nodes.size(), false);
  std::vector<std::uint32_t> todo;
  const auto reach = [&](std::uint32_t node) {
    if (!can_end[node]) {
      can_end[node] = true;
      todo.push_back(node);
    }
  };
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if ((nodes[i].marks & mark_ends) != 0) {
      reach(i);
    }
  }
  while (!todo.empty()) {
    const std::uint32_t node = todo.back();
    todo.pop_back();
    for (std::uint64_t e = first_source[node]; e < first_source[node + 1]; ++e) {
      reach(sources[e]);
    }
  }
  for (const std::uint32_t node : expanded) {
    if (!can_end[node]) {
      keep({.property = "NO_LIVELOCK",
            .t = 0,
            .detail = "from here on something can always happen and no end can be reached (VE-L6)"},
           node, nullptr, false);
      return;
    }
  }
}

// One pass at most leads out of a state: does following them come back?
void Search::State::judge_passes() {
  std::vector<std::uint32_t> next(nodes.size(), none);
  for (std::size_t i = 0; i < expanded.size(); ++i) {
    const std::uint64_t end = i + 1 < expanded.size() ? first_target[i + 1] : targets.size();
    for (std::uint64_t e = first_target[i]; e < end; ++e) {
      if ((targets[e] & pass_bit) != 0) {
        next[expanded[i]] = targets[e] & ~pass_bit;
      }
    }
  }
  std::vector<std::uint32_t> walked_from(nodes.size(), none);
  for (const std::uint32_t start : expanded) {
    std::uint32_t node = start;
    while (node != none && walked_from[node] == none) {
      walked_from[node] = start;
      node = next[node];
    }
    if (node != none && walked_from[node] == start && next[node] != none) {
      keep({.property = "NO_LIVELOCK",
            .t = 0,
            .detail = "passes come back to this state within one instant (VE-L6)"},
           node, nullptr, false);
      return;
    }
  }
}

Search::Search(const Space& root, const SearchOptions& options)
    : state_(std::make_unique<State>(root, options)) {}

Search::~Search() = default;

SearchResult Search::run() {
  State& s = *state_;
  RH_CHECK(s.nodes.empty() && s.options.faults_max >= 0);
  s.result.states_by_faults.assign(static_cast<std::size_t>(s.options.faults_max) + 1, 0);
  s.add({.hash = hash_of(*s.stack.front().place, s.words)});
  s.by_faults.push_back(0);
  for (int faults = 0; faults <= s.options.faults_max && !s.by_faults.empty(); ++faults) {
    s.search_level(static_cast<std::uint16_t>(faults));
    if (s.cut) {
      break;
    }
  }
  s.result.states = std::ssize(s.nodes);
  s.result.complete = !s.cut;
  if (s.result.complete) {
    s.judge_liveness();
    s.judge_passes();
  }
  return s.result;
}

bool Search::has_seen(const Space& place) const {
  std::vector<std::uint64_t> words;
  return state_->seen.find(hash_of(place, words), state_->nodes) != none;
}

}  // namespace rehearse::properties
