"""The list of named mutants agrees with the code and with docs/mutants.md.

Each mutant of `rehearse list mutants` is planted in scheduler/ or policies/ and nowhere else, and
nothing is planted that is not in the list. The table of the page has a row for each, with what it
is, where it comes from and where it is looked for; each number of the research is in that table or
among those that the page gives a reason for.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = ("scheduler", "policies")
OTHERS = ("model", "sim", "traces", "properties", "reports", "cli", "examples")
CALL = re.compile(r"\bplanted\(\s*(?:model::)?Mutant::(\w+)\s*\)")
RESEARCH = [f"MU{n:02}" for n in range(1, 61)] + [f"SS-M{n}" for n in range(1, 67)]


def planted(folders):
    names = set()
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.[ch]pp")):
            if path.name != "planted.hpp":
                names |= set(CALL.findall(path.read_text(encoding="utf-8")))
    return names


def listed():
    out = subprocess.run([os.environ["REHEARSE_PROGRAM"], "list", "mutants", "--json"], check=True,
                         capture_output=True, text=True).stdout
    items = {}
    for item in json.loads(out)["items"]:
        what, rest = item["what"][:-1].rsplit(" (", 1)
        items[item["name"]] = (what, *rest.split("; ", 1))
    return items


def numbers(text):
    """MU.. and SS-M.. of a text, ranges as `SS-M51 to SS-M60` included."""
    found = set()
    for first, last in re.findall(r"\bSS-M(\d+) to SS-M(\d+)\b", text):
        found |= {f"SS-M{n}" for n in range(int(first), int(last) + 1)}
    for first, last in re.findall(r"\bMU(\d+) to MU(\d+)\b", text):
        found |= {f"MU{n:02}" for n in range(int(first), int(last) + 1)}
    return found | set(re.findall(r"\bMU\d\d\b", text)) | set(re.findall(r"\bSS-M\d+\b", text))


def main():
    problems = []
    items = listed()
    in_code = planted(FOLDERS)
    problems += [f"{name}: listed, not planted" for name in sorted(set(items) - in_code)]
    problems += [f"{name}: planted, not listed" for name in sorted(in_code - set(items))]
    problems += [f"{name}: planted outside the scheduler" for name in sorted(planted(OTHERS))]
    page = (ROOT / "docs" / "mutants.md").read_text(encoding="utf-8")
    rows = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) >= 4:
            rows[cells[0].strip("`")] = (cells[1], cells[2], cells[3].strip("`"))
    for name, item in items.items():
        if rows.get(name) != item:
            problems.append(f"{name}: docs/mutants.md has {rows.get(name)}, the program {item}")
    problems += [f"{name}: only in docs/mutants.md" for name in sorted(set(rows) - set(items))]
    told = numbers(page)
    problems += [f"{number}: docs/mutants.md does not mention it" for number in RESEARCH
                 if number not in told]
    for problem in problems:
        print(problem)
    print(f"{len(items)} mutants, {len(problems)} problems")
    return 1 if problems or len(items) < 80 else 0


if __name__ == "__main__":
    sys.exit(main())
