"""The JSON results of the command line as a contract: every key, and the type of its value.

`check(document)` returns what is wrong, one line each. A key that is not listed is wrong too, so
that nothing becomes public by accident. Written down from the contract, not from the program.
"""

import re

STR, INT, NUM, BOOL = "str", "int", "num", "bool"
HASH = "hash"  # "xxh3:" and 16 hex digits


class Optional:
    """T or null."""

    def __init__(self, inner):
        self.inner = inner


class ListOf:
    def __init__(self, inner):
        self.inner = inner


class MapOf:
    def __init__(self, inner):
        self.inner = inner


class OneOf:
    def __init__(self, *words):
        self.words = words


class Sometimes:
    """A key that may be absent."""

    def __init__(self, inner):
        self.inner = inner


WARNING = {"line": Optional(INT), "what": STR}
MARKING = {
    "unit": OneOf("sql", "job", "batch"), "candidates": INT, "marked": INT, "left": MapOf(INT),
    "work_share": NUM,
    "narrowed": Optional({"tasks_before": INT, "tasks_after": INT}),
}
INPUT = {"path": STR, "format": STR, "trace_id": Optional(STR), "ok": BOOL,
         "warnings": ListOf(WARNING), "marking": Optional(MARKING)}
ENVELOPE = {"command": STR, "version": STR, "complete": BOOL, "inputs": ListOf(INPUT)}
TOTALS = {key: INT for key in (
    "jobs", "requests", "stages", "tasks", "events", "slot_busy_ns", "slot_reserved_idle_ns",
    "slot_drain_idle_ns", "slot_blocked_ns", "slot_unusable_ns", "slot_idle_ns", "slot_time_ns",
    "rejected", "failed", "cancelled", "unfinished")}
VIOLATION = {"property": STR, "t": INT, "detail": STR}
JOB = {
    "name": STR, "request": STR, "try": INT,
    "outcome": OneOf("succeeded", "failed", "cancelled", "rejected", "unfinished"),
    "code": Optional(STR), "submit_ns": INT, "start_ns": Optional(INT), "end_ns": Optional(INT),
    "latency_ns": Optional(INT), "queued_ns": Optional(INT), "first_row_ns": Optional(INT),
    "recorded_latency_ns": Optional(INT),
}
RUN = {
    "scenario": STR, "configuration": STR, "dialect": STR, "timing": STR, "seed": INT,
    "journal_hash": HASH, "end_ns": INT, "jobs": Sometimes(ListOf(JOB)),
    "jobs_omitted": Sometimes(INT), "totals": TOTALS,
    "expectations": ListOf({"index": INT, "ok": BOOL, "detail": STR}),
    "violations": ListOf(VIOLATION), "wall_s": NUM,
}
ERROR = {"median": Optional(NUM), "p90": Optional(NUM)}
RECORDED = {"jobs": INT, "stages": INT, "tasks": INT, "compared_jobs": INT,
            "left_out": ListOf({"job": STR, "why": STR}), "reconstruction": ERROR,
            "prediction": ERROR}
DIST = {"p50_ns": Optional(INT), "p90_ns": Optional(INT), "p95_ns": Optional(INT),
        "p99_ns": Optional(INT), "mean_ns": Optional(INT), "max_ns": Optional(INT), "n": INT,
        "censored": INT}
CONFIGURATION = {
    "name": STR, "cluster": STR, "seeds": INT, "latency": DIST, "queued": DIST,
    "first_row": Optional(DIST), "utilization": NUM, "reserved_idle": NUM, "makespan_ns": INT,
    "rejected": INT, "failed": INT, "cancelled": INT, "unfinished": INT, "totals": TOTALS,
    "journal_hash": HASH, "violations": ListOf(VIOLATION),
}
PAIRED = {
    "name": STR, "n": INT, "speedup_median": Optional(NUM), "ci95": Optional(ListOf(NUM)),
    "faster": INT, "slower": INT, "same": INT,
    "requests": Sometimes(ListOf({"request": STR, "base_ns": INT, "other_ns": INT})),
}
FACTS = {
    "jobs": INT, "stages": INT, "tasks": INT, "executors": INT, "unfinished": INT,
    "failed_tasks": INT, "aliased_stages": INT, "edges": INT, "task_ends": MapOf(INT),
    "units": ListOf({"name": STR, "stages": INT, "slots_as_group": INT}),
}
COMPARE = {
    "finding": STR, "baseline": STR, "percentile_method": OneOf("nearest-rank"),
    "configurations": ListOf(CONFIGURATION), "paired": ListOf(PAIRED),
    "fail_if": ListOf({"rule": STR, "tripped": BOOL, "detail": STR}),
}
COUNTEREXAMPLE = {"property": STR, "scenario": STR, "seed": INT, "original_size": INT,
                  "shrunk_size": INT, "shrink_steps": INT}
