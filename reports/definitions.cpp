// registry: none (text that every report carries)
//
// One sentence per number of a report: what it is, over which set.
#include "reports/compare.hpp"

namespace rehearse::reports {

const std::vector<Definition>& definitions() {
  static const std::vector<Definition> all = {
      {"request", "A job together with its caller's resubmissions."},
      {"latency",
       "Submission of a request's first try to the success of its last. Only requests "
       "that succeeded have one."},
      {"queued",
       "Submission of a request to its first task start, over requests that succeeded "
       "and ran a task."},
      {"first row",
       "Submission of a request to the first row at its client, over requests that "
       "succeeded."},
      {"p50, p90, p95, p99",
       "Nearest-rank percentiles: of n sorted values the one at rank "
       "ceil(p n / 100)."},
      {"paired",
       "Over requests that succeeded in both configurations; a request that was "
       "rejected, failed or was cut off in either is never part of a ratio."},
      {"change", "(other - baseline) / baseline."},
      {"speedup",
       "Latency in the baseline / latency in the other configuration; the median is "
       "nearest rank over paired requests; a latency of 0 counts as 1 ns."},
      {"faster, slower, same",
       "Paired requests by change; same when the change is below the "
       "smallest effect, measured against the smaller of both latencies."},
      {"makespan",
       "First submission to the last end or rejection of a job; with several inputs "
       "the sum over them."},
      {"slot",
       "Room for one task of a profile on one executor. A bound executor counts in slots "
       "of its profile, an unbound one in slots of the first profile; there a task of "
       "another profile counts for the slots it takes away."},
      {"slot time",
       "Slots of every live executor, held ones too, times time, from 0 to the last "
       "event. It is the exact sum of the six uses below."},
      {"busy",
       "Held by running tasks that are not blocked, and by killed ones until the slot "
       "returns."},
      {"reserved idle", "Reserved for a gang and not launched."},
      {"drain idle",
       "Free, of a profile that the waiting head demands, while some unit behind "
       "the head has tasks that could start but for it. The head is the first gang "
       "in queue order that is ready and does not fit."},
      {"blocked", "Held by tasks that are blocked on a buffer."},
      {"unusable",
       "Free on an executor that is held or draining, or free while work waits none "
       "of which can use the slot: another profile, or a gang that does not fit."},
      {"idle", "The rest: free while nothing waits for it."},
      {"utilization", "Busy / slot time."},
      {"price of gang admission", "(Reserved idle + drain idle + blocked) / slot time."},
      {"work",
       "Task time: running tasks times time. Its share in groups is that of stages in "
       "groups of two or more."},
      {"unfinished",
       "Still alive when the run was cut off; counted as censored beside every "
       "distribution."},
  };
  return all;
}

}  // namespace rehearse::reports
