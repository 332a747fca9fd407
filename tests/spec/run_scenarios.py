"""Runs the scenarios of the specification, or compares their journal hashes with hashes.txt.

    run_scenarios.py            every scenario passes, twice with the same hash, every fault fires
    run_scenarios.py --hashes   hashes are those of hashes.txt, also under another time zone, the
                                locales that are installed, one that writes numbers oddly, and
                                where memory lies elsewhere and holds other bytes when it is given
    run_scenarios.py --surroundings [--all]
                                whole journals of a sample of them, or of all, are the same bytes
                                wherever they are run from (surroundings.py), those of spec_runner
                                as those that `rehearse run --journal` writes

hashes.txt is the same for every build: passing in each preset shows that they agree.
REHEARSE_UPDATE_GOLDEN=1 with --hashes rewrites it.
"""

import os
import sys
import tempfile
from pathlib import Path

from spec_files import FOLDER, run, runner, scenario_files
from surroundings import for_all_scenarios, for_some_scenarios, run_at

HASHES = FOLDER / "hashes.txt"
SAMPLE = 4  # one scenario in so many
HEAD = ("# Journal hashes of scenarios/, as every build of this version gives them.\n"
        "# Rewritten by REHEARSE_UPDATE_GOLDEN=1 ctest -R spec_hashes; look at the difference.\n")


def read_hashes(text):
    rows = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {name: value for name, value in rows}


def hashes_of(output):
    """name -> hash from the lines `ok <name> <hash>`."""
    rows = (line.split() for line in output.splitlines() if line.startswith("ok "))
    return {row[1]: row[2] for row in rows}


def differences(wanted, have):
    for name in sorted(wanted.keys() | have.keys()):
        if wanted.get(name) != have.get(name):
            yield f"{name}: {have.get(name, 'no hash')}, hashes.txt has {wanted.get(name, 'none')}"


def compare_hashes():
    failed = 0
    update = os.environ.get("REHEARSE_UPDATE_GOLDEN") == "1"
    wanted = read_hashes(HASHES.read_text()) if HASHES.is_file() else {}
    for place in for_all_scenarios():
        status, output = run(runner(), scenario_files(), place.options, place.env)
        have = hashes_of(output)
        if update:
            HASHES.write_text(HEAD + "".join(f"{name} {have[name]}\n" for name in sorted(have)))
            wanted, update = have, False
        found = list(differences(wanted, have))
        print(f"{place.what}: {len(have)} hashes, {len(found)} differ", *found, sep="\n  ")
        if status != 0:
            print("".join(line for line in output.splitlines(True) if not line.startswith("ok ")))
        failed += bool(found) or status != 0
    return 1 if failed else 0


def journal_at(place, program, file):
    """What `rehearse run` writes into a journal there."""
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "journal"
        command = [program, "run", file, "--quiet", "--journal", journal]
        status, _ = run_at(place, command)
        return status, journal.read_bytes() if journal.is_file() else b""


def journals_at(place, files):
    """name -> (exit status, bytes), by both programs."""
    program = Path(os.environ["REHEARSE_PROGRAM"]).resolve()
    have = {"spec_runner": run_at(place, [runner().resolve(), "--print", *files])}
    runs = [file for file in files if "load_error" not in file.read_text(encoding="utf-8")]
    for file in runs[::SAMPLE]:
        have[f"rehearse run {file.name}"] = journal_at(place, program, file)
    return have


def compare_surroundings(files):
    failed = 0
    wanted = None
    for place in for_some_scenarios():
        have = journals_at(place, files)
        wanted = wanted or have
        found = [name for name, journal in have.items() if journal != wanted[name]]
        empty = [name for name, (_, journal) in have.items() if not journal]
        size = sum(len(journal) for _, journal in have.values())
        print(f"{place.what}: {len(have)} outputs, {size} bytes, {len(found)} differ")
        print("".join(f"  {name}: not the same\n" for name in found) +
              "".join(f"  {name}: nothing\n" for name in empty), end="")
        failed += bool(found) + bool(empty)
    return 1 if failed else 0


def main():
    if sys.argv[1:2] == ["--surroundings"]:
        files = scenario_files()
        return compare_surroundings(files if sys.argv[2:] == ["--all"] else files[::SAMPLE])
    if sys.argv[1:] == ["--hashes"]:
        return compare_hashes()
    status, output = run(runner(), scenario_files(), ["--faults-fire"])
    print("".join(line for line in output.splitlines(True) if not line.startswith("ok ")), end="")
    print(f"{len(hashes_of(output))} of {len(scenario_files())} scenarios pass")
    return 0 if status == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
