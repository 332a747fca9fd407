"""What a run is made of asks nobody for the time, for chance, for the environment or for a thread.

The libraries of the folders that decide a journal name none of those symbols (VE-N6); what the
sources say, tidy.py looks at. The command line does ask, for what a campaign may take: that it is
found there shows that this test can fail.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

FOLDERS = ("model", "scheduler", "policies", "sim")
ASKS = "cli"
HIDDEN = re.compile(
    r"^(?:__)?(?:time|times|clock|clock_gettime|gettimeofday|timespec_get|nanosleep|s?rand|"
    r"rand_r|s?random|[de]rand48|getrandom|getentropy|secure_getenv|getenv|getpid|gethostname|"
    r"pthread_create|std::random_device::.*|std::thread::.*|std::chrono::.*::now\(\))(?:@.*)?$")


def undefined(library):
    """The symbols that the library takes from elsewhere, demangled."""
    listed = subprocess.run(["nm", "--undefined-only", "--demangle", library], check=True,
                            text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return {line.split(" U ", 1)[1].strip() for line in listed.splitlines() if " U " in line}


def hidden_in(folder):
    library = Path(os.environ["REHEARSE_BUILD_DIR"]) / folder / f"librehearse_{folder}.a"
    symbols = undefined(library)
    return len(symbols), sorted(name for name in symbols if HIDDEN.match(name))


def main():
    status = 0
    for folder in FOLDERS:
        count, found = hidden_in(folder)
        print(f"{folder}: {count} symbols, of hidden inputs: {', '.join(found) or 'none'}")
        status |= bool(found) or count == 0
    if not hidden_in(ASKS)[1]:
        print(f"{ASKS}: no clock is found, so nothing above says anything")
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
