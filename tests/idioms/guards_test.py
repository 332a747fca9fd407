"""Takes out, one at a time, what the core has beside the check of an idiom (guards.txt, written as
tests/spec/patches.txt is), and runs the scenario of the row: what it expects must not come, and the
properties that the guard names must be violated. A guard that names none says that no monitor sees
it. Where a campaign says that the guard holds, that must fail as well. The build is
REHEARSE_BUILD_DIR.

    guards_test.py [--list-fired]
"""

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "spec"))

from idioms import GUARDS  # noqa: E402
from patched_build import Build, try_all  # noqa: E402
from spec_files import PatchError, build_folder, read_patches, run, runner  # noqa: E402

CAMPAIGNS = {"speculation": "SPECULATION", "dynamic-allocation": "DYNAMIC_ALLOCATION"}
FIRED = re.compile(r"^ *([A-Z_]+) at ", re.MULTILINE)


def campaign_passes(build, number, guard, code):
    program = build.make(f"guard{number}", guard)
    done = subprocess.run([str(program), "--code", code, "--runs", "1000"], check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
    program.unlink()
    return done.returncode == 0


def try_guard(builds, number, guard, show):
    """What is wrong with it, or nothing."""
    try:
        program = builds["runner"].make(f"guard{number}", guard)
    except PatchError as error:
        return str(error)
    wrong = []
    for name in guard.fails:
        status, output = run(program, [HERE / f"{name}.json"], ["--faults-fire"], seconds_max=20)
        fired = set(FIRED.findall(output))
        if show:
            print(f"{guard}: fires {' '.join(sorted(fired)) or 'nothing'}\n{output}", flush=True)
        if status == 0:
            wrong.append(f"{guard}: {name} passes all the same")
        if fired != set(guard.fires):
            wrong.append(f"{guard}: fires {sorted(fired)}, the list says {sorted(guard.fires)}")
        if name in CAMPAIGNS and campaign_passes(builds["runs"], number, guard, CAMPAIGNS[name]):
            wrong.append(f"{guard}: the campaign {CAMPAIGNS[name]} passes all the same")
    program.unlink()
    return "\n".join(wrong)


def main():
    builds = {"runner": Build(build_folder(), runner()),
              "runs": Build(build_folder(), Path(os.environ["REHEARSE_IDIOM_RUNS"]))}
    show = "--list-fired" in sys.argv[1:]
    work = list(enumerate(read_patches(GUARDS)))
    return try_all(work, lambda number, guard: try_guard(builds, number, guard, show),
                   "guards, taken out, are missed as the list says")


if __name__ == "__main__":
    sys.exit(main())
