"""A program of a build with one file of the tree patched: the file is compiled with the command of
the build, without optimization, and linked in front of the build's libraries. Needs a Ninja build;
nothing of the tree or the build changes.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from spec_files import ROOT, PatchError

DROPPED = ("-O", "-g", "-Werror")


class Build:
    """The commands of a build folder, adapted to a patched file and one of its programs."""

    def __init__(self, folder, program):
        self.folder = folder
        self.program = program
        commands = json.loads((folder / "compile_commands.json").read_text())
        self.compile = {Path(entry["file"]).resolve(): entry for entry in commands}
        self.launcher = ["ccache"] if shutil.which("ccache") else []
        self.link = self.read_link()
        self.work = folder / "patched" / program.name

    def read_link(self):
        """The words of the command that links the program."""
        name = self.program.relative_to(self.folder)
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
        program = folder / self.program.name
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


def try_all(work, attempt, success):
    """Exit status: runs attempt(number, patch) for each of the work side by side and prints what it
    says is wrong, then how many of them `success`."""
    jobs = int(os.environ.get("REHEARSE_JOBS") or os.cpu_count() or 1)
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        problems = list(filter(None, pool.map(lambda row: attempt(*row), work)))
    for problem in problems:
        print(problem)
    print(f"{len(work) - len(problems)} of {len(work)} {success}")
    return 1 if problems else 0
