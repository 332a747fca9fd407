// Every verb and option of the command line in one table: parsing, help, completion and the list of
// what is not built yet are all made from it (cli.md).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace rehearse::cli {

// Options come in groups; a verb takes the options of its groups.
using Groups = std::uint32_t;

namespace group {
inline constexpr Groups every = 1U << 0U;    // output, json, quiet, color, help
inline constexpr Groups reading = 1U << 1U;  // how strictly inputs are read
inline constexpr Groups parallel = 1U << 2U;
inline constexpr Groups listing = 1U << 3U;
inline constexpr Groups simulating = 1U << 4U;
inline constexpr Groups marking = 1U << 5U;  // for traces: which shuffles, which delays
inline constexpr Groups units = 1U << 6U;
inline constexpr Groups running = 1U << 7U;
inline constexpr Groups comparing = 1U << 8U;
inline constexpr Groups checking = 1U << 9U;
inline constexpr Groups fuzzing = 1U << 10U;
inline constexpr Groups explaining = 1U << 11U;
inline constexpr Groups sweeping = 1U << 12U;
inline constexpr Groups configuring = 1U << 13U;  // one configuration; compare has several
inline constexpr Groups exploring = 1U << 14U;
inline constexpr Groups planting = 1U << 15U;
}  // namespace group

struct OptionInfo {
  std::string_view name;          // "--output"
  std::string_view short_name;    // "-o"; empty = none
  std::string_view value;         // "FILE"; empty = a flag
  std::string_view what;          // one line
  std::string_view choices = {};  // words for completion, separated by blanks
  Groups groups = group::every;
  bool repeatable = false;
  bool built = true;  // false: of the contract, refused by name
};

struct VerbInfo {
  std::string_view name;          // "trace inspect"
  std::string_view operands;      // "TRACE..."; empty = none
  std::string_view what;          // one line
  std::string_view example = {};  // works when pasted at the root of the tree
  Groups groups = group::every;
  int operands_min = 0;
  int operands_max = 0;           // unlimited_operands = no bound
  std::string_view choices = {};  // words that an operand may be
  bool built = true;
};

inline constexpr int unlimited_operands = -1;

[[nodiscard]] std::span<const VerbInfo> verbs();
[[nodiscard]] std::span<const OptionInfo> options();

// Null when there is no such verb. `name` of a nested one is "trace inspect".
[[nodiscard]] const VerbInfo* find_verb(std::string_view name);
// Options of a verb in the order of the table.
[[nodiscard]] std::vector<const OptionInfo*> options_of(const VerbInfo& verb);

// Keys of scenario files, values and formats that are refused by name: what --help lists beside
// verbs and options. Each line is complete.
[[nodiscard]] std::vector<std::string_view> unbuilt_keys();

}  // namespace rehearse::cli
