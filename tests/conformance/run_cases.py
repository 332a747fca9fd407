"""The core against the suite's cases: exactly those fail that failing_<dialect>.txt lists.

A case that fails and is not listed is a regression; a listed one that passes is taken off the list.
The cases lie beside the tree; without them the test is skipped.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
CASES = HERE.parent.parent.parent / "shared" / "cases" / "spark-suite" / "cases.jsonl"
FAILED = re.compile(r"^(SPK-\S+) step ", re.MULTILINE)
SKIPPED = 77


def main():
    if not CASES.is_file():
        print("skipped: no ../shared")
        return SKIPPED
    program = os.environ["REHEARSE_CONFORMANCE"]
    wrong = 0
    for dialect in ("psd", "spark"):
        listed = set((HERE / f"failing_{dialect}.txt").read_text().split())
        done = subprocess.run([program, str(CASES), "--dialect", dialect], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        failed = set(FAILED.findall(done.stdout))
        last = done.stdout.splitlines()[-1] if done.stdout else ""
        print(f"{dialect}: {last}")
        if done.returncode not in (0, 1) or f"{len(failed)} failed" not in last:
            print(f"  it ended with status {done.returncode}")
            wrong += 1
        for case in sorted(failed - listed):
            print(f"  {case} fails and is not listed")
        for case in sorted(listed - failed):
            print(f"  {case} passes: take it off failing_{dialect}.txt")
        wrong += len(failed ^ listed)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
