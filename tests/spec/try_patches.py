"""Shows that every scenario can fail: applies the patches of patches.txt one at a time.

The scenarios that a patch names must fail in the program built with it (patched_build.py), and the
monitors it names must fire in them. The build is REHEARSE_BUILD_DIR.

    try_patches.py [CLAUSE or TEXT...]     only patches of these clauses or with this in their title
    try_patches.py --list-fired [...]      also lists which monitors fired
"""

import re
import sys

from patched_build import Build, try_all
from spec_files import SCENARIOS, PatchError, build_folder, read_patches, run, runner
from spec_files import scenario_files

SECONDS_MAX = 20  # for one scenario; one that does not end has failed
FIRED = re.compile(r"^ *([A-Z_]+) at ", re.MULTILINE)


def try_patch(build, number, patch, list_fired):
    """What is wrong with the patch; empty if every scenario and monitor it names notices it."""
    try:
        program = build.make(number, patch)
    except PatchError as error:
        return str(error)
    fired = set()
    for name in patch.fails:
        status, output = run(program, [SCENARIOS / f"{name}.json"], ["--faults-fire"],
                             seconds_max=SECONDS_MAX)
        if status == 0:
            return f"{patch}: {name} passes all the same"
        fired.update(FIRED.findall(output))
    program.unlink()
    if list_fired and fired:
        print(f"{patch}: fires {' '.join(sorted(fired))}", flush=True)
    silent = [monitor for monitor in patch.fires if monitor not in fired]
    return f"{patch}: {' '.join(silent)} did not fire" if silent else ""


def chosen(patches, words):
    return [(i, patch) for i, patch in enumerate(patches)
            if not words or patch.clause in words or
            any(word in patch.what for word in words if not word[-1].isdigit())]


def main():
    status, output = run(runner(), scenario_files(), ["--faults-fire"])
    if status != 0:
        print(output, "without a patch every scenario must pass", sep="\n")
        return 1
    build = Build(build_folder(), runner())
    list_fired = "--list-fired" in sys.argv[1:]
    work = chosen(read_patches(), [word for word in sys.argv[1:] if word != "--list-fired"])
    return try_all(work, lambda number, patch: try_patch(build, number, patch, list_fired),
                   "patches are noticed by all they name")


if __name__ == "__main__":
    sys.exit(main())
