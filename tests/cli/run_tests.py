"""Runs the command line as the files *.test beside this one say: run_tests.py [NAME...].

A file holds cases. A case begins with a line `== what it shows`; then, one directive a line:

    file NAME           the lines that follow, each behind "| ", become a file in a fresh folder
    in TEXT             a line of standard input
    env NAME=VALUE      in the environment of the program
    $ rehearse ARGS     the command, split like a shell's; {dir} is the fresh folder
    exit N              its exit code (0 when not said)
    out TEXT, err TEXT  stdout, stderr hold this text        (out!, err!: do not)
    out-first, out-last, err-last TEXT    the first or last line holds it
    out-empty, err-empty
    err-screen          stderr is at most 12 lines of at most 200 columns
    json                stdout is one document of the contract (contract.py)
    again               a second run prints the same bytes (times of the program apart)

Several commands in a case run one after another in the same folder. Lines that begin with # are
comments. The program is REHEARSE_PROGRAM; commands run from the root of the tree.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import contract

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TIMEOUT_S = 120


class Failure(Exception):
    pass


class Case:
    def __init__(self, name, where):
        self.name, self.where = name, where
        self.steps = []  # (line number, directive, text)


def read_cases(path):
    cases = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line.startswith("== "):
            cases.append(Case(line[3:], f"{path.name}:{number}"))
        elif line.startswith("| ") or line == "|":
            cases[-1].steps.append((number, "|", line[2:]))
        elif line.strip() and not line.startswith("#"):
            directive, _, text = line.partition(" ")
            cases[-1].steps.append((number, directive, text))
    return cases


def without_wall_time(text):
    return re.sub(r'"wall_s": [0-9.e+-]+', '"wall_s": 0', text)


class Runner:
    def __init__(self, program):
        self.program = program

    def run(self, case):
        with tempfile.TemporaryDirectory() as folder:
            self.folder, self.environment, self.stdin = folder, dict(os.environ), ""
            self.environment.pop("NO_COLOR", None)
            self.result, self.open_file, self.exit_seen = None, None, True
            for number, directive, text in case.steps:
                try:
                    self.step(directive, text.replace("{dir}", folder))
                except Failure as failure:
                    raise Failure(f"line {number}: {failure}") from None
            self.finish_command()

    def step(self, directive, text):
        if directive == "|":
            with open(self.open_file, "a", encoding="utf-8") as file:
                file.write(text + "\n")
        elif directive == "file":
            self.open_file = Path(self.folder) / text
            self.open_file.parent.mkdir(parents=True, exist_ok=True)
            self.open_file.write_text("", encoding="utf-8")
        elif directive == "in":
            self.stdin += text + "\n"
        elif directive == "env":
            name, _, value = text.partition("=")
            self.environment[name] = value
        elif directive == "$":
            self.finish_command()
            self.command = shlex.split(text)
            if self.command[0] != "rehearse":
                raise Failure(f"not a command: {text}")
            self.result, self.exit_seen = self.execute(), False
        elif directive == "exit":
            self.exit_seen = True
            self.expect_exit(int(text))
        else:
            self.judge(directive, text)

    def execute(self):
        return subprocess.run([self.program, *self.command[1:]], cwd=ROOT, text=True,
                              input=self.stdin, capture_output=True, env=self.environment,
                              timeout=TIMEOUT_S, check=False)

    def finish_command(self):
        if not self.exit_seen:
            self.exit_seen = True
            self.expect_exit(0)

    def expect_exit(self, code):
        if self.result.returncode != code:
            raise Failure(f"exit code {self.result.returncode}, expected {code}\n"
                          f"{self.result.stdout}\n{self.result.stderr}")

    def judge(self, directive, text):
        out, err = self.result.stdout, self.result.stderr
        streams = {"out": out, "err": err}
        lines = {key: (value.rstrip("\n").split("\n")) for key, value in streams.items()}
        if directive in streams and text not in streams[directive]:
            raise Failure(f"no {text!r} in {directive}:\n{streams[directive]}")
        if directive in ("out!", "err!") and text in streams[directive[:-1]]:
            raise Failure(f"{text!r} in {directive[:-1]}:\n{streams[directive[:-1]]}")
        if directive == "out-first" and text not in lines["out"][0]:
            raise Failure(f"first line: {lines['out'][0]!r}")
        if directive in ("out-last", "err-last") and text not in lines[directive[:3]][-1]:
            raise Failure(f"last line: {lines[directive[:3]][-1]!r}")
        if directive in ("out-empty", "err-empty") and streams[directive[:3]]:
            raise Failure(f"not empty: {streams[directive[:3]]!r}")
        if directive == "err-screen" and (len(lines["err"]) > 12 or
                                          max(map(len, lines["err"])) > 200):
            raise Failure(f"more than a screen:\n{err}")
        if directive == "json":
            problems = contract.check(json.loads(out))
            if problems:
                raise Failure("\n".join(problems[:20]))
        if directive == "again":
            second = self.execute()
            if without_wall_time(second.stdout) != without_wall_time(out):
                raise Failure("a second run prints other bytes")
        known = {"out", "err", "out!", "err!", "out-first", "out-last", "err-last", "out-empty",
                 "err-empty", "err-screen", "json", "again"}
        if directive not in known:
            raise Failure(f"unknown directive {directive!r}")


def main(arguments):
    runner = Runner(os.environ["REHEARSE_PROGRAM"])
    failed = run = 0
    for path in sorted(HERE.glob("*.test")):
        if arguments and path.stem not in arguments:
            continue
        for case in read_cases(path):
            run += 1
            try:
                runner.run(case)
            except Failure as failure:
                failed += 1
                print(f"FAILED {case.where} {case.name}\n  {failure}\n")
    print(f"cli: {run} cases, {failed} failed")
    return 1 if failed or not run else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
