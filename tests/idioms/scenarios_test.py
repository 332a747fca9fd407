"""Runs the scenario of each idiom: as it stands, without the check; with it, when the job must be
refused with the row's code; and where a flag carries the idiom and the core reads it for the
refusal only, without what acts it out: nothing may break then, and the journal must be that without
the flag.
"""

import copy
import json
import os
import re
import sys
import tempfile
from pathlib import Path

from idioms import HERE, ROWS, read_rows, run

PROGRAM = os.environ["REHEARSE_PROGRAM"]
EVERYWHERE = {"INSUFFICIENT_SLOTS", "DAG_CYCLE", "SHARED_PRODUCER", "NO_EXECUTORS"}


def written(folder, name, scenario):
    path = Path(folder) / f"{name}.json"
    path.write_text(json.dumps(scenario), encoding="utf-8")
    return path


def refused(row, reject):
    """The scenario under this list (None: that of psd), where q must be refused with the code."""
    scenario = copy.deepcopy(row.scenario)
    if reject is None:
        del scenario["scheduler"]["reject"]
    else:
        scenario["scheduler"]["reject"] = reject
    scenario.pop("faults", None)  # they hit what does not start
    refusal = {"event": "job_rejected q", "count": 1}
    if reject is not None:
        refusal["codes"] = reject
    scenario["expect"] = [refusal, {"never": "job_started q"}]
    return scenario


def flag_alone(row):
    """The scenario without what acts the idiom out, and no expectations."""
    scenario = copy.deepcopy(row.scenario)
    scenario["expect"] = []
    if "Acted out" in row.head:
        scenario["scheduler"].pop("completion", None)
        job = scenario["jobs"][0]
        job["edges"] = [edge for edge in job["edges"] if edge.get("kind") == "pipelined"]
    return scenario


def without_flag(row, alone):
    """The same without the flag, which must give the journal of the file `alone`."""
    where, flag = row.flag
    scenario = flag_alone(row)
    taken = [item.pop(flag) for item in scenario["jobs"][0][where] if flag in item]
    if not taken:
        raise ValueError(f"{row.name}: nothing carries {flag}")
    # The line of a job shows which of its stages are barriers, whatever comes of it.
    scenario["expect"] = [{"same_journal_as": str(alone), "except": ["job_submitted q"]},
                          {"event": "group_admitted q", "min": 1}]
    return scenario


def codes_of_psd():
    """Those that a list need not have, because every list has the others (F13)."""
    listed = json.loads(run([PROGRAM, "list", "dialects", "--json"])[1])["items"]
    text = next(item["what"] for item in listed if item["name"] == "psd")
    return set(re.search(r"reject=\[([A-Z_,]*)\]", text).group(1).split(",")) - EVERYWHERE


def wrong_list(row):
    """A scenario leaves out its own code alone, and that of the edge with which it is acted out."""
    off = codes_of_psd() - set(row.scenario["scheduler"]["reject"])
    wanted = {row.code}
    if "REGULAR_INSIDE_GROUP" in row.head.get("Acted out", ""):
        wanted.add("REGULAR_INSIDE_GROUP")
    return off != wanted - EVERYWHERE


def journal_codes(path, folder):
    """The codes of q's refusal."""
    journal = Path(folder) / "journal.jsonl"
    run([PROGRAM, "run", path, "--journal", journal])
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    return next((line["codes"] for line in lines if line["e"] == "job_rejected"), [])


def problems_of(row, folder):
    status, output = run([PROGRAM, "run", row.path()])
    if status != 0:
        yield f"{row.name}: exit {status}\n{output}"
    if wrong_list(row):
        yield f"{row.name}: its list is not that of psd without its code"
    alone = written(folder, row.name + "-on", refused(row, [row.code]))
    status, output = run([PROGRAM, "run", alone])
    if status != 0:
        yield f"{row.name} with {row.code} only: exit {status}\n{output}"
    listed = written(folder, row.name + "-psd", refused(row, None))
    status, output = run([PROGRAM, "run", listed])
    if status != 0 or row.code not in journal_codes(listed, folder):
        yield f"{row.name} under psd: exit {status}, no {row.code}\n{output}"
    if row.flag:
        alone = written(folder, row.name + "-alone", flag_alone(row))
        plain = written(folder, row.name + "-plain", without_flag(row, alone))
        status, output = run([PROGRAM, "run", alone, plain])
        if status != 0:
            yield f"{row.name} without {row.flag[1]}: exit {status}\n{output}"


def main():
    rows = read_rows()
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            problems += problems_of(row, folder)
    named = {f"{name}.json" for _, _, name, _ in ROWS}
    problems += [f"{path.name}: no row names it" for path in sorted(HERE.glob("*.json"))
                 if path.name not in named]
    for problem in problems:
        print(problem)
    print(f"{len(rows)} idioms, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
