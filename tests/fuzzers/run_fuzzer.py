#!/usr/bin/env python3
"""Runs one libFuzzer target for a few seconds from the tree's own files: run_fuzzer.py TARGET
SEEDS... (patterns). REHEARSE_FUZZ_SECONDS says how long (default 6). What it finds is left in the
build folder, and its name is the last line; replay it with TARGET FILE."""

import glob
import os
import pathlib
import shutil
import subprocess
import sys


def main() -> int:
    target = pathlib.Path(sys.argv[1])
    seconds = os.environ.get("REHEARSE_FUZZ_SECONDS", "6")
    home = pathlib.Path(os.environ["REHEARSE_BUILD_DIR"]) / "fuzzers" / target.name
    seeds = home / "seeds"
    grown = home / "corpus"  # what a run adds, kept for the next one
    shutil.rmtree(seeds, ignore_errors=True)
    seeds.mkdir(parents=True)
    grown.mkdir(exist_ok=True)
    files = sorted(path for pattern in sys.argv[2:] for path in glob.glob(pattern))
    if not files:
        print(f"no seeds match {' '.join(sys.argv[2:])}")
        return 1
    for index, path in enumerate(files):
        shutil.copyfile(path, seeds / f"{index:04}")
    done = subprocess.run(
        [target, f"-max_total_time={seconds}", "-seed=1", "-timeout=20", "-rss_limit_mb=2048",
         "-max_len=20000", "-print_final_stats=1", f"-artifact_prefix={home}/found-",
         grown, seeds],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", check=False)
    lines = done.stdout.splitlines()
    print("\n".join(lines if done.returncode else
                    [line for line in lines if "stat::" in line or line.startswith("Done")]))
    return 1 if done.returncode else 0


sys.exit(main())
