"""What is derived must stay true.

Examples in --help work when pasted, completion knows every option, the bundled sample and journal
are what their makers give, keys said to be refused are refused, and neither locale nor time zone
nor threads change a byte.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = os.environ["REHEARSE_PROGRAM"]
MUTANTS = PROGRAM + "-mutants"  # only some builds have it

failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)


def run(*arguments, environment=None, stdin="", program=PROGRAM):
    return subprocess.run([program, *arguments], cwd=ROOT, text=True, input=stdin,
                          capture_output=True, timeout=300, check=False,
                          env={**os.environ, **(environment or {})})


def verbs():
    """Built verbs by the help itself."""
    text = run("--help").stdout
    built = text.split("Not yet")[0].split("says more\n\n")[1].split("\n\n")[0]
    names = re.findall(r"^  ((?:trace )?[a-z]+)", built, re.MULTILINE)
    expect(len(names) >= 8, f"verbs in --help: {names}")
    return names


def check_examples(names):
    for name in names:
        text = run(*name.split(), "--help").stdout
        example = re.search(r"^Example:\n  (rehearse(?:-mutants)? .*)$", text, re.MULTILINE)
        expect(example is not None, f"{name} --help has no example")
        if example is None:
            continue
        words = shlex.split(example.group(1))
        expect(" ".join(words[1:]).startswith(name), f"{name}: its example is of another verb")
        if words[0] != "rehearse" and not Path(MUTANTS).exists():
            continue
        result = run(*words[1:], program=PROGRAM if words[0] == "rehearse" else MUTANTS)
        expect(result.returncode == 0,
               f"pasted: {example.group(1)}: exit {result.returncode}\n{result.stderr}")
        expect(result.stdout != "", f"pasted: {example.group(1)}: prints nothing")


def check_completion(names):
    scripts = {shell: run("completion", shell).stdout for shell in ("bash", "zsh", "fish")}
    for name in names:
        text = run(*name.split(), "--help").stdout.split("Not yet")[0]
        options = re.findall(r"^  (?:-\w, )?(--[a-z-]+)", text, re.MULTILINE)
        expect("--output" in options, f"{name} --help lists no --output")
        for shell, script in scripts.items():
            for option in options:
                if option == "--help" and shell == "fish":
                    continue
                known = f"-l {option[2:]}" if shell == "fish" else option
                expect(known in script, f"{shell} completion lacks {option} of {name}")
    bash = scripts["bash"] + ('\nCOMP_WORDS=(rehearse compare x --too-wide ""); COMP_CWORD=4\n'
                              '_rehearse; echo "${COMPREPLY[@]}"\n'
                              'COMP_WORDS=(rehearse trace ""); COMP_CWORD=2\n'
                              '_rehearse; echo "${COMPREPLY[@]}"\n')
    result = subprocess.run(["bash", "-c", bash], capture_output=True, text=True, check=False)
    expect(result.stdout.split("\n")[:2] == ["leave reject fit", "inspect convert"],
           f"bash completion offers {result.stdout!r} {result.stderr}")


def check_sample(folder):
    made = Path(folder) / "sample.rtrace"
    subprocess.run([sys.executable, "-B", str(ROOT / "examples/make_sample.py"), PROGRAM,
                    str(made)], check=True)
    expect(made.read_bytes() == (ROOT / "examples/sample.rtrace").read_bytes(),
           "examples/sample.rtrace is not what make_sample.py makes")
    journal = Path(folder) / "gang.journal"
    run("run", "examples/gang.json", "--journal", str(journal))
    expect(journal.read_bytes() == (ROOT / "examples/gang.journal").read_bytes(),
           "examples/gang.journal is not the journal of examples/gang.json")


COMPARISON = ("compare", "examples/sample.rtrace", "--pipelined", "all", "--too-wide", "reject",
              "--with", "sequential", "--with", "psd")


def check_bytes(folder):
    """The same bytes in any locale and time zone, on any number of threads."""
    locales = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout
    other = next((name for name in locales.split() if name.lower() not in
                  ("c", "posix", "c.utf8", "c.utf-8")), "de_DE.UTF-8")
    settings = [({}, "1"), ({"LC_ALL": other, "LANG": other, "TZ": "Asia/Kathmandu"}, "1"),
                ({"TZ": "America/St_Johns"}, "4")]
    seen = set()
    for i, (environment, threads) in enumerate(settings):
        page = Path(folder) / f"{i}.html"
        result = run(*COMPARISON, "--threads", threads, "--json", "-o", str(page),
                     environment=environment)
        expect(result.returncode == 0, f"comparison: exit {result.returncode} {result.stderr}")
        seen.add((result.stdout, page.read_text(encoding="utf-8")))
    expect(len(seen) == 1, "locale, time zone or threads change the results")


# One scenario for each key of the help's list of refused ones: (place of the key, JSON of the key).
REFUSED = {
    "executors[]": ("executor", {"launch": '"1ms"', "memory_pool": '"1GiB"',
                                 "disk_space": '"1GiB"'}),
    "jobs[]": ("job", {"mode": '"as-marked"', "properties": "{}", "client": "{}", "query": "{}"}),
    "stages[]": ("stage", {"waits_for": '["s"]', "memory": '"1GiB"'}),
    "edges[]": ("edge", {"pattern": '"hash"', "transport": '"files"', "retained": "true",
                         "durable": "true", "consume": '"all"'}),
    "scheduler": ("scheduler", {"registration_wait": '"1s"', "discovery_poll": '"1s"',
                                "peer_silence": '"1s"', "overflow": '"block"',
                                "local_reads": '"free"'}),
    "faults[]": ("fault", {"launch_fails": '"e"', "partition_network": "{}"}),
    "timing": ("timing", {"flow": "", "packet": ""}),
    "workload": ("workload", {"synthetic": '"poisson"'}),
    "expect[]": ("expect", {"totals of slot_..._ns": ""}),
}


def scenario_with(place, key, value):
    more = {name: "" for name in ("executor", "job", "stage", "edge", "scheduler", "fault")}
    timing, expectation = "scripted", ""
    if place == "timing":
        timing = key
    elif place == "expect":
        expectation = '{"totals": {"slot_busy_ns": {"min": 0}}}'
    elif place == "workload":
        return f'{{"rehearse": 1, "cluster": {{"executors": 1, "cpus": 1}}, ' \
               f'"workload": {{"{key}": {value}}}}}'
    elif place == "fault":
        more["fault"] = f'{{"at": "1s", "{key}": {value}}}'
    else:
        more[place] = f', "{key}": {value}'
    return f"""{{ "rehearse": 1, "timing": "{timing}",
      "cluster": {{ "executors": [ {{ "name": "e", "resources": {{ "cpus": 2 }}
                                     {more["executor"]} }} ] }},
      "scheduler": {{ "dialect": "psd" {more["scheduler"]} }},
      "jobs": [ {{ "name": "j" {more["job"]},
        "stages": [ {{ "name": "s", "tasks": 1, "duration": "1s" {more["stage"]} }},
                    {{ "name": "t", "tasks": 1, "duration": "1s" }} ],
        "edges": [ {{ "from": "s", "to": "t" {more["edge"]} }} ] }} ],
      "faults": [ {more["fault"]} ], "expect": [ {expectation} ] }}"""


def check_refused():
    """Every key that --help lists as not built is refused by name, and there is no row untested."""
    listed = {}
    text = run("run", "--help").stdout.split("keys of scenario files\n")[1]
    for line in text.split("  values of axes")[0].strip("\n").split("\n"):
        place, _, keys = line.strip().partition(": ")
        listed[place] = keys.split(", ")
    expect(set(listed) == set(REFUSED), f"rows of the help: {sorted(listed)}")
    for place, keys in listed.items():
        where, values = REFUSED[place]
        expect(set(keys) == set(values), f"{place}: the help lists {keys}")
        for key, value in values.items():
            result = run("run", "-", stdin=scenario_with(where, key, value))
            expect(result.returncode == 2 and "not built yet" in result.stderr,
                   f"{place} {key}: exit {result.returncode}: {result.stderr}")
    plain = run("run", "-", stdin=scenario_with("stage", "commits", '"none"'))
    expect(plain.returncode == 0, f"the scenario without such a key: {plain.stderr}")


def check_readme():
    """Every console block of the README shows what the program prints; "..." skips lines. The
    scenario it shows is the file it names."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    expect(len(blocks) >= 3, f"README.md has {len(blocks)} console blocks")
    for block in blocks:
        command, *shown = block.rstrip("\n").split("\n")
        printed = run(*shlex.split(command.removeprefix("$ rehearse "))).stdout.split("\n")
        at = 0
        skipped = False
        for line in shown:
            if line == "...":
                skipped = True
                continue
            found = next((i for i in range(at, len(printed)) if printed[i] == line), None)
            expect(found is not None and (skipped or found == at), f"README.md: {line!r}")
            at = at if found is None else found + 1
            skipped = False
    scenario = re.search(r"```jsonc\n(.*?)```", text, re.DOTALL)
    expect(scenario is not None and
           (ROOT / "examples/gang.json").read_text(encoding="utf-8").endswith(scenario.group(1)),
           "README.md shows another scenario than examples/gang.json")
    for link in re.findall(r"\]\(([^)]+)\)", text):
        expect((ROOT / link).exists(), f"README.md: {link} does not exist")


