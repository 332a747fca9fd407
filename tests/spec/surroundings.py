"""Places to run a program from that must make no difference to a journal (N2, N4): locales, time
zones, other memory, addresses, folders, names of the program, environments, kinds of output.
"""

import functools
import os
import platform
import pty
import shutil
import subprocess
import tempfile
import tty
from dataclasses import dataclass

SECONDS_MAX = 600


@dataclass
class Place:
    what: str
    env: dict
    options: tuple = ()   # of spec_runner
    before: tuple = ()    # a command that starts the program
    name: str = ""        # what the program is told that it is called
    elsewhere: bool = False
    output: str = "pipe"  # or file, or terminal


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


def plain_env():
    return {key: value for key, value in os.environ.items()
            if not key.startswith("LC_") and key not in ("LANG", "TZ")}


@functools.cache
def fixed_addresses():
    """The command that starts a program with the same addresses each time; () if none works."""
    command = ("setarch", platform.machine(), "-R")
    works = shutil.which(command[0]) is not None and subprocess.run(
        [*command, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0
    return command if works else ()


def for_all_scenarios():
    plain = plain_env()
    yield Place("locale C, UTC", {**plain, "LC_ALL": "C", "TZ": "UTC"})
    yield Place("odd numbers, TZ=Pacific/Chatham", {**plain, "TZ": "Pacific/Chatham"},
                options=("--odd-locale",))
    # Memory that is given or taken back is written over, and small pieces come from other places.
    heap = {"MALLOC_PERTURB_": "165", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
    yield Place("another heap", {**plain, **heap})
    for name in installed_locales(2):
        yield Place(f"locale {name}", {**plain, "LC_ALL": name, "TZ": "America/St_Johns"})


def for_some_scenarios():
    """The first is what the others are compared with: addresses moved, a pipe."""
    plain = plain_env()
    yield Place("a pipe, addresses moved", plain)
    yield Place("addresses moved again", plain)
    if fixed_addresses():
        yield Place("addresses fixed", plain, before=fixed_addresses())
        yield Place("addresses fixed, another heap",
                    {**plain, "MALLOC_PERTURB_": "90", "MALLOC_ARENA_MAX": "1",
                     "MALLOC_TOP_PAD_": "1", "MALLOC_MMAP_THRESHOLD_": "4096"},
                    before=fixed_addresses())
    else:
        print("addresses fixed: setarch does not work here, left out")
    yield Place("another folder", plain, elsewhere=True)
    yield Place("another name", plain, name="-an odd\tname/with.parts")
    yield Place("a full environment", {**plain, **{f"VARIABLE_{n}": "x" * n for n in range(300)},
                                       "COLUMNS": "20", "TERM": "xterm-256color", "HOME": "/",
                                       "REHEARSE": "1", "CLICOLOR_FORCE": "1"})
    yield Place("no environment", {})
    yield Place("a file", plain, output="file")
    yield Place("a terminal", plain, output="terminal")


def _read_terminal(leader):
    parts = []
    while True:
        try:
            part = os.read(leader, 1 << 16)
        except OSError:  # everybody who could write is gone
            break
        if not part:
            break
        parts.append(part)
    os.close(leader)
    return b"".join(parts)


def run_at(place, command):
    """Exit status and the bytes written. Arguments are absolute."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = {"env": place.env, "stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL,
                     "cwd": folder if place.elsewhere else None}
        full = [*place.before, *map(str, command)]
        if place.name:
            arguments["executable"] = full[0]
            full[0] = place.name
        if place.output == "pipe":
            done = subprocess.run(full, stdout=subprocess.PIPE, timeout=SECONDS_MAX, check=False,
                                  **arguments)
            return done.returncode, done.stdout
        if place.output == "file":
            with tempfile.TemporaryFile() as file:
                done = subprocess.run(full, stdout=file, timeout=SECONDS_MAX, check=False,
                                      **arguments)
                file.seek(0)
                return done.returncode, file.read()
        leader, follower = pty.openpty()
        tty.setraw(follower)  # line ends as they are written
        with subprocess.Popen(full, stdout=follower, **arguments) as process:
            os.close(follower)
            text = _read_terminal(leader)
            return process.wait(SECONDS_MAX), text
