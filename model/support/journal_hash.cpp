// Encoding is written once for all events, as a visitor of their keys; the hash is xxhash's.
#include "model/support/journal_hash.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <type_traits>

#include "model/support/check.hpp"

namespace rehearse::model {

namespace {

constexpr std::size_t buffer_size = std::size_t{16} * 1024;
// Room kept free at the start of an event and of an item: more than any of them needs for its
// parts of fixed size.
constexpr std::size_t slack = 512;
constexpr std::uint32_t not_numbered = std::numeric_limits<std::uint32_t>::max();

template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;
template <class T>
constexpr bool is_vector = false;
template <class T>
constexpr bool is_vector<std::vector<T>> = true;

template <class Body>
constexpr bool hashed_body = !std::is_same_v<Body, RunStart> && !std::is_same_v<Body, RunEnd> &&
                             !std::is_same_v<Body, Probe> && !std::is_same_v<Body, Message>;

}  // namespace

// Writes one event at `at_`. A local object, so that the position stays in a register.
class CanonicalWriter {
 public:
  explicit CanonicalWriter(CanonicalStream& stream)
      : stream_(stream), at_(stream.buffer_.data() + stream.used_) {}

  template <class Body>
  void event(Instant t, const Body& body) {
    byte(static_cast<unsigned char>(event_number<Body>()));
    number(t);
    Body::keys(body, *this);
  }

  template <class T>
  void operator()(std::string_view, const T& value) {
    key(value);
  }

  // The key "partitions" of a task, which is absent from nearly all of them: optional<Ranges> of
  // one range, its parts of fixed size written one by one.
  void partitions_of(const TaskRef& task) {
    byte(task.more == 0 ? 0 : 1);
    if (task.more != 0) [[unlikely]] {
      number(std::uint32_t{1});
      byte(1);
      number(std::int64_t{task.partition});
      byte(1);
      number(std::int64_t{task.last()});
    }
  }

  // Where the event ended.
  [[nodiscard]] std::size_t used() const {
    return static_cast<std::size_t>(at_ - stream_.buffer_.data());
  }

 private:
  template <class T>
  void key(const T& value) {
    if constexpr (is_optional<T>) {
      if (value) {
        key(*value);
      } else {
        byte(0);
      }
    } else if constexpr (std::is_same_v<T, NameId>) {
      byte(value.valid() ? 1 : 0);
      if (value.valid()) {
        plain(value);
      }
    } else {
      byte(1);
      plain(value);
    }
  }

  template <class T>
  void plain(const T& value) {
    if constexpr (std::is_same_v<T, NameId>) {
      name(value);
    } else if constexpr (std::is_same_v<T, bool>) {
      byte(value ? 1 : 0);
    } else if constexpr (std::is_enum_v<T>) {
      byte(static_cast<unsigned char>(value));
    } else if constexpr (is_vector<T>) {
      list(value);
    } else if constexpr (std::is_integral_v<T>) {
      number(static_cast<std::int64_t>(value));
    } else {
      T::keys(value, *this);
    }
  }

  template <class T>
  void list(const std::vector<T>& items) {
    number(static_cast<std::uint32_t>(items.size()));
    for (const T& item : items) {
      make_room(slack);
      plain(item);
    }
    make_room(slack);
  }

  void name(NameId id) {
    if (id.index() < stream_.numbers_.size() && stream_.numbers_[id.index()] != not_numbered)
        [[likely]] {
      number(stream_.numbers_[id.index()]);
      return;
    }
    at_ = first_use(stream_, id, at_);
  }

  // Out of line and free of `this`: the common case stays short and at_ in a register.
  [[gnu::noinline]] static unsigned char* first_use(CanonicalStream& stream, NameId id,
                                                    unsigned char* at);

  void byte(unsigned char value) { *at_++ = value; }

  template <class T>
  void number(T value) {
    if constexpr (std::endian::native == std::endian::big) {
      value = std::byteswap(value);
    }
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
  }

