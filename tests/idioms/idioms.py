"""What the tests of idioms share: the rows of the specification's table, the scenario of each, and
the recorded campaigns.

A scenario's head, the comment in front of it, is what docs/idioms.md says of its row:

    // Idiom: what it is, with clause and code    (one line)
    // Result: what happens with the check off, for the table
    // Off: ... what the core does; // Acted out: ... ; // Guard: ... ; // Breaks: ... ;
    // Finding: ...                               (any of these, in any order, over several lines)
"""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "idioms.md"
CAMPAIGNS = HERE / "campaigns.txt"
GUARDS = HERE / "guards.txt"

# In the order of the proposal's table: code, what the table says the idiom is, the scenario, and
# the flag in it that carries the idiom and must change no journal (None: it is no such flag).
ROWS = [
    ("BARRIER_MEMBER", "incompatible", "barrier-member", ("stages", "barrier")),
    ("DYNAMIC_ALLOCATION", "incompatible", "dynamic-allocation", None),
    ("DYNAMIC_ALLOCATION", "incompatible", "dynamic-allocation-fail", None),
    ("SPECULATION", "incompatible", "speculation", None),
    ("PUSH_MERGE", "incompatible", "push-merge", ("edges", "push_merge")),
    ("INDETERMINATE_PRODUCER", "moot", "indeterminate-producer", None),
    ("CHECKSUM_RETRY", "moot", "checksum-retry", ("edges", "checksum_retry")),
    ("CACHED_MEMBER", "incompatible", "cached-member", ("stages", "cached")),
    ("SHARED_PRODUCER", "incompatible", "shared-producer", None),
    ("REGULAR_INSIDE_GROUP", "incompatible", "regular-inside-group", None),
    ("ADAPTIVE_EXCHANGE", "incompatible", "adaptive-exchange", ("edges", "adaptive")),
]
KEYS = ("Idiom", "Result", "Off", "Acted out", "Guard", "Breaks", "Finding")


@dataclass
class Row:
    code: str
    kind: str
    name: str
    flag: tuple
    head: dict       # key -> text
    scenario: dict   # without comments

    def path(self):
        return HERE / f"{self.name}.json"

    def violated(self):
        """Properties that the scenario expects to be violated."""
        return [entry["invariant"] for entry in self.scenario["expect"]
                if entry.get("holds") is False]


def read_head(text, name):
    head, key = {}, None
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        found = re.match(r"// ([A-Z][a-z ]+): (.*)", line)
        if found and found.group(1) in KEYS:
            key = found.group(1)
            head[key] = found.group(2)
        elif key:
            head[key] += " " + line.removeprefix("//").strip()
        else:
            raise ValueError(f"{name}: the head does not begin with a key")
    return head


def read_rows():
    rows = []
    for code, kind, name, flag in ROWS:
        text = (HERE / f"{name}.json").read_text(encoding="utf-8")
        body = "\n".join(line for line in text.splitlines() if not line.startswith("//"))
        rows.append(Row(code, kind, name, flag, read_head(text, name), json.loads(body)))
    return rows


def read_campaigns():
    """(code, {key: value}) per line, in order."""
    rows = []
    for line in CAMPAIGNS.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            code, *pairs = line.split()
            rows.append((code, dict(pair.split("=", 1) for pair in pairs)))
    return rows


def run(command):
    """Exit status and output, both streams together."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, errors="replace", check=False)
    return done.returncode, done.stdout
