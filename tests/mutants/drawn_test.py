"""Judges edits with a known answer, and a few that a seed draws; the tree stays as it is.

The build is REHEARSE_BUILD_DIR, the program REHEARSE_PROGRAM.
"""

import hashlib
import os
import sys
from pathlib import Path

from drawn import CLASSES, Bench, summary
from edits import ROOT, draw, read_sources

SEED = 7
DRAWN = 3
# (file, operator, text on the line of the first such edit, class)
KNOWN = (
    # A trial that takes executors that are none, and gives up on those that are there.
    ("scheduler/admission.cpp", "negated", "if (!executor.valid()) {", "killed"),
    # The full digest that every other one is compared with is another: only audits see it.
    ("scheduler/core.cpp", "relation", ".used || m.stages[stage].cold == none_u32", "killed"),
    # The greater of two numbers, the other way round.
    ("scheduler/admission.cpp", "swapped", "slots.open_amount(r), 1", "changes no journal"),
    ("scheduler/admission.cpp", "swapped", "m, job", "does not compile"),
)

problems = []


def expect(holds, what):
    if not holds:
        problems.append(what)


def digest():
    """Of everything under scheduler/ and policies/."""
    total = hashlib.sha256()
    for folder in ("scheduler", "policies"):
        for path in sorted((ROOT / folder).rglob("*")):
            total.update(path.read_bytes() if path.is_file() else path.name.encode())
    return total.hexdigest()


def known_edit(sources, file, operator, text):
    source = next(source for source in sources if source.file == file)
    lines = source.text.split("\n")
    return next(edit for line in source.edits().values() for edit in line
                if edit.operator == operator and text in lines[edit.line - 1])


def main():
    before = digest()
    sources = read_sources()
    folder = Path(os.environ["REHEARSE_BUILD_DIR"])
    bench = Bench(folder, Path(os.environ["REHEARSE_PROGRAM"]),
                  folder / "tests" / "random" / "random_runs")
    results = []
    for number, (file, operator, text, expected) in enumerate(KNOWN, 1):
        result = bench.judge(f"known-{number}", known_edit(sources, file, operator, text))
        expect(result["class"] == expected, f"{result}, expected {expected}")
        results.append(result)
        if expected == "killed":
            finds = (result.get("campaign") or {"finds": []})["finds"]
            expect(finds and all(find["replays"] and find["seconds"] < 15 for find in finds),
                   f"counterexamples of {result}")
    for number, edit in enumerate(draw(sources, SEED, DRAWN), 1):
        result = bench.judge(f"drawn-{number}", edit)
        expect(result["class"] in CLASSES, f"{result}")
        results.append(result)
    expect(digest() == before, "the tree has changed")
    print(*summary(results), *problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
