// Which stages a phased start launches before which (W6, BA-P1 to P9): of a pipelined join the
// build side goes first, so that what feeds the probe side does not sit on full buffers meanwhile.
//
// A stage is *lazy* as long as nothing it does takes input without giving output: a dam and a
// build-probe stage are not. Below a build-probe stage everything upstream of an in-edge goes
// before the lazy stages upstream of a later one; a dam hides what is upstream of it. Everything
// else may start at once. What unblocks a stage early, a full buffer (BA-P10), needs data flow.
#pragma once

#include "model/job.hpp"
#include "model/stage_graph.hpp"

namespace rehearse::model {

// By stage: those all of whose tasks are launched before its first, ascending. Over pipelined edges
// of the graph only. Free of cycles (BA-P11): where stages feed both sides of a join, what would
// close one is left out.
[[nodiscard]] Rows phases_before(const JobSpec& job, const StageGraph& graph);

}  // namespace rehearse::model
