"""Shows that every rule of tidy.py can fire, and that none fires without cause.

Method: a tiny good tree must give no finding. Then each case changes one thing in it and must give
exactly the finding it names, at the line it names. A rule that no case covers fails the test.
"""

import sys
import tempfile
import unittest
from pathlib import Path

from source import functions, split_code
from tidy import RULES, Tidy

HEADER = "#pragma once\n\nnamespace rehearse::{0} {{\nint answer();\n}}  // namespace\n"

GOOD_TREE = {
    "model/CMakeLists.txt": "rehearse_library(model\n  SOURCES job.cpp support/time.cpp)\n",
    "model/job.hpp": HEADER.format("model"),
    "model/job.cpp": '#include "model/job.hpp"\n\n#include <vector>\n',
    "model/support/time.hpp": HEADER.format("model"),
    "model/support/time.cpp": '#include "model/support/time.hpp"\n',
    "scheduler/CMakeLists.txt": "rehearse_library(scheduler\n  SOURCES core.cpp)\n",
    "scheduler/core.hpp": HEADER.format("scheduler"),
    "scheduler/view.hpp": HEADER.format("scheduler"),
    "scheduler/core.cpp": '#include "scheduler/core.hpp"\n\n#include "model/job.hpp"\n',
    "policies/CMakeLists.txt": "rehearse_library(policies SOURCES fifo.cpp registry.cpp)\n",
    "policies/fifo.cpp": '// Oldest first.\n// registry: fifo\n#include "scheduler/view.hpp"\n',
    "policies/registry.cpp": '// The table.\nconst Entry table[] = {\n    {"fifo", fifo},\n};\n',
    "sim/CMakeLists.txt": "rehearse_library(sim SOURCES driver.cpp)\n",
    "sim/result.hpp": HEADER.format("sim"),
    "sim/driver.hpp": HEADER.format("sim"),
    "sim/engine/queue.hpp": '#include "model/support/time.hpp"\n' + HEADER.format("sim"),
    "sim/models/tasks.hpp": HEADER.format("sim"),
    "sim/driver.cpp": '#include "sim/driver.hpp"\n\n#include "scheduler/core.hpp"\n',
    "reports/page.hpp": '#include "sim/result.hpp"\n' + HEADER.format("reports"),
    "properties/explore.hpp": '#include "scheduler/core.hpp"\n' + HEADER.format("properties"),
    "cli/options.hpp": '#include "traces/reader.hpp"\n' + HEADER.format("cli"),
    "traces/reader.hpp": HEADER.format("traces"),
    "tests/CMakeLists.txt": "rehearse_test(unit_cli SOURCES unit/cli/options_test.cpp)\n",
    "tests/unit/cli/options_test.cpp": '#include "cli/options.hpp"\n',
    "README.md": "A line of prose may be as long as it likes, " + "so " * 40 + "it is.\n",
}

LONG_FUNCTION = "int f(int a) {\n" + "  a += 1;\n" * 69 + "  return a;\n}\n"

