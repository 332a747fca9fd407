"""What the tidy rules need to know about a C++ file: its code without comments and literals, its
comments without code, and where its functions begin and end.

Not a parser. It relies on the layout that clang-format gives the tree: a body's opening brace has
a blank before it, an initializer's has none. Line numbers are kept everywhere.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Function:
    """A function with a body; lines are 1-based and inclusive, from its first line to its brace."""

    name: str
    first_line: int
    last_line: int


def split_code(text):
    """Returns (code, comments): two texts of the same shape as `text`.

    In `code`, comments, the insides of literals and nothing else are blanks; in `comments`,
    everything but the comments is.
    """
    code = []
    comments = []
    i = 0
    end = len(text)

    def put(until, to_code, to_comments):
        nonlocal i
        for c in text[i:until]:
            blank = "\n" if c == "\n" else " "
            code.append(c if to_code else blank)
            comments.append(c if to_comments else blank)
        i = until

    while i < end:
        c = text[i]
        if text.startswith("//", i):
            stop = text.find("\n", i)
            put(end if stop < 0 else stop, False, True)
        elif text.startswith("/*", i):
            stop = text.find("*/", i + 2)
            put(end if stop < 0 else stop + 2, False, True)
        elif c == '"' and re.search(r"(?<!\w)(?:u8|u|U|L)?R$", text[max(0, i - 4):i]):
            delimiter = text[i + 1:text.index("(", i)]
            stop = text.find(")" + delimiter + '"', i)
            put(i + 1, True, False)
            put(end if stop < 0 else stop + len(delimiter) + 1, False, False)
            put(min(i + 1, end), True, False)
        elif c == '"' or (c == "'" and not re.match(r"\w", text[i - 1:i] or " ")):
            stop = i + 1
            while stop < end and text[stop] not in (c, "\n"):
                stop += 2 if text[stop] == "\\" else 1
            put(i + 1, True, False)
            put(min(stop, end), False, False)
            if i < end and text[i] == c:
                put(i + 1, True, False)
        else:
            put(i + 1, True, False)
    return "".join(code), "".join(comments)


def without_directives(code):
    """`code` with preprocessor directives, and the lines they continue on, turned to blanks."""
    lines = code.split("\n")
    continued = False
    for k, line in enumerate(lines):
        if continued or line.lstrip().startswith("#"):
            continued = line.endswith("\\")
            lines[k] = ""
        else:
            continued = False
    return "\n".join(lines)


_TYPE_HEAD = re.compile(
    r"^(?:template\s*<.*>\s*|export\s+|typedef\s+)*(?:class|struct|union|enum)\b", re.DOTALL)


def _kind(head, before):
    """What a brace opens: "scope" (may hold functions), "function" or "other"."""
    head = head.strip()
    if re.match(r"^(?:inline\s+)?namespace\b", head) or head.startswith("extern"):
        return "scope"
    if _TYPE_HEAD.match(head) and not head.endswith((")", "=")):
        return "scope"
    if before not in (" ", "\n", "\t", "") or ")" not in head:
        return "other"
    if head.endswith(("=", "(", ",", "[", "return")):
        return "other"
    return "function"


def functions(code):
    """The functions of `code` (as split_code returns it); what is nested in one belongs to it."""
    code = without_directives(code)
    found = []
    stack = []  # (kind, offset of the head's first character)
    head_start = 0
    parens = 0
    for i, c in enumerate(code):
        if c == "(":
            parens += 1
        elif c == ")":
            parens -= 1
        elif c == ";" and parens <= 0:
            head_start = i + 1
        elif c == "{":
            outer = all(kind == "scope" for kind, _, _ in stack)
            kind = "other"
            if outer and parens <= 0:
                kind = _kind(_after_labels(code[head_start:i]), code[i - 1:i])
            stack.append((kind, head_start, parens))
            parens = 0
            if kind != "other":
                head_start = i + 1
        elif c == "}" and stack:
            kind, start, parens = stack.pop()
            if kind == "function":
                found.append(_function(code, start, i))
            if kind != "other":
                head_start = i + 1
    return found


def _after_labels(head):
    return re.sub(r"^\s*(?:public|private|protected)\s*:(?!:)", "", head)


def _function(code, start, end):
    text = code[start:end]
    skipped = re.match(r"(?:\s|(?:public|private|protected)\s*:(?!:))*", text).end()
    head = text[skipped:].split("{", 1)[0]
    called = re.search(r"((?:\w+::)*(?:operator\s*[^\s(]+|~?\w+))\s*\(", head)
    return Function(called.group(1) if called else "lambda",
                    code.count("\n", 0, start + skipped) + 1, code.count("\n", 0, end) + 1)
