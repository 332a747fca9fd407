// Arrivals and sinks of recorded jobs. What a trace is read from is the business of traces/.
#include "model/trace.hpp"

#include <algorithm>
#include <limits>

#include "model/support/check.hpp"

namespace rehearse::model {

void TaskParts::resize(std::size_t tasks) {
  for (auto* column : {&deserialize_us, &fetch_wait_us, &write_us, &serialize_us, &rest_us}) {
    column->resize(tasks, 0);
    column->shrink_to_fit();
  }
}

Duration TaskParts::compute_ns(std::size_t partition, Duration duration) const {
  if (empty()) {
    return duration;
  }
  RH_CHECK(partition < deserialize_us.size(), static_cast<std::int64_t>(partition));
  Duration others_us = 0;
  for (const auto* column : {&deserialize_us, &fetch_wait_us, &write_us, &serialize_us, &rest_us}) {
    others_us += (*column)[partition];
  }
  return std::max<Duration>(0, duration - others_us * microsecond);
}

void link_arrivals(std::vector<TraceJob>& jobs) {
  // Ends seen so far by (end, index); jobs come by submission, so a predecessor is always earlier.
  struct End {
    Instant at = 0;
    std::size_t job = 0;
    bool operator<(const End& other) const {
      return at != other.at ? at < other.at : job < other.job;
    }
  };
  std::vector<End> ends;
  for (std::size_t k = 0; k < jobs.size(); ++k) {
    TraceJob& job = jobs[k];
    job.spec.after.clear();
    const End bound{job.spec.submit, std::numeric_limits<std::size_t>::max()};
    const auto next = std::upper_bound(ends.begin(), ends.end(), bound);
    if (next != ends.begin()) {
      const End& last = *std::prev(next);
      job.spec.after.push_back({jobs[last.job].spec.name, job.spec.submit - last.at});
    }
    if (job.recorded.end) {
      const End own{*job.recorded.end, k};
      ends.insert(std::upper_bound(ends.begin(), ends.end(), own), own);
    }
  }
}

std::vector<StageIndex> sinks_of(const JobSpec& job) {
  std::vector<bool> read(job.stages.size(), false);
  for (const EdgeSpec& edge : job.edges) {
    if (edge.from.valid()) {
      read[edge.from.index()] = true;
    }
  }
  std::vector<StageIndex> sinks;
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (!read[i]) {
      sinks.emplace_back(i);
    }
  }
  return sinks;
}

}  // namespace rehearse::model
