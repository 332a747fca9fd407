// Native traces, plain or packed: whatever the bytes, they load or are refused; what loads reads
// back from its canonical text as the same trace.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/support/check.hpp"
#include "tests/fuzzers/memory_file.hpp"
#include "traces/native.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rehearse;
  traces::LoadOptions options;
  options.partial = true;
  const testing::MemoryFile file(data, size);
  const auto trace = traces::read_native(file.path(), options);
  if (!trace) {
    RH_CHECK(!trace.error().what.empty());
    return 0;
  }
  std::string text;
  traces::write_native(*trace, [&text](std::string_view piece) { text += piece; });
  const testing::MemoryFile copy(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  const auto again = traces::read_native(copy.path(), options);
  RH_CHECK(again.has_value());
  RH_CHECK(traces::trace_id(*again) == traces::trace_id(*trace));
  return 0;
}