def check_full_disk():
    if Path("/dev/full").exists():
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run([PROGRAM, "list", "formats"], stdout=full, text=True,
                                    stderr=subprocess.PIPE, check=False)
        expect(result.returncode == 1, f"a full disk: exit {result.returncode}")


def check_interrupt(folder):
    """An interrupted run writes what is complete, says so, and exits with 130."""
    path = Path(folder) / "long.json"
    jobs = [{"name": "j", "repeat": {"count": 900_000, "every": "1ms"},
             "stages": [{"name": "s", "tasks": 20, "duration": "1ms"}]}]
    path.write_text(json.dumps({"rehearse": 1, "cluster": {"executors": 40, "cpus": 1},
                                "jobs": jobs}), encoding="utf-8")
    process = subprocess.Popen([PROGRAM, "run", str(path), "--json", "--max-listed", "1"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        process.wait(timeout=4)
        failures.append("the long run was too short to interrupt")
    except subprocess.TimeoutExpired:
        process.send_signal(2)
        out, _ = process.communicate(timeout=60)
        expect(process.returncode == 130, f"interrupted: exit {process.returncode}")
        expect(json.loads(out)["complete"] is False, "interrupted: says it is complete")


def main():
    names = verbs()
    check_examples(names)
    check_completion(names)
    check_refused()
    check_readme()
    check_full_disk()
    with tempfile.TemporaryDirectory() as folder:
        check_sample(folder)
        check_bytes(folder)
        check_interrupt(folder)
    for failure in failures:
        print(f"FAILED {failure}")
    print(f"derived: {len(names)} verbs, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
