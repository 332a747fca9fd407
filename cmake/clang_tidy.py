"""Runs clang-tidy over the sources of a configured build, remembering which files were clean.

A file is remembered by a hash of its text, of every header of ours that it reaches, of its compile
command, of .clang-tidy and of the version of clang-tidy; the record is ~/.cache/rehearse/clang-tidy
(or below $XDG_CACHE_HOME), so that clones share it as they share what ccache has.
Findings are never remembered, so they show until they are gone. Looked at first is what was
committed last; the rest follows in an order that turns with the commit, so that a limit of seconds
leaves out other files every time. With --changed only sources are looked at that differ from the
merge base with the main branch (or from HEAD on it), or that include a header that does. What the
limits leave out is named.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROGRAM = "clang-tidy-19"
ROOT = Path(__file__).resolve().parent.parent


def reach(path, seen):
    """The files of ours that `path` includes, and itself, into `seen` (path -> text)."""
    if path in seen or not path.is_file():
        return seen
    seen[path] = path.read_text(encoding="utf-8")
    for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', seen[path], re.MULTILINE):
        reach(ROOT / name, seen)
    return seen


def entries(build):
    """Source -> (compile command, files it reaches), sources of the tree only, in order."""
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    found = {}
    for entry in commands:
        source = Path(entry["file"]).resolve()
        if source.is_relative_to(ROOT) and not source.is_relative_to(build):
            found[source] = (entry["command"], reach(source, {}))
    return dict(sorted(found.items()))


def git(*arguments):
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else None


def changed_files():
    """Files that differ from the merge base with main, new ones too; None without a history."""
    base = next((b for b in (git("merge-base", "HEAD", name) for name in ("origin/main", "main"))
                 if b), None)
    tracked = git("diff", "--name-only", base[0] if base else "HEAD")
    fresh = git("ls-files", "--others", "--exclude-standard")
    if tracked is None or fresh is None:
        return None
    return {ROOT / name for name in tracked + fresh}


def in_turn(todo):
    """What is not committed or was in the last commits, then the rest, each time from elsewhere."""
    recent = set(git("log", "-8", "--name-only", "--format=") or [])
    recent |= set(git("diff", "--name-only", "HEAD") or [])
    fresh = [item for item in todo if str(item[0].relative_to(ROOT)) in recent]
    rest = [item for item in todo if str(item[0].relative_to(ROOT)) not in recent]
    head = (git("rev-parse", "HEAD") or ["0"])[0]
    start = int(head[:8], 16) % len(rest) if rest else 0
    return fresh + rest[start:] + rest[:start]


def key_of(source, command, texts, salt):
    digest = hashlib.sha256(salt)
    digest.update(command.replace(str(ROOT), ".").encode())
    for path, text in sorted(texts.items()):
        digest.update(f"\0{path.relative_to(ROOT)}\0{text}".encode())
    return digest.hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("--files-max", type=int, default=10**9)
    parser.add_argument("--seconds-max", type=int, default=86400)
    options = parser.parse_args()
    build = options.build.resolve()
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    cache = home / "rehearse" / "clang-tidy"
    cache.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([PROGRAM, "--version"], capture_output=True, check=True).stdout
    salt = version + (ROOT / ".clang-tidy").read_bytes()

    everything = entries(build)
    wanted = {source: (cache / key_of(source, command, texts, salt))
              for source, (command, texts) in everything.items()}
    if options.changed:
        changed = changed_files()
        if changed is None:
            print("clang-tidy: skipped: no git history to tell what changed")
            return 0
        wanted = {source: record for source, record in wanted.items()
                  if changed & everything[source][1].keys()}
    known = sum(record.exists() for record in wanted.values())
    todo = [(source, record) for source, record in wanted.items() if not record.exists()]
    todo = in_turn(todo)
    left_out = todo[options.files_max:]
    todo = todo[:options.files_max]

    deadline = time.monotonic() + options.seconds_max

    def look(item):
        source, record = item
        left = deadline - time.monotonic()
        if left <= 0:
            return source, None, ""
        try:
            done = subprocess.run([PROGRAM, "-p", str(build), "--quiet", str(source)],
                                  capture_output=True, text=True, timeout=left, cwd=ROOT)
        except subprocess.TimeoutExpired:
            return source, None, ""
        if done.returncode == 0:
            record.touch()
        return source, done.returncode, done.stdout + (done.stderr if done.returncode else "")

    findings = 0
    clean = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for source, status, output in pool.map(look, todo):
            if status is None:
                left_out.append((source, None))
            elif status == 0:
                clean += 1
            else:
                findings += 1
                print(output.replace(f"{ROOT}/", ""), flush=True)
    if left_out:
        names = [str(source.relative_to(ROOT)) for source, _ in left_out]
        print(f"clang-tidy: skipped by the limits: {len(names)} files: {' '.join(names[:20])}"
              f"{' ...' if len(names) > 20 else ''}")
    print(f"clang-tidy: {len(wanted)} files: {known} known to be clean, {clean} found clean, "
          f"{findings} with findings, {len(left_out)} not looked at")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
