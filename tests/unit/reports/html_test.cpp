// The page: same bytes, nothing from outside, everything escaped, every part there.
#include <doctest/doctest.h>

#include <algorithm>

#include "reports/registry.hpp"
#include "reports/svg.hpp"
#include "tests/support/report_comparison.hpp"

namespace {

using namespace rehearse;
using namespace rehearse::reports;
using tests::comparison_of;

std::string page_of(const std::string& hostile, int requests = 3) {
  std::vector<tests::Fate> base;
  std::vector<tests::Fate> other;
  for (int i = 0; i < requests; ++i) {
    const std::string name = hostile + std::to_string(i);
    base.push_back({name, 10 + i});
    other.push_back({name, 10 + (i * 7) % 23, i % 5 == 4 ? Outcome::failed : Outcome::succeeded});
  }
  Input input;
  input.path = "some/where/" + hostile;
  input.warnings = {{12, "odd " + hostile}};
  CompareOptions options;
  options.assumptions = {"assumed " + hostile};
  options.warnings = {"beware " + hostile};
  const auto page = write_html(
      tests::document_of(comparison_of(base, other, false, {input}, options), {input}), {});
  REQUIRE(page.has_value());
  return *page;
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST_CASE("the same comparison gives the same bytes") {
  CHECK_EQ(page_of("job"), page_of("job"));
  CHECK_NE(page_of("job"), page_of("other"));
}

TEST_CASE("nothing is loaded from anywhere, and no path is shown") {
  const std::string page = page_of("job");
  for (const std::string_view outside : {"http:", "https:", "//", "src=", "href=", "@import",
                                         "<script", "<link", "<iframe", "some/where"}) {
    CHECK_MESSAGE(page.find(outside) == std::string::npos, std::string(outside));
  }
  // Only hatchings of the page itself are referred to.
  CHECK_EQ(count_of(page, "url("), count_of(page, "url(#hatch-"));
}

TEST_CASE("names are escaped wherever they stand") {
  const std::string page = page_of("<b onclick=\"x\">&'");
  CHECK(page.find("<b ") == std::string::npos);
  CHECK(page.find("&lt;b onclick=&quot;x&quot;&gt;&amp;&#39;") != std::string::npos);
  CHECK_EQ(escaped(std::string_view("a\x01\xff\xc3\xa9", 5)), "a\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9");
}

TEST_CASE("the finding comes first, and every part is there") {
  const std::string page = page_of("job");
  std::size_t before = 0;
  for (const std::string_view part :
       {"<h1>", "Key numbers", "<h2>Latency", "Change per request", "What slot time was spent on",
        "Over time", "Rejected, failed, unfinished", "What was marked pipelined",
        "What was assumed", "<h2>Warnings", "What the numbers mean"}) {
    const std::size_t at = page.find(part);
    REQUIRE_MESSAGE(at != std::string::npos, std::string(part));
    CHECK_LT(before, at);
    before = at;
  }
  CHECK_EQ(count_of(page, "<svg "), count_of(page, "</svg>"));
  CHECK_GE(count_of(page, "role=\"img\""), 5);
  CHECK_EQ(count_of(page, "role=\"img\""), count_of(page, "<desc "));
  CHECK(page.find("prefers-color-scheme: dark") != std::string::npos);
  CHECK(page.find("@media print") != std::string::npos);
}

TEST_CASE("many requests stay one small page that says what it leaves out") {
  const std::string page = page_of("job", 1500);
  CHECK_LT(page.size(), 2'000'000);
  CHECK(page.find("600 of 1200 requests are drawn") != std::string::npos);
  CHECK(page.find("stage attempts are not drawn") != std::string::npos);
  CHECK(page.find("more requests are not listed") != std::string::npos);
}

TEST_CASE("only a comparison is a page, and writers are found by name and suffix") {
  CHECK_FALSE(write_html(RunDocument{}, {}).has_value());
  REQUIRE(find_writer("json") != nullptr);
  CHECK(find_writer("pdf") == nullptr);
  CHECK_EQ(writer_for("report.html").name, "html");
  CHECK_EQ(writer_for("-").name, "text");
  CHECK_EQ(writers().size(), 3);
}

TEST_CASE("axes have round ticks inside their range") {
  const std::vector<Tick> ticks = time_ticks(0, 95 * model::second, 8);
  REQUIRE_EQ(ticks.size(), 7);
  CHECK_EQ(ticks[1].label, "15 s");
  CHECK_EQ(ticks.back().value, 90 * model::second);
  const std::vector<Tick> log = log_time_ticks(model::millisecond, 100 * model::second);
  CHECK_EQ(log.front().label, "1 ms");
  CHECK_EQ(log.back().label, "1 min");
  CHECK_EQ(count_ticks(128, 4).back().value, 100);
  const Scale scale = Scale::logarithmic(1, 100, 1000);
  CHECK_EQ(scale.at(10), 500);
  CHECK_EQ(scale.at(1000), 1000);
}

}  // namespace
