// Arguments to verbs, by the one table. What users see of it is tested in tests/cli.
#include "cli/command_line.hpp"

#include <doctest/doctest.h>

#include <set>

#include "cli/help.hpp"

using namespace rehearse;

namespace {

model::Result<std::variant<cli::CommandLine, cli::Answer>> parse(std::vector<std::string> words) {
  return cli::parse_command_line(words);
}

cli::CommandLine line_of(std::vector<std::string> words) {
  auto parsed = parse(std::move(words));
  if (!parsed) {
    FAIL(model::to_string(parsed.error()));
  }
  REQUIRE(std::holds_alternative<cli::CommandLine>(*parsed));
  return std::get<cli::CommandLine>(*parsed);
}

std::string error_of(std::vector<std::string> words) {
  const auto parsed = parse(std::move(words));
  return parsed ? "" : model::to_string(parsed.error());
}

}  // namespace

TEST_CASE("operands and options may stand in any order") {
  const auto line = line_of({"compare", "--with", "psd", "a", "--with=sequential", "b", "-o", "-"});
  CHECK(line.verb->name == "compare");
  CHECK(line.operands == std::vector<std::string>{"a", "b"});
  CHECK(line.values("--with") == std::vector<std::string>{"psd", "sequential"});
  CHECK(line.value("--output") == "-");
  CHECK_FALSE(line.has("--json"));
}

TEST_CASE("a repeatable option takes one value at a time") {
  const auto line = line_of({"run", "--set", "a=b", "x", "--set", "reject=[A,B]"});
  CHECK(line.operands == std::vector<std::string>{"x"});
  CHECK(line.values("--set") == std::vector<std::string>{"a=b", "reject=[A,B]"});
}

TEST_CASE("the standard input is an operand, verbs of a family are two words") {
  CHECK(line_of({"run", "-"}).operands == std::vector<std::string>{"-"});
  CHECK(line_of({"trace", "inspect", "x"}).verb->name == "trace inspect");
}

TEST_CASE("refusals name the argument") {
  CHECK(error_of({"run", "x", "--jsno"}).find("did you mean --json?") != std::string::npos);
  CHECK(error_of({"list", "policies", "formats"}).find("one operand too many") !=
        std::string::npos);
  CHECK(error_of({"sweep", "x"}).find("sweep is not built yet") != std::string::npos);
}

TEST_CASE("the command that repeats a run leaves out where results go") {
  const auto line = line_of({"run", "a b.json", "c.json", "--set", "x=y", "--json", "--select",
                             "job~it's", "-o", "out.json", "--threads", "3"});
  CHECK(cli::repeat_command(line, "a b.json") ==
        "rehearse run 'a b.json' --select 'job~it'\\''s' --set x=y");
}

TEST_CASE("the table is whole: every name once, every built verb with an example") {
  std::set<std::string_view> verbs;
  for (const cli::VerbInfo& verb : cli::verbs()) {
    CHECK(verbs.insert(verb.name).second);
    CHECK_FALSE(verb.what.empty());
    CHECK(verb.example.empty() == !verb.built);
  }
  std::set<std::string_view> options;
  for (const cli::OptionInfo& option : cli::options()) {
    CHECK(options.insert(option.name).second);
    CHECK(option.name.starts_with("--"));
    CHECK_FALSE(option.what.empty());
  }
  for (const std::string_view name : {"sweep", "report"}) {
    REQUIRE(cli::find_verb(name) != nullptr);
    CHECK_FALSE(cli::find_verb(name)->built);
  }
}

TEST_CASE("no line of the help names something and says nothing of it") {
  const std::string text = cli::help_text();
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string line = text.substr(start, end - start);
    CAPTURE(line);
    CHECK((line.empty() || line.back() != ' '));
    start = end + 1;
  }
}

TEST_CASE("help lines fit, whatever the verb") {
  for (const cli::VerbInfo& verb : cli::verbs()) {
    if (!verb.built) {
      continue;
    }
    const std::string text = cli::help_text(verb);
    std::size_t from = 0;
    while (from < text.size()) {
      const std::size_t end = std::min(text.find('\n', from), text.size());
      CHECK_MESSAGE(end - from <= 120, text.substr(from, end - from));
      from = end + 1;
    }
  }
}
