"""Shows that the suite's cases can fail: builds the core with each mutant of mutants.txt, one at a
time, and runs the cases that it names; each of them must fail that passes without.

    try_mutants.py [LAYER or TEXT...]     only mutants of these layers or with this in their title
    try_mutants.py --all [...]            runs every case and prints which fail, to fill in the list

The cases lie beside the tree; without them the test is skipped. The build is REHEARSE_BUILD_DIR.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "spec"))

from patched_build import Build, try_all  # noqa: E402
from spec_files import PatchError, build_folder, read_patches  # noqa: E402

CASES = HERE.parent.parent.parent / "shared" / "cases" / "spark-suite" / "cases.jsonl"
FAILED = re.compile(r"^(SPK-\S+) step ", re.MULTILINE)
LAYERS = ("dag", "taskset", "offers", "pool", "commit", "barrier")
SKIPPED = 77


def failing(program, only):
    """The cases that fail, of those named or of all."""
    failed = set()
    for dialect in ("psd", "spark"):
        command = [str(program), str(CASES), "--dialect", dialect]
        try:
            done = subprocess.run([*command, "--only", ",".join(only)] if only else command,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  errors="replace", timeout=120, check=False)
        except subprocess.TimeoutExpired:
            return set(only) or {"(no end)"}
        failed.update(FAILED.findall(done.stdout))
        if done.returncode not in (0, 1):  # a check of the core stopped it
            return set(only) or {"(stopped)"}
    return failed


def try_mutant(build, number, mutant, sound, show_all):
    """What is wrong with it; empty if every case it names fails, and at least one."""
    try:
        program = build.make(number, mutant)
    except PatchError as error:
        return str(error)
    failed = failing(program, () if show_all else mutant.fails) - sound
    program.unlink()
    if show_all:
        print(f"{mutant}\n  fails {' '.join(sorted(failed))}", flush=True)
    silent = [case for case in mutant.fails if case not in failed]
    if not mutant.fails:
        return f"{mutant}: names no case"
    return f"{mutant}: {' '.join(silent)} passes all the same" if silent else ""


def main():
    if not CASES.is_file():
        print("skipped: no ../shared")
        return SKIPPED
    words = [word for word in sys.argv[1:] if word != "--all"]
    mutants = read_patches(HERE / "mutants.txt")
    missing = [layer for layer in LAYERS
               if sum(mutant.clause == layer for mutant in mutants) < 2]
    if missing or len(mutants) < 25:
        print(f"{len(mutants)} mutants; fewer than two of: {' '.join(missing)}")
        return 1
    program = Path(os.environ["REHEARSE_CONFORMANCE"])
    build = Build(build_folder(), program)
    sound = failing(program, ())
    work = [(i, mutant) for i, mutant in enumerate(mutants)
            if not words or mutant.clause in words or any(word in mutant.what for word in words)]
    show_all = "--all" in sys.argv
    return try_all(work, lambda number, mutant: try_mutant(build, number, mutant, sound, show_all),
                   "mutants fail every case they name")


if __name__ == "__main__":
    sys.exit(main())
