// Floor 9, text that may not be UTF-8: replacement, and cuts that split no character.
#include "json/utf8.hpp"

#include <random>
#include <vector>

#include "support/catch.hpp"

using namespace pinfold;

namespace {

constexpr std::string_view r = replacement_character;

struct replacement_row {
  std::string_view bytes;
  std::string_view text;
  std::string_view why;
};

// The broken forms are those of the tables in chapter 3.9 of the Unicode Standard.
const std::vector<replacement_row> replacement_rows{
    {"", "", "nothing"},
    {"plain", "plain", "ASCII"},
    {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x91", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x91",
     "2, 3, 4 bytes"},
    {"\xed\x9f\xbf\xee\x80\x80", "\xed\x9f\xbf\xee\x80\x80", "the neighbours of the surrogates"},
    {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf", "the last code point"},
    {"\xff", r, "a byte that never occurs"},
    {"a\x80z", "a\xef\xbf\xbdz", "a continuation alone"},
    {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd", "an overlong '/'"},
    {"\xe0\x80\xaf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "an overlong '/' in three"},
    {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "a surrogate"},
    {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "over U+10FFFF"},
    {"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\x41",
     "each longest start is one"},
    {"\xe2\x82", r, "unfinished at the end is one"},
};

/// Bytes that look like UTF-8 more often than chance would have it.
std::string random_bytes(std::mt19937& random, std::size_t most) {
  static constexpr std::string_view favoured =
      "a\n\x80\xbf\xc2\xc3\xe0\xe2\xed\xef\xf0\xf4\xff\x82\xac\x9f\x90\x91\xa0";
  std::string bytes(std::uniform_int_distribution<std::size_t>{0, most}(random), '\0');
  for (char& byte : bytes) {
    byte = random() % 4 == 0 ? static_cast<char>(random()) : favoured[random() % favoured.size()];
  }
  return bytes;
}

std::string random_characters(std::mt19937& random, std::size_t count) {
  static const std::vector<std::string> some{"a", "\n", "\xc3\xa4", "\xe2\x82\xac",
                                             "\xf0\x9f\x90\x91"};
  std::string text;
  while (count-- > 0) text += some[random() % some.size()];
  return text;
}

}  // namespace

TEST_CASE("broken_bytes_become_one_replacement_character_for_each_longest_start") {
  for (const auto& row : replacement_rows) {
    INFO(row.why);
    CHECK(with_replacements(row.bytes) == row.text);
    CHECK(is_utf8(row.bytes) == (row.bytes == row.text));
  }
}

TEST_CASE("a_character_has_its_value_and_its_length") {
  CHECK(next_utf8("\xf0\x9f\x90\x91z").value == U'\U0001F411');
  CHECK(next_utf8("\xf0\x9f\x90\x91z").length == 4);
  CHECK(next_utf8("\xe2\x82\xac").value == U'\u20AC');
  CHECK(next_utf8("\xc2\x80").value == 0x80);
  CHECK(next_utf8("z").value == U'z');
  CHECK(next_utf8("\xe2\x82").what == utf8_step::kind::unfinished);
  CHECK(next_utf8("\xe2z").what == utf8_step::kind::broken);
}

TEST_CASE("any_bytes_become_valid_text_and_valid_text_stays_as_it_is") {
  std::mt19937 random{20240501};
  for (int i = 0; i < 20000; ++i) {
    const auto bytes = random_bytes(random, 24);
    const auto text = with_replacements(bytes);
    INFO(Catch::StringMaker<std::vector<char>>::convert({bytes.begin(), bytes.end()}));
    REQUIRE(is_utf8(text));
    REQUIRE(with_replacements(text) == text);
    if (is_utf8(bytes)) REQUIRE(text == bytes);
  }
}

TEST_CASE("a_cut_never_splits_a_character_and_every_byte_is_counted_once") {
  std::mt19937 random{7};
  for (int i = 0; i < 20000; ++i) {
    const auto stream = random_characters(random, 12);
    const auto first = random() % (stream.size() + 1);
    const auto last = first + random() % (stream.size() - first + 1);
    if (first == last) continue;  // no hole
    const auto cut = legible(std::string_view{stream}.substr(0, first),
                             std::string_view{stream}.substr(last), last - first);
    const auto marker = left_out_marker(cut.dropped);
    const auto at = cut.text.find(marker);
    REQUIRE(at != std::string::npos);
    REQUIRE_FALSE(cut.text.contains(r));
    REQUIRE(cut.text.size() - marker.size() + cut.dropped == stream.size());
    REQUIRE(cut.dropped - (last - first) <= 6);
    REQUIRE(stream.starts_with(cut.text.substr(0, at)));
    REQUIRE(stream.ends_with(cut.text.substr(at + marker.size())));
  }
}

TEST_CASE("a_cut_through_any_bytes_gives_valid_text") {
  std::mt19937 random{11};
  for (int i = 0; i < 20000; ++i) {
    const auto cut = legible(random_bytes(random, 9), random_bytes(random, 9), 1 + random() % 1000);
    REQUIRE(is_utf8(cut.text));
  }
}

TEST_CASE("without_a_hole_head_and_tail_are_one_text") {
  CHECK(legible("\xe2\x82", "\xac", 0).text == "\xe2\x82\xac");
  CHECK(legible("\xe2\x82", "\xac", 0).dropped == 0);
  CHECK(legible("ab\xe2", "", 0).text == "ab\xef\xbf\xbd");  // the stream itself ends so
}

TEST_CASE("bytes_at_the_edges_of_a_hole_are_dropped_and_never_shown_as_broken") {
  const auto cut = legible("ab\xf0\x9f\x90", "\xac\xac\xac\xac!", 10);
  CHECK(cut.dropped == 16);
  CHECK(cut.text ==
        "ab\n[pinfold: 16 bytes left out]\n\xef\xbf\xbd!");  // a fourth cannot be a rest
  CHECK(unfinished_at_end("\xc3\xa4") == 0);
  CHECK(unfinished_at_end("\xe2\x82\xac\xe2") == 1);
  CHECK(unfinished_at_end("\xff\x80\x80") == 0);  // broken, not unfinished: it stays and is shown
  CHECK(rest_at_start("") == 0);
  CHECK(rest_at_start("\x80\x80z") == 2);
}
