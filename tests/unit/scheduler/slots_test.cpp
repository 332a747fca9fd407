// The slot ledger against a naive recomputation (A4), and the limits it must keep.
#include "scheduler/slots.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "model/support/check.hpp"
#include "model/support/draw.hpp"

using namespace rehearse;
using namespace rehearse::scheduler;

namespace {

using Amounts = model::ResourceVector;

struct NaiveExecutor {
  Amounts total;
  ProfileId bound;
  bool open = false;
  std::vector<std::int64_t> taken;  // tasks by profile
};

class Naive {
 public:
  explicit Naive(std::vector<Amounts> by_profile) : tasks(std::move(by_profile)) {}

  [[nodiscard]] Amounts free(const NaiveExecutor& executor) const {
    Amounts left = executor.total;
    for (std::size_t p = 0; p < tasks.size(); ++p) {
      for (std::size_t r = 0; r < left.size(); ++r) {
        left[r] -= executor.taken[p] * tasks[p][r];
      }
    }
    return left;
  }
  [[nodiscard]] std::int64_t slots(const NaiveExecutor& executor, std::size_t profile) const {
    if (!executor.open || (executor.bound.valid() && executor.bound.index() != profile)) {
      return 0;
    }
    return model::slots_of(free(executor), tasks[profile]);
  }

  std::vector<Amounts> tasks;
  std::vector<NaiveExecutor> executors;
};

void compare(const Ledger& ledger, const Naive& naive) {
  for (std::size_t p = 0; p < naive.tasks.size(); ++p) {
    const ProfileId profile{p};
    std::int64_t total = 0;
    std::int64_t most = 0;
    ExecutorId best;
    ExecutorId first;
    for (std::size_t e = 0; e < naive.executors.size(); ++e) {
      const std::int64_t slots = naive.slots(naive.executors[e], p);
      REQUIRE(ledger.free_slots(ExecutorId{e}, profile) == slots);
      total += slots;
      if (slots > most) {
        most = slots;
        best = ExecutorId{e};
      }
      if (slots > 0 && !first.valid()) {
        first = ExecutorId{e};
      }
    }
    REQUIRE(ledger.free_total(profile) == total);
    REQUIRE(ledger.most_free(profile) == best);
    REQUIRE(ledger.first_free(profile, 0) == first);
  }
  const std::size_t resources = naive.tasks.front().size();
  for (std::size_t r = 0; r < resources; ++r) {
    std::int64_t free = 0;
    std::int64_t open = 0;
    for (const NaiveExecutor& executor : naive.executors) {
      free += executor.open ? naive.free(executor)[r] : 0;
      open += executor.open ? executor.total[r] : 0;
    }
    REQUIRE(ledger.free_amount(r) == free);
    REQUIRE(ledger.open_amount(r) == open);
  }
}

class Draws {
 public:
  explicit Draws(std::uint64_t seed)
      : key_(model::draw_key({seed, model::DrawPurpose::audit, 3, 0})) {}
  [[nodiscard]] std::uint32_t below(std::size_t count) {
    return static_cast<std::uint32_t>(
        model::uniform_below(model::draw(key_, {next_++, 0, 0}), count));
  }

 private:
  model::DrawKey key_;
  std::uint32_t next_ = 0;
};

std::vector<Amounts> draw_tasks(Draws& draws, std::size_t profiles) {
  std::vector<Amounts> tasks;
  for (std::size_t p = 0; p < profiles; ++p) {
    tasks.push_back({draws.below(4) * 500LL, draws.below(3) * 1000LL, draws.below(2) * 250LL});
  }
  tasks.front()[0] += 500;  // one profile is limited by something
  return tasks;
}

void change(Draws& draws, Ledger& ledger, Naive& naive) {
  const std::size_t e = draws.below(naive.executors.size());
  NaiveExecutor& executor = naive.executors[e];
  const std::size_t p = draws.below(naive.tasks.size());
  switch (draws.below(6)) {
    case 0:
      executor.open ? ledger.close(ExecutorId{e}) : ledger.open(ExecutorId{e});
      executor.open = !executor.open;
      break;
    case 1:
    case 2:
      if (executor.taken[p] > 0) {
        draws.below(4) == 0 ? ledger.undo(ExecutorId{e}, ProfileId{p})
                            : ledger.give(ExecutorId{e}, ProfileId{p});
        --executor.taken[p];
      }
      break;
    default:
      if (naive.slots(executor, p) > 0) {
        ledger.take(ExecutorId{e}, ProfileId{p});
        ++executor.taken[p];
      }
  }
}

}  // namespace

TEST_CASE("A4: counts, totals and the executor that ranks first are those of a recomputation") {
  for (const std::size_t profiles : {1U, 2U, 3U}) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      Draws draws(seed * 4 + profiles);
      Naive naive(draw_tasks(draws, profiles));
      Ledger ledger(naive.tasks);
      const std::size_t executors = 1 + draws.below(9);
      for (std::size_t e = 0; e < executors; ++e) {
        NaiveExecutor executor;
        executor.total = {draws.below(9) * 500LL, draws.below(5) * 1000LL, draws.below(6) * 250LL};
        executor.bound = draws.below(2) == 0 ? ProfileId{} : ProfileId{draws.below(profiles)};
        executor.taken.assign(profiles, 0);
        REQUIRE(ledger.add(executor.total, executor.bound) == ExecutorId{e});
        naive.executors.push_back(executor);
      }
      compare(ledger, naive);
      for (int i = 0; i < 150; ++i) {
        change(draws, ledger, naive);
        compare(ledger, naive);
        REQUIRE(ledger.digest() == ledger.full_digest());
      }
      Ledger copy(ledger);
      CHECK(copy == ledger);
      CHECK(copy.digest() == ledger.digest());
      NaiveExecutor& first = naive.executors.front();
      first.open ? copy.close(ExecutorId{0U}) : copy.open(ExecutorId{0U});
      CHECK_FALSE(copy == ledger);
      CHECK(copy.digest() != ledger.digest());
    }
  }
}