# (rule, file to append to or to create, text, line of the finding)
CASES = [
    ("include-direction", "model/job.cpp", '#include "scheduler/core.hpp"\n', 4),
    ("include-direction", "model/support/time.cpp", '#include "model/job.hpp"\n', 2),
    ("include-direction", "scheduler/core.cpp", '#include "sim/driver.hpp"\n', 4),
    ("include-direction", "policies/fifo.cpp", '#include "scheduler/core.hpp"\n', 4),
    ("include-direction", "sim/driver.cpp", '#include "traces/reader.hpp"\n', 4),
    ("include-direction", "sim/engine/queue.hpp", '#include "model/job.hpp"\n', 7),
    ("include-direction", "traces/reader.hpp", '#include "scheduler/view.hpp"\n', 6),
    ("include-direction", "properties/gang.hpp",
     HEADER.format("properties") + '#include "scheduler/core.hpp"\n', 6),
    ("include-direction", "reports/page.hpp", '#include "sim/driver.hpp"\n', 7),
    ("include-direction", "reports/page.hpp", "#include <sim/driver.hpp>\n", 7),
    ("include-direction", "sim/driver.cpp", '#include "cli/options.hpp"\n', 4),
    ("include-root", "model/job.cpp", '#include "job.hpp"\n', 4),
    ("include-banned", "scheduler/core.cpp", "#include <thread>\n", 4),
    ("include-banned", "model/job.cpp", "#include <nlohmann/json.hpp>\n", 4),
    ("include-banned", "model/job.cpp", "#include <cmath>\n", 4),
    ("include-banned", "sim/driver.cpp", "#include <cassert>\n", 4),
    ("include-heavy", "traces/reader.hpp", "#include <simdjson.h>\n", 6),
    ("file-length", "model/job.hpp", "int x;\n" * 246, 251),
    ("file-length", "model/job.cpp", "int x;\n" * 798, 801),
    ("function-length", "model/job.cpp", LONG_FUNCTION, 4),
    ("line-length", "model/job.cpp", "int " + "x" * 96 + ";\n", 4),
    ("pragma-once", "sim/other.hpp", "namespace rehearse::sim {}\n", 1),
    ("namespace", "sim/other.hpp", "#pragma once\nnamespace rehearse::model {}\n", 1),
    ("namespace", "model/job.hpp", "using namespace std;\n", 6),
    ("random", "sim/driver.cpp", "int a = rand();\n", 4),
    ("random", "sim/driver.cpp", "void f() { srand(1); }\n", 4),
    ("random", "sim/driver.cpp", "std::random_device device;\n", 4),
    ("random", "sim/driver.cpp", "std::mt19937_64 rng;\n", 4),
    ("random", "tests/unit/cli/options_test.cpp", "std::normal_distribution<> normal;\n", 2),
    ("clock", "sim/driver.cpp", "auto t = std::chrono::steady_clock::now();\n", 4),
    ("clock", "tests/unit/cli/options_test.cpp", "auto t = time(nullptr);\n", 2),
    ("output", "sim/driver.cpp", 'void f() { std::printf("a"); }\n', 4),
    ("output", "sim/driver.cpp", "void f() { std::cout << 1; }\n", 4),
    ("output", "sim/driver.cpp", "void f() { std::cerr << 1; }\n", 4),
    ("output", "sim/driver.cpp", 'void f() { fmt::print("a"); }\n', 4),
    ("output", "sim/driver.cpp", "void f() { exit(1); }\n", 4),
    ("output", "model/job.cpp", "void f() { std::fputs(text, stderr); }\n", 4),
    ("assert", "sim/driver.cpp", "void f() { assert(1 == 1); }\n", 4),
    ("raw-new", "sim/driver.cpp", "int* p = new int;\n", 4),
    ("raw-new", "sim/driver.cpp", "void f(int* p) { delete p; }\n", 4),
    ("unordered-iteration", "sim/driver.cpp",
     "void f(const std::unordered_map<int, std::vector<int>>& seen) {\n"
     "  for (const auto& [key, value] : seen) {\n  }\n}\n", 5),
    ("unordered-iteration", "sim/driver.cpp",
     "std::unordered_set<int> seen_;\nauto first() { return *seen_.begin(); }\n", 5),
    ("floating-point", "model/job.cpp", "double a;\n", 4),
    ("floating-point", "scheduler/core.cpp", "float a;\n", 4),
    ("floating-point", "sim/models/tasks.hpp", "long double a;\n", 6),
    ("unlisted", "model/group.cpp", "int x;\n", 1),
    ("unlisted", "tests/unit/model/job_test.cpp", "int x;\n", 1),
    ("unlisted", "model/CMakeLists.txt", "rehearse_library(more SOURCES gone.cpp)\n", 3),
    ("unregistered", "policies/fifo.cpp", "// registry: lifo\n", 4),
    ("unregistered", "policies/registry.cpp", 'const Entry more[] = {\n    {"lost", lost},\n};\n',
     6),
    ("blank", "model/job.cpp", "int x; \n", 4),
    ("blank", "README.md", "a\tb\n", 2),
    ("blank", "model/job.cpp", "int x;", 4),
    ("marker", "model/job.cpp", "// TO" "DO: more\n", 4),
    ("marker", "README.md", "Good enough for" " now.\n", 2),
    ("machine-path", "model/job.cpp", '// see "/tmp' '/x"\n', 4),
    ("machine-path", "README.md", "It is in /work" "/main.\n", 2),
]

