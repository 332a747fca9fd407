"""Checks the form of the tree: tidy.py ROOT.

Every finding is one line, `path:line: error: text [rule]`; the exit status is 1 if there is any.
The rules are those a compiler does not know: which folder may include which, how long things may
get, what is banned where, and that every file is built and registered. RULES names them all;
tidy_test.py shows that each can fire. What clang-format and clang-tidy can judge is left to them.
"""

import os
import re
import sys
from pathlib import Path

from source import functions, split_code

HEADER_LINES_MAX = 250
SOURCE_LINES_MAX = 800
FUNCTION_LINES_MAX = 70
LINE_COLUMNS_MAX = 100

RULES = {
    "include-direction": "folders include only what the architecture lets them",
    "include-root": "our includes are written from the root of the tree and exist",
    "include-banned": "system headers that a folder must not know",
    "include-heavy": "headers that are slow to compile stay out of ours",
    "file-length": "headers and sources stay small",
    "function-length": "functions fit a screen",
    "line-length": "lines fit two panes",
    "pragma-once": "every header is guarded",
    "namespace": "a folder is a namespace",
    "random": "one source of randomness, the counter hash",
    "clock": "virtual time only",
    "output": "libraries never print and never exit",
    "assert": "checks are always on",
    "raw-new": "no raw owning pointers",
    "unordered-iteration": "no order that depends on a hash",
    "floating-point": "integers only where a journal is decided",
    "unlisted": "every source is built, every built source exists",
    "unregistered": "every entry of a registry folder is in its registry, and the reverse",
    "blank": "no trailing blanks, no tabs",
    "marker": "nothing is left half done",
    "machine-path": "no path of one machine",
}

FOLDERS = ("model", "scheduler", "policies", "sim", "traces", "properties", "reports", "cli")
LIBRARIES = tuple(folder for folder in FOLDERS if folder != "cli")
REGISTRY_FOLDERS = ("policies", "traces", "properties", "reports")
SKIPPED_FOLDERS = {"build", "node_modules", "__pycache__", ".git", ".cache"}
TEXT_SUFFIXES = {".hpp", ".cpp", ".py", ".sh", ".cmake", ".md", ".js", ".css", ".html"}
TEXT_NAMES = {"CMakeLists.txt", "demo", "check", "run", ".clang-format", ".clang-tidy"}

# Which of our files a file may include: the first pattern that the file's path matches decides.
ALLOWED_INCLUDES = [
    (r"model/support/", r"model/support/"),
    (r"model/", r"model/"),
    (r"scheduler/", r"(model|scheduler)/"),
    (r"policies/", r"(model|policies)/|scheduler/(policy|view)\.hpp$"),
    (r"sim/engine/", r"model/support/|sim/engine/"),
    (r"sim/", r"(model|scheduler|sim)/"),
    (r"traces/", r"(model|traces)/"),
    (r"properties/(explore|mutants)\b|properties/(explore|mutants)_",
     r"(model|sim|properties)/|scheduler/(view|policy|input|action|core)\.hpp$"),
    (r"properties/", r"(model|sim|properties)/|scheduler/(view|policy|input|action)\.hpp$"),
    (r"reports/", r"(model|reports)/|sim/(result|sweep)\.hpp$"),
    (r"cli/", r"(" + "|".join(FOLDERS) + r")/"),
    (r"examples/embed/", r"(model|scheduler|policies)/|examples/embed/"),
    (r"examples/", r"(" + "|".join(LIBRARIES) + r"|examples)/"),
    (r"tests/", r"(" + "|".join(FOLDERS) + r"|tests)/"),
]

BANNED_HEADERS = [
    (r"scheduler/", r"chrono|ctime|time\.h|random|thread|mutex|shared_mutex|atomic|future|"
     r"condition_variable|semaphore|latch|barrier|stop_token|iostream|ostream|istream|fstream|"
     r"sstream|iomanip|filesystem|cstdio|stdio\.h"),
    (r"model/", r"nlohmann/.*|simdjson.*|fstream|filesystem|iostream|random|thread|ctime"),
    (r"(model|scheduler|sim/models)/", r"cmath|math\.h|cfloat|complex|numbers"),
    (r".*", r"cassert|assert\.h|boost/random.*"),
]
HEAVY_HEADERS = re.compile(
    r"boost/graph/.*|nlohmann/(?!json_fwd\.hpp).*|simdjson.*|CLI/.*|rapidcheck.*")

