#!/usr/bin/env python3
"""Runs the measurements of tests/bench and prints one table: table.py [BUILD FOLDER] (default
build/bench; configured and built by `cmake --preset bench && cmake --build --preset bench`).

Medians: of 7 repetitions of the queue, the core and the readers, of 7 runs of the throughput."""

import json
import pathlib
import subprocess
import sys

DIALECTS = ["psd", "sequential", "spark", "prototype", "barrier", "ballista", "ballista-pipelined",
            "trino-phased", "flink-region"]


def google(program: pathlib.Path, pattern: str) -> list[dict]:
    done = subprocess.run(
        [program, f"--benchmark_filter={pattern}", "--benchmark_repetitions=7",
         "--benchmark_report_aggregates_only=true", "--benchmark_format=json"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    rows = json.loads(done.stdout)["benchmarks"]
    return [row for row in rows if row["aggregate_name"] == "median"]


def throughput(program: pathlib.Path, *options: str) -> list[list[str]]:
    done = subprocess.run([program, *options], stdout=subprocess.PIPE, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()[1:]]


def show(what: str, figure: float, unit: str) -> None:
    print(f"{what:58} {figure:12,.2f} {unit}", flush=True)


def main() -> None:
    home = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/bench") / "bench"
    for row in google(home / "queue_bench", "hold_engine"):
        show(row["run_name"], row["cpu_time"], f"{row['time_unit']} per hold")
    for row in google(home / "core_bench", "."):
        show(row["run_name"] + " (executors, stages, tasks)", row["items_per_second"] / 1e6,
             "M tasks/s")
    for row in google(home / "trace_bench", "."):
        show(row["run_name"], row["bytes_per_second"] / 1e6, "MB/s")
    for hosts, monitors, _, median, *_ in throughput(home / "throughput"):
        show(f"end to end, psd, {hosts} hosts, monitors {monitors}", float(median) / 1e6,
             "M tasks/s")
    for dialect in DIALECTS[1:]:
        for _, _, _, median, *_ in throughput(home / "throughput", "--hosts", "1000", "--monitors",
                                              "on", "--repeat", "3", "--tasks", "300000",
                                              "--dialect", dialect):
            show(f"end to end, {dialect}, 1000 hosts, monitors on", float(median) / 1e6,
                 "M tasks/s")


main()
