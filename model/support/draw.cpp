// Keys of draws: names are hashed by XXH3-64, whose values its authors keep for good; the parts of
// a scope are chained, so that none can take another's place.
#include "model/support/draw.hpp"

#include <xxhash.h>

namespace rehearse::model {

namespace {

std::uint64_t chain(std::uint64_t state, std::uint64_t part) {
  std::uint64_t x = state + part * 0x9e3779b97f4a7c15U + 0xd1b54a32d192ed03U;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93U;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93U;
  return x ^ (x >> 32);
}

}  // namespace

std::uint64_t name_key(std::string_view name) { return XXH3_64bits(name.data(), name.size()); }

DrawKey draw_key(const DrawScope& scope) {
  std::uint64_t state = chain(0, scope.seed);
  state = chain(state, static_cast<std::uint64_t>(scope.purpose));
  state = chain(state, scope.job);
  return {chain(state, scope.stage)};
}

}  // namespace rehearse::model
