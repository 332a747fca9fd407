// The style of the page: one sheet, inside the file, for screen (light and dark) and paper. Colours
// are those of Okabe and Ito, told apart by eyes of every kind; what they mean is also said by
// dashes, hatching or words.
#pragma once

#include <string_view>

namespace rehearse::reports {

[[nodiscard]] std::string_view page_style();

// Hatchings the style refers to, as an invisible SVG element; once per page, before its charts.
[[nodiscard]] std::string_view page_patterns();

}  // namespace rehearse::reports
