// Numbers as text: rounding, units, signs.
#include <doctest/doctest.h>

#include <limits>

#include "reports/numbers.hpp"
#include "reports/text_table.hpp"

namespace {

using namespace rehearse::reports;

TEST_CASE("durations have three digits and the unit that suits") {
  CHECK_EQ(duration_text(0), "0 s");
  CHECK_EQ(duration_text(7), "7 ns");
  CHECK_EQ(duration_text(1'500), "1.50 us");
  CHECK_EQ(duration_text(812'000'000), "812 ms");
  CHECK_EQ(duration_text(999'999'999), "1.00 s");
  CHECK_EQ(duration_text(9'994'999'999), "9.99 s");
  CHECK_EQ(duration_text(9'995'000'000), "10.0 s");
  CHECK_EQ(duration_text(99'949'999'999), "99.9 s");
  CHECK_EQ(duration_text(99'950'000'000), "100 s");
  CHECK_EQ(duration_text(320'000'000'000), "5 min 20 s");
  CHECK_EQ(duration_text(3 * 3'600'000'000'000 + 5 * 60'000'000'000), "3 h 05 min");
  CHECK_EQ(duration_text(50 * 3'600'000'000'000), "2 d 02 h");
  CHECK_EQ(duration_text(-1'000'000'000), "-1.00 s");
}

TEST_CASE("changes carry a sign and never divide by zero") {
  CHECK_EQ(change_text(100, 80), "-20.0%");
  CHECK_EQ(change_text(100, 100), "0.0%");
  CHECK_EQ(change_text(1000, 1004), "+0.40%");
  CHECK_EQ(change_text(0, 5), "-");
  CHECK_EQ(change_text(0, 0), "0.0%");
  CHECK_EQ(change_text(3, 4), "+33.3%");
  CHECK_EQ(share_text(1, 3), "33.3%");
  CHECK_EQ(share_text(0, 0), "-");
  CHECK_EQ(speedup_text(10, 8), "1.25x");
  CHECK_EQ(speedup_text(10, 0), "-");
}

TEST_CASE("counts take separators only when asked") {
  CHECK_EQ(count_text(1419, false), "1419");
  CHECK_EQ(count_text(1419, true), "1,419");
  CHECK_EQ(count_text(-1234567, true), "-1,234,567");
  CHECK_EQ(count_text(999, true), "999");
  CHECK_EQ(slot_time_text(1'234'560'000'000, true), "1,234.6 slot s");
  CHECK_EQ(plural(1, "request"), "1 request");
  CHECK_EQ(plural(2, "request"), "2 requests");
  CHECK_EQ(saturated(Wide{1} << 100), std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("tables are as wide as their cells, and no wider than asked") {
  TextTable table({TextTable::Align::left, TextTable::Align::right});
  table.row({"name", "value"});
  table.row({"h\u00e9", "1"});
  CHECK_EQ(table.text(80), "  name  value\n  h\u00e9        1\n");
  TextTable wide({TextTable::Align::left, TextTable::Align::right});
  wide.row({std::string(90, 'x'), "12345"});
  CHECK_LE(width_of(wide.text(60)), 62);
  CHECK_EQ(wrapped("one two three", 7, 2), "one two\n  three");
}

}  // namespace
