#!/usr/bin/env python3
"""Checks journal_hash.py: XXH3-64 against fixed values, the golden journal, and journals that the
program writes, whose hash it prints itself."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from journal_hash import canonical_stream, journal_hash, xxh3_64

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests/golden/every_event.journal"
GOLDEN_HASH = "xxh3:64eff07eee047b09"

# Of the bytes 0, 7, 14, ... mod 256: one length on both sides of every change of the algorithm.
XXH3 = {
    0: "2d06800538d394c2", 1: "c44bdff4074eecdb", 3: "c3489259e968ad9e",
    4: "d3d60c1519014e89", 8: "b88dee77f6bf6980", 9: "03688dcad730d826",
    16: "9da23836adf2be1e", 17: "f34c3c9cf5a112d1", 32: "99cb9ad0f1a11fbe",
    33: "c077b45492d29cde", 64: "6efb76ff16f37561", 65: "2640848e9137156b",
    96: "764d2d5db92942df", 97: "077acb7e5f4fd940", 128: "65f3c2c00fa93185",
    129: "28065c6ec25f5b25", 192: "8ca5d09520a0aab0", 240: "4917a75c0ef8eed7",
    241: "541b19226f0052e8", 256: "ff5a1cefade75bb9", 1024: "dc5acf0b043c445b",
    1025: "e1d9cd946277ae26", 1087: "1f4c2c7a0a0b083c", 1088: "4a9c221912b93194",
    2048: "848d24cc268f7498", 5000: "6abe8be5abcb2760",
}

SCENARIO = {
    "rehearse": 1,
    "cluster": {"executors": 2, "cpus": 2},
    "jobs": [
        {"name": "q", "on_failure": {"resubmit": 1}, "stages": [
            {"name": "a", "tasks": 2, "duration": "5ms"},
            {"name": "b", "tasks": 2, "duration": "7ms"},
            {"name": "c", "tasks": 3, "duration": "1ms"}],
         "edges": [{"from": "a", "to": "b", "kind": "pipelined"}, {"from": "b", "to": "c"}]},
        {"name": "wide", "stages": [
            {"name": "x", "tasks": 3, "duration": "5ms"},
            {"name": "y", "tasks": 3, "duration": "7ms"}],
         "edges": [{"from": "x", "to": "y", "kind": "pipelined"}]}],
    "faults": [{"task": "q/b/1", "fails": "exception", "after": "3ms"}],
}


class JournalHash(unittest.TestCase):
    def test_xxh3_of_every_length_class(self):
        for size, expected in XXH3.items():
            data = bytes(7 * i % 256 for i in range(size))
            self.assertEqual(f"{xxh3_64(data):016x}", expected, f"{size} bytes")

    def test_golden_journal(self):
        self.assertEqual(journal_hash(GOLDEN), GOLDEN_HASH)

    def test_a_changed_line_changes_the_hash(self):
        lines = GOLDEN.read_text(encoding="utf-8").splitlines()
        whole = canonical_stream(lines)
        for i, line in enumerate(lines):
            event = json.loads(line)
            passed_over = event["e"] in ("run", "run_end", "probe", "message")
            event["t"] += 1
            changed = canonical_stream(lines[:i] + [json.dumps(event)] + lines[i + 1:])
            self.assertEqual(changed == whole, passed_over, line)

    def test_journals_of_the_program(self):
        program = os.environ.get("REHEARSE_PROGRAM", "")
        if not os.access(program, os.X_OK):
            self.skipTest("the program is not built")
        with tempfile.TemporaryDirectory() as folder:
            scenario = Path(folder) / "scenario.json"
            journal = Path(folder) / "out.journal"
            scenario.write_text(json.dumps(SCENARIO), encoding="utf-8")
            run = subprocess.run(
                [program, "run", str(scenario), "--json", "--journal", str(journal)],
                stdout=subprocess.PIPE, check=True, timeout=60)
            printed = json.loads(run.stdout)["runs"][0]["journal_hash"]
            self.assertEqual(journal_hash(journal), printed)


if __name__ == "__main__":
    sys.exit(0 if unittest.main(exit=False).result.wasSuccessful() else 1)
