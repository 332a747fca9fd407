"""The conformance driver without the suite: the cases of own_cases.jsonl pass in both dialects,
each of them fails when any value that it expects is another one, and what cannot be used is told
with its line and field.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
OWN = HERE / "own_cases.jsonl"
PROGRAM = os.environ["REHEARSE_CONFORMANCE"]

# Fields of expectations that are compared, and values that none of the cases expects.
OTHER = {
    "available": lambda value: not value, "ended": lambda value: not value,
    "granted": lambda value: not value, "count": lambda value: 0 if value else 1,
    "free": lambda value: value + 1, "map": lambda value: value + 1,
    "needed": lambda value: value + 1, "times": lambda value: value + 1,
    "hosts": lambda value: value + ["hostZ"], "levels": lambda value: value[:-1],
    "parents": lambda value: value + ["Z"], "placement": lambda value: {**value, "e9": [9]},
    "pool": lambda value: value + "2", "reason": lambda value: "fan_out",
    "value": lambda value: not value if isinstance(value, bool) else f"{value}0",
}
# Whose lists are compared as a whole.
LISTS = ("expect_stage_id_order", "expect_launch_order", "expect_stage_completed_order",
         "expect_running_stages", "expect_waiting", "expect_failed_queue")


def run(text, dialect="psd"):
    """Exit code, output, errors."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", delete=False) as file:
        file.write(text)
    try:
        done = subprocess.run([PROGRAM, file.name, "--dialect", dialect], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    finally:
        os.unlink(file.name)
    return done.returncode, done.stdout, done.stderr


def with_another_value(cases):
    """Copies of the cases in which one value that is expected is wrong."""
    for case in cases:
        for i, expectation in enumerate(case["then"]):
            changes = {key: other(expectation[key]) for key, other in OTHER.items()
                       if key in expectation}
            if expectation["op"] in LISTS:
                changes["stages"] = expectation["stages"] + ["Z"]
            for key, value in changes.items():
                copy = json.loads(json.dumps(case))
                copy["id"] = f"{case['id']}-{i}-{expectation['op']}-{key}"
                copy["then"][i][key] = value
                yield copy


def unusable(case):
    """Name, file, and what its message must have."""
    def changed(change):
        copy = json.loads(json.dumps(case))
        change(copy)
        return json.dumps(copy) + "\n"

    good = json.dumps(case) + "\n"
    yield "an empty file", "", ["no such case"]
    yield "no JSON", good + "{\"id\": \n", [":2:", "parse error"]
    yield "no object", "[1]\n", [":1:", "type_error"]
    yield "a blank line", good + "\n", [":2:", "parse error"]
    for key in ("id", "layer", "given", "when", "then", "psd"):
        yield f"no {key}", good + changed(lambda c, k=key: c.pop(k)), [":2:", f"'{key}'"]
    yield "an unknown input", changed(lambda c: c["when"][1].update(op="task_melted")), [
        ":1:", "/when/1/op", "task_melted"]
    yield "an unknown expectation", changed(lambda c: c["then"][2].update(op="expect_luck")), [
        ":1:", "/then/2/op", "expect_luck"]
    yield "an expectation after no step", changed(lambda c: c["then"][0].update(after=99)), [
        ":1:", "/then/after", "99"]
    yield "an unknown reason", changed(lambda c: c["when"][1].update(reason="bad luck")), [
        ":1:", "/when/reason", "bad luck"]
    yield "no op", changed(lambda c: c["when"][1].pop("op")), [":1:", "/when/1", "'op'"]
    yield "no stage", changed(lambda c: c["when"][1].pop("stage")), [":1:", "/when/1", "'stage'"]
    yield "no attempt", changed(lambda c: c["when"][2].pop("attempt")), [
        ":1:", "/when/2", "'attempt'"]
    yield "no count", changed(lambda c: c["then"][-5].pop("count")), [":1:", "/then/", "'count'"]
    yield "no tasks", changed(lambda c: c["given"]["stages"][1].pop("tasks")), [
        ":1:", "/given/stages/1", "'tasks'"]
    yield "tasks in words", changed(lambda c: c["given"]["stages"][1].update(tasks="two")), [
        ":1:", "/given/stages/1/tasks"]
    yield "an unknown kind", changed(lambda c: c["given"]["edges"][0].update(kind="blue")), [
        ":1:", "/given", "blue"]
    yield "an unknown option", changed(lambda c: c["given"].update(config={"luck": 1})), [
        ":1:", "/given/config", "luck"]
    yield "an unknown job", changed(lambda c: c["when"][0].update(job="J9")), [":1:", "J9"]


def main():
    wrong = []
    lines = OWN.read_text(encoding="utf-8")
    cases = [json.loads(line) for line in lines.splitlines()]
    for dialect in ("psd", "spark"):
        code, out, errors = run(lines, dialect)
        if code != 0 or f"{len(cases)} passed, 0 failed, 0 not applicable" not in out or errors:
            wrong.append(f"{dialect}: exit {code}\n{out}{errors}")
        if "not judged: 1 of expect_within_seconds" not in out:
            wrong.append(f"{dialect}: nothing is told of what is not judged")
        others = list(with_another_value(cases))
        code, out, errors = run("".join(json.dumps(case) + "\n" for case in others), dialect)
        failed = {line.split()[0] for line in out.splitlines() if " step " in line}
        wrong += [f"{dialect}: passes all the same: {case['id']}" for case in others
                  if case["id"] not in failed]
        if code != 1 or errors or len(others) < 70:
            wrong.append(f"{dialect}: {len(others)} wrong values, exit {code}\n{errors}")
        print(f"{dialect}: {len(cases)} cases, {len(others)} wrong values")
    tried = 0
    for name, text, parts in unusable(cases[0]):
        tried += 1
        code, out, errors = run(text)
        missing = [part for part in parts if part not in errors]
        judged = text.count("\n") > 1  # the lines beside it are judged all the same
        if code != 2 or missing or (judged and "1 passed, 0 failed" not in out):
            wrong.append(f"{name}: exit {code}, without {missing}\n{out}{errors}")
    done = subprocess.run([PROGRAM, str(HERE / "no_such_file.jsonl"), "--dialect", "psd"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 2 or "cannot be read" not in done.stderr:
        wrong.append(f"a file that is not there: exit {done.returncode}\n{done.stderr}")
    print(f"{tried + 1} files that cannot be used")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
