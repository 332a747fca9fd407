// Event logs of Spark, plain or packed: whatever the bytes, they load or are refused.
#include <cstddef>
#include <cstdint>

#include "model/support/check.hpp"
#include "tests/fuzzers/memory_file.hpp"
#include "traces/spark_event_log.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rehearse;
  const testing::MemoryFile file(data, size);
  const auto trace = traces::read_spark_event_log(file.path());
  RH_CHECK(trace.has_value() || !trace.error().what.empty());
  return 0;
}
