"""Runs the shared cases of real incidents that this version must pass.

They lie beside the tree, in ../shared/cases/bugs; without them the test says so and counts as
skipped. Chosen by number: those that need no data flow.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT.parent / "shared" / "cases" / "bugs"
SKIPPED = 77  # SKIP_RETURN_CODE of the test

NUMBERS = ("01a 01b "
           "02a 02b 03a 03b 03c 03d 04a 04b 04c 05a 05b 05c 05d 05e 06a 06b 06c 07a 07b 07c "
           "08a 08b 08c1 08c2 08d 08e 08f 09a 09b 10a 10b 10c 10d 10e "
           "12d 13a 13b 13c 14 15a 15b 15c "
           "16a 16b 16c 16d 17a 17b 17c 18a 18b 18c 18d").split()
OTHER_DIALECTS = ()
VARIANTS = ("FF", "W")  # of one number: short fail, short wait


def chosen():
    """(files to run, numbers without a file)"""
    files, missing = [], []
    for number in NUMBERS:
        names = [number, *(number + variant for variant in VARIANTS)]
        found = [file for file in sorted(FOLDER.glob("*.json"))
                 if file.name.split("-")[0] in names and
                 not any(dialect in file.name for dialect in OTHER_DIALECTS)]
        files += found
        missing += [] if found else [number]
    return files, missing


def main():
    if not FOLDER.is_dir():
        print("skipped: no ../shared")
        return SKIPPED
    files, missing = chosen()
    for number in missing:
        print(f"{number}: no such case")
    done = subprocess.run([os.environ["REHEARSE_SPEC_RUNNER"], *map(str, files)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    lines = done.stdout.splitlines()
    passed = sum(line.startswith("ok ") for line in lines)
    print(*(line for line in lines if not line.startswith("ok ")),
          f"{passed} of {len(files)} cases pass", sep="\n")
    return 1 if missing or done.returncode != 0 else 0


if __name__ == "__main__":
    sys.exit(main())
