// Bytes as a file that readers can open by its path, without touching a disk.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/support/check.hpp"

namespace rehearse::testing {

class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : descriptor_(memfd_create("input", 0)) {
    RH_CHECK(descriptor_ >= 0);
    for (std::size_t written = 0; written < size;) {
      const ssize_t count = write(descriptor_, data + written, size - written);
      RH_CHECK(count > 0);
      written += static_cast<std::size_t>(count);
    }
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace rehearse::testing
