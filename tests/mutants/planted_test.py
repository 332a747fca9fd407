"""Plants known bugs and sees that the harness notices: planted_test.py [--all].

Without --all a handful, by campaigns of few runs; with it every mutant, each by a campaign of
RUNS_ALL runs, the scopes and the scenarios. What survives must be in SURVIVORS, and nothing else
may be there: one that is noticed now is taken out. The program is REHEARSE_PROGRAM with -mutants.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))

import contract  # noqa: E402

ROOT = HERE.parent.parent
PLAIN = os.environ["REHEARSE_PROGRAM"]
PROGRAM = PLAIN + "-mutants"
HANDFUL = ("mu03", "mu06", "mu10", "mu14", "mu44", "mu49", "m01", "act01", "log01", "c03")
RUNS_FEW = 2000
RUNS_ALL = 5000
# Mutants that nothing here notices, with the monitor that would have to exist (docs/mutants.md).
SURVIVORS = ()

failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)


def mutants(*arguments):
    return subprocess.run([PROGRAM, "mutants", *arguments], cwd=ROOT, text=True, check=False,
                          capture_output=True)


def document_of(result):
    document = json.loads(result.stdout)
    for problem in contract.check(document):
        failures.append(f"not of the contract: {problem}")
    return document


def only(names):
    return [word for name in names for word in ("--only", name)]


def check_handful():
    result = mutants(*only(HANDFUL), "--runs", str(RUNS_FEW), "--campaign-only", "--json")
    document = document_of(result)
    for mutant in document["mutants"]:
        expect(mutant["killed"], f"{mutant['id']} survives {RUNS_FEW} runs: {mutant['what']}")
    expect(document["total"] == len(HANDFUL), f"{document['total']} mutants")
    expect(result.returncode == 0, f"exit {result.returncode} {result.stderr}")
    again = mutants(*only(HANDFUL), "--runs", str(RUNS_FEW), "--campaign-only", "--json",
                    "--threads", "1")
    expect(again.stdout == result.stdout, "one thread gives another document")


def check_survivor():
    """Two runs notice little: exit 3, and the text names what survives."""
    result = mutants("--only", "mu60", "--runs", "2", "--campaign-only")
    expect(result.returncode == 3, f"a survivor: exit {result.returncode} {result.stderr}")
    expect("1 survives" in result.stdout.splitlines()[0], result.stdout)
    expect("Survivors" in result.stdout, result.stdout)


def check_ablation():
    """Without all that would notice it a mutant survives; without one of them it may not."""
    few = ("--only", "log01", "--runs", "300", "--campaign-only")
    by = document_of(mutants(*few, "--json"))["mutants"][0]["by"]
    without = document_of(mutants(*few, "--json", "--without", str(by)))["mutants"][0]
    expect(by is not None and without["by"] != by, f"without {by}: {without}")


def check_shrink():
    """What campaigns find is written small, and the file is what the document says of it."""
    with tempfile.TemporaryDirectory() as folder:
        document = document_of(mutants(*only(("mu06", "act01")), "--runs", str(RUNS_FEW), "--json",
                                       "--campaign-only", "--shrink", f"{folder}/found"))
        for mutant in document["mutants"]:
            shrunk = mutant["shrunk"]
            scenario = json.loads(Path(shrunk["scenario"]).read_text(encoding="utf-8"))
            stages = sum(len(job["stages"]) for job in scenario["jobs"])
            expect(shrunk["replays"], f"{mutant['id']}: does not replay")
            expect((stages, len(scenario.get("faults", []))) ==
                   (shrunk["stages"], shrunk["faults"]), f"{mutant['id']}: {shrunk}, {scenario}")
            expect(shrunk["jobs"] <= 2 and stages <= 4 and shrunk["faults"] <= 1,
                   f"{mutant['id']}: {shrunk}")
        # Without its monitor only the oracle sees it, and what it sees is shrunk as well.
        found = document_of(mutants("--only", "m33", "--without", "SINGLE_OWNER", "--runs",
                                    str(RUNS_FEW), "--json", "--campaign-only", "--shrink",
                                    f"{folder}/oracle"))["mutants"][0]
        expect(found["by"] == "ORACLE", f"m33: {found}")
        expect(found["shrunk"] is not None and found["shrunk"]["replays"], f"m33: {found}")
    nowhere = mutants("--only", "mu06", "--runs", "1", "--shrink", "README.md/found")
    expect(nowhere.returncode == 1, f"a file as a folder: {nowhere.returncode} {nowhere.stderr}")


def check_refusals():
    for words, text in ((("--only", "mu00"), "there is no mutant"),
                        (("--without", "GANGS"), "there is no property")):
        result = mutants(*words)
        expect(result.returncode == 2 and text in result.stderr, f"{words}: {result.stderr}")


def check_symbols():
    """Nothing of the switch is in the ordinary program."""
    if shutil.which("nm") is None:
        return
    for program, there in ((PLAIN, False), (PROGRAM, True)):
        names = subprocess.run(["nm", "-C", program], capture_output=True, text=True,
                               check=False).stdout
        expect(("planted_mutant" in names) == there, f"planted_mutant in {program}: not {there}")


def check_all():
    result = mutants("--runs", str(RUNS_ALL), "--json")
    document = document_of(result)
    alive = {mutant["id"]: mutant["what"] for mutant in document["mutants"]
             if not mutant["killed"]}
    for name, what in alive.items():
        expect(name in SURVIVORS, f"{name} survives: {what}")
    for name in SURVIVORS:
        expect(name in alive, f"{name} is noticed now: take it out of SURVIVORS")
    print(f"{document['killed']} of {document['total']} killed")


def main():
    if "--all" in sys.argv[1:]:
        check_all()
    else:
        check_handful()
        check_survivor()
        check_ablation()
        check_shrink()
        check_refusals()
        check_symbols()
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
