// Text of input errors and the nearest-name search behind every "did you mean".
#include "model/support/error.hpp"

#include <algorithm>
#include <vector>

namespace rehearse::model {

std::string to_string(const Error& error) {
  std::string text;
  if (!error.file.empty()) {
    text += error.file;
    if (error.line > 0) {
      text += ":" + std::to_string(error.line);
    }
    text += ": ";
  }
  if (!error.code.empty()) {
    text += error.code + ": ";
  }
  if (!error.field.empty()) {
    text += error.field + ": ";
  }
  text += error.what;
  if (!error.remedy.empty()) {
    text += "\n  " + error.remedy;
  }
  return text;
}

namespace {

std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  for (std::size_t column = 0; column <= right.size(); ++column) {
    row[column] = column;
  }
  for (std::size_t i = 1; i <= left.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t substituted = diagonal + (left[i - 1] == right[j - 1] ? 0U : 1U);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[right.size()];
}

}  // namespace

std::string nearest_name(std::string_view given, const std::string_view* known_first,
                         const std::string_view* known_last) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, given.size() / 3) + 1;
  for (const std::string_view* known = known_first; known != known_last; ++known) {
    const std::size_t distance = edit_distance(given, *known);
    if (distance < best_distance) {
      best_distance = distance;
      best = *known;
    }
  }
  return std::string(best);
}

}  // namespace rehearse::model
