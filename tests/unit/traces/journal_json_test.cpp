// Journal files: what is written can be read, and what cannot be read is named.
#include "traces/journal_json.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/journal_hash.hpp"
#include "model/support/journal_line.hpp"

namespace rehearse::traces {

namespace {

constexpr std::string_view golden = "tests/golden/every_event.journal";
// Also what tests/journal_hash.py computes from the same file.
constexpr std::string_view golden_hash = "xxh3:64eff07eee047b09";

class Recorder final : public model::Observer {
 public:
  void begin(const model::NameTable& names) override {
    names_ = &names;
    hash_.begin(names);
  }
  void on(const model::Event& event) override {
    lines_ += model::journal_line(event, *names_) + "\n";
    numbers_.insert(event.number());
    hash_.on(event);
  }
  [[nodiscard]] const std::string& lines() const { return lines_; }
  [[nodiscard]] const std::set<int>& numbers() const { return numbers_; }
  [[nodiscard]] std::string hash() { return model::format_journal_hash(hash_.value()); }

 private:
  const model::NameTable* names_ = nullptr;
  std::string lines_;
  std::set<int> numbers_;
  model::JournalHash hash_;
};

std::string text_of(const std::filesystem::path& path) {
  std::stringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

// A folder of this test's own, gone at its end.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("rehearse-journal-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string file(std::string_view name, std::string_view text = {}) const {
    const std::filesystem::path path = path_ / name;
    if (!text.empty()) {
      std::ofstream(path, std::ios::binary) << text;
    }
    return path.string();
  }

 private:
  std::filesystem::path path_;
};

model::Result<JournalReadResult> read_text(std::string_view text, Recorder& recorder) {
  const Folder folder;
  model::NameTable names;
  return read_journal(folder.file("j", text), names, recorder);
}

model::Error error_of(std::string_view line) {
  Recorder recorder;
  const std::string text =
      "{\"t\":1,\"e\":\"job_started\",\"job\":\"q\"}\n" + std::string(line) + "\n";
  const auto result = read_text(text, recorder);
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().line == 2);
  CHECK(result.error().file.ends_with("/j"));
  return result.error();
}

}  // namespace

TEST_CASE("the golden journal has every event, reads, writes back and hashes as ever") {
  model::NameTable names;
  Recorder recorder;
  const auto result = read_journal(std::string(golden), names, recorder);
  REQUIRE(result.has_value());
  CHECK(result->complete);
  CHECK(result->events == 43);
  CHECK(recorder.numbers().size() == 36);
  CHECK(recorder.lines() == text_of(golden));
  CHECK(recorder.hash() == golden_hash);
}

TEST_CASE("writing: plain and packed files hold the same lines") {
  const Folder folder;
  for (const std::string_view name : {"out", "out.zst"}) {
    const std::string path = folder.file(name);
    auto writer = JournalWriter::open(path, {.messages = true});
    REQUIRE(writer.has_value());
    model::NameTable names;
    REQUIRE(read_journal(std::string(golden), names, **writer).has_value());
    REQUIRE((*writer)->close().has_value());
    const std::string written = text_of(path);
    CHECK((written == text_of(golden)) == (name == "out"));
    CHECK(written.starts_with("\x28\xB5\x2F\xFD") == (name == "out.zst"));
    model::NameTable again;
    Recorder recorder;
    REQUIRE(read_journal(path, again, recorder).has_value());
    CHECK(recorder.lines() == text_of(golden));
  }
}

TEST_CASE("messages are written on request only") {
  const Folder folder;
  const std::string path = folder.file("out");
  auto writer = JournalWriter::open(path);
  REQUIRE(writer.has_value());
  model::NameTable names;
  REQUIRE(read_journal(std::string(golden), names, **writer).has_value());
  REQUIRE((*writer)->close().has_value());
  const std::string written = text_of(path);
  CHECK(written.find("\"message\"") == std::string::npos);
  CHECK(written.size() < text_of(golden).size());
}

TEST_CASE("a file that cannot be written is an io error") {
  const auto writer = JournalWriter::open("no/such/folder/journal");
  REQUIRE_FALSE(writer.has_value());
  CHECK(writer.error().kind == model::ErrorKind::io);
  auto full = JournalWriter::open("/dev/full");
  REQUIRE(full.has_value());
  model::NameTable names;
  REQUIRE(read_journal(std::string(golden), names, **full).has_value());
  const auto closed = (*full)->close();
  REQUIRE_FALSE(closed.has_value());
  CHECK(closed.error().kind == model::ErrorKind::io);
}

