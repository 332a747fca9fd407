// Which stages a phased start launches before which.
#include "model/phases.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace rehearse::model {

namespace {

struct Node {
  std::vector<std::uint32_t> inputs;  // in the order of the in-edges
  Operator op = Operator::stream;
};

// By stage, those before it.
std::vector<std::vector<std::uint32_t>> before(const std::vector<Node>& nodes) {
  JobSpec job;
  for (const Node& node : nodes) {
    StageSpec stage;
    stage.tasks = 1;
    stage.op = node.op;
    job.stages.push_back(stage);
  }
  for (std::uint32_t to = 0; to < nodes.size(); ++to) {
    for (const std::uint32_t from : nodes[to].inputs) {
      EdgeSpec edge;
      edge.from = StageIndex{from};
      edge.to = {StageIndex{to}};
      edge.kind = EdgeKind::pipelined;
      job.edges.push_back(edge);
    }
  }
  const Rows rows = phases_before(job, build_stage_graph(job, GraphRules{}));
  std::vector<std::vector<std::uint32_t>> lists;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto row = rows.row(i);
    lists.emplace_back(row.begin(), row.end());
  }
  return lists;
}

using Lists = std::vector<std::vector<std::uint32_t>>;
constexpr Operator joins = Operator::build_probe;

}  // namespace

TEST_CASE("without a join everything starts at once") {
  CHECK(before({{{}}, {{0}}, {{1}, Operator::dam}}) == Lists{{}, {}, {}});
  CHECK(before({{{}}, {{}}, {{0, 1}, Operator::merge}}) == Lists{{}, {}, {}});
}

TEST_CASE("all that is upstream of the build side goes before what is lazy on the probe side") {
  // 0 -> 1 is built, 2 -> 3 probes.
  CHECK(before({{{}}, {{0}}, {{}}, {{2}}, {{1, 3}, joins}}) == Lists{{}, {}, {0, 1}, {0, 1}, {}});
}

TEST_CASE("the order of the in-edges says which side is built") {
  CHECK(before({{{}}, {{}}, {{0, 1}, joins}}) == Lists{{}, {0}, {}});
  CHECK(before({{{}}, {{}}, {{1, 0}, joins}}) == Lists{{1}, {}, {}});
  // Each of several after those before it.
  CHECK(before({{{}}, {{}}, {{}}, {{0, 1, 2}, joins}}) == Lists{{}, {0}, {0, 1}, {}});
}

TEST_CASE("a dam on the probe side hides what feeds it") {
  CHECK(before({{{}}, {{}}, {{1}, Operator::dam}, {{0, 2}, joins}}) == Lists{{}, {}, {}, {}});
  CHECK(before({{{}}, {{}}, {{1}}, {{0, 2}, joins}}) == Lists{{}, {0}, {0}, {}});
}

TEST_CASE("of a chain of joins the first probe side waits for every build side") {
  // 2 = join of 0 (built) and 1; 4 = join of 3 (built) and 2. A join is not lazy.
  CHECK(before({{{}}, {{}}, {{0, 1}, joins}, {{}}, {{3, 2}, joins}}) ==
        Lists{{}, {0, 3}, {}, {}, {}});
  // Built by a join: its build side has no reason to wait for anybody.
  CHECK(before({{{}}, {{}}, {{0, 1}, joins}, {{}}, {{2, 3}, joins}}) ==
        Lists{{}, {0}, {}, {0, 1, 2}, {}});
}

TEST_CASE("what feeds both sides waits for nobody, and nothing waits in a circle") {
  CHECK(before({{{}}, {{0}}, {{0}}, {{1, 2}, joins}}) == Lists{{}, {}, {0, 1}, {}});
  // Two joins over the same inputs, the other way round: the later one may not close the circle.
  CHECK(before({{{}}, {{}}, {{0, 1}, joins}, {{1, 0}, joins}}) == Lists{{}, {0}, {}, {}});
}

}  // namespace rehearse::model
