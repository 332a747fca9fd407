"""Edits of one place that a machine can make in the scheduler, and which of them a seed draws.

What is looked at are the bodies of functions in the sources of scheduler/ and policies/. Headers
are left out: they hold tables and accessors of a line, and an edit there would compile half of the
program anew. Left alone are comments, literals and directives, RH_CHECK, and what a named mutant
plants: the condition, and the block behind it that never runs.

It relies, as tests/tidy does, on the layout that clang-format gives the tree: binary operators have
blanks around them, a template's brackets have none, every branch has braces.
"""

import bisect
import random
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "tidy"))

from source import functions, split_code, without_directives  # noqa: E402

FOLDERS = ("scheduler", "policies")
OPENERS = {"(": ")", "[": "]", "{": "}"}
CLOSERS = {close: open_ for open_, close in OPENERS.items()}
RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
NO_CALLS = {"if", "for", "while", "switch", "return", "catch", "sizeof", "decltype", "defined",
            "RH_CHECK", "static_cast"}
NO_STATEMENT = re.compile(
    r"(?:return|const|constexpr|auto|if|for|while|do|switch|case|default|else|using|static|struct|"
    r"class|enum|throw|goto|public|private|template|RH_CHECK|static_assert)\b")
# `Type name =`, `Type& name{`, `Type<A, B> name;` and the like.
DECLARATION = re.compile(r"[\w:]+(?:<[^;=]*>)?\s*[&*]*\s[&*]*\w+\s*(?:[;={(\[])")
# The brace of a block, not of an initializer.
BLOCK = re.compile(r"(?:[)\]:}]|\b(?:else|do|const|noexcept|mutable|override|final|try)|"
                   r"->\s[\w:<>]+)\s\{$")
LAMBDA = re.compile(r"\[[^\[\]]*\]\s*\([^()]*\)\s*(?:mutable\s*)?(?:->\s*[\w:<>]+\s*)?\{")
# A declaration as a condition cannot be negated.
DECLARES = re.compile(r"(?:const\s+)?(?:auto|[\w:]+)\s*[&*]*\s[&*]*\w+\s=\s")


@dataclass(frozen=True)
class Edit:
    """text[start:end] of the file becomes `instead`."""

    operator: str
    file: str
    line: int  # of `start`, from 1
    start: int
    end: int
    instead: str
    was: str

    def __str__(self):
        return f"{self.file}:{self.line}: {self.operator}: {self.told()}"

    def told(self):
        was, now = " ".join(self.was.split()), " ".join(self.instead.split())
        return f"`{was}` becomes `{now}`"

    def applied(self):
        text = (ROOT / self.file).read_text(encoding="utf-8")
        return text[:self.start] + self.instead + text[self.end:]


class Source:
    """One file, and what can be edited in it."""

    def __init__(self, file, text):
        self.file = file
        self.text = text
        self.code = without_directives_in_place(split_code(text)[0])
        self.lines = [0] + [i + 1 for i, c in enumerate(text) if c == "\n"]
        self.partner, self.around = brackets(self.code)
        self.bodies = self.find_bodies()
        self.closed = self.find_closed()

    def line_of(self, offset):
        return bisect.bisect_right(self.lines, offset)

    def find_bodies(self):
        """(first offset, last offset, what a return gives back) of each function's body."""
        bodies = []
        for function in functions(self.code):
            start = self.lines[function.first_line - 1]
            opening = re.compile(r"\s\{").search(self.code, start)
            while opening and self.around[opening.end() - 1] is not None and \
                    self.code[self.around[opening.end() - 1]] in "([":
                opening = re.compile(r"\s\{").search(self.code, opening.end())
            if opening:
                brace = opening.end() - 1
                bodies.append((brace + 1, self.partner[brace], returned(self.code[start:brace])))
        return bodies

    def find_closed(self):
        """Spans where nothing is edited."""
        spans = []
        for found in re.finditer(r"\bRH_CHECK\(", self.code):
            spans.append((found.start(), self.partner[found.end() - 1] + 1))
        for found in re.finditer(r"\bplanted\(", self.code):
            begin = max(self.code.rfind(c, 0, found.start()) for c in ";{}") + 1
            end = min(i for i in (self.code.find(c, found.end()) for c in ";{") if i >= 0)
            spans.append((begin, end + 1))
            statement = self.code[begin:end]
            guards = re.match(r"\s*(?:else\s+)?if\s*\(", statement)
            if guards and self.code[end] == "{" and "||" not in statement:
                spans.append((begin, self.partner[end] + 1))
        return spans

    def is_open(self, start, end):
        return all(end <= first or start >= last for first, last in self.closed)

    def body_at(self, offset):
        return next((body for body in self.bodies if body[0] <= offset < body[1]), None)

    def code_lines(self):
        """Lines of function bodies with code in them that may be edited."""
        numbers = []
        for number, start in enumerate(self.lines, 1):
            end = self.code.find("\n", start)
            line = self.code[start:end if end >= 0 else len(self.code)]
            if line.strip(" {}();") and self.body_at(start) and self.is_open(start, start + 1):
                numbers.append(number)
        return numbers

    def edit(self, operator, start, end, instead):
        return Edit(operator, self.file, self.line_of(start), start, end, instead,
                    self.text[start:end])

    def edits(self):
        """Every edit of the file, by line."""
        found = [edit for make in OPERATORS.values() for edit in make(self)
                 if self.body_at(edit.start) and self.is_open(edit.start, edit.end) and
                 edit.instead != edit.was]
        by_line = {}
        for edit in sorted(found, key=lambda e: (e.start, e.end, e.operator, e.instead)):
            by_line.setdefault(edit.line, []).append(edit)
        return by_line


