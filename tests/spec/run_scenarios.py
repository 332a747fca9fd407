"""Runs the scenarios of the specification, or compares their journal hashes with hashes.txt.

    run_scenarios.py            every scenario passes, twice with the same hash, every fault fires
    run_scenarios.py --hashes   hashes are those of hashes.txt, also under another time zone, the
                                locales that are installed, one that writes numbers oddly, and
                                where memory lies elsewhere and holds other bytes when it is given

hashes.txt is the same for every build: passing in each preset shows that they agree.
REHEARSE_UPDATE_GOLDEN=1 with --hashes rewrites it.
"""

import os
import subprocess
import sys

from spec_files import FOLDER, run, runner, scenario_files

HASHES = FOLDER / "hashes.txt"
HEAD = ("# Journal hashes of scenarios/, as every build of this version gives them.\n"
        "# Rewritten by REHEARSE_UPDATE_GOLDEN=1 ctest -R spec_hashes; look at the difference.\n")


def installed_locales(most):
    """Names of locales other than C, those with a decimal comma first; often there is none."""
    try:
        names = subprocess.run(["locale", "-a"], stdout=subprocess.PIPE, text=True,
                               stderr=subprocess.DEVNULL, check=False).stdout.split()
    except OSError:
        return []
    names = [name for name in names if not name.upper().startswith(("C", "POSIX"))]
    names.sort(key=lambda name: not name.startswith(("de", "fr", "tr", "pl")))
    return names[:most]


def surroundings():
    plain = {key: value for key, value in os.environ.items()
             if not key.startswith("LC_") and key not in ("LANG", "TZ")}
    yield "locale C, UTC", {**plain, "LC_ALL": "C", "TZ": "UTC"}, ()
    yield "odd numbers, TZ=Pacific/Chatham", {**plain, "TZ": "Pacific/Chatham"}, ("--odd-locale",)
    # Memory that is given or taken back is written over, and small pieces come from other places.
    heap = {"MALLOC_PERTURB_": "165", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
    yield "another heap", {**plain, **heap}, ()
    for name in installed_locales(2):
        yield f"locale {name}", {**plain, "LC_ALL": name, "TZ": "America/St_Johns"}, ()


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
    for what, env, options in surroundings():
        status, output = run(runner(), scenario_files(), options, env)
        have = hashes_of(output)
        if update:
            HASHES.write_text(HEAD + "".join(f"{name} {have[name]}\n" for name in sorted(have)))
            wanted, update = have, False
        found = list(differences(wanted, have))
        print(f"{what}: {len(have)} hashes, {len(found)} differ", *found, sep="\n  ")
        if status != 0:
            print("".join(line for line in output.splitlines(True) if not line.startswith("ok ")))
        failed += bool(found) or status != 0
    return 1 if failed else 0


def main():
    if sys.argv[1:] == ["--hashes"]:
        return compare_hashes()
    status, output = run(runner(), scenario_files(), ["--faults-fire"])
    print("".join(line for line in output.splitlines(True) if not line.startswith("ok ")), end="")
    print(f"{len(hashes_of(output))} of {len(scenario_files())} scenarios pass")
    return 0 if status == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
