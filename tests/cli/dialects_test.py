"""docs/dialects.md agrees with `rehearse list dialects` and names scenarios that exist."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def dialects(program):
    """dialect -> axis -> value, as the program prints them."""
    listed = subprocess.run([program, "list", "dialects", "--json"], capture_output=True, text=True,
                            check=True).stdout
    return {item["name"]: dict(axis.split("=", 1) for axis in item["what"].split(" "))
            for item in json.loads(listed)["items"]}


def main():
    page = (ROOT / "docs" / "dialects.md").read_text(encoding="utf-8")
    known = dialects(os.environ["REHEARSE_PROGRAM"])
    rows = [[cell.strip().strip("`") for cell in line.strip("|").split("|")]
            for line in page.splitlines() if line.startswith("|")]
    names, table = rows[0][1:], rows[2:]
    wrong = []
    for axis, *values in table:
        for name, value in zip(names, values, strict=True):
            if known[name].get(axis) != value:
                wrong.append(f"{axis} of {name}: the page says {value}, "
                             f"the program {known[name].get(axis)}")
    # An axis that is left out is one in which they do not differ; lists of codes and what only
    # regular stages have are no part of the table.
    listed = {row[0] for row in table}
    for axis in known[names[0]]:
        if len({known[name][axis] for name in names}) > 1 and axis not in listed | {"reject"}:
            wrong.append(f"{axis} differs and has no row")
    scenarios = set(re.findall(r"\b[ACFX][0-9]+-[a-z0-9-]+[a-z0-9]", page))
    for name in sorted(scenarios):
        if not (ROOT / "tests" / "spec" / "scenarios" / f"{name}.json").is_file():
            wrong.append(f"there is no scenario {name}")
    for line in wrong:
        print(line)
    print(f"{len(table)} axes, {len(names)} dialects, {len(scenarios)} scenarios, "
          f"{len(wrong)} problems")
    return 1 if wrong or not scenarios else 0


if __name__ == "__main__":
    sys.exit(main())
