"""docs/idioms.md is what this script makes of the heads of the scenarios, of what they expect to be
violated, and of the campaigns on record, put into page.md. REHEARSE_UPDATE_GOLDEN=1 writes it.
"""

import os
import sys
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "spec"))

from idioms import GUARDS, HERE, PAGE, read_campaigns, read_rows  # noqa: E402
from spec_files import read_patches  # noqa: E402

TEMPLATE = HERE / "page.md"

FIELDS = {
    "runs": "runs", "groups": "groups started", "again": "of these run again",
    "failed": "groups failed", "broken": "runs with a broken property",
}


def paragraph(text):
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False) + "\n"


def number(text):
    return f"{int(text):,}"


def listed(names):
    return ", ".join(f"`{name}`" for name in names) or "nothing"


def summary(rows):
    """What the rows that are called incompatible come to, by code."""
    violated, guarded = set(), set()
    fires = {name: guard.fires for guard in read_patches(GUARDS) for name in guard.fails}
    codes = {row.code for row in rows if row.kind == "incompatible"}
    for row in rows:
        if row.kind == "incompatible" and row.violated():
            violated.add(row.code)
        elif fires.get(row.name):
            guarded.add(row.code)
    silent = codes - violated - guarded
    acted = {row.code for row in rows if "Acted out" in row.head} & violated
    return (f"Of the {len(codes)} codes that are called incompatible, {len(violated)} break a "
            f"property with the check off ({len(acted)} of them acted out), {len(guarded)} with a "
            f"guard out as well, and {len(silent)} none ({listed(sorted(silent))}).")


def broken(row):
    """What the scenario breaks, and what it breaks when the guard is out, too."""
    text = listed(row.violated())
    for guard in read_patches(GUARDS):
        if row.name in guard.fails:
            text += f"; without the guard {listed(guard.fires)}"
    return text


def table(rows):
    lines = ["| idiom | code | as proposed | with the check off | breaks | scenario |",
             "|---|---|---|---|---|---|"]
    for row in rows:
        lines.append(f"| {row.head['Idiom']} | `{row.code}` | {row.kind} | {row.head['Result']} | "
                     f"{broken(row)} | `{row.name}` |")
    return "\n".join(lines) + "\n"


def section(row):
    text = f"**{row.code}.** "
    parts = [f"*{key}:* {row.head[key]}"
             for key in ("Off", "Acted out", "Guard", "Breaks") if key in row.head]
    return paragraph(text + " ".join(parts))


def which(code, figures):
    words = [f"`{code}`"]
    if "read" in figures:
        words.append(f"read {figures['read']}")
    if figures.get("group") == "rerun-group":
        words.append("`failure.group: rerun-group`")
    return ", ".join(words)


def shows(figures):
    if "fired" in figures:
        fired, total = figures["control"].split("/")
        text = f"fired in {number(figures['fired'])} runs"
        if figures["fired"] != "0":
            text += f", in {number(figures['early'])} of them before the commit"
        return f"{text}; control: {number(fired)} of {number(total)}"
    if "copies" in figures:
        return (f"{number(figures['copies'])} copies of members' tasks, "
                f"{number(figures['others'])} of others")
    return (f"without faults {number(figures['left'])} executors left and "
            f"{number(figures['failed_alone'])} groups failed")


def campaigns():
    lines = ["| campaign | " + " | ".join(FIELDS.values()) + " | what it shows |",
             "|---|" + "---|" * (len(FIELDS) + 1)]
    for code, figures in read_campaigns():
        cells = [number(figures[key]) if key in figures else "" for key in FIELDS]
        lines.append(f"| {which(code, figures)} | " + " | ".join(cells) + f" | {shows(figures)} |")
    return "\n".join(lines) + "\n"


def page():
    rows = read_rows()
    findings = [f"* `{row.code}`: {row.head['Finding']}" for row in rows if "Finding" in row.head]
    wrapped = [textwrap.fill(line, 120, subsequent_indent="  ", break_long_words=False,
                             break_on_hyphens=False) + "\n" for line in findings]
    return TEMPLATE.read_text(encoding="utf-8").format(
        summary=paragraph(summary(rows)), table=table(rows),
        sections="\n".join(map(section, rows)), campaigns=campaigns(),
        findings="".join(wrapped).rstrip("\n"))


def main():
    text = page()
    if os.environ.get("REHEARSE_UPDATE_GOLDEN") == "1":
        PAGE.write_text(text, encoding="utf-8")
    have = PAGE.read_text(encoding="utf-8") if PAGE.is_file() else ""
    if have == text:
        return 0
    for number_, (wanted, line) in enumerate(zip(text.splitlines(), have.splitlines()), 1):
        if wanted != line:
            print(f"docs/idioms.md:{number_}: {line}\n  would be: {wanted}")
            break
    print("docs/idioms.md is not what tests/idioms/page_test.py writes")
    return 1


if __name__ == "__main__":
    sys.exit(main())
