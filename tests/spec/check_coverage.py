"""Every clause that is built has a scenario and a patch, every monitor a patch that it reports,
and lists and files agree.

Also: every patch applies to the sources as they are, names scenarios that exist, one of its own
clause among them, and every scenario is named by a patch: there is no scenario that cannot fail.
"""

import re
import sys

from spec_files import CLAUSES, ROOT, PatchError, read_patches, scenario_files


def monitors():
    """The properties of the registry that a monitor judges."""
    text = (ROOT / "properties/registry.cpp").read_text()
    return re.findall(r'\{"([A-Z_]+)",[^{}]*?\bmake_\w+', text)


def main():
    problems = []
    names = {file.stem for file in scenario_files()}
    for name in sorted(names):
        clause = name.split("-")[0]
        if clause not in CLAUSES:
            problems.append(f"{name}: '{clause}' is no clause that is built")
    patches = read_patches()
    named = set()
    fired = set()
    for patch in patches:
        if not (ROOT / patch.file).is_file():
            problems.append(f"{patch}: there is no file '{patch.file}'")
            continue
        try:
            if patch.applied() == (ROOT / patch.file).read_text():
                problems.append(f"{patch}: it changes nothing")
        except PatchError as error:
            problems.append(str(error))
        for name in patch.fails:
            if name not in names:
                problems.append(f"{patch}: there is no scenario '{name}'")
        if not patch.fails:
            problems.append(f"{patch}: it names no scenario")
        named.update(patch.fails)
        fired.update(patch.fires)
    for clause in CLAUSES:
        if not any(name.startswith(clause + "-") for name in names):
            problems.append(f"{clause}: no scenario")
        if not any(patch.clause == clause and
                   any(name.startswith(clause + "-") for name in patch.fails)
                   for patch in patches):
            problems.append(f"{clause}: no patch that one of its scenarios notices")
    problems += [f"{name}: no patch makes it fire" for name in monitors() if name not in fired]
    problems += [f"{name}: there is no such monitor" for name in sorted(fired - set(monitors()))]
    problems += [f"{name}: no patch names it" for name in sorted(names - named)]
    for problem in problems:
        print(problem)
    print(f"{len(CLAUSES)} clauses, {len(names)} scenarios, {len(patches)} patches, "
          f"{len(monitors())} monitors, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
