// registry: none (part of the text writer)
#include "reports/text_table.hpp"

#include <algorithm>

namespace rehearse::reports {
namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t first_column_min = 12;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return !is_continuation(c); }));
}

std::string shortened(std::string_view text, std::size_t width) {
  if (width_of(text) <= width || width == 0) {
    return std::string(text);
  }
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    if (!is_continuation(text[end]) && ++seen == width) {
      break;
    }
  }
  return std::string(text.substr(0, end)) + "\u2026";
}

std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent) {
  std::string result;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const std::size_t width = width_of(word);
    if (used > 0 && used + 1 + width > columns) {
      result += '\n';
      result.append(indent, ' ');
      used = indent;
    } else if (used > 0) {
      result += ' ';
      ++used;
    }
    result += word;
    used += width;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string TextTable::text(int columns) const {
  std::vector<std::size_t> widths(align_.size(), 0);
  for (const std::vector<std::string>& row : rows_) {
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  }
  std::size_t total = gap;
  for (const std::size_t width : widths) {
    total += width + gap;
  }
  const auto limit = static_cast<std::size_t>(std::max(columns, 60)) + gap;
  if (!widths.empty() && total > limit) {
    const std::size_t spare = total - limit;
    widths[0] = widths[0] > spare + first_column_min ? widths[0] - spare
                                                     : std::min(widths[0], first_column_min);
  }
  std::string result;
  for (const std::vector<std::string>& row : rows_) {
    std::string line(gap, ' ');
    for (std::size_t i = 0; i < align_.size(); ++i) {
      const std::string cell = i < row.size() ? shortened(row[i], i == 0 ? widths[0] : 0) : "";
      const std::string padding(widths[i] - std::min(widths[i], width_of(cell)), ' ');
      line += align_[i] == Align::right ? padding + cell : cell + padding;
      line.append(i + 1 < align_.size() ? gap : 0, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + '\n';
  }
  return result;
}

}  // namespace rehearse::reports