def without_directives_in_place(code):
    """As without_directives(), with every offset kept."""
    kept = without_directives(code).split("\n")
    return "\n".join(line if line else " " * len(was)
                     for line, was in zip(kept, code.split("\n"), strict=True))


def brackets(code):
    """The partner of each bracket, and for each offset the bracket that is open around it."""
    partner, around, stack = {}, [None] * (len(code) + 1), []
    for i, c in enumerate(code):
        if c in CLOSERS and stack:
            opener = stack.pop()
            partner[opener], partner[i] = i, opener
        around[i] = stack[-1] if stack else None
        if c in OPENERS:
            stack.append(i)
    return partner, around


def returned(head):
    """"void", "bool" or "value": what the function of this head gives back."""
    head = re.sub(r"\[\[.*?\]\]", " ", head, flags=re.DOTALL)
    trailing = re.search(r"\)\s*(?:const\s*)?(?:noexcept\s*)?->\s*(.*)$", head, flags=re.DOTALL)
    if trailing:
        return {"void": "void", "bool": "bool"}.get(trailing.group(1).strip(), "value")
    words = re.findall(r"[\w:~<>]+", head.split("(", 1)[0])
    words = [word for word in words if word not in ("static", "inline", "constexpr", "virtual",
                                                    "explicit", "friend")]
    if len(words) < 2:  # a constructor or a destructor
        return "void"
    return words[0] if words[0] in ("void", "bool") else "value"


def arguments_of(source, opening):
    """Spans of the arguments between brackets, at the commas of their own level."""
    close = source.partner.get(opening)
    if close is None:
        return []
    cuts = [opening] + [i for i in range(opening + 1, close)
                        if source.code[i] == "," and source.around[i] == opening] + [close]
    spans = []
    for first, last in zip(cuts, cuts[1:]):
        text = source.code[first + 1:last]
        begin = first + 1 + len(text) - len(text.lstrip())
        spans.append((begin, begin + len(text.strip())))
    return spans


def statements(source):
    """(offset, offset behind it) of each statement up to its `;` or the `{` of its block."""
    for found in re.finditer(r"[{};]\s*(?=\w|\+\+|--|\*)|:\n\s*(?=\w)", source.code):
        begin = found.end()
        around = source.around[begin]
        if source.body_at(begin) is None or around is None or \
                not BLOCK.search(source.code, max(0, around - 20), around + 1):
            continue
        stop = next((i for i in range(begin, source.partner[around])
                     if source.code[i] in ";{" and source.around[i] == around), None)
        if stop is not None:
            yield begin, stop + 1


# ---- the operators ----


def relation(source):
    """`<` for `<=`, `==` for `!=` and the reverse."""
    for found in re.finditer(r"(?<=\s)(?:<=|>=|==|!=|<|>)(?=\s)", source.code):
        yield source.edit("relation", found.start(), found.end(), RELATIONS[found.group()])


