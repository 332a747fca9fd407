// The name table: ids in the order of first use, texts that stay, copies that go their own way.
#include "model/support/names.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rehearse::model;

namespace {

std::string numbered(std::size_t i) {
  // Some longer than a block, so that blocks end early.
  return "name " + std::to_string(i) + std::string(i % 50 == 49 ? 3000 : i % 7, 'x');
}

}  // namespace

TEST_CASE("names are numbered by first use and found again") {
  NameTable names;
  CHECK_FALSE(names.find("a").valid());
  CHECK(names.text({}).empty());
  CHECK(names.intern("a").value == 0);
  CHECK(names.intern("").value == 1);
  CHECK(names.intern("a").value == 0);
  CHECK(names.find("").value == 1);
  CHECK(names.text(NameId{1U}).empty());
  CHECK(names.size() == 2);
}

TEST_CASE("many names: each keeps its id, and its text stays where it is") {
  constexpr std::size_t count = 5000;
  NameTable names;
  std::vector<std::string_view> texts;
  for (std::size_t i = 0; i < count; ++i) {
    const NameId name = names.intern(numbered(i));
    REQUIRE(name.index() == i);
    texts.push_back(names.text(name));
  }
  CHECK(names.size() == count);
  for (std::size_t i = 0; i < count; ++i) {
    REQUIRE(texts[i] == numbered(i));
    REQUIRE(names.text(NameId{i}).data() == texts[i].data());
    REQUIRE(names.find(numbered(i)).index() == i);
  }
  CHECK_FALSE(names.find("name 1y").valid());
}

TEST_CASE("a copy has the same names, and neither sees what the other adds") {
  NameTable names;
  for (std::size_t i = 0; i < 100; ++i) {
    REQUIRE(names.intern(numbered(i)).index() == i);
  }
  NameTable copy = names;
  CHECK(copy.intern("of the copy").value == 100);
  CHECK(names.intern("of the first").value == 100);
  CHECK_FALSE(names.find("of the copy").valid());
  names = copy;
  CHECK(names.text(NameId{100U}) == "of the copy");
  CHECK(names.find(numbered(49)).value == 49);
  const NameTable moved = std::move(names);
  CHECK(moved.find("of the copy").value == 100);
  CHECK(moved.text(NameId{7U}) == numbered(7));
}

TEST_CASE("a copy over another table forgets what was there, whichever of them is greater") {
  NameTable few;
  NameTable many;
  REQUIRE(few.intern("of the few").value == 0);
  for (std::size_t i = 0; i < 300; ++i) {
    REQUIRE(many.intern(numbered(i)).index() == i);
  }
  NameTable copy = many;
  copy = few;
  CHECK(copy.size() == 1);
  CHECK_FALSE(copy.find(numbered(0)).valid());
  CHECK(copy.intern("added").value == 1);
  CHECK(copy.text(NameId{0U}) == "of the few");
  copy = many;
  CHECK(copy.size() == 300);
  CHECK_FALSE(copy.find("added").valid());
  for (std::size_t i = 0; i < 300; ++i) {
    REQUIRE(copy.text(NameId{i}) == numbered(i));
    REQUIRE(copy.text(NameId{i}).data() != many.text(NameId{i}).data());
    REQUIRE(copy.find(numbered(i)).index() == i);
  }
  copy = NameTable{};
  CHECK(copy.size() == 0);
  CHECK_FALSE(copy.find(numbered(0)).valid());
}
