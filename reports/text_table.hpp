// A table of text for a terminal: columns as wide as their cells, the first cut short when the
// whole would not fit. Width counts code points.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rehearse::reports {

class TextTable {
 public:
  enum class Align : unsigned char { left, right };

  explicit TextTable(std::vector<Align> columns) : align_(std::move(columns)) {}

  // The first row is the head. Fewer cells than columns leave the rest empty.
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] bool empty() const { return rows_.size() <= 1; }

  // Lines indented by two, at most `columns` wide as long as the first column allows it.
  [[nodiscard]] std::string text(int columns) const;

 private:
  std::vector<Align> align_;
  std::vector<std::vector<std::string>> rows_;
};

// Code points of UTF-8 text.
[[nodiscard]] std::size_t width_of(std::string_view text);

// At most `width` code points, the last an ellipsis when cut.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);

// Lines of at most `columns` code points broken at blanks; every line after the first is indented.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent);

}  // namespace rehearse::reports