  void make_room(std::size_t size) {
    if (stream_.buffer_.size() - used() < size) {
      stream_.used_ = used();
      stream_.flush();
      at_ = stream_.buffer_.data();
    }
  }

  CanonicalStream& stream_;
  unsigned char* at_;
};

unsigned char* CanonicalWriter::first_use(CanonicalStream& stream, NameId id, unsigned char* at) {
  if (id.index() >= stream.numbers_.size()) {
    stream.numbers_.resize(std::max<std::size_t>(id.index() + 1, stream.numbers_.size() * 2),
                           not_numbered);
  }
  stream.numbers_[id.index()] = stream.next_number_;
  const std::string_view text = stream.names_->text(id);
  CanonicalWriter writer(stream);
  writer.at_ = at;
  writer.number(stream.next_number_);
  writer.number(static_cast<std::uint32_t>(text.size()));
  ++stream.next_number_;
  for (std::size_t done = 0; done < text.size();) {
    const std::size_t part = std::min(text.size() - done, slack);
    writer.make_room(part);
    std::memcpy(writer.at_, text.data() + done, part);
    writer.at_ += part;
    done += part;
  }
  writer.make_room(slack);
  return writer.at_;
}

bool is_hashed(const Event& event) {
  return std::visit(
      [](const auto& body) { return hashed_body<std::remove_cvref_t<decltype(body)>>; },
      event.body);
}

CanonicalStream::CanonicalStream() : buffer_(buffer_size) {}

void CanonicalStream::begin(const NameTable& names) {
  names_ = &names;
  used_ = 0;
  numbers_.assign(names.size(), not_numbered);
  next_number_ = 0;
  events_ = 0;
  start();
}

void CanonicalStream::on(const Event& event) {
  RH_CHECK(names_ != nullptr);
  if (buffer_.size() - used_ < slack) {
    flush();
  }
  std::visit(
      [&]<class Body>(const Body& body) {
        if constexpr (hashed_body<Body>) {
          CanonicalWriter writer(*this);
          writer.event(event.t, body);
          used_ = writer.used();
          ++events_;
        }
      },
      event.body);
}

void CanonicalStream::flush() {
  if (used_ > 0) {
    take({buffer_.data(), used_});
    used_ = 0;
  }
}

struct JournalHash::State {
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> xxh3{XXH3_createState()};
};

JournalHash::JournalHash() : state_(std::make_unique<State>()) {
  RH_CHECK(state_->xxh3 != nullptr);
  start();
}
JournalHash::~JournalHash() = default;

void JournalHash::start() { XXH3_64bits_reset(state_->xxh3.get()); }

void JournalHash::take(std::span<const unsigned char> block) {
  XXH3_64bits_update(state_->xxh3.get(), block.data(), block.size());
}

std::uint64_t JournalHash::value() {
  flush();
  return XXH3_64bits_digest(state_->xxh3.get());
}

void JournalBytes::take(std::span<const unsigned char> block) {
  bytes_.insert(bytes_.end(), block.begin(), block.end());
}

const std::vector<unsigned char>& JournalBytes::bytes() {
  flush();
  return bytes_;
}

namespace {
constexpr std::string_view hash_prefix = "xxh3:";
constexpr std::size_t hash_digits = 16;
}  // namespace

std::string format_journal_hash(std::uint64_t hash) {
  return fmt::format("{}{:016x}", hash_prefix, hash);
}

std::optional<std::uint64_t> parse_journal_hash(std::string_view text) {
  if (!text.starts_with(hash_prefix) || text.size() != hash_prefix.size() + hash_digits) {
    return std::nullopt;
  }
  std::uint64_t hash = 0;
  const char* first = text.data() + hash_prefix.size();
  const auto [end, error] = std::from_chars(first, text.data() + text.size(), hash, 16);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return hash;
}

}  // namespace rehearse::model