def one_off(source):
    """A number of the code, one more or one less."""
    for found in re.finditer(r"(?<![\w.'])(\d+)([uUlL]*)(?![\w.'])", source.code):
        value = int(found.group(1))
        for other in (value + 1, value - 1):
            if other >= 0:
                yield source.edit("one-off", found.start(), found.end(),
                                  f"{other}{found.group(2)}")


def dropped(source):
    """A call, an assignment, a step or a jump left out."""
    for begin, end in statements(source):
        text = source.code[begin:end]
        if text.endswith(";") and not NO_STATEMENT.match(text) and not DECLARATION.match(text):
            yield source.edit("dropped", begin, end, ";")


def negated(source):
    """The reverse of a condition."""
    for found in re.finditer(r"\b(if|while) \(", source.code):
        begin, end = found.end(), source.partner[found.end() - 1]
        inits = [i for i in range(begin, end)
                 if source.code[i] == ";" and source.around[i] == found.end() - 1]
        if inits:
            begin = inits[-1] + 1
        text = source.code[begin:end]
        begin += len(text) - len(text.lstrip())
        if not DECLARES.match(source.code[begin:end]):
            yield source.edit("negated", begin, end, f"!({source.text[begin:end]})")
    for begin, end in statements(source):
        text = source.code[begin:end]
        if text.startswith("return ") and text.endswith(";") and (
                text.startswith("return !") or
                re.search(r"\s(?:&&|\|\||<=|>=|==|!=|<|>)\s", text)) and " ? " not in text:
            first, last = begin + len("return "), end - 1
            yield source.edit("negated", first, last, f"!({source.text[first:last]})")


def swapped(source):
    """Two arguments of a call, next to each other, the other way round."""
    for found in re.finditer(r"\b(\w+)(?:<[^<>()]*(?:<[^<>()]*>)?[^<>()]*>)?\(", source.code):
        if found.group(1) in NO_CALLS:
            continue
        spans = arguments_of(source, found.end() - 1)
        texts = [source.text[first:last] for first, last in spans]
        if any(text.count("<") != text.count(">") and " < " not in text for text in texts):
            continue  # a comma of a template's list
        for (first, last), (other_first, other_last) in zip(spans, spans[1:]):
            left, right = source.text[first:last], source.text[other_first:other_last]
            between = source.text[last:other_first]
            if left and right and left != right:
                yield source.edit("swapped", first, other_last, f"{right}{between}{left}")


def early_return(source):
    """The function is left before a statement."""
    lambdas = [(found.end() - 1, source.partner[found.end() - 1])
               for found in LAMBDA.finditer(source.code)]
    for begin, end in statements(source):
        if any(first < begin < last for first, last in lambdas) or \
                re.match(r"(?:else|case|default|return|public|private|struct)\b",
                         source.code[begin:end]):
            continue
        gives = source.body_at(begin)[2]
        values = {"void": ("",), "bool": (" false", " true"), "value": (" {}",)}[gives]
        for value in values:
            yield source.edit("early-return", begin, end,
                              f"return{value}; {source.text[begin:end]}")


OPERATORS = {"relation": relation, "one-off": one_off, "dropped": dropped, "negated": negated,
             "swapped": swapped, "early-return": early_return}


def read_sources(root=ROOT):
    return [Source(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
            for folder in FOLDERS for path in sorted((root / folder).glob("*.cpp"))]


def draw(sources, seed, count):
    """`count` edits, no two the same: an operator, then a line of all code on which it has
    something to edit, then one of its edits there. The first are those of any smaller count."""
    rng = random.Random(seed)

    def pick(items):
        return items[int(rng.random() * len(items))]  # the same in every version of Python

    by_file = [source.edits() for source in sources]
    lines = [(i, line) for i, source in enumerate(sources) for line in source.code_lines()]
    drawn, seen = [], set()
    while len(drawn) < count:
        operator = pick(list(OPERATORS))
        here = []
        while not here:
            file, line = pick(lines)
            here = [edit for edit in by_file[file].get(line, []) if edit.operator == operator]
        edit = pick(here)
        if edit not in seen:
            seen.add(edit)
            drawn.append(edit)
    return drawn
