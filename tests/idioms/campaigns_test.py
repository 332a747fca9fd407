"""Runs the campaigns of docs/idioms.md: idiom_runs, which says what each is.

    campaigns_test.py RUNS   so many runs each
    campaigns_test.py        the number of campaigns.txt; says when its figures are others.
                             REHEARSE_UPDATE_GOLDEN=1 writes them down (page_test.py then writes the
                             page)
"""

import os
import sys

from idioms import CAMPAIGNS, run

HEAD = ("# What idiom_runs printed for the campaigns of docs/idioms.md. Written by\n"
        "# campaigns_test.py without a number, with REHEARSE_UPDATE_GOLDEN=1.\n")

# Options, and how many runs on record.
CAMPAIGNS_RUN = [
    (["--code", "INDETERMINATE_PRODUCER"], 100000),
    (["--code", "INDETERMINATE_PRODUCER", "--rerun", "yes"], 100000),
    (["--code", "INDETERMINATE_PRODUCER", "--read", "outside"], 100000),
    (["--code", "CHECKSUM_RETRY"], 100000),
    (["--code", "CHECKSUM_RETRY", "--rerun", "yes"], 100000),
    (["--code", "CHECKSUM_RETRY", "--read", "outside"], 100000),
    (["--code", "SPECULATION"], 100000),
    (["--code", "DYNAMIC_ALLOCATION"], 10000),
]


def main():
    quick = int(sys.argv[1]) if len(sys.argv) > 1 else None
    program = os.environ["REHEARSE_IDIOM_RUNS"]
    lines, failed = [], 0
    for options, runs in CAMPAIGNS_RUN:
        status, output = run([program, *options, "--runs", str(quick or runs)])
        print(output, end="", flush=True)
        lines.append(output.splitlines()[-1] if output else "")
        if status != 0:
            failed += 1
            print(f"exit {status}: {' '.join(options)}")
    text = HEAD + "".join(line + "\n" for line in lines)
    if not quick and not failed:
        if os.environ.get("REHEARSE_UPDATE_GOLDEN") == "1":
            CAMPAIGNS.write_text(text, encoding="utf-8")
        elif text != CAMPAIGNS.read_text(encoding="utf-8"):
            print("note: these are not the figures of campaigns.txt")
    print(f"{len(lines)} campaigns, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