TEST_CASE("a task of nothing is no constraint, a resource the executor lacks gives no slot") {
  Ledger ledger(std::vector<model::ResourceVector>{{0, 0}, {1000, 0}, {0, 1000}});
  const ExecutorId executor = ledger.add({2000, 0}, ProfileId{});
  ledger.open(executor);
  CHECK(ledger.free_slots(executor, ProfileId{0U}) == model::unbounded_slots);
  CHECK(ledger.free_slots(executor, ProfileId{1U}) == 2);
  CHECK(ledger.free_slots(executor, ProfileId{2U}) == 0);
  ledger.take(executor, ProfileId{0U});
  CHECK(ledger.free_slots(executor, ProfileId{0U}) == model::unbounded_slots);
}

TEST_CASE("A16: behind a head only bound executors are shown") {
  Ledger ledger(std::vector<model::ResourceVector>{{1000}, {2000}});
  const ExecutorId unbound = ledger.add({4000}, ProfileId{});
  const ExecutorId bound = ledger.add({2000}, ProfileId{1U});
  ledger.open(unbound);
  ledger.open(bound);
  CHECK(ledger.most_free(ProfileId{1U}) == unbound);
  ledger.show_bound_only(true);
  CHECK(ledger.most_free(ProfileId{1U}) == bound);
  CHECK(ledger.free_slots(unbound, ProfileId{1U}) == 0);
  CHECK_FALSE(ledger.most_free(ProfileId{0U}).valid());
  ledger.show_bound_only(false);
  CHECK(ledger.most_free(ProfileId{0U}) == unbound);
  // The next head sees what was taken and who came in between.
  ledger.take(bound, ProfileId{1U});
  const ExecutorId late = ledger.add({4000}, ProfileId{1U});
  ledger.open(late);
  ledger.show_bound_only(true);
  CHECK(ledger.most_free(ProfileId{1U}) == late);
  CHECK(ledger.first_free(ProfileId{1U}, 0) == late);
  ledger.give(bound, ProfileId{1U});
  CHECK(ledger.first_free(ProfileId{1U}, 0) == bound);
}

TEST_CASE("what came free is counted, what a trial took back is not") {
  Ledger ledger(std::vector<model::ResourceVector>{{1000}});
  const ExecutorId executor = ledger.add({2000}, ProfileId{});
  const std::uint64_t closed = ledger.freed(ProfileId{0U});
  ledger.open(executor);
  const std::uint64_t opened = ledger.freed(ProfileId{0U});
  CHECK(opened > closed);
  ledger.take(executor, ProfileId{0U});
  ledger.undo(executor, ProfileId{0U});
  CHECK(ledger.freed(ProfileId{0U}) == opened);
  ledger.take(executor, ProfileId{0U});
  ledger.give(executor, ProfileId{0U});
  CHECK(ledger.freed(ProfileId{0U}) > opened);
}

TEST_CASE("more than there is cannot be taken or given") {
  Ledger ledger(std::vector<model::ResourceVector>{{1000}});
  const ExecutorId executor = ledger.add({1000}, ProfileId{});
  ledger.open(executor);
  CHECK_THROWS_AS(ledger.give(executor, ProfileId{0U}), model::InternalFault);
}

TEST_CASE("a slot that is not there cannot be taken") {
  Ledger ledger(std::vector<model::ResourceVector>{{1000}});
  const ExecutorId executor = ledger.add({1000}, ProfileId{});
  CHECK_THROWS_AS(ledger.take(executor, ProfileId{0U}), model::InternalFault);  // closed
  ledger.open(executor);
  ledger.take(executor, ProfileId{0U});
  CHECK_THROWS_AS(ledger.take(executor, ProfileId{0U}), model::InternalFault);
  CHECK_THROWS_AS(ledger.open(executor), model::InternalFault);
}

TEST_CASE("A15: the numbering tells every order of the same names from every other") {
  const auto joined = [](const std::vector<std::uint64_t>& names) {
    Ledger ledger(std::vector<Amounts>{{1000}});
    for (const std::uint64_t name : names) {
      ledger.open(ledger.add({1000}, ProfileId{}, name));
    }
    return ledger;
  };
  std::vector<std::uint64_t> names{1, 2, 3, 4, 5, 6, 7};
  std::set<std::uint64_t> seen;
  do {
    seen.insert(joined(names).numbering());
  } while (std::ranges::next_permutation(names).found);
  CHECK(seen.size() == 5040);

  Ledger ledger = joined({1, 2, 3});
  const std::uint64_t before = ledger.numbering();
  CHECK(before != joined({1, 2}).numbering());
  ledger.exchange(ExecutorId{std::uint32_t{0}}, ExecutorId{std::uint32_t{2}});
  CHECK(ledger.numbering() == joined({3, 2, 1}).numbering());
  ledger.exchange(ExecutorId{std::uint32_t{2}}, ExecutorId{std::uint32_t{0}});
  ledger.close(ExecutorId{std::uint32_t{1}});  // who left keeps its number
  CHECK(ledger.numbering() == before);
  CHECK(joined({}).numbering() == 0);
}
