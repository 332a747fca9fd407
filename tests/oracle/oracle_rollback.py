"""The oracle's roll-back by hand: each case was worked out from semantics.md (X9, X10, X17),
SS-1.8, SS-1.10 and decision 5, without the core. Times are milliseconds; all lines about ends of
attempts, lost outputs and ends of jobs must be these and no others."""

import sys

from by_hand import judge


def stage(name, tasks, duration, *prefers, **more):
    near = {"prefers": [[p] for p in prefers]} if prefers else {}
    return {"name": name, "tasks": tasks, "duration": f"{duration}ms", **near, **more}


SRC = stage("src", 2, 10, "e0", "e1", indeterminate=True)


def case(stages, edges, fault, lines, failure=None):
    arrows = [dict(zip(("from", "to", "kind"), edge.split())) for edge in edges]
    return {"rehearse": 1, "cluster": {"executors": 3, "cpus": 4},
            "scheduler": {"dialect": "psd", "failure": failure or {}},
            "jobs": [{"name": "q", "stages": stages, "edges": arrows}], "faults": [fault]}, lines


def fetch(task, after):
    return {"task": task, "fetch_fails": {"from": "src", "partition": 0}, "after": f"{after}ms"}


CASES = {
    # mid/0 fails at 15; src/1 goes with src/0, and red, which runs besides, is stopped. At 215 src
    # runs both tasks until 225, mid until 245, red until 325.
    "all outputs go, and who runs is stopped": case(
        [SRC, stage("mid", 1, 20, "e2"), stage("red", 1, 100, "e2")],
        ["src mid", "src red"], fetch("q/mid/0", 5),
        ["10 success src/0", "15 failed mid/0 fetch_failed", "15 lost src e0", "15 lost src e1",
         "15 failed red/0 rolled_back", "225 success src/1", "245 success mid/1",
         "325 success red/1", "325 end q succeeded"]),
    # The same, but each stage has one attempt only: a job that ends for that rolls nothing back, so
    # only what lay on e0 is lost (SS-1.8).
    "a job that ends for its attempts rolls nothing back": case(
        [SRC, stage("mid", 1, 20, "e2"), stage("red", 1, 100, "e2")],
        ["src mid", "src red"], fetch("q/mid/0", 5),
        ["10 success src/0", "15 failed mid/0 fetch_failed", "15 lost src e0",
         "15 cancelled red/0 job_failed", "15 end q failed STAGE_ATTEMPTS_EXCEEDED"],
        {"max_stage_attempts": 1}),
    # Nobody fails to fetch: e0 goes at 12 with src/0 and mid/0. red, which waits for slow, wants
    # both back: src is submitted again and starts anew, so src/1 and mid/1 are void, too (SS-1.5).
    "submitted again it starts anew": case(
        [SRC, stage("mid", 2, 1, "e0", "e1"), stage("slow", 1, 40, "e2"), stage("red", 1, 10)],
        ["src mid", "mid red", "slow red"], {"at": "12ms", "lose_executor": "e0"},
        ["10 success src/0", "11 success mid/0", "12 lost src e0", "12 lost mid e0",
         "12 lost src e1", "12 lost mid e1", "22 success src/1", "23 success mid/1",
         "40 success slow/0", "50 success red/0", "50 end q succeeded"]),
    # red/0 gave its result at 20: it cannot be taken back when bad fails at 25.
    "a result that was given": case(
        [SRC, stage("red", 2, 10, "e2", "e2"), stage("bad", 1, 50, "e2")],
        ["src red", "src bad"], fetch("q/bad/0", 15),
        ["10 success src/0", "20 success red/0", "25 failed bad/0 fetch_failed", "25 lost src e0",
         "25 end q failed INDETERMINATE_RESULT"]),
    # src is an indeterminate member and commits at 10; fin/0 has given its result at 30 when e1 is
    # lost at 35 with the only output of src. fin/1, which ran there, is tried again at once and
    # finds that gone: the attempt ends as by a fetch failure (X9) that names src, and the result
    # cannot be taken back.
    "an input of a group that is gone": case(
        [stage("a", 1, 10, "e0"), stage("src", 1, 10, "e1", indeterminate=True),
         {**stage("fin", 2, 0, "e2", "e1"), "duration": ["20ms", "40ms"]}],
        ["a src pipelined", "src fin"], {"at": "35ms", "lose_executor": "e1"},
        ["10 success a/0", "10 success src/0", "35 lost src e1",
         "35 failed fin/0 fetch_failed", "35 end q failed INDETERMINATE_RESULT"]),
}


def shown(event):
    kind, who = event["e"], event.get("stage", event.get("job"))
    if kind == "stage_completed":
        words = [event["status"], f"{who}/{event['attempt']}", event.get("reason")]
    elif kind == "outputs_lost":
        words = ["lost", who, event["executor"]]
    elif kind == "job_end":
        words = ["end", who, event["outcome"], event.get("code")]
    else:
        return None
    return " ".join([f"{event['t'] / 1e6:g}", *filter(None, words)])


if __name__ == "__main__":
    sys.exit(judge(CASES, shown))
