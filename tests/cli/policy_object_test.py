"""The example of docs/add-a-policy.md decides as the page says, built into a copy of the tree and
as a shared object; a policy that breaks the contract is stopped with its name, the call and exit
status 3, and found by a campaign."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ["REHEARSE_PROGRAM"]

QUEUE = """
#include "policies/policy_file.hpp"
#include <stdexcept>
namespace rehearse::policies {{
class Own final : public scheduler::QueuePolicy {{
 public:
  std::unique_ptr<QueuePolicy> clone() const override {{ return std::make_unique<Own>(*this); }}
  scheduler::QueueKey key(const scheduler::UnitView& unit) const override {{ {body} }}
  mutable std::int64_t count = 0;
}};
std::unique_ptr<scheduler::QueuePolicy> make_own() {{ return std::make_unique<Own>(); }}
}}
REHEARSE_POLICY_OBJECT("own", rehearse::policies::make_own);
"""
PLACEMENT = """
#include "policies/policy_file.hpp"
namespace rehearse::policies {{
class Own final : public scheduler::PlacementPolicy {{
 public:
  std::unique_ptr<PlacementPolicy> clone() const override {{ return std::make_unique<Own>(*this); }}
  void begin(const scheduler::SlotView&) override {{ count = 0; }}
  scheduler::ExecutorId pick(const scheduler::SlotView& slots,
                             const scheduler::TaskView& task) override {{ {body} }}
  void taking(const scheduler::SlotView&, scheduler::ExecutorId) override {{ ++count; }}
  std::int64_t count = 0;
}};
std::unique_ptr<scheduler::PlacementPolicy> make_own() {{ return std::make_unique<Own>(); }}
}}
REHEARSE_POLICY_OBJECT("own", rehearse::policies::make_own);
"""
# title, axis, source, what the line must name
BROKEN = [
    ("no strict order", "admission.queue", QUEUE.format(body="return {++count, unit.priority};"),
     "key() gave two keys"),
    ("exception", "admission.queue",
     QUEUE.format(body='throw std::runtime_error("lost " + std::to_string(unit.priority));'),
     "key() threw: lost"),
    ("endless loop", "admission.queue",
     QUEUE.format(body="for (volatile std::int64_t i = 0;; i = i + 1) {} return {unit.priority, 0};"
                  .replace("{}", "{{}}").replace("{{}}", "{}")),
     "key() has not returned"),
    ("an executor that does not exist", "placement",
     PLACEMENT.format(body="return slots.most_free(task.profile).valid() "
                           "? scheduler::ExecutorId{999U} : scheduler::ExecutorId{};"),
     "pick() names executor number 999"),
    ("half a group", "placement",
     PLACEMENT.format(body="return count > 0 ? scheduler::ExecutorId{} "
                           ": slots.most_free(task.profile);"),
     "pick() says that no executor has room"),
]
SCENARIO = """{ "rehearse": 1, "cluster": { "executors": 4, "cpus": 1 },
  "jobs": [ { "name": "q", "stages": [ { "name": "a", "tasks": 2, "duration": "1ms" },
                                       { "name": "b", "tasks": 2, "duration": "1ms" } ],
              "edges": [ { "from": "a", "to": "b", "kind": "pipelined" } ] } ] }
"""

failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)


def build(folder, name, source):
    (folder / f"{name}.cpp").write_text(source, encoding="utf-8")
    compiled = subprocess.run(
        [os.environ.get("CXX", "g++"), "-std=c++23", "-shared", "-fPIC",
         "-DREHEARSE_SHARED_OBJECT", "-I", str(ROOT), f"{name}.cpp", "-o", f"{name}.so"],
        cwd=folder, text=True, capture_output=True, check=False)
    expect(compiled.returncode == 0, f"{name} does not build: {compiled.stderr[:600]}")


def run(folder, *words, program=PROGRAM):
    return subprocess.run([program, *words], cwd=folder, text=True, capture_output=True,
                          timeout=120, check=False,
                          env={**os.environ, "REHEARSE_POLICY_SECONDS": "2"})


# A head of two slots waits until 4 s; a small job at 1.8 s passes it, one at 2.5 s does not.
SIZE = """{ "rehearse": 1, "cluster": { "executors": 2, "cpus": 1 },
  "scheduler": { "admission": { "overtake": "%s" } },
  "jobs": [ { "name": "first", "stages": [ { "name": "s", "tasks": 1, "duration": "4s" } ] },
    { "name": "head", "stages": [ { "name": "a", "tasks": 1, "duration": "1s" },
                                  { "name": "b", "tasks": 1, "duration": "1s" } ],
      "edges": [ { "from": "a", "to": "b", "kind": "pipelined" } ] },
    { "name": "early", "submit": "1800ms", "stages": [ { "name": "s", "tasks": 1,
                                                         "duration": "100ms" } ] },
    { "name": "late", "submit": "2500ms", "stages": [ { "name": "s", "tasks": 1,
                                                        "duration": "100ms" } ] } ],
  "expect": [ { "job": "early", "ends": "succeeded", "at": "1900ms" },
              { "event": "group_admitted head", "at": "4s" },
              { "event": "task_start late/s/0", "at": "5s" } ] }