# What looks like a breach and is none.
INNOCENT = [
    ("report.html", "<p> \t"),
    ("sim/driver.cpp", "// rand() and double and std::cout in a comment, /tmp without more\n"),
    ("sim/driver.cpp", 'const char* text = "std::cerr exit(1) new int";\n'),
    ("sim/driver.cpp", 'const char* raw = R"(rand() " exit(1))";\n'),
    ("sim/driver.cpp", "struct A {\n  A(const A&) = delete;\n  Time time() const;\n};\n"),
    ("sim/driver.cpp", "static_assert(sizeof(int) == 4);\n"),
    ("sim/driver.cpp", "int a = clock.time(0) + 1'000'000;\nint b = operand(1);\n"),
    ("sim/driver.cpp",
     "std::unordered_map<int, int> m;\nbool f() { return m.find(1) != m.end(); }\n"),
    ("sim/driver.cpp",
     "std::unordered_map<int, int> m;\nvoid f() { for (int x : sorted(m)) {} }\n"),
    ("sim/driver.cpp", "namespace a {\n" + "int f() { return 1; }\n" * 90 + "}\n"),
    ("sim/driver.cpp", "struct A {\n" + "  int f() { return 1; }\n" * 90 + "};\n"),
    ("sim/driver.cpp", "const int table[] = {\n" + "    f(1),\n" * 90 + "};\n"),
    ("cli/options.hpp", "void f() { std::cout << 1; exit(2); }\n"),
    ("properties/explore_states.hpp",
     '#include "scheduler/core.hpp"\n' + HEADER.format("properties")),
    ("tests/unit/cli/options_test.cpp", 'const char* path = "/tmp' '/x";\n'),
]


def findings_of(changes):
    with tempfile.TemporaryDirectory() as folder:
        tree = dict(GOOD_TREE)
        for path, text in changes:
            tree[path] = tree.get(path, "") + text
        for path, text in tree.items():
            file = Path(folder) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return Tidy(folder).run()


class Rules(unittest.TestCase):
    maxDiff = None

    def test_a_good_tree_has_no_finding(self):
        self.assertEqual(findings_of([]), [])

    def test_each_case_gives_its_finding_and_no_other(self):
        for rule, path, text, line in CASES:
            with self.subTest(rule=rule, path=path, text=text[:60]):
                found = [(p, n, r) for p, n, _, r in findings_of([(path, text)])]
                self.assertEqual(found, [(path, line, rule)])

    def test_innocent_text_gives_no_finding(self):
        for path, text in INNOCENT:
            with self.subTest(path=path, text=text[:60]):
                self.assertEqual(findings_of([(path, text)]), [])

    def test_every_rule_has_a_case(self):
        self.assertEqual({case[0] for case in CASES}, set(RULES))

    def test_a_header_beside_a_source_declares_its_members(self):
        found = findings_of([
            ("sim/driver.hpp", "class Driver {\n  std::unordered_map<int, int> seen_;\n};\n"),
            ("sim/driver.cpp", "void Driver::walk() {\n  for (auto& [k, v] : seen_) {\n  }\n}\n")])
        self.assertEqual([(p, n, r) for p, n, _, r in found],
                         [("sim/driver.cpp", 5, "unordered-iteration")])

    def test_a_registry_folder_needs_a_registry_and_heads(self):
        tree = [("traces/swf.cpp", "int x;\n"), ("traces/CMakeLists.txt", "f(SOURCES swf.cpp)\n")]
        self.assertEqual([f[3] for f in findings_of(tree)], ["unregistered"])
        self.assertEqual([f[:2] for f in findings_of([
            ("policies/CMakeLists.txt", "f(SOURCES other.cpp)\n"),
            ("policies/other.cpp", "int x;\n")])], [("policies/other.cpp", 1)])
        self.assertEqual(findings_of([
            ("policies/CMakeLists.txt", "f(SOURCES other.cpp)\n"),
            ("policies/other.cpp", "// registry: none (shared by all)\n")]), [])


class Functions(unittest.TestCase):
    def lengths(self, text):
        return [(f.name, f.last_line - f.first_line + 1) for f in functions(split_code(text)[0])]

    def test_every_way_to_write_a_function_is_seen(self):
        self.assertEqual(self.lengths(
            "namespace a {\n"
            "class B : public C<(1)> {\n"
            " public:\n"
            "  explicit B(int x) : x_{x}, y_(x) {\n    f();\n  }\n"
            "  int get() const { return x_; }\n"
            " private:\n"
            "  int x_{0};\n"
            "};\n"
            "bool B::operator==(const B& other) const {\n  return x_ == other.x_;\n}\n"
            "template <typename T>\nauto g(T t, int n = 3) -> std::vector<T> {\n"
            "  auto h = [&](int i) { return i; };\n  return {h(n), t};\n}\n"
            'TEST_CASE("a { brace") {\n  CHECK(true);\n}\n'
            "#define M(x) \\\n  do {       \\\n  } while (false)\n"
            "}  // namespace a\n"),
            [("B", 3), ("get", 1), ("B::operator==", 3), ("g", 5), ("TEST_CASE", 3)])

    def test_the_limit_is_exact(self):
        body = LONG_FUNCTION.replace("  a += 1;\n", "", 2)
        self.assertEqual(self.lengths(body), [("f", 70)])
        self.assertEqual(findings_of([("model/job.cpp", body)]), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
