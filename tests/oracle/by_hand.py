"""Cases that were worked out by hand, against the lines that the oracle demands."""

import json
import os
import subprocess
import tempfile
from pathlib import Path


def demanded(path, shown):
    """What `shown` makes of the oracle's lines for a scenario file; None leaves a line out."""
    command = [os.environ["REHEARSE_ORACLE_COMPARE"], "--print", path]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    events = [json.loads(line[:line.rindex("}") + 1]) for line in lines if line.startswith("{")]
    return [text for text in map(shown, events) if text]


def judge(cases, shown):
    """Compares each of `cases`, name -> (scenario, lines); the exit status of the test."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (scenario, lines) in cases.items():
            path = Path(folder) / "case.json"
            path.write_text(json.dumps(scenario), encoding="utf-8")
            came = demanded(path, shown)
            if came != lines:
                failed += 1
                print(f"{name}:\n  expected {lines}\n  oracle   {came}")
    print(f"{len(cases) - failed} of {len(cases)} as worked out by hand")
    return 1 if failed else 0
