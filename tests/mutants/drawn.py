"""What becomes of one edit of the scheduler (edits.py): does it compile, does any journal of the
corpus change, who notices.

The corpus are the scenarios of the specification, the regressions, and random scenarios that
tests/random writes, always the same. The program without the edit runs them and every campaign
first: what is not clean then is left out (random scenarios) or stops it. The edited file is
compiled as tests/spec does it for its patches, in the build folder and linked in front of the
build's libraries, so the tree stays as it is.
"""

import json
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

from edits import ROOT

sys.path.insert(0, str(ROOT / "tests" / "spec"))

from patched_build import Build  # noqa: E402
from spec_files import PatchError  # noqa: E402

RANDOM_RUNS = 600  # scenarios of the corpus
RANDOM_FIRST = 500_000
# Dialects, with the runs of each campaign; the first draws dialects and all axes.
CAMPAIGNS = (("drawn", 8192), ("psd", 3072), ("spark", 3072), ("sequential", 3072),
             ("flink-region", 2048), ("ballista-pipelined", 2048))
FIRST_SEED = 1
CORPUS_SECONDS = 40  # ten times what it takes
CAMPAIGN_SECONDS = 40
SHRINK_SECONDS = 20  # each find; the program stops by itself after 10
SCOPE_SECONDS = 5
MEMORY_MAX = 4 << 30
CLASSES = ("does not compile", "changes no journal", "killed", "survives")
EXIT_IO, EXIT_FINDING, EXIT_FAULT = 1, 3, 70


class Ended:
    """How a process of the program ended: its document, or what it died of."""

    def __init__(self, command, limit, cwd=ROOT):
        """`limit()` are the seconds that it may take in all, asked again and again."""
        begun = time.monotonic()
        self.fault = None
        self.document = None
        with subprocess.Popen([str(word) for word in command], cwd=cwd, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              errors="replace") as process:
            resource.prlimit(process.pid, resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))
            out = None
            while out is None:
                try:
                    out = process.communicate(timeout=0.2)[0]
                except subprocess.TimeoutExpired:
                    if time.monotonic() - begun > limit():
                        process.kill()
                        process.communicate()
                        self.fault = "NO_END"
                        return
        self.status = process.returncode
        try:
            self.document = json.loads(out)
        except json.JSONDecodeError:
            self.fault = fault_of(self.status)


def fault_of(status):
    """What a program without a document died of."""
    if status < 0:
        return "CRASH"
    return {EXIT_FAULT: "INTERNAL_FAULT", EXIT_IO: "OUT_OF_MEMORY",
            EXIT_FINDING: "POLICY_FAULT"}.get(status, f"EXIT_{status}")


# ---- the corpus ----


class Corpus:
    """Scenarios with their journal hashes, and scopes, as the program without an edit has them."""

    def __init__(self, program, random_runs, folder):
        self.files = sorted((ROOT / "tests/spec/scenarios").glob("*.json"))
        self.files += sorted((ROOT / "tests/regressions").glob("*.json"))
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        subprocess.run([str(random_runs), "--first", str(RANDOM_FIRST), "--runs", str(RANDOM_RUNS),
                        "--write", str(folder)], check=True)
        self.files += sorted(folder.glob("*.json"))
        # What pins its journal would break with any change.
        self.files = [file for file in self.files
                      if '"journal_hash"' not in file.read_text(encoding="utf-8")]
        self.scopes = read_scopes()
        self.hashes = {}
        while True:
            self.hashes, by, where = self.run(program)
            if by is None:
                break
            if self.hashes is None or not where.startswith("random_"):
                raise SystemExit(f"without an edit {where} finds {by}")
            print(f"{where} is left out: without an edit it finds {by}", flush=True)
            self.files = [file for file in self.files if file.stem != where]

    def run(self, program):
        """Hashes by file (None: the program did not end well), what is found first, and where."""
        ended = Ended([program, "run", "--json", "--quiet", "--threads", "1", "--max-listed", "0",
                       *self.files], lambda: CORPUS_SECONDS)
        if ended.fault:
            return None, ended.fault, "corpus"
        hashes, by, where = {}, None, None
        runs = iter(ended.document["runs"])
        for file, told in zip(self.files, ended.document["inputs"], strict=True):
            if not told["ok"]:
                hashes[file.name] = "not run"
                continue
            run = next(runs)
            hashes[file.name] = run["journal_hash"]
            if by is None:
                by = found_in(run)
                where = file.stem if by else None
        return hashes, by, where

    def changed(self, hashes):
        """Names of the scenarios that have another journal."""
        return [name for name, value in self.hashes.items()
                if hashes is not None and hashes.get(name) != value]


