// Inputs by path, where "-" is the standard input. That can be read only once and readers look
// twice (for the format, then for the content), so it is kept in a file until it is done with.
#pragma once

#include <string>

#include "model/support/error.hpp"

namespace rehearse::cli {

class InputPath {
 public:
  [[nodiscard]] static model::Result<InputPath> open(const std::string& given);
  InputPath(InputPath&& other) noexcept;
  InputPath& operator=(InputPath&&) = delete;
  ~InputPath();

  // What readers are given.
  [[nodiscard]] const std::string& path() const { return path_; }
  // The error with the name that the user gave.
  [[nodiscard]] model::Error named(model::Error error) const;

 private:
  InputPath(std::string given, std::string path)
      : given_(std::move(given)), path_(std::move(path)) {}

  std::string given_;
  std::string path_;  // another than given_ when it is a file of ours
};

}  // namespace rehearse::cli