TEST_CASE("keys may stand in any order") {
  Recorder recorder;
  const auto result = read_text(
      "{\"stage\":\"a\",\"e\":\"stage_completed\",\"attempt\":0,\"job\":\"q\","
      "\"status\":\"success\",\"t\":5}\n",
      recorder);
  REQUIRE(result.has_value());
  CHECK_FALSE(result->complete);
  CHECK(recorder.lines() ==
        "{\"t\":5,\"e\":\"stage_completed\",\"job\":\"q\",\"stage\":\"a\",\"attempt\":0,"
        "\"status\":\"success\"}\n");
}

TEST_CASE("a slice reads and writes back") {
  const std::string text =
      R"({"t":1,"e":"task_start","job":"q","stage":"a","attempt":0,"partition":2,)"
      R"("partitions":[{"first":2,"last":4}],"try":1,"executor":"e","speculative":false})"
      "\n"
      R"({"t":2,"e":"task_end","job":"q","stage":"a","attempt":0,"partition":2,)"
      R"("partitions":[{"first":2,"last":4}],"try":1,"executor":"e","speculative":false,)"
      R"("status":"success"})"
      "\n";
  Recorder recorder;
  REQUIRE(read_text(text, recorder).has_value());
  CHECK(recorder.lines() == text);
}

TEST_CASE("errors name line, key and what is near") {
  CHECK(error_of(R"({"t":2,"e":"job_startd","job":"q"})").remedy ==
        "did you mean \"job_started\"?");
  CHECK(error_of(R"({"t":2,"e":"job_started","jbo":"q"})").field == "job");
  const model::Error unknown = error_of(R"({"t":2,"e":"job_started","job":"q","jbo":"q"})");
  CHECK(unknown.field == "jbo");
  CHECK(unknown.remedy == "did you mean \"job\"?");
  CHECK(error_of(R"({"t":2,"e":"job_started","job":"q","job":"q"})").field == "job");
  CHECK(error_of(R"({"t":2,"e":"job_started","job":7})").field == "job");
  CHECK(error_of(R"({"t":0,"e":"job_started","job":"q"})").field == "t");
  CHECK(error_of(R"({"t":-5,"e":"job_started","job":"q"})").field == "t");
  CHECK(error_of(R"({"t":"5","e":"job_started","job":"q"})").field == "t");
  CHECK(error_of(R"({"t":5,"job":"q"})").field == "e");
  CHECK(error_of(R"({"t":2,"e":"job_end","job":"q","outcome":"sucess"})").field == "outcome");
  CHECK(error_of(R"({"t":2,"e":"job_end","job":"q"})").field == "outcome");
  CHECK(error_of(R"({"t":2,"e":"job_end","job":"q","outcome":"failed","need":[]})").field ==
        "need");
  CHECK(error_of(R"({"t":2,"e":"disk_used","executor":"e","bytes":1.5})").field == "bytes");
  CHECK(error_of(R"({"t":2,"e":"outputs_lost","job":"q","stage":"a","executor":"e",)"
                 R"("partitions":[{"first":1,"last":99999999999}]})")
            .field == "last");
  CHECK(error_of(R"({"t":2,"e":"outputs_lost","job":"q","stage":"a","executor":"e",)"
                 R"("partitions":[{"first":1,"last":2,"step":1}]})")
            .field == "partitions");
  // A slice is one range of several partitions, from its own on.
  for (const std::string_view partitions :
       {R"([])", R"([{"first":1,"last":3}])", R"([{"first":0,"last":0}])",
        R"([{"first":0,"last":1},{"first":3,"last":4}])", R"([{"first":0,"last":-5}])"}) {
    CAPTURE(partitions);
    const std::string line = R"({"t":2,"e":"task_start","job":"q","stage":"a","attempt":0,)"
                             R"("partition":0,"try":0,"executor":"e","speculative":false,)"
                             R"("partitions":)" +
                             std::string(partitions) + "}";
    CHECK(error_of(line).field == "partitions");
  }
  CHECK(error_of("[]").what == "not an object");
  CHECK(error_of("{").what == "not JSON");
}

TEST_CASE("a cut-off last line is damage: what came before counts") {
  Recorder recorder;
  const auto result =
      read_text("{\"t\":1,\"e\":\"job_started\",\"job\":\"q\"}\n{\"t\":2,\"e\":\"job_en", recorder);
  REQUIRE(result.has_value());
  CHECK(result->events == 1);
  REQUIRE(result->damage.has_value());
  CHECK(result->damage->line == 2);
}

TEST_CASE("empty files, folders and files that are not there") {
  const Folder folder;
  model::NameTable names;
  Recorder recorder;
  CHECK_FALSE(read_journal(folder.file("empty", "\n"), names, recorder).has_value());
  CHECK_FALSE(read_journal(folder.file("missing"), names, recorder).has_value());
  CHECK_FALSE(read_journal("tests", names, recorder).has_value());
}

}  // namespace rehearse::traces