# (rule, where it holds, pattern over code without comments and literals, what to do instead)
CALL = r"(?<![\w.>:])(?:std::|::)?"
BANNED_NAMES = [
    ("random", r".*", re.compile(
        CALL + r"s?rand(?:om|48)?\s*\(|\bstd::random_device\b|\bstd::\w+_distribution\b|"
        r"\bstd::(?:mt19937(?:_64)?|minstd_rand0?|default_random_engine|ranlux\w+|knuth_b)\b|"
        r"\bstd::(?:ranges::)?(?:shuffle|sample)\b|\bboost::random\b"),
     "draw from the counter hash of model/support"),
    ("clock", r"(?!cli/|tests/|examples/embed/)", re.compile(
        r"\b(?:system|steady|high_resolution|utc|tai|gps|file)_clock\b"),
     "time is virtual; a clock belongs in cli/ or in an engine that embeds the core"),
    ("clock", r".*", re.compile(
        CALL + r"time\s*\(\s*(?:nullptr|NULL|0|&)|\bstd::time\s*\(|" + CALL +
        r"(?:gettimeofday|clock_gettime|localtime|gmtime|clock)(?:_r)?\s*\("),
     "time is virtual; measure with std::chrono in cli/ or tests/"),
    ("output", r"(" + "|".join(LIBRARIES) + r")/", re.compile(
        CALL + r"(?:v|f|vf)?printf\s*\(|" + CALL + r"(?:puts|putchar|perror)\s*\(|"
        r"\bstd::w?(?:cout|cerr|clog)\b|\bstd(?:out|err)\b|\bfmt::print(?:ln)?\s*\(|" +
        CALL + r"(?:_|quick_|_E)?exit\s*\("),
     "return a value; cli/ prints and decides the exit status"),
    ("assert", r".*", re.compile(CALL + r"assert\s*\("), "use RH_CHECK, which is always on"),
    ("raw-new", r".*", re.compile(
        r"\bnew\s+[A-Za-z_:]|(?<!=)(?<!= )(?<!operator )\bdelete\s*[\[\w]"),
     "use a value, a container or std::unique_ptr"),
    ("floating-point", r"(model|scheduler|sim/models)/", re.compile(r"\b(?:double|float)\b"),
     "use integers or fixed_math: a journal must not depend on a libm"),
]

MARKERS = re.compile(
    r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK|for" r" now|st" r"ub|hel" r"per)\b")
MACHINE_PATHS = re.compile(r"(?<![\w.$}])/(?:work|tmp|root|home/\w+)/")


