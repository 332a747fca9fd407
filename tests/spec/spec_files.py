"""What the tests of the specification share: where things are, and the list of patches.

The scenarios are scenarios/<CLAUSE>-<what>.json, the patches are in patches.txt, whose head says
how they are written. A patch is found in its file token by token, so that blanks, line breaks and
comments do not matter.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
SCENARIOS = FOLDER / "scenarios"
PATCHES = FOLDER / "patches.txt"

# The clauses that are built.
CLAUSES = (
    [f"F{n}" for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15)] +
    [f"A{n}" for n in range(1, 23)] +
    [f"C{n}" for n in range(1, 13)] +
    [f"X{n}" for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17)] +
    ["W5", "W6", "W8"])

TOKEN = re.compile(r"//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|\w+|\s+|[^\w\s]")


class PatchError(Exception):
    """A patch that cannot be read or no longer applies."""


@dataclass
class Patch:
    clause: str
    what: str
    line: int
    file: str = ""
    fails: list = field(default_factory=list)
    fires: list = field(default_factory=list)
    places: list = field(default_factory=list)  # [text to find, text instead]
    source: str = PATCHES.name

    def __str__(self):
        return f"{self.source}:{self.line}: {self.clause}: {self.what}"

    def applied(self):
        """The text of the file with the patch; PatchError if a place is not there exactly once."""
        text = (ROOT / self.file).read_text()
        for find, instead in self.places:
            text = replace_once(text, find, instead, self)
        return text


def tokens(text):
    """(token, start, end) of everything but blanks and comments."""
    return [(found.group(), found.start(), found.end()) for found in TOKEN.finditer(text)
            if not found.group().isspace() and not found.group().startswith("//")]


def replace_once(text, find, instead, patch):
    wanted = [token for token, _, _ in tokens(find)]
    have = tokens(text)
    texts = [token for token, _, _ in have]
    starts = [i for i in range(len(texts) - len(wanted) + 1)
              if texts[i] == wanted[0] and texts[i:i + len(wanted)] == wanted]
    if len(starts) != 1:
        raise PatchError(f"{patch}: its text is {len(starts)} times in {patch.file}:\n{find}")
    first, last = have[starts[0]], have[starts[0] + len(wanted) - 1]
    return text[:first[1]] + instead + text[last[2]:]


def read_patches(file=PATCHES):
    patches = []
    for number, line in enumerate(file.read_text().splitlines(), 1):
        key, _, rest = line.partition(" ")
        if not line.strip() or line.startswith("#"):
            continue
        if key == "clause":
            clause, _, what = rest.partition(": ")
            patches.append(Patch(clause, what, number, source=file.name))
            continue
        if not patches:
            raise PatchError(f"{file.name}:{number}: a block begins with 'clause'")
        patch = patches[-1]
        if key == "file":
            patch.file = rest
        elif key == "fails":
            patch.fails += rest.split()
        elif key == "fires":
            patch.fires += rest.split()
        elif key == "-":
            if not patch.places or patch.places[-1][1]:
                patch.places.append(["", ""])
            patch.places[-1][0] += rest + "\n"
        elif key == "+" and patch.places:
            patch.places[-1][1] += rest + "\n"
        else:
            raise PatchError(f"{file.name}:{number}: cannot be read: {line}")
    return patches


def scenario_files():
    return sorted(SCENARIOS.glob("*.json"))


def build_folder():
    folder = os.environ.get("REHEARSE_BUILD_DIR")
    if not folder:
        sys.exit("REHEARSE_BUILD_DIR: set it to the build folder (ctest does)")
    return Path(folder)


def runner():
    """The program spec_runner of the build, wherever the build keeps it."""
    return Path(os.environ.get("REHEARSE_SPEC_RUNNER") or build_folder() / "tests/spec/spec_runner")


def run(program, files, options=(), env=None, seconds_max=600):
    """Exit status and output of spec_runner; the status is None if it was stopped."""
    command = [str(program), *options, *(str(file) for file in files)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=seconds_max, env=env, check=False)
    except subprocess.TimeoutExpired:
        return None, f"no end within {seconds_max} s"
    return done.returncode, done.stdout
