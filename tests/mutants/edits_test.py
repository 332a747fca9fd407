"""Drawing is a function of the sources and the seed, and every edit is one that may be made.

On a small text with known answers first, then on the tree: each operator finds something, each edit
changes one place of one line on, nothing is edited that edits.py leaves alone.
"""

import sys

from edits import OPERATORS, Source, draw, read_sources

SAMPLE = """// A file: if (a < b) { f(x, y); }
#include "scheduler/ids.hpp"
namespace rehearse::scheduler {

int count(const Machine& m, StageId stage) {
  RH_CHECK(stage.index() < 5, stage.value);
  if (const auto found = look(m, stage)) {
    return 3;
  }
  for (std::size_t i = 0; i < m.rows.size(); ++i) {
    take(m, stage);  // 7 < 8
  }
  return std::max<std::int64_t>(m.free, 1);
}

void step(Step& s) {
  const std::string text = "1 < 2";
  if (planted(Mutant::mu01)) {
    skip(s, text);
    return;
  }
  if (s.left == 0 || planted(Mutant::mu02)) {
    s.done = true;
  }
}

bool is_free(const Row& row) { return !row.held && row.slots > 0; }

}  // namespace rehearse::scheduler
"""

EXPECTED = {
    "relation": ["10 < <=", "27 > >="],
    "one-off": ["8 3 4", "8 3 2", "10 0 1", "13 1 2", "13 1 0", "27 0 1"],
    "dropped": ["11 take(m, stage); ;", "23 s.done = true; ;"],
    "negated": ["27 !row.held && row.slots > 0 !(!row.held && row.slots > 0)"],
    "swapped": ["7 m, stage stage, m", "11 m, stage stage, m", "13 m.free, 1 1, m.free"],
    "early-return": ["7 return {};", "10 return {};", "11 return {};", "17 return;", "23 return;"],
}

problems = []


def expect(holds, what):
    if not holds:
        problems.append(what)


def told(edit):
    if edit.operator == "early-return":
        return f"{edit.line} {edit.instead.split(';')[0]};"
    return f"{edit.line} {edit.was} {edit.instead}"


def check_sample():
    source = Source("sample.cpp", SAMPLE)
    edits = [edit for line in source.edits().values() for edit in line]
    for operator, expected in EXPECTED.items():
        have = [told(edit) for edit in edits if edit.operator == operator]
        expect(sorted(have) == sorted(expected), f"{operator}: {have}, not {expected}")
    returned = [body[2] for body in source.bodies]
    expect(returned == ["value", "void", "bool"], f"functions give back {returned}")


def check_tree(sources):
    found = dict.fromkeys(OPERATORS, 0)
    for source in sources:
        lines = source.text.split("\n")
        for edit in (edit for line in source.edits().values() for edit in line):
            found[edit.operator] += 1
            applied = source.text[:edit.start] + edit.instead + source.text[edit.end:]
            first = edit.line - 1
            behind = len(lines) - edit.line - source.text[edit.start:edit.end].count("\n")
            now = applied.split("\n")
            expect(now != lines and now[:first] == lines[:first] and
                   now[len(now) - behind:] == lines[len(lines) - behind:], f"{edit}: elsewhere")
            line = lines[first].strip()
            expect(not line.startswith(("//", "#", "RH_CHECK")) and "planted(" not in edit.was,
                   f"{edit}: is to be left alone")
    for operator, count in found.items():
        expect(count > 100, f"{operator}: {count} edits in the whole tree")


def check_draw(sources):
    drawn = draw(sources, 1, 60)
    expect(drawn == draw(read_sources(), 1, 60), "another draw of one seed differs")
    expect(drawn[:20] == draw(sources, 1, 20), "fewer draws are others")
    expect(drawn != draw(sources, 2, 60), "another seed draws the same")
    expect(len(set(drawn)) == 60, "an edit is drawn twice")
    expect({edit.operator for edit in drawn} == set(OPERATORS), "an operator is never drawn")
    for edit in drawn:
        expect(edit.applied() != next(source.text for source in sources
                                      if source.file == edit.file), f"{edit}: no change")


def main():
    check_sample()
    sources = read_sources()
    check_tree(sources)
    check_draw(sources)
    print(*problems[:40], sep="\n")
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
