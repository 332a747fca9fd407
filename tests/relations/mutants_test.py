"""Relations and recomputed passes can fail: with a known bug planted, each of these is noticed by
what is named beside it. The programs are those of the build with mutants.
"""

import os
import subprocess
import sys
from pathlib import Path

BUILD = Path(os.environ["REHEARSE_BUILD_DIR"])
RELATIONS = BUILD / "tests/relations/relations-mutants"
PASSES = BUILD / "tests/passes/passes-mutants"
SCENARIOS = "150"
WORLDS = "80"

# mutant -> relations that notice it
NOTICED = {
    "mu04": ["unused executor"],
    "mu05": ["cancelled while it waits"],
    "mu44": ["cancelled while it waits"],
    "mu49": ["policies recomputed"],
    "mu56": ["jobs in another order"],
    "m48": ["ends in another order", "regular edges"],
}
# mutants that some pass of a small world shows
IN_PASSES = ("mu03", "mu05", "mu06", "mu07", "mu24", "mu28", "mu49", "mu50", "mu56", "mu58", "mu59",
             "m20", "m50", "m66", "act06", "c08", "c09", "c10")


def noticed_by(mutant):
    text = subprocess.run([RELATIONS, "--mutant", mutant, "--runs", SCENARIOS], text=True,
                          check=False, stdout=subprocess.PIPE).stdout
    rows = (line.split(maxsplit=2) for line in text.splitlines() if line.startswith(" "))
    return {name for _, differ, name in rows if int(differ) > 0}


def main():
    failures = []
    for mutant, relations in NOTICED.items():
        missed = set(relations) - noticed_by(mutant)
        failures += [f"{mutant}: not noticed by '{name}'" for name in sorted(missed)]
    for mutant in IN_PASSES:
        status = subprocess.run([PASSES, "--mutant", mutant, "--runs", WORLDS], check=False,
                                stdout=subprocess.DEVNULL).returncode
        failures += [] if status == 1 else [f"{mutant}: the passes are right, exit {status}"]
    plain = subprocess.run([PASSES, "--runs", WORLDS], check=False).returncode
    failures += [] if plain == 0 else ["a difference without any mutant"]
    print("\n".join(failures) or f"{len(NOTICED)} and {len(IN_PASSES)} mutants are noticed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
