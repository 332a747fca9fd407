// Composes the message of a failed check; kept out of line so that a check costs one branch.
#include "model/support/check.hpp"

namespace rehearse::model {

void check_failed(std::string_view condition, std::string_view names, const char* file, int line,
                  std::initializer_list<std::int64_t> values) {
  std::string_view path = file;
  if (const auto slash = path.rfind('/'); slash != std::string_view::npos) {
    path = path.substr(slash + 1);
  }
  std::string text = "internal check failed: ";
  text.append(condition).append(" at ").append(path).append(":").append(std::to_string(line));
  if (values.size() != 0) {
    text.append(" (").append(names).append(" =");
    for (const std::int64_t value : values) {
      text.append(" ").append(std::to_string(value));
    }
    text.append(")");
  }
  throw InternalFault(text);
}

}  // namespace rehearse::model
