"""The core embedded in an engine of threads, judged by its journal (examples/embed).

A run that succeeds, one whose group fails as a whole, one too small for its group: `rehearse check`
finds nothing. A run with a planted fault: it does.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = os.environ["REHEARSE_PROGRAM"]
EMBED = os.environ["REHEARSE_EMBED"]

failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)


def run(*words):
    return subprocess.run(words, text=True, capture_output=True, timeout=120, check=False)


def embed(journal, *options):
    """Runs the example; its status, its journal, and what check says of the journal."""
    result = run(EMBED, "--journal", str(journal), *options)
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    return result, lines, run(PROGRAM, "check", str(journal))


def of_kind(lines, kind):
    return [line for line in lines if line["e"] == kind]


def check_success(journal, *options):
    name = f"embed {' '.join(options)}"
    result, lines, verdict = embed(journal, *options)
    expect(result.returncode == 0, f"{name}: exit {result.returncode}\n{result.stdout}")
    expect(verdict.returncode == 0, f"{name}: check exits {verdict.returncode}\n{verdict.stdout}")
    expect(lines[0]["e"] == "run" and lines[-1]["e"] == "run_end", f"{name}: not a whole journal")
    ends = [line["outcome"] for line in of_kind(lines, "job_end")]
    expect(ends == ["succeeded"], f"{name}: job ends {ends}")
    expect(len(of_kind(lines, "group_committed")) == 1, f"{name}: the group did not commit once")
    starts = {line["stage"] for line in of_kind(lines, "task_start")}
    expect(starts == {"generate", "count", "merge"}, f"{name}: tasks of {starts} only")


def check_kill(journal):
    result, lines, verdict = embed(journal, "--kill-worker")
    expect(result.returncode == 0, f"--kill-worker: exit {result.returncode}\n{result.stdout}")
    expect(verdict.returncode == 0, f"--kill-worker: check exits {verdict.returncode}\n"
           f"{verdict.stdout}")
    causes = [line["cause"] for line in of_kind(lines, "group_failed")]
    expect(causes == ["EXECUTOR_LOST"], f"--kill-worker: groups failed by {causes}")
    ends = [(line["outcome"], line.get("code")) for line in of_kind(lines, "job_end")]
    expect(ends == [("failed", "EXECUTOR_LOST")], f"--kill-worker: job ends {ends}")
    expect(len(of_kind(lines, "executor_lost")) == 1, "--kill-worker: nobody died")
    # Peers hold their slots until their threads have stopped, and all of them do.
    # Who reads what the dead one wrote cannot be done; another producer may have been.
    ends = of_kind(lines, "task_end")
    killed = [line["stage"] for line in ends if line["status"] == "killed"]
    done = [line["stage"] for line in ends if line["status"] == "success"]
    expect(killed.count("count") == 2 and len(killed) + len(done) == 3 and "count" not in done,
           f"--kill-worker: of 3 peers {killed} were killed, {done} were done")
    returned = of_kind(lines, "slot_returned")
    expect(len(returned) == len(killed),
           f"--kill-worker: {len(returned)} of {len(killed)} slots came back")
    expect(not [line for line in of_kind(lines, "task_start") if line["stage"] == "merge"],
           "--kill-worker: merge read what was never committed")


def check_too_small(journal):
    result, lines, verdict = embed(journal, "--workers", "1")
    expect(result.returncode == 1, f"--workers 1: exit {result.returncode}")
    expect(verdict.returncode == 0, f"--workers 1: check exits {verdict.returncode}\n"
           f"{verdict.stdout}")
    codes = [line["code"] for line in of_kind(lines, "job_rejected")]
    expect(codes == ["INSUFFICIENT_SLOTS"], f"--workers 1: rejected by {codes}")


def check_planted(journal):
    result, _, verdict = embed(journal, "--no-deferral")
    expect(result.returncode == 0, f"--no-deferral: exit {result.returncode}\n{result.stdout}")
    expect(verdict.returncode == 3, f"--no-deferral: check exits {verdict.returncode}")
    expect("DEFERRED at" in verdict.stdout + verdict.stderr,
           f"--no-deferral: DEFERRED is not named\n{verdict.stdout}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "embed.journal"
        check_success(journal)
        check_success(journal, "--workers", "2", "--words", "1000")
        check_success(journal, "--workers", "7", "--words", "0")
        check_kill(journal)
        check_too_small(journal)
        check_planted(journal)
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
