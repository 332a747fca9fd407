"""Makes examples/sample.rtrace: make_sample.py PROGRAM [OUTPUT].

Runs examples/sample.json with PROGRAM (the executable rehearse) under the dialect `sequential`,
reads the journal and writes what a cluster's own log would hold: when each job was submitted and
ended, when each task was launched and how long it kept its slot. PROGRAM then brings the result
into the canonical form. Everything is deterministic: the same program gives the same bytes.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def bytes_of(text):
    if isinstance(text, int):
        return text
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if text.endswith(unit):
            return int(float(text[:-len(unit)]) * factor)
    raise ValueError(text)


def without_comments(text):
    return "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("//"))


def read_journal(path):
    """Executors, and per job and stage what was seen."""
    executors, jobs = {}, {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            kind, at = event["e"], event["t"]
            if kind == "executor_added":
                executors[event["executor"]] = {"node": event["host"], "from": at, "to": None,
                                                "resources": event["resources"]}
            elif kind == "executor_lost":
                executors[event["executor"]]["to"] = at
            elif kind == "job_submitted":
                jobs[event["job"]] = {"start": at, "end": None, "stages": {}}
            elif kind == "job_end":
                jobs[event["job"]]["end"] = at
            elif kind == "stage_submitted":
                jobs[event["job"]]["stages"][event["stage"]] = {
                    "submitted": at, "launched": {}, "ended": {}, "completed": None}
            elif kind == "stage_completed":
                jobs[event["job"]]["stages"][event["stage"]]["completed"] = at
            elif kind == "task_start":
                stage = jobs[event["job"]]["stages"][event["stage"]]
                stage["launched"][event["partition"]] = at
            elif kind == "task_end":
                stage = jobs[event["job"]]["stages"][event["stage"]]
                stage["ended"][event["partition"]] = at
    return executors, jobs


def records(scenario, executors, jobs):
    yield {"r": "trace", "format": "rehearse-trace", "version": 1, "minor": 0, "time_unit": "ns",
           "name": scenario["name"], "origin": {"kind": "rehearse", "version": "1"}, "flags": []}
    yield {"r": "profile", "id": 0, "name": "default", "task": {"cpus": 1000}}
    for name, seen in executors.items():
        yield {"r": "executor", "id": name, "node": seen["node"], "from": seen["from"],
               "to": seen["to"], "resources": seen["resources"]}
    stages = tasks = 0
    for spec in sorted(scenario["jobs"], key=lambda job: jobs[job["name"]]["start"]):
        name, seen = spec["name"], jobs[spec["name"]]
        yield {"r": "job", "id": name, "at": seen["start"]}
        for stage in spec["stages"]:
            own = seen["stages"][stage["name"]]
            inputs = [{"stage": edge["from"], "kind": "regular", "bytes": bytes_of(edge["bytes"])}
                      for edge in spec.get("edges", []) if edge["to"] == stage["name"]]
            durations = [own["ended"][i] - own["launched"][i] for i in range(stage["tasks"])]
            yield {"r": "stage", "job": name, "id": stage["name"], "profile": 0,
                   "tasks": stage["tasks"], "in": inputs, "dur": durations}
            stages += 1
            tasks += stage["tasks"]
        yield {"r": "observe", "job": name, "start": seen["start"], "end": seen["end"],
               "result": "succeeded"}
        for stage in spec["stages"]:
            own = seen["stages"][stage["name"]]
            yield {"r": "observe", "job": name, "stage": stage["name"],
                   "submitted": own["submitted"], "first": min(own["launched"].values()),
                   "last": max(own["ended"].values()), "completed": own["completed"]}
    yield {"r": "end", "jobs": len(scenario["jobs"]), "stages": stages, "tasks": tasks}


def main(arguments):
    if not 1 <= len(arguments) <= 2:
        print(__doc__.split("\n", 1)[0], file=sys.stderr)
        return 2
    program = arguments[0]
    output = arguments[1] if len(arguments) == 2 else str(HERE / "sample.rtrace")
    text = (HERE / "sample.json").read_text(encoding="utf-8")
    scenario = json.loads(without_comments(text))
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "sample.journal"
        subprocess.run([program, "run", str(HERE / "sample.json"), "--journal", str(journal)],
                       check=True, stdout=subprocess.DEVNULL)
        executors, jobs = read_journal(journal)
    lines = list(records(scenario, executors, jobs))
    lines[-1]["records"] = len(lines) - 1  # without itself
    raw = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    subprocess.run([program, "trace", "convert", "-", "-o", output, "--quiet"], check=True,
                   input=raw.encode(), stdout=subprocess.DEVNULL)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
