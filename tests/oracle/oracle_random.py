"""The core against the oracle on random scenarios of the campaign mix, under each dialect."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
DIALECTS = ("psd", "sequential", "spark", "ballista-pipelined")
FIRST = 1
RUNS = 2000


def main():
    status = 0
    for dialect in DIALECTS:
        print(dialect, flush=True)
        command = [os.environ["REHEARSE_ORACLE_COMPARE"], "--known", HERE / "known.txt",
                   "--dialect", dialect, "--first", str(FIRST), "--runs", str(RUNS), "--verbose"]
        status = max(status, subprocess.run(command, check=False).returncode)
    return status


if __name__ == "__main__":
    sys.exit(main())
