// The canonical binary stream of the journal and its hash (scenario.md section 5): the identity of
// a run on any machine, build, thread count and locale.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/events.hpp"

namespace rehearse::model {

// False for the events whose presence depends on options: run, run_end, probe, message. The hash
// and the numbering of names in its stream pass over them.
[[nodiscard]] bool is_hashed(const Event& event);

// Encodes hashed events into bytes and hands them on in blocks. A name is numbered at its first
// use. Costs no allocation per event once the names are known.
class CanonicalStream : public Observer {
 public:
  CanonicalStream();
  void begin(const NameTable& names) final;  // starts a stream anew
  void on(const Event& event) final;

  // Events encoded so far.
  [[nodiscard]] std::int64_t events() const { return events_; }

 protected:
  // Hands on what is buffered. Call before looking at what the blocks made.
  void flush();

 private:
  friend class CanonicalWriter;

  virtual void start() = 0;
  virtual void take(std::span<const unsigned char> block) = 0;

  std::vector<unsigned char> buffer_;
  std::size_t used_ = 0;
  const NameTable* names_ = nullptr;
  std::vector<std::uint32_t> numbers_;  // by NameId; not_numbered until first used
  std::uint32_t next_number_ = 0;
  std::int64_t events_ = 0;
};

// XXH3-64, seed 0, of the stream.
class JournalHash final : public CanonicalStream {
 public:
  JournalHash();
  ~JournalHash() override;
  JournalHash(const JournalHash&) = delete;
  JournalHash& operator=(const JournalHash&) = delete;

  // Of the events so far; more may follow.
  [[nodiscard]] std::uint64_t value();

 private:
  struct State;
  void start() override;
  void take(std::span<const unsigned char> block) override;

  std::unique_ptr<State> state_;
};

// Keeps the stream itself: for tests of the format.
class JournalBytes final : public CanonicalStream {
 public:
  [[nodiscard]] const std::vector<unsigned char>& bytes();

 private:
  void start() override { bytes_.clear(); }
  void take(std::span<const unsigned char> block) override;

  std::vector<unsigned char> bytes_;
};

// "xxh3:" and 16 hex digits, and back.
[[nodiscard]] std::string format_journal_hash(std::uint64_t hash);
[[nodiscard]] std::optional<std::uint64_t> parse_journal_hash(std::string_view text);

}  // namespace rehearse::model