class Tidy:
    """One pass over one tree; `findings` holds (path, line, text, rule)."""

    def __init__(self, root):
        self.root = Path(root)
        self.findings = []
        self.texts = {}
        for path in sorted(self._walk()):
            try:
                self.texts[path] = (self.root / path).read_text(encoding="utf-8")
            except UnicodeDecodeError:
                self.report(path, 1, "not UTF-8", "blank")

    def _walk(self):
        for folder, folders, names in os.walk(self.root):
            folders[:] = [f for f in folders if f not in SKIPPED_FOLDERS and
                          not (f.startswith("build-") or f == "data")]
            for name in names:
                path = (Path(folder) / name).relative_to(self.root).as_posix()
                # A page at the root is what ./demo wrote.
                written = "/" not in path and path.endswith(".html")
                if (Path(name).suffix in TEXT_SUFFIXES or name in TEXT_NAMES) and not written:
                    yield path

    def report(self, path, line, text, rule):
        if rule not in RULES:
            raise KeyError(rule)
        self.findings.append((path, line, text, rule))

    def run(self):
        for path, text in self.texts.items():
            self.check_text(path, text)
            if path.endswith((".hpp", ".cpp")):
                self.check_code(path, text)
        self.check_lists()
        for folder in REGISTRY_FOLDERS:
            self.check_registry(folder)
        return sorted(self.findings)

    # ---- any text ----

    def check_text(self, path, text):
        own = path.startswith("tests/tidy/")
        wraps = not path.endswith((".md", ".html", ".js", ".css"))
        for number, line in enumerate(text.split("\n"), 1):
            if line != line.rstrip() or "\t" in line:
                self.report(path, number, "trailing blank or tab", "blank")
            if wraps and len(line) > LINE_COLUMNS_MAX:
                self.report(path, number, f"{len(line)} columns, at most {LINE_COLUMNS_MAX}",
                            "line-length")
            if not own and (found := MARKERS.search(line)):
                self.report(path, number, f"'{found.group()}': finish it or leave it out", "marker")
            if not path.startswith("tests/") and (found := MACHINE_PATHS.search(line)):
                self.report(path, number, f"'{found.group()}' is a path of one machine",
                            "machine-path")
        if text and not text.endswith("\n"):
            self.report(path, text.count("\n") + 1, "no newline at the end", "blank")

    # ---- C++ ----

    def check_code(self, path, text):
        code, _ = split_code(text)
        folder = path.split("/")[0]
        lines = text.count("\n")
        limit = HEADER_LINES_MAX if path.endswith(".hpp") else SOURCE_LINES_MAX
        if lines > limit:
            self.report(path, limit + 1, f"{lines} lines, at most {limit}", "file-length")
        for function in functions(code):
            length = function.last_line - function.first_line + 1
            if length > FUNCTION_LINES_MAX:
                self.report(path, function.first_line,
                            f"{function.name} has {length} lines, at most {FUNCTION_LINES_MAX}",
                            "function-length")
        if path.endswith(".hpp"):
            if not re.search(r"^#pragma once$", code, re.MULTILINE):
                self.report(path, 1, "no #pragma once", "pragma-once")
            if folder in FOLDERS and not re.search(rf"\bnamespace rehearse::{folder}\b", code):
                self.report(path, 1, f"nothing in namespace rehearse::{folder}", "namespace")
            for number, line in enumerate(code.split("\n"), 1):
                if re.match(r"\s*using namespace\b", line):
                    self.report(path, number, "using namespace in a header", "namespace")
        self.check_includes(path, text, code)
        for rule, where, pattern, remedy in BANNED_NAMES:
            if re.match(where, path):
                for found in pattern.finditer(code):
                    name = found.group().strip()
                    self.report(path, line_of(code, found.start()), f"'{name}': {remedy}", rule)
        self.check_unordered(path, code)

    def check_includes(self, path, text, code):
        code_lines = code.split("\n")
        allowed = next((a for where, a in ALLOWED_INCLUDES if re.match(where, path)), None)
        for number, line in enumerate(text.split("\n"), 1):
            found = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
            if not found or "#" not in code_lines[number - 1]:
                continue
            ours, name = found.group(1) == '"', found.group(2)
            if ours or name.split("/")[0] in FOLDERS:
                self.check_our_include(path, number, name, allowed)
            for where, banned in BANNED_HEADERS:
                if re.match(where, path) and re.fullmatch(banned, name):
                    self.report(path, number, f"<{name}> has no place here", "include-banned")
            if path.endswith(".hpp") and HEAVY_HEADERS.fullmatch(name):
                self.report(path, number, f"<{name}> only in a .cpp", "include-heavy")

    def check_our_include(self, path, number, name, allowed):
        if not (self.root / name).is_file():
            self.report(path, number, f'"{name}" is no file of the tree, seen from its root',
                        "include-root")
        elif allowed is not None and not re.match(allowed, name):
            self.report(path, number, f'{path.split("/")[0]}/ must not include "{name}"',
                        "include-direction")

    def check_unordered(self, path, code):
        # Members are declared in the header and walked in the source beside it.
        declared = set(unordered_names(code))
        if path.endswith(".cpp") and path[:-4] + ".hpp" in self.texts:
            declared |= set(unordered_names(split_code(self.texts[path[:-4] + ".hpp"])[0]))
        if not declared:
            return
        names = "|".join(sorted(map(re.escape, declared)))
        walked = re.compile(
            rf"\bfor\s*\([^;{{}}]*[^:]:\s*(?:\*?this->|\w+(?:\.|->))*({names})\s*\)|"
            rf"\b({names})\.c?begin\s*\(|\bstd::(?:ranges::)?c?begin\s*\(\s*({names})\s*\)|"
            rf"\bstd::ranges::\w+\s*\(\s*({names})\b|\bstd::erase_if\s*\(\s*({names})\b")
        for found in walked.finditer(code):
            name = next(group for group in found.groups() if group)
            self.report(path, line_of(code, found.start()),
                        f"'{name}' is unordered: walk something sorted", "unordered-iteration")

    # ---- what is built and registered ----

    def check_lists(self):
        listed = {}
        for path, text in self.texts.items():
            if path.endswith("CMakeLists.txt"):
                base = path[:-len("CMakeLists.txt")]
                for number, line in enumerate(text.split("\n"), 1):
                    if re.match(r"file\(GLOB \w+ .*\*\.cpp\)", line):  # whatever lies there
                        listed.update((name, (path, number)) for name in self.texts
                                      if re.fullmatch(re.escape(base) + r"[^/]+\.cpp", name))
                    for name in re.findall(r"(?<![\w./$}-])[\w./-]+\.cpp\b", line.split("#")[0]):
                        listed[os.path.normpath(base + name)] = (path, number)
        for name, (path, number) in sorted(listed.items()):
            if name not in self.texts:
                self.report(path, number, f"{name} is listed and does not exist", "unlisted")
        for path in self.texts:
            if path.endswith(".cpp") and path not in listed:
                self.report(path, 1, "no CMakeLists.txt lists this file", "unlisted")

    def check_registry(self, folder):
        registry = f"{folder}/registry.cpp"
        sources = [p for p in self.texts if p.startswith(folder + "/") and p.endswith(".cpp") and
                   p != registry]
        if not sources:
            return
        table = self.texts.get(registry)
        if table is None:
            self.report(sources[0], 1, f"{registry} does not exist", "unregistered")
            return
        claimed = set()
        for path in sources:
            claims = list(re.finditer(r"^// registry: *(.*)$", self.texts[path], re.MULTILINE))
            if not claims:
                self.report(path, 1, "the head says neither '// registry: <name>' nor "
                            "'// registry: none (<why>)'", "unregistered")
            for claim in claims:
                if claim.group(1).startswith("none"):
                    continue
                for name in re.split(r"[,\s]+", claim.group(1).strip()):
                    claimed.add(name)
                    if f'"{name}"' not in table:
                        self.report(path, line_of(self.texts[path], claim.start()),
                                    f'"{name}" is not in {registry}', "unregistered")
        # {"name", ...} or, in a list that is expanded more than once, AXIS(maker, "name", ...).
        for found in re.finditer(
                r'^\s*(?:(?:\w+)?\{+(?:\.(?:name|id) = )?|[A-Z_]+\(\w+, )"([^"]+)"', table,
                re.MULTILINE):
            if found.group(1) not in claimed:
                self.report(registry, line_of(table, found.end()),
                            f'no file says "// registry: {found.group(1)}"', "unregistered")


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def unordered_names(code):
    """Names of variables, members and parameters whose type is a std::unordered_ container."""
    for found in re.finditer(r"\bstd::unordered_\w+\s*<", code):
        depth = 1
        i = found.end()
        while i < len(code) and depth:
            depth += {"<": 1, ">": -1}.get(code[i], 0)
            i += 1
        name = re.match(r"\s*(?:const\b)?\s*[&*]?\s*(?:const\b)?\s*(\w+)\s*[;={(,)]", code[i:])
        if name:
            yield name.group(1)


def main(arguments):
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print("usage: tidy.py ROOT", file=sys.stderr)
        return 2
    tidy = Tidy(arguments[0])
    findings = tidy.run()
    for path, line, text, rule in findings:
        print(f"{path}:{line}: error: {text} [{rule}]")
    print(f"tidy: {len(tidy.texts)} files, {len(RULES)} rules, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
