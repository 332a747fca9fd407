// Scenario texts that several tests start from.
#pragma once

#include <string_view>

namespace rehearse::testing {

// Uses nearly every key of the format once.
inline constexpr std::string_view rich_scenario = R"(// comments are allowed
{
  "rehearse": 1, "name": "rich \"one\"", "seed": 42, "timing": "coupled", "ties": "shuffled",
  "horizon": "10m", "choices": { "tie@10ms": 1, "tie@10ms#2": 0 },
  "origin": { "by": "a test", "shrunk": [3, 1.50, null] },
  "cluster": {
    "profiles": { "default": { "task": { "cpus": 1 } },
                  "gpu": { "task": { "cpus": 0.5, "gpu": 1 } } },
    "executors": [
      { "name": "e", "count": 3, "profile": "default",
        "resources": { "cpus": 2, "memory": "8GiB" }, "host": "h{i}", "rack": "r0" },
      { "name": "g", "resources": { "cpus": 4, "gpu": 2 }, "speed": 0.75, "joins": "1.5ms" } ],
    "network": { "latency": "1ms", "bandwidth": "1GiB/s", "disk": "300MB/s" },
    "overheads": {
      "launch": "1ms", "kill": { "dist": "exponential", "mean": "2ms", "cap": "1s" },
      "status": { "dist": "lognormal", "median": "1ms", "sigma": 0.4 },
      "loss_detection": { "dist": "empirical", "values": ["1s", "2s", "2s"] } },
    "autoscale": { "min": 1, "max": 20, "backlog": "2s", "idle": "30s", "startup": "20s",
                   "executor": { "resources": { "cpus": 8 }, "profile": "default",
                                 "host": "a{i}" } } },
  /* everything that has parameters */
  "scheduler": {
    "dialect": "psd",
    "admission": { "short": { "retry": { "interval": "7ms", "max": 3 } },
                   "overtake": { "aging": { "after": "1m" } }, "queue": { "fair": {} },
                   "depth": 8 },
    "failure": { "group": { "rerun-group": { "max": 2 } }, "max_task_failures": 2 },
    "speculation": { "quantile": 0.75 }, "locality_wait": "3s", "placement": "pack",
    "pools": { "prod": { "mode": "fair", "weight": 3 } }, "profiles": "single",
    "reject": ["SPECULATION", "INSUFFICIENT_SLOTS"], "outputs_survive_executor": true,
    "max_partitions_per_task": 4 },
  "jobs": [
    { "name": "q", "submit": "5ms", "pool": "prod", "priority": -2,
      "repeat": { "count": 3, "every": "20ms" },
      "on_failure": { "resubmit": 2, "backoff": "250ms" },
      "stages": [
        { "name": "map", "tasks": 4, "duration": ["10ms", "20ms", "30ms", "40ms"],
          "prefers": [["e0"], ["h1", "e2"], [], ["added"]] },
        { "name": "sink", "tasks": 2, "commits": "once", "estimate": "3ms", "profile": "gpu",
          "duration": { "dist": "pareto", "min": "1ms", "alpha": 0.9 } },
        { "name": "other", "tasks": 0, "duration": "0s", "indeterminate": true, "cached": true,
          "checkpoint": "reliable", "barrier": true, "abandons": true } ],
      "edges": [ { "from": "map", "to": ["sink", "other"], "kind": "pipelined",
                   "push_merge": true, "checksum_retry": true, "adaptive": true } ],
      "result": "sink" },
    { "name": "r", "after": [ { "job": "q", "delay": "35ms" } ],
      "stages": [
        { "name": "read", "tasks": 1, "duration": "1ms", "input": { "rate": "1000/s" } },
        { "name": "from", "tasks": 1, "duration": "1ms", "operator": "build-probe" },
        { "name": "to", "tasks": 2, "duration": "1ms", "operator": "limit",
          "limit": [1, null] } ],
      "edges": [
        { "from": "q1/map", "to": "read", "bytes": "1.5GiB", "records": 7, "skew": 0.25 },
        { "from": "from", "to": "to", "kind": "pipelined", "reuse": "q1/map",
          "stream": { "buffer": 4, "buffer_of": "queue", "partitions": 2,
                      "emit": [ [ { "after": "5ms", "every": "1ms", "to": [0, 1] } ] ] } } ] } ],
  "faults": [
    { "at": "10ms", "add_executor": { "name": "added", "profile": "default",
                                      "resources": { "cpus": 2, "tpu": 1 } } },
    { "task": "q1/map/2", "attempt": 1, "fails": "exception", "after": "1ms" },
    { "at": "12ms", "hold_executors": ["e0", "e1"], "for": "5ms" },
    { "task": "q2#1/sink/0", "try": 1, "after": "3ms",
      "fetch_fails": { "from": "map", "partition": 3 } },
    { "at": "13ms", "cancel_job": "q" },
    { "moment": "member_finished", "match": { "stage": "q1/sink", "executor": "e1" }, "nth": 2,
      "after": "1ms", "do": { "lose_executor": "e2", "cause": "host", "noticed": "2ms" } },
    { "task": "r/q1.map/0", "try": "any", "slow": 1.5, "status_late": "4ms" },
    { "moment": "job_end", "match": { "job": "r" },
      "do": { "lose_executor": "added", "cause": "decommission" } } ],
  "expect": [
    { "job": "q", "ends": "failed", "code": "EXECUTOR_LOST", "at": "5ms" },
    { "job": "q1#1", "ends": "succeeded", "before": "1s", "after": "5ms" },
    { "stage": "q1/map", "attempts": 1, "tasks_started": 4, "ends": "success" },
    { "at": "12ms", "running": ["q1/map"], "waiting": ["r/to"], "not_running": ["q2/map"],
      "free": { "default": 3, "gpu": 0 } },
    { "event": "job_rejected r", "codes": ["DAG_CYCLE", "SPECULATION"],
      "need": { "default": 4 }, "detail": "by trial", "count": 1 },
    { "never": "task_end q1/sink/1", "status": "success", "speculative": true, "at": "3ms" },
    { "order": ["task_end q1/sink/0", "stage_completed q1/map", "job_end q"] },
    { "event": "executor_lost e2", "min": 1, "max": 2 },
    { "invariant": "GANG", "holds": false },
    { "journal_hash": "xxh3:0123456789abcdef" },
    { "same_journal_as": "other.json", "except": ["executor_added elsewhere"] },
    { "totals": { "events": { "max": 100 }, "rejected": { "min": 1 } } } ]
}
)";

}  // namespace rehearse::testing
