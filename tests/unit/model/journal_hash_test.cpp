// The canonical binary stream byte by byte, and what the hash does and does not see.
#include "model/support/journal_hash.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "model/support/event_schema.hpp"
#include "model/support/journal_line.hpp"

namespace rehearse::model {

namespace {

using Bytes = std::vector<unsigned char>;

struct Journal {
  NameTable names;
  std::vector<Event> events;

  NameId id(std::string_view text) { return names.intern(text); }
  void add(Instant t, EventBody body) { events.push_back({t, std::move(body)}); }

  [[nodiscard]] std::uint64_t hash() const {
    JournalHash hash;
    hash.begin(names);
    for (const Event& event : events) {
      hash.on(event);
    }
    return hash.value();
  }
  [[nodiscard]] Bytes bytes() const {
    JournalBytes stream;
    stream.begin(names);
    for (const Event& event : events) {
      stream.on(event);
    }
    return stream.bytes();
  }
};

void append(Bytes& bytes, const std::vector<int>& values) {
  for (const int value : values) {
    bytes.push_back(static_cast<unsigned char>(value));
  }
}

TaskEnd killed(Journal& journal) {
  TaskEnd end;
  end.task = {.job = journal.id("q"),
              .stage = journal.id("map"),
              .executor = journal.id("e0"),
              .attempt = 1,
              .partition = 258,
              .try_number = 0};
  end.status = TaskStatus::killed;
  end.reason = TaskReason::group_failed;
  end.counted = false;
  return end;
}

}  // namespace

TEST_CASE("names are numbered by first use, absent keys are one zero byte") {
  Journal journal;
  static_cast<void>(journal.id("never used"));
  journal.add(0x0102, JobStarted{journal.id("q")});
  journal.add(0x0103, JobEnd{.job = journal.id("q"),
                             .outcome = JobOutcome::failed,
                             .code = Code::deadlock,
                             .detail = journal.id("ab"),
                             .need = PerProfile{{journal.id("p"), 4}},
                             .have = std::nullopt});
  Bytes expected;
  append(expected, {8, 0x02, 0x01, 0, 0, 0, 0, 0, 0});      // job_started
  append(expected, {1, 0, 0, 0, 0, 1, 0, 0, 0, 'q'});       // job: number 0, first use
  append(expected, {9, 0x03, 0x01, 0, 0, 0, 0, 0, 0});      // job_end
  append(expected, {1, 0, 0, 0, 0});                        // job: number 0
  append(expected, {1, 1});                                 // outcome failed
  append(expected, {1, 27});                                // code DEADLOCK
  append(expected, {1, 1, 0, 0, 0, 2, 0, 0, 0, 'a', 'b'});  // detail: number 1
  append(expected, {1, 1, 0, 0, 0});                        // need: one item
  append(expected, {1, 2, 0, 0, 0, 1, 0, 0, 0, 'p'});       //   profile: number 2
  append(expected, {1, 4, 0, 0, 0, 0, 0, 0, 0});            //   n
  append(expected, {0});                                    // have: absent
  CHECK(journal.bytes() == expected);
}

TEST_CASE("a task, in the order of the table") {
  Journal journal;
  journal.add(7, killed(journal));
  Bytes expected;
  append(expected, {20, 7, 0, 0, 0, 0, 0, 0, 0});
  append(expected, {1, 0, 0, 0, 0, 1, 0, 0, 0, 'q'});
  append(expected, {1, 1, 0, 0, 0, 3, 0, 0, 0, 'm', 'a', 'p'});
  append(expected, {1, 1, 0, 0, 0, 0, 0, 0, 0});  // attempt
  append(expected, {1, 2, 1, 0, 0, 0, 0, 0, 0});  // partition
  append(expected, {0});                          // partitions
  append(expected, {1, 0, 0, 0, 0, 0, 0, 0, 0});  // try
  append(expected, {1, 2, 0, 0, 0, 2, 0, 0, 0, 'e', '0'});
  append(expected, {1, 0});  // speculative
  append(expected, {1, 2});  // status killed
  append(expected, {1, 6});  // reason group_failed
  append(expected, {1, 0});  // counted false
  append(expected, {0});     // slot
  CHECK(journal.bytes() == expected);
}

TEST_CASE("lists of names, codes and items") {
  Journal journal;
  journal.add(0, GroupFormed{.job = journal.id("q"),
                             .stage = journal.id("a"),
                             .stages = {journal.id("a"), journal.id("b")},
                             .demand = {}});
  journal.add(0, JobRejected{.job = journal.id("q"),
                             .code = Code::dag_cycle,
                             .codes = {Code::dag_cycle, Code::speculation},
                             .detail = {},
                             .need = std::nullopt,
                             .have = std::nullopt});
  Bytes expected;
  append(expected, {10, 0, 0, 0, 0, 0, 0, 0, 0});
  append(expected, {1, 0, 0, 0, 0, 1, 0, 0, 0, 'q', 1, 1, 0, 0, 0, 1, 0, 0, 0, 'a'});
  append(expected, {1, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 'b'});
  append(expected, {1, 0, 0, 0, 0});
  append(expected, {7, 0, 0, 0, 0, 0, 0, 0, 0});
  append(expected, {1, 0, 0, 0, 0, 1, 1, 1, 2, 0, 0, 0, 1, 10, 0, 0, 0});
  CHECK(journal.bytes() == expected);
}

TEST_CASE("run, run_end, probe and message leave no trace, in names neither") {
  Journal plain;
  plain.add(0, JobStarted{plain.id("q")});
  plain.add(5, killed(plain));

  Journal dressed;
  RunStart run;
  run.dialect = dressed.id("psd");
  dressed.add(0, run);
  dressed.add(0, JobStarted{dressed.id("q")});
  Probe probe;
  probe.free = {{dressed.id("default"), 3}};
  dressed.add(1, probe);
  dressed.add(1, Message{.job = dressed.id("x"),
                         .kind = dressed.id("eos"),
                         .writer = dressed.id("w"),
                         .reader = dressed.id("r"),
                         .seq = 1});
  dressed.add(5, killed(dressed));
  dressed.add(6, RunEnd{});
  CHECK(dressed.bytes() == plain.bytes());
  CHECK(dressed.hash() == plain.hash());
}

TEST_CASE("every key matters") {
  Journal base;
  base.add(7, killed(base));
  const std::uint64_t hash = base.hash();
  const auto changed = [&](auto change) {
    Journal copy = base;
    change(std::get<TaskEnd>(copy.events[0].body), copy);
    return copy.hash();
  };
  CHECK(changed([](TaskEnd&, Journal& j) { j.events[0].t = 8; }) != hash);
  CHECK(changed([](TaskEnd& e, Journal& j) { e.task.job = j.id("r"); }) != hash);
  CHECK(changed([](TaskEnd& e, Journal&) { e.task.attempt = 0; }) != hash);
  CHECK(changed([](TaskEnd& e, Journal&) { e.task.partition = 1; }) != hash);
  CHECK(changed([](TaskEnd& e, Journal&) { e.task.try_number = 1; }) != hash);
  CHECK(changed([](TaskEnd& e, Journal& j) { e.task.executor = j.id("e1"); }) != hash);
  CHECK(changed([](TaskEnd& e, Journal&) { e.speculative = true; }) != hash);
  CHECK(changed([](TaskEnd& e, Journal&) { e.status = TaskStatus::failed; }) != hash);
  CHECK(changed([](TaskEnd& e, Journal&) { e.reason = TaskReason::external; }) != hash);
  CHECK(changed([](TaskEnd& e, Journal&) { e.reason.reset(); }) != hash);
  CHECK(changed([](TaskEnd& e, Journal&) { e.counted.reset(); }) != hash);
  CHECK(changed([](TaskEnd& e, Journal&) { e.slot = SlotState::held; }) != hash);
}

TEST_CASE("blocks do not show: long names, long lists, many events, looks in between") {
  Journal journal;
  const std::string huge(100'000, 'n');
  GroupFormed formed{.job = journal.id(huge), .stage = journal.id("s"), .stages = {}, .demand = {}};
  constexpr int stages = 20'000;
  for (int i = 0; i < stages; ++i) {
    formed.stages.push_back(journal.id("stage-" + std::to_string(i)));
  }
  journal.add(0, formed);
  for (int i = 0; i < stages; ++i) {
    journal.add(i, killed(journal));
  }
  const Bytes bytes = journal.bytes();
  CHECK(bytes.size() > 1'500'000);

  JournalHash looked_at;
  JournalBytes pieces;
  looked_at.begin(journal.names);
  pieces.begin(journal.names);
  for (const Event& event : journal.events) {
    looked_at.on(event);
    static_cast<void>(looked_at.value());
    pieces.on(event);
    static_cast<void>(pieces.bytes());
  }
  CHECK(pieces.bytes() == bytes);
  CHECK(looked_at.value() == journal.hash());
  CHECK(looked_at.events() == static_cast<std::int64_t>(journal.events.size()));

  looked_at.begin(journal.names);  // anew
  CHECK(looked_at.value() == Journal{}.hash());
  CHECK(format_journal_hash(looked_at.value()) == "xxh3:2d06800538d394c2");
}

TEST_CASE("the text of a hash") {
  CHECK(format_journal_hash(0xABC) == "xxh3:0000000000000abc");
  CHECK(parse_journal_hash("xxh3:0000000000000abc") == 0xABCU);
  CHECK_FALSE(parse_journal_hash("xxh3:abc").has_value());
  CHECK_FALSE(parse_journal_hash("xxh3:000000000000000g").has_value());
  CHECK_FALSE(parse_journal_hash("sha1:0000000000000abc").has_value());
}

TEST_CASE("journal lines") {
  Journal journal;
  journal.add(15'000'000, JobStarted{journal.id("q")});
  journal.add(7, killed(journal));
  journal.add(0, GroupFormed{.job = journal.id("q\"\n\x01"),
                             .stage = journal.id("a"),
                             .stages = {journal.id("a")},
                             .demand = {{journal.id("p"), 2}, {journal.id("r"), 3}}});
  CHECK(journal_line(journal.events[0], journal.names) ==
        R"({"t":15000000,"e":"job_started","job":"q"})");
  CHECK(journal_line(journal.events[1], journal.names) ==
        R"({"t":7,"e":"task_end","job":"q","stage":"map","attempt":1,"partition":258,"try":0,)"
        R"("executor":"e0","speculative":false,"status":"killed","reason":"group_failed",)"
        R"("counted":false})");
  CHECK(journal_line(journal.events[2], journal.names) ==
        R"({"t":0,"e":"group_formed","job":"q\"\n\u0001","stage":"a","stages":["a"],)"
        R"("demand":{"p":2,"r":3}})");
  std::string value;
  CHECK(append_key_value(value, journal.events[2], "demand", journal.names));
  CHECK(value == R"({"p":2,"r":3})");
  CHECK_FALSE(append_key_value(value, journal.events[1], "slot", journal.names));
  CHECK_FALSE(append_key_value(value, journal.events[1], "rack", journal.names));
}

TEST_CASE("event schemas name every event and its keys") {
  CHECK(event_schemas().size() == 36);
  CHECK(event_schemas()[18].name == "task_start");
  const EventSchema* end = find_event("task_end");
  REQUIRE(end != nullptr);
  REQUIRE(end->find("status") != nullptr);
  CHECK(end->find("status")->kind == KeyKind::enumeration);
  CHECK(end->find("status")->texts.size() == 3);
  CHECK(end->find("counted")->optional);
  CHECK(end->find("try")->kind == KeyKind::integer);
  CHECK(find_event("job_end")->find("need")->kind == KeyKind::counts);
  CHECK(find_event("job_rejected")->find("codes")->kind == KeyKind::list);
  CHECK(find_event("task_ended") == nullptr);
}

}  // namespace rehearse::model
