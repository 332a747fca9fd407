// Journals, as `rehearse check` takes them from anybody: whatever the lines say, they are refused
// or every monitor judges them to the end.
#include <cstddef>
#include <cstdint>

#include "model/support/check.hpp"
#include "properties/monitor_set.hpp"
#include "tests/fuzzers/memory_file.hpp"
#include "traces/journal_json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rehearse;
  const testing::MemoryFile file(data, size);
  model::NameTable names;
  properties::MonitorSet monitors;
  monitors.begin(names);
  const auto read = traces::read_journal(file.path(), names, monitors);
  RH_CHECK(read.has_value() || !read.error().what.empty());
  if (read) {
    monitors.finish();
  }
  return 0;
}
