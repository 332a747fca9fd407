// Independent pieces of work on several threads; results are placed by index, so that nothing
// depends on how many threads there are.
#pragma once

#include <cstddef>
#include <functional>

namespace rehearse::cli {

// Calls work(0) to work(count - 1), each once, on at most `threads` threads, and returns when all
// are done. What a piece throws is thrown here, the piece with the lowest index first; the others
// are still done.
void for_each_index(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

}  // namespace rehearse::cli
