// Lines out of files in every packing, whole and damaged.
#include "traces/input_stream.hpp"

#include <doctest/doctest.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>

#include "tests/support/spark_log_text.hpp"

using namespace rehearse;
using testing::TestFolder;

namespace {

std::string zstd(std::string_view text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

std::string gzip(std::string_view text) {
  std::string packed(text.size() + 1024, '\0');
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string source(text);
  stream.next_in = reinterpret_cast<Bytef*>(source.data());
  stream.avail_in = static_cast<uInt>(source.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// The lines joined by '|', then the reason of an early end.
std::string lines_of(const std::string& path, const traces::StreamOptions& options = {}) {
  auto reader = traces::LineReader::open(path, options);
  if (!reader) {
    return "error " + reader.error().code + " " + reader.error().what;
  }
  std::string result;
  while (auto line = reader->next()) {
    result += std::string(line->text) + (line->cut ? "~" : "") + "|";
  }
  return result + (reader->damage() ? "damage" : "");
}

}  // namespace

TEST_CASE("plain text: line ends, marks, blanks and padding are taken off") {
  const TestFolder folder("lines-plain");
  CHECK(lines_of(folder.file("a", "one\ntwo\n")) == "one|two|");
  CHECK(lines_of(folder.file("b", "one\r\n\r\n  \ntwo")) == "one|two|");
  CHECK(lines_of(folder.file("c", "\xEF\xBB\xBFone\n")) == "one|");
  CHECK(lines_of(folder.file("d", std::string("one\n") + std::string(512, '\0'))) == "one|");
  CHECK(lines_of(folder.file("e", "")).empty());
}

TEST_CASE("numbers and offsets count blank lines too") {
  const TestFolder folder("lines-numbers");
  auto reader = traces::LineReader::open(folder.file("a", "\n\nabc\nde"));
  REQUIRE(reader);
  auto line = reader->next();
  REQUIRE(line);
  CHECK(line->number == 3);
  CHECK(line->offset == 2);
  CHECK(line->terminated);
  line = reader->next();
  REQUIRE(line);
  CHECK(line->number == 4);
  CHECK(line->offset == 6);
  CHECK_FALSE(line->terminated);
  CHECK_FALSE(reader->next());
  CHECK(reader->blank_lines() == 2);
  CHECK(reader->raw_bytes() == 8);
}

TEST_CASE("packed text is recognized by its content, several frames and members included") {
  const TestFolder folder("lines-packed");
  CHECK(lines_of(folder.file("a.log", zstd("one\n") + zstd("two\nth") + zstd("ree\n"))) ==
        "one|two|three|");
  CHECK(lines_of(folder.file("b.log", gzip("one\n") + gzip("two\n"))) == "one|two|");
  auto reader = traces::LineReader::open(folder.file("c.zstd", "plain\n"));
  REQUIRE(reader);
  CHECK(reader->codec() == traces::Codec::plain);
  CHECK_FALSE(reader->name_mismatch().empty());
}

TEST_CASE("what can be decoded of a cut file is kept, and the loss is named") {
  const TestFolder folder("lines-cut");
  std::string noise;
  for (std::int64_t i = 0; i < 400'000; ++i) {
    noise += std::to_string(i * 7919 % 100'003) + "\n";
  }
  const std::string frame = zstd(noise);
  const std::string first = zstd("one\n");
  CHECK(lines_of(folder.file("a", first + frame.substr(0, 10))) == "one|damage");
  const std::string half = lines_of(folder.file("b", frame.substr(0, frame.size() / 2)));
  CHECK(half.ends_with("damage"));
  CHECK(half.size() > 1000);
  const std::string member = gzip(noise);
  CHECK(lines_of(folder.file("c", member.substr(0, member.size() / 2))).ends_with("damage"));
  CHECK(lines_of(folder.file("d", gzip("one\n") + "rubbish")) == "one|damage");
  CHECK(lines_of(folder.file("e", frame.substr(0, 12))).starts_with("error T003"));
}

TEST_CASE("codecs that are not built are refused by name") {
  const TestFolder folder("lines-refused");
  CHECK(lines_of(folder.file("a", "LZ4Block\x25")).find("lz4") != std::string::npos);
  CHECK(lines_of(folder.file("b", std::string("\x82SNAPPY\0", 8))).find("snappy") !=
        std::string::npos);
  CHECK(lines_of(folder.file("c", "ZV\x01\x02")).find("lzf") != std::string::npos);
  CHECK(lines_of(folder.file("d", "\x01\x02\x03\x04")).starts_with("error T001"));
  CHECK(lines_of(folder.path()).find("directory") != std::string::npos);
  CHECK(lines_of(folder.path("none")).find("no such file") != std::string::npos);
}

TEST_CASE("a log that was finished while it was looked for is found under its final name") {
  const TestFolder folder("lines-renamed");
  folder.file("a", "one\n");
  CHECK(lines_of(folder.path("a.inprogress")) == "one|");
}

TEST_CASE("limits: a line that is too long is cut, too much text ends it") {
  const TestFolder folder("lines-limits");
  traces::StreamOptions options;
  options.line_bytes_max = 1 << 20U;
  const std::string path = folder.file("a", "one\n" + std::string(5 << 20U, 'x') + "\nthree\n");
  const std::string text = lines_of(path, options);
  CHECK(text.starts_with("one|xxxx"));
  CHECK(text.ends_with("~|three|"));
  CHECK(text.size() < 10'000);
  CHECK(lines_of(path).size() > (5U << 20U));  // within the default limit
  options.raw_bytes_max = 1000;
  CHECK(lines_of(path, options).ends_with("damage"));
}
