"""Shows that every scenario can fail: applies the patches of patches.txt one at a time.

Each patch gets a copy of its one file, compiled with the command of the build (without
optimization) and linked in front of the build's libraries, and the scenarios it names must fail in
that program, and the monitors it names must fire in them. Needs a Ninja build in
REHEARSE_BUILD_DIR; nothing of the tree or the build changes.

    try_patches.py [CLAUSE or TEXT...]     only patches of these clauses or with this in their title
    try_patches.py --list-fired [...]      also lists which monitors fired
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from spec_files import ROOT, SCENARIOS, PatchError, build_folder, read_patches, run, runner
from spec_files import scenario_files

SECONDS_MAX = 20  # for one scenario; one that does not end has failed
DROPPED = ("-O", "-g", "-Werror")
FIRED = re.compile(r"^ *([A-Z_]+) at ", re.MULTILINE)


class Build:
    """The commands of a build folder, adapted to a patched file."""

    def __init__(self, folder):
        self.folder = folder
        commands = json.loads((folder / "compile_commands.json").read_text())
        self.compile = {Path(entry["file"]).resolve(): entry for entry in commands}
        self.launcher = ["ccache"] if shutil.which("ccache") else []
        self.link = self.read_link()
        self.work = folder / "spec_patches"

    def read_link(self):
        """The words of the command that links spec_runner."""
        name = runner().relative_to(self.folder)
        done = subprocess.run(["ninja", "-C", str(self.folder), "-t", "commands", str(name)],
                              stdout=subprocess.PIPE, text=True, check=False)
        lines = [line for line in done.stdout.splitlines() if f"-o {name}" in line]
        if not lines:
            sys.exit(f"{self.folder}: ninja does not know how to link {name}")
        words = shlex.split(lines[-1])
        begin = words.index("&&") + 1 if "&&" in words else 0
        words = words[begin:]
        return words[:words.index("&&")] if "&&" in words else words

    def make(self, number, patch):
        """The program with the patch; PatchError if it does not compile."""
        folder = self.work / str(number)
        source = folder / patch.file
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(patch.applied())
        entry = self.compile[(ROOT / patch.file).resolve()]
        words = shlex.split(entry.get("command") or shlex.join(entry["arguments"]))
        target = folder / "patched.o"
        words[words.index("-o") + 1] = str(target)
        words[words.index("-c") + 1] = str(source)
        words = [word for word in words if not word.startswith(DROPPED)]
        words = [*self.launcher, *words, "-O0", "-w", f"-I{ROOT}"]
        self.call(words, entry["directory"], patch)
        link = list(self.link)
        program = folder / "spec_runner"
        link[link.index("-o") + 1] = str(program)
        first = next(i for i, word in enumerate(link) if word.endswith(".o"))
        link.insert(first, str(target))
        self.call(link, self.folder, patch)
        return program

    def call(self, words, directory, patch):
        done = subprocess.run(words, cwd=directory, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            raise PatchError(f"{patch}: does not build\n{done.stdout[:2000]}")


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
    build = Build(build_folder())
    list_fired = "--list-fired" in sys.argv[1:]
    work = chosen(read_patches(), [word for word in sys.argv[1:] if word != "--list-fired"])
    jobs = int(os.environ.get("REHEARSE_JOBS") or os.cpu_count() or 1)
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        results = pool.map(lambda row: try_patch(build, *row, list_fired), work)
        problems = list(filter(None, results))
    for problem in problems:
        print(problem)
    print(f"{len(work) - len(problems)} of {len(work)} patches are noticed by all they name")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