"""


def blocks_of_page():
    """The policy's file, and its line in the registry."""
    page = (ROOT / "docs" / "add-a-policy.md").read_text(encoding="utf-8")
    source = re.search(r"```cpp\n(// Overtaking rule by-size.*?)```", page, re.DOTALL)
    line = re.search(r"```cpp\n( *OVERTAKE\(by_size.*?\n)```", page)
    expect(source is not None and line is not None, "the page has no example")
    return source.group(1), line.group(1)


def check_in_tree(folder, source, line):
    tree = folder / "tree"
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns("build", ".git", "node_modules"))
    (tree / "policies" / "by_size.cpp").write_text(source, encoding="utf-8")
    registry = tree / "policies" / "registry.cpp"
    text = registry.read_text(encoding="utf-8")
    registry.write_text(text.replace("  OVERTAKE(never,", line + "  OVERTAKE(never,"),
                        encoding="utf-8")
    formed = subprocess.run([sys.executable, "-B", "tests/tidy/tidy.py", "."], cwd=tree, text=True,
                            capture_output=True, check=False)
    expect(formed.returncode == 0, f"the form of the changed tree: {formed.stdout[-600:]}")
    # Objects of the same text are the same wherever the tree lies, if there is a cache of them.
    environment = {**os.environ, "CCACHE_BASEDIR": str(tree), "CCACHE_NOHASHDIR": "1"}
    for command in (["cmake", "--preset", "release", "-DRH_TESTS=OFF"],
                    ["cmake", "--build", "build/release", "--target", "rehearse", "-j2"]):
        built = subprocess.run(command, cwd=tree, text=True, capture_output=True, check=False,
                               env=environment)
        expect(built.returncode == 0, f"the changed tree does not build: {built.stdout[-600:]}")
    program = str(tree / "build" / "release" / "rehearse")
    if not os.path.isfile(program):
        return
    listed = run(folder, "list", "policies", program=program)
    expect("by-size" in listed.stdout, f"list policies does not show it: {listed.stdout}")
    (folder / "in_tree.json").write_text(SIZE % "by-size", encoding="utf-8")
    result = run(folder, "run", "in_tree.json", program=program)
    expect(result.returncode == 0,
           f"by-size in the tree: exit {result.returncode}\n{result.stdout}{result.stderr}")
    result = run(folder, "compare", "in_tree.json", "--with", "psd[admission.overtake=never]",
                 "--with", "psd[admission.overtake=by-size]", program=program)
    expect(result.returncode == 0 and "by-size" in result.stdout,
           f"compare: exit {result.returncode}\n{result.stdout}{result.stderr}")
    result = run(folder, "run", "in_tree.json", "--set", "admission.overtake=by-siz",
                 program=program)
    expect(result.returncode == 2 and 'did you mean "by-size"' in result.stderr,
           f"by-siz: exit {result.returncode}, {result.stderr}")


def check_object(folder, source):
    build(folder, "by_size", source)
    (folder / "size.json").write_text(SIZE % "./by_size.so:by-size", encoding="utf-8")
    result = run(folder, "run", "size.json")
    expect(result.returncode == 0, f"by-size: exit {result.returncode}\n{result.stdout}"
           f"{result.stderr}")
    for words, what in [("by_size.so:by-siz", "it has: by-size"), ("none.so:x", "cannot be loaded"),
                        ("by_size.so:by-size[k=1]", "does not take these parameters")]:
        result = run(folder, "run", "size.json", "--set", f"admission.overtake={words}")
        expect(result.returncode == 2 and what in result.stderr,
               f"{words}: exit {result.returncode}, {result.stderr}")


def check_fuzz(folder, number, what):
    """A campaign finds the policy that breaks its contract, and writes what shows it."""
    policy = f"placement=./own{number}.so:own"
    result = run(folder, "fuzz", "--policy", policy, "--runs", "500", "--corpus", "kept")
    told = " ".join(result.stdout.split())  # lines are broken where the screen ends
    expect(result.returncode == 3 and "POLICY_FAULT" in told and what in told,
           f"fuzz: exit {result.returncode}\n{result.stdout}{result.stderr}")
    replay = re.search(r"^to replay: rehearse (run kept/fuzz-POLICY_FAULT-\d+\.json)$",
                       result.stdout, re.MULTILINE)
    expect(replay is not None, f"fuzz says nothing of a replay: {result.stdout[-400:]}")
    if replay is not None:
        again = run(folder, *replay.group(1).split())
        expect(again.returncode == 3 and what in again.stderr,
               f"replay: exit {again.returncode}, {again.stderr}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, line = blocks_of_page()
        check_object(folder, source)
        check_in_tree(folder, source, line)
        (folder / "pair.json").write_text(SCENARIO, encoding="utf-8")
        for number, (title, axis, source, what) in enumerate(BROKEN):
            build(folder, f"own{number}", source)
            result = run(folder, "run", "pair.json", "--set", f"{axis}=own{number}.so:own")
            expect(result.returncode == 3 and what in result.stderr
                   and f"policy own{number}.so:own" in result.stderr,
                   f"{title}: exit {result.returncode}, {result.stderr}")
        check_fuzz(folder, len(BROKEN) - 1, BROKEN[-1][3])
    for failure in failures:
        print(failure)
    print(f"one example, {len(BROKEN)} broken policies, {len(failures)} problems")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
