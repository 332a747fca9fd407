"""The core against the suite's cases: every one that its field says applies passes, in both
dialects. The cases lie beside the tree; without them the test is skipped.
"""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
CASES = HERE.parent.parent.parent / "shared" / "cases" / "spark-suite" / "cases.jsonl"
SKIPPED = 77


def main():
    if not CASES.is_file():
        print("skipped: no ../shared")
        return SKIPPED
    program = os.environ["REHEARSE_CONFORMANCE"]
    wrong = 0
    for dialect in ("psd", "spark"):
        done = subprocess.run([program, str(CASES), "--dialect", dialect], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        last = done.stdout.splitlines()[-1] if done.stdout else ""
        print(f"{dialect}: {last}")
        if done.returncode != 0 or " 0 failed," not in last:
            print(done.stdout)
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