SHRUNK_FIND = {"scenario": STR, "jobs": INT, "stages": INT, "faults": INT, "tasks": INT,
               "executors": INT, "replays": BOOL}
CHECKED = {"property": STR, "promised": BOOL, "verdict": OneOf("held", "violated", "not judged")}

DOCUMENTS = {
    "run": {**ENVELOPE, "runs": ListOf(RUN)},
    "replay": {**ENVELOPE, "runs": ListOf(RUN), "recorded": RECORDED},
    "compare": {**ENVELOPE, **COMPARE},
    "check": {**ENVELOPE, "journal_hash": HASH, "properties": ListOf(CHECKED),
              "violations": ListOf(VIOLATION)},
    "explore": {**ENVELOPE, "states": INT, "transitions": INT, "violations": ListOf(VIOLATION)},
    "fuzz": {**ENVELOPE, "runs": INT, "runs_per_s": NUM, "seed": INT,
             "coverage": {"patterns": INT, "states": INT}, "marks_missed": ListOf(STR),
             "counterexamples": ListOf(COUNTEREXAMPLE)},
    "mutants": {**ENVELOPE, "killed": INT, "total": INT,
                "mutants": ListOf({"id": STR, "what": STR, "killed": BOOL, "by": Optional(STR),
                                   "after_runs": Optional(INT),
                                   "shrunk": Sometimes(Optional(SHRUNK_FIND))})},
    "list": {**ENVELOPE, "items": ListOf({"name": STR, "what": STR, "default": Optional(STR),
                                          "bound": Optional(STR)})},
    # One input: the facts stand beside the envelope, and the version of what wrote the trace in the
    # input, because the document's own `version` is the program's.
    "trace inspect": {**ENVELOPE, "inputs": ListOf({**INPUT, "version": STR}), "format": STR,
                      "warnings": ListOf(WARNING), **FACTS},
    "explain": {**ENVELOPE, "job": STR, "latency_ns": INT, "helps": ListOf(STR),
                "parts": ListOf({"kind": STR, "from_ns": INT, "to_ns": INT, "detail": STR})},
    "trace convert": {**ENVELOPE, "trace_id": STR, "jobs": INT, "stages": INT, "tasks": INT},
}
INSPECT_SEVERAL = {**ENVELOPE, "inputs": ListOf({**INPUT, "version": STR, **FACTS})}


def check(document):
    command = document.get("command")
    if command not in DOCUMENTS:
        return [f"command: {command!r} has no document"]
    shape = DOCUMENTS[command]
    if command == "trace inspect" and len(document["inputs"]) > 1:
        shape = INSPECT_SEVERAL
    problems = []
    _check(document, shape, "", problems)
    return problems


def _is(value, kind):
    if kind == STR:
        return isinstance(value, str)
    if kind == BOOL:
        return isinstance(value, bool)
    if kind == INT:
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == NUM:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == HASH:
        return isinstance(value, str) and re.fullmatch(r"xxh3:[0-9a-f]{16}", value) is not None
    raise KeyError(kind)


def _check(value, shape, path, problems):
    if isinstance(shape, Sometimes):
        _check(value, shape.inner, path, problems)
    elif isinstance(shape, Optional):
        if value is not None:
            _check(value, shape.inner, path, problems)
    elif isinstance(shape, ListOf):
        if not isinstance(value, list):
            problems.append(f"{path}: no list")
            return
        for i, item in enumerate(value):
            _check(item, shape.inner, f"{path}/{i}", problems)
    elif isinstance(shape, MapOf):
        if not isinstance(value, dict):
            problems.append(f"{path}: no map")
            return
        for key, item in value.items():
            _check(item, shape.inner, f"{path}/{key}", problems)
    elif isinstance(shape, OneOf):
        if value not in shape.words:
            problems.append(f"{path}: {value!r} is none of {shape.words}")
    elif isinstance(shape, dict):
        _check_object(value, shape, path, problems)
    elif not _is(value, shape):
        problems.append(f"{path}: {value!r} is no {shape}")


def _check_object(value, shape, path, problems):
    if not isinstance(value, dict):
        problems.append(f"{path}: no object")
        return
    for key, inner in shape.items():
        if key in value:
            _check(value[key], inner, f"{path}/{key}", problems)
        elif not isinstance(inner, Sometimes):
            problems.append(f"{path}/{key}: missing")
    for key in value:
        if key not in shape:
            problems.append(f"{path}/{key}: not of the contract")
