"""The oracle's autoscaler by hand: each case was worked out from semantics.md (A5, A14, W5),
scenario.md and decision 13, without the core. Times are milliseconds; all lines about executors
must be these and no others, and the jobs must end then."""

import sys

from by_hand import judge


def executor(name, cpus=1):
    return {"name": name, "profile": "default", "resources": {"cpus": cpus}}


ONE = {"profile": "default", "resources": {"cpus": 1}}
LIKE = {"profile": "default", "resources": {"cpus": 2}}


def job(name, tasks, duration, submit="0s"):
    stage = {"name": "s", "tasks": tasks, "duration": duration}
    return {"name": name, "submit": submit, "stages": [stage]}


def added(t, name):
    return f"{t} executor_added {name}"


def left(t, name):
    return [f"{t} executor_held {name} decommission", f"{t} executor_lost {name} decommission"]


def case(executors, autoscale, jobs, lines, faults=(), **axes):
    scenario = {"rehearse": 1, "cluster": {"executors": executors, "autoscale": autoscale},
                "scheduler": {"dialect": "sequential", **axes}, "jobs": jobs,
                "faults": list(faults)}
    return scenario, lines


CASES = {
    # One is missing to min at 0 and again when e0 is lost at 10: asked for at once, each comes 5
    # later. The task of e0 starts anew on auto0.
    "min is asked for at once": case(
        [executor("e0")], {"min": 2, "max": 3, "backlog": "1s", "startup": "5ms"},
        [job("q", 1, "30ms")],
        [added(0, "e0"), added(5, "auto0"), "10 executor_lost e0 process", added(15, "auto1"),
         "40 job_end q succeeded"],
        [{"at": "10ms", "lose_executor": "e0"}]),
    # One of q waits from 0 on: the round at 10 asks for one, that at 20 would have nothing to ask
    # for. Then four of r wait, too: 30, in the rhythm of the first, asks for one again, 40 for two.
    # r/0 follows q on e0 at 50, the others start at 60, 80 and 90.
    "the rhythm stays, a round left out begins with one": case(
        [executor("e0")], {"max": 10, "backlog": "10ms", "startup": "50ms"},
        [job("q", 2, "25ms"), job("r", 4, "100ms", "22ms")],
        [added(0, "e0"), "50 job_end q succeeded", added(60, "auto0"), added(80, "auto1"),
         added(90, "auto2"), added(90, "auto3"), "190 job_end r succeeded"]),
    # Eight tasks would need four executors, but max is 2, e0 is there and x0 is due: nobody is
    # asked for.
    "whoever is due counts against max": case(
        [executor("e0", 2)], {"max": 2, "backlog": "1ms", "startup": "1ms"},
        [job("q", 8, "20ms")],
        [added(0, "e0"), added(30, "x0"), "60 job_end q succeeded"],
        [{"at": "30ms", "add_executor": executor("x0", 2)}]),
    # x0 is due and counts against max, but need is compared with who is there or was asked for:
    # with room for a third the round at 1 asks for one.
    "whoever is due does not meet the need": case(
        [executor("e0", 2)], {"max": 3, "backlog": "1ms", "startup": "1ms"},
        [job("q", 4, "20ms")],
        [added(0, "e0"), added(2, "auto0"), "22 job_end q succeeded",
         added(30, "x0")],
        [{"at": "30ms", "add_executor": executor("x0", 2)}]),
    # e0 runs q/m until 10 and keeps its output until q ends at 40; q/r runs on e2 until then. Both
    # idle from 40 on and leave at 55, the lower number first; r on e1 needs one.
    "an output is a reason to stay": case(
        [executor("e0"), executor("e1"), executor("e2")],
        {"max": 3, "idle": "15ms", "startup": "1ms"},
        [{"name": "q", "stages": [{"name": "m", "tasks": 1, "duration": "10ms"},
                                  {"name": "r", "tasks": 1, "duration": "30ms",
                                   "prefers": [["e2"]]}],
          "edges": [{"from": "m", "to": "r"}]}, job("r", 1, "100ms")],
        [added(0, "e0"), added(0, "e1"), added(0, "e2"), "40 job_end q succeeded",
         *left(55, "e0"), *left(55, "e2"), "100 job_end r succeeded"]),
    # Of three that idle from 0 on one would leave at 10 for each that nobody needs: min keeps two.
    "nobody leaves below min": case(
        [executor("e0"), executor("e1"), executor("e2")],
        {"min": 2, "max": 3, "idle": "10ms", "startup": "1ms"},
        [job("q", 1, "10ms", "50ms")],
        [added(0, "e0"), added(0, "e1"), added(0, "e2"), *left(10, "e0"),
         "60 job_end q succeeded"]),
    # e1 has idled for 20 when q ends, auto0 was asked for at 10 and is due at 110.
    "at the end nobody leaves and nobody comes": case(
        [executor("e0"), {**executor("e1"), "profile": "big"}],
        {"max": 3, "backlog": "10ms", "idle": "20ms", "startup": "100ms"},
        [job("q", 2, "20ms")], [added(0, "e0"), added(0, "e1"), "40 job_end q succeeded"]),
    "at the end nobody leaves, not even at that instant": case(
        [executor("e0"), executor("e1")], {"max": 3, "idle": "20ms", "startup": "1ms"},
        [job("q", 1, "20ms")], [added(0, "e0"), added(0, "e1"), "20 job_end q succeeded"]),
    # e1 idles from 0 on and is needed while q/1 waits for e0. At 20 that starts there and fails,
    # waits and starts again, and fails for good. Between the two tries e1 is one too many, its time
    # is up and q lives, but the instant has more inputs; behind the last all is over.
    "nobody leaves while an instant has more inputs": case(
        [executor("e0"), executor("e1"), executor("e2")],
        {"max": 3, "idle": "10ms", "startup": "1ms"},
        [{"name": "q", "stages": [{"name": "s", "tasks": 3, "duration": ["20ms", "20ms", "100ms"],
                                   "prefers": [["e0"], ["e0"], ["e2"]]}]}],
        [added(0, "e0"), added(0, "e1"), added(0, "e2"), "20 job_end q failed"],
        [{"task": "q/s/1", "try": "any", "fails": "exception"}],
        locality_wait="1s", failure={"max_task_failures": 2}),
    # e1 runs p for no time at 5: it idles from then on, not from 0.
    "a task that took no time was the last, too": case(
        [executor("e0"), executor("e1")], {"max": 2, "idle": "20ms", "startup": "1ms"},
        [{"name": "q", "stages": [{"name": "s", "tasks": 1, "duration": "100ms",
                                   "prefers": [["e0"]]}]}, job("p", 1, "0s", "5ms")],
        [added(0, "e0"), added(0, "e1"), "5 job_end p succeeded", *left(25, "e1"),
         "100 job_end q succeeded"]),
    # auto0, asked for at 10, is called off at 12: no line says so. The round at 20 asks anew.
    "whom a fault calls off does not come": case(
        [executor("e0")], {"max": 3, "backlog": "10ms", "startup": "20ms"},
        [job("q", 2, "100ms")],
        [added(0, "e0"), added(40, "auto1"), "140 job_end q succeeded"],
        [{"at": "12ms", "lose_executor": "auto0"}]),
    # auto1 was never asked for: its loss is none, nor that of the host on which it would have been.
    "whom nobody asked for takes nobody along": case(
        [{**executor("e0"), "host": "h0"}],
        {"max": 3, "startup": "1ms", "executor": {**ONE, "host": "h0"}}, [job("q", 1, "30ms")],
        [added(0, "e0"), "30 job_end q succeeded"],
        [{"at": "10ms", "lose_executor": "auto1", "cause": "host"}]),
    # e1 is due: two are not below min.
    "whoever is due counts for min": case(
        [executor("e0"), {**executor("e1"), "joins": "20ms"}],
        {"min": 2, "max": 3, "startup": "1ms"}, [job("q", 1, "30ms")],
        [added(0, "e0"), added(20, "e1"), "30 job_end q succeeded"]),
    # Two of q are waiting when nothing lives, and auto0 takes both; with max 0 there is nobody.
    "what may come is capacity": case(
        [], {"max": 1, "backlog": "0s", "startup": "7ms", "executor": LIKE},
        [job("q", 2, "10ms")], [added(7, "auto0"), "17 job_end q succeeded"]),
    "where nothing may come there is no capacity": case(
        [], {"max": 0, "executor": LIKE},
        [job("q", 2, "10ms")], ["0 job_rejected q NO_EXECUTORS"]),
}


def shown(event):
    kind = event["e"]
    if not kind.startswith("executor_") and kind not in ("job_end", "job_rejected"):
        return None
    who = event.get("executor", event.get("job"))
    how = event.get("cause", event.get("outcome", event.get("code")))
    return " ".join(filter(None, [f"{event['t'] / 1e6:g}", kind, who, how]))


def main():
    for scenario, _ in CASES.values():
        scenario["cluster"]["profiles"] = {"default": {"task": {"cpus": 1}},
                                           "big": {"task": {"cpus": 1}}}
    return judge(CASES, shown)


if __name__ == "__main__":
    sys.exit(main())