def found_in(run):
    """What a property or an expectation says of a run."""
    if run["violations"]:
        return run["violations"][0]["property"]
    return None if all(one["ok"] for one in run["expectations"]) else "EXPECTATION"


def read_scopes():
    """(scenario, faults) of each scope of tests/explore."""
    folder = ROOT / "tests" / "explore"
    rows = (line.split() for line in (folder / "counts.txt").read_text().splitlines()
            if line and not line.startswith("#"))
    return [(folder / "scopes" / f"{row[0]}.json", row[1]) for row in rows]


def explore(program, corpus):
    """What is found first on a path through a scope, and in which."""
    for file, faults in corpus.scopes:
        ended = Ended([program, "explore", file, "--faults", faults, "--time", f"{SCOPE_SECONDS}s",
                       "--json", "--quiet"], lambda: 3 * SCOPE_SECONDS)
        by = ended.fault or next((one["property"] for one in ended.document["violations"]), None)
        if by:
            return by, file.stem
    return None, None


# ---- campaigns ----


def campaign(program, dialect, runs, folder):
    """A campaign up to its first find: (what was found, runs, finds with their shrunk sizes)."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    chosen = [] if dialect == "drawn" else ["--dialect", dialect]

    def limit():
        found = len(list(folder.glob("*-found.json")))
        return CAMPAIGN_SECONDS + found * SHRINK_SECONDS

    ended = Ended([program, "fuzz", *chosen, "--seed", FIRST_SEED, "--runs", runs, "--threads", "1",
                   "--corpus", folder, "--json", "--quiet"], limit)
    if ended.fault:
        # A find that could not be shrunk is one all the same.
        names = [file.stem.split("-")[1] for file in sorted(folder.glob("*-found.json"))]
        return (names or [ended.fault])[0], None, []
    finds = ended.document["counterexamples"]
    before = max((file.stat().st_mtime for file in folder.glob("*-found.json")), default=0)
    sizes = []
    for find in finds:
        file = Path(find["scenario"])
        written = file.stat().st_mtime
        sizes.append({"property": find["property"], "seed": find["seed"], **size_of(file),
                      "seconds": round(written - before, 2), "replays": replays(program, file)})
        before = written
    return finds[0]["property"] if finds else None, ended.document["runs"], sizes


def size_of(file):
    """Jobs (with copies and resubmissions), stages and faults of a scenario, as fuzz counts."""
    scenario = json.loads(file.read_text(encoding="utf-8"))
    jobs = scenario["jobs"]
    copies = sum(max(job.get("repeat", {}).get("count", 1), 1) for job in jobs)
    again = sum(job.get("on_failure", {}).get("resubmit", 0) for job in jobs)
    return {"jobs": copies + again, "stages": sum(len(job["stages"]) for job in jobs),
            "faults": len(scenario.get("faults", []))}


def replays(program, file):
    """A shrunk file gives its journal and a find again; where it was a fault, there is no journal,
    and it is a fault."""
    ended = Ended([program, "run", file, "--json", "--quiet"], lambda: SHRINK_SECONDS)
    expected = json.loads(file.read_text(encoding="utf-8")).get("expect", [])
    if not expected:
        return ended.fault not in (None, "NO_END")
    if ended.fault:
        return False
    run = ended.document["runs"][0]
    return run["journal_hash"] == expected[0]["journal_hash"] and bool(run["violations"])


# ---- one mutant ----


class Bench:
    """The build, the corpus, and what is done with an edit."""

    def __init__(self, folder, program, random_runs):
        self.build = Build(folder, program)
        self.work = folder / "drawn"
        self.corpus = Corpus(program, random_runs, self.work / "corpus")
        self.program = program

    def check_campaigns(self):
        """What a campaign finds must be of the edit alone."""
        for dialect, runs in CAMPAIGNS:
            by, _, _ = campaign(self.program, dialect, runs, self.work / "sound")
            if by:
                raise SystemExit(f"without an edit the campaign {dialect} finds {by}")

    def judge(self, number, edit):
        begun = time.monotonic()
        result = {"number": number, "operator": edit.operator, "file": edit.file,
                  "line": edit.line, "edit": edit.told()}
        try:
            program = self.build.make(number, edit)
        except PatchError:
            result["class"] = "does not compile"
        else:
            self.judge_program(number, program, result)
        shutil.rmtree(self.build.work / f"{number}", ignore_errors=True)
        result["seconds"] = round(time.monotonic() - begun, 1)
        return result

    def judge_program(self, number, program, result):
        hashes, by, where = self.corpus.run(program)
        changed = self.corpus.changed(hashes)
        result["changed"] = changed[:3] if hashes is not None else ["all"]
        result["changed_count"] = len(changed) if hashes is not None else len(self.corpus.files)
        if not result["changed"]:
            result["class"] = "changes no journal"
            return
        result["corpus"] = {"by": by, "where": where}
        result["campaign"] = None
        for dialect, runs in CAMPAIGNS:
            by_campaign, done, finds = campaign(program, dialect, runs, self.work / f"{number}")
            if by_campaign:
                result["campaign"] = {"by": by_campaign, "dialect": dialect, "runs": done,
                                      "finds": finds}
                break
        shutil.rmtree(self.work / f"{number}", ignore_errors=True)
        result["scope"] = None
        if not result["campaign"] and not by:
            by_scope, scope = explore(program, self.corpus)
            result["scope"] = {"by": by_scope, "where": scope} if by_scope else None
        noticed = result["campaign"] or by or result["scope"]
        result["class"] = "killed" if noticed else "survives"


# ---- many of them ----


def median(values):
    """Nearest rank of the lower middle, as `rehearse-mutants mutants` gives it."""
    return sorted(values)[(len(values) - 1) // 2]


def share(part, whole):
    return f"{part} of {whole}" + (f" ({100 * part / whole:.0f}%)" if whole else "")


def summary(results):
    """Lines of text: classes, operators, who killed, how small the counterexamples are."""
    lines = [f"{len(results)} drawn: " + ", ".join(
        f"{sum(one['class'] == name for one in results)} {name}" for name in CLASSES)]
    live = [one for one in results if one["class"] in ("killed", "survives")]
    by_campaign = [one for one in live if one["campaign"]]
    lines.append(f"killed by campaigns alone: {share(len(by_campaign), len(live))}")
    lines.append("killed by scenarios of the corpus alone: "
                 f"{share(sum(one['corpus']['by'] is not None for one in live), len(live))}")
    lines.append("killed by the whole harness: "
                 f"{share(sum(one['class'] == 'killed' for one in live), len(live))}")
    for operator in sorted({one["operator"] for one in results}):
        mine = [one for one in results if one["operator"] == operator]
        lines.append(f"  {operator}: " + ", ".join(
            f"{sum(one['class'] == name for one in mine)} {name}" for name in CLASSES))
    by = sorted(one["campaign"]["by"] for one in by_campaign)
    lines.append("campaigns find: " + ", ".join(
        f"{name} {by.count(name)}" for name in sorted(set(by), key=lambda n: (-by.count(n), n))))
    finds = [find for one in by_campaign for find in one["campaign"]["finds"]]
    if finds:
        lines.append(f"{len(finds)} counterexamples, shrunk: median " + ", ".join(
            f"{median([find[what] for find in finds])} {what}"
            for what in ("jobs", "stages", "faults", "seconds")) +
            f"; at most {max(find['seconds'] for find in finds)} s; "
            f"{share(sum(find['replays'] for find in finds), len(finds))} replay")
    for one in results:
        if one["class"] == "survives":
            lines.append(f"survives: {one['number']} {one['file']}:{one['line']}: {one['edit']} "
                         f"({one['changed_count']} journals change: {' '.join(one['changed'])})")
    return lines
