// Floor 9, text at the edge: durations, sizes, words for a shell, bytes for a terminal.
#include "cli/text.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <random>
#include <vector>

#include "json/utf8.hpp"
#include "support/catch.hpp"

using namespace pinfold;
using namespace std::chrono_literals;

namespace {

struct duration_row {
  std::string_view text;
  std::chrono::milliseconds value;
};

const std::vector<duration_row> durations{
    {"30s", 30s},     {"500ms", 500ms},         {"2m", 2min}, {"1h", 1h},        {"7", 7s},
    {"1.5s", 1500ms}, {"0.5", 500ms},           {"1ms", 1ms}, {"0.001s", 1ms},   {"0.25h", 15min},
    {"720h", 720h},   {"1.500000000s", 1500ms}, {"007s", 7s}, {"2592000", 720h}, {"0.00001h", 36ms},
};

struct refused_row {
  std::string_view text;
  std::string_view why;
};

const std::vector<refused_row> bad_durations{
    {"", "nothing"},
    {"0", "no time at all"},
    {"0ms", "no time at all"},
    {"0.0s", "no time at all"},
    {"-5s", "a sign"},
    {"+5s", "a sign"},
    {"1e99", "an exponent"},
    {"1e3", "an exponent"},
    {"nan", "not a number"},
    {"inf", "not a number"},
    {"infinity", "not a number"},
    {"5 s", "a space"},
    {" 5s", "a space"},
    {"5s ", "a space"},
    {"5s\n", "a newline"},
    {"5sec", "an unknown unit"},
    {"5S", "an unknown unit"},
    {"5ss", "trailing text"},
    {"5s5", "trailing text"},
    {"1m30s", "two quantities"},
    {"0x10", "not decimal"},
    {".5s", "no digit before the point"},
    {"5.s", "no digit after the point"},
    {"1.2.3s", "two points"},
    {"1,5s", "a comma"},
    {"1_000", "a separator"},
    {"s", "no number"},
    {"0.5ms", "less than a millisecond"},
    {"1.5ms", "not a whole number of milliseconds"},
    {"1.0000001s", "not a whole number of milliseconds"},
    {"0.000001h", "3.6 ms: not a whole number of milliseconds"},
    {"0.0000001h", "not a whole number of milliseconds"},
    {"721h", "over 30 days"},
    {"2592001", "over 30 days"},
    {"18446744073709551615", "overflows in milliseconds"},
    {"18446744073709551616ms", "overflows 64 bits"},
    {"18446744073709551617ms", "would wrap around to 1"},
    {"5124095576030432h", "would wrap around"},
    {"99999999999999999999999999999999s", "overflows 64 bits"},
    {"\xd9\xa3s", "a digit that is not ASCII"},
    {std::string_view{"5s\0", 3}, "a NUL byte"},
    {std::string_view{"5\0s", 3}, "a NUL byte"},
};

struct size_row {
  std::string_view text;
  std::uint64_t value;
};

const std::vector<size_row> sizes{
    {"1", 1},
    {"17B", 17},
    {"4K", 4096},
    {"256KiB", 262144},
    {"10MB", 10000000},
    {"1MiB", 1048576},
    {"2kB", 2000},
    {"2KB", 2000},
    {"1.5K", 1536},
    {"0.5MiB", 524288},
    {"1G", 1ULL << 30},
    {"1TiB", 1ULL << 40},
    {"1TB", 1000000000000ULL},
    {"1099511627776", 1ULL << 40},
};

const std::vector<refused_row> bad_sizes{
    {"", "nothing"},
    {"0", "no room at all"},
    {"0KiB", "no room at all"},
    {"-1", "a sign"},
    {"+1", "a sign"},
    {"1e99", "an exponent"},
    {"nan", "not a number"},
    {"1 KiB", "a space"},
    {"1KIB", "an unknown unit"},
    {"1kb", "bits or bytes?"},
    {"1Kib", "bits?"},
    {"1KiBs", "trailing text"},
    {"0.3B", "no whole byte"},
    {"1.0001K", "no whole byte"},
    {"1025G", "over a tebibyte"},
    {"2T", "over a tebibyte"},
    {"16777216T", "wraps to 0"},
    {"16777217T", "wraps to 1 TiB"},
    {"18446744073709551617", "wraps to 1"},
    {"0x100", "not decimal"},
};

/// What a shell makes of `line`: the bytes that it prints.
std::string printed_by(const std::string& shell, const std::string& line) {
  char name[] = "/tmp/pinfold-quote-XXXXXX";
  const int file = ::mkstemp(name);
  REQUIRE(file >= 0);
  ::close(file);
  std::ofstream{name, std::ios::binary} << line;
  std::FILE* pipe = ::popen((shell + " " + name).c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string out;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    out.append(buffer, n);
  CHECK(::pclose(pipe) == 0);
  ::unlink(name);
  return out;
}

/// What a shell must print when it has read all words back as they were.
std::string nul_ended(const std::vector<std::string>& words) {
  std::string all;
  for (const auto& word : words) all += word + '\0';
  return all;
}

std::vector<std::string> hostile_words() {
  std::vector<std::string> words{"",
                                 "plain",
                                 "two words",
                                 "it's",
                                 "'",
                                 "''",
                                 "a'b'c",
                                 "\"q\"",
                                 "$HOME",
                                 "`id`",
                                 "$(id)",
                                 "\\",
                                 "a\\",
                                 "\n",
                                 "a\n",
                                 "\n\na\n\n",
                                 "*",
                                 "?[a-z]",
                                 "~",
                                 "~root",
                                 "#no",
                                 "!x",
                                 "{a,b}",
                                 "a;b",
                                 "a&&b",
                                 "|",
                                 ">x",
                                 "A=1",
                                 "--x=1",
                                 "if",
                                 "-n",
                                 "--",
                                 "\t",
                                 "\r\n",
                                 "%s%d\\n",
                                 "\xff\xfe",
                                 "\x1b[31mred\x1b[0m",
                                 "\xe2\x80\xae"
                                 "abc",
                                 "\xc2\x9b"
                                 "0m",
                                 "e\xcc\x81"};
  for (int byte = 1; byte < 256; ++byte) {
    words.emplace_back(1, static_cast<char>(byte));
    words.push_back("a" + std::string(2, static_cast<char>(byte)) + "'z");
  }
  std::mt19937 random{3};
  for (int i = 0; i < 60; ++i) {
    std::string word(random() % 12, '\0');
    for (char& c : word) c = static_cast<char>(1 + random() % 255);
    words.push_back(word);
  }
  return words;
}

}  // namespace

TEST_CASE("a_duration_is_a_number_and_a_unit") {
  for (const auto& row : durations) {
    INFO(row.text);
    const auto read = parse_duration(row.text);
    REQUIRE(read);
    CHECK(*read == row.value);
  }
}

TEST_CASE("an_absurd_duration_is_refused_with_one_sentence_that_names_it") {
  for (const auto& row : bad_durations) {
    INFO(row.text << " | " << row.why);
    const auto read = parse_duration(row.text);
    REQUIRE_FALSE(read);
    CHECK(read.error().starts_with('"' + terminal_safe(row.text) + '"'));
    CHECK(read.error().contains("duration"));
    CHECK(terminal_safe(read.error()) == read.error());
  }
}

TEST_CASE("a_size_is_a_number_and_a_unit") {
  for (const auto& row : sizes) {
    INFO(row.text);
    const auto read = parse_size(row.text);
    REQUIRE(read);
    CHECK(*read == row.value);
  }
}

TEST_CASE("an_absurd_size_is_refused_with_one_sentence_that_names_it") {
  for (const auto& row : bad_sizes) {
    INFO(row.text << " | " << row.why);
    const auto read = parse_size(row.text);
    REQUIRE_FALSE(read);
    CHECK(read.error().starts_with('"' + std::string{row.text} + '"'));
    CHECK(read.error().contains("size"));
  }
}

TEST_CASE("a_size_outside_the_range_asked_for_is_refused_and_the_range_is_named") {
  CHECK(parse_size("1GiB", output_sizes) == 1ULL << 30);
  const auto read = parse_size("1073741825", output_sizes);
  REQUIRE_FALSE(read);
  CHECK(read.error() ==
        "\"1073741825\" is out of range for a size: write a number and a unit, like "
        "256KiB or 10MB; from 1 byte to 1 GiB");
  CHECK_FALSE(parse_size("3", {4, 8}));
}

TEST_CASE("a_long_wrong_value_is_not_repeated_in_full") {
  CHECK(parse_duration(std::string(100000, '9')).error().size() < 300);
}

TEST_CASE("a_size_is_shown_in_the_largest_unit_that_divides_it") {
  CHECK(readable_size(0) == "0 bytes");
  CHECK(readable_size(1) == "1 byte");
  CHECK(readable_size(1000) == "1000 bytes");
  CHECK(readable_size(1024) == "1 KiB");
  CHECK(readable_size(256 * 1024) == "256 KiB");
  CHECK(readable_size(1ULL << 40) == "1 TiB");
  CHECK(readable_size(1ULL << 60) == "1048576 TiB");
}

TEST_CASE("a_word_is_quoted_only_where_it_must_be") {
  CHECK(shell_quote("make") == "make");
  CHECK(shell_quote("/usr/bin/g++") == "/usr/bin/g++");
  CHECK(shell_quote("--timeout=30s") == "--timeout=30s");
  CHECK(shell_quote("") == "''");
  CHECK(shell_quote("two words") == "'two words'");
  CHECK(shell_quote("it's") == "'it'\\''s'");
  CHECK(shell_quote("A=1") == "'A=1'");      // would be an assignment
  CHECK(shell_quote("while") == "'while'");  // would be grammar
  CHECK(shell_quote("a\x1b[1m") == "'a'\"$(printf '\\033')\"'[1m'");
  CHECK(shell_join(std::vector<std::string>{"echo", "a b", ""}) == "echo 'a b' ''");
}

TEST_CASE("a_shell_reads_quoted_words_back_byte_for_byte") {
  const auto words = hostile_words();
  const auto line = "printf '%s\\0' " + shell_join(words);
  for (const std::string shell : {"sh", "bash"}) {
    INFO(shell);
    CHECK(printed_by(shell, line) == nul_ended(words));
    CHECK(printed_by("LC_ALL=C.UTF-8 " + shell, line) == nul_ended(words));
  }
}

TEST_CASE("a_quoted_word_can_be_shown_on_a_terminal") {
  for (const auto& word : hostile_words()) {
    auto quoted = shell_quote(word);
    std::erase(quoted, '\n');  // the one control character that stays
    CHECK(terminal_safe(quoted) == quoted);
  }
}

TEST_CASE("a_terminal_shows_foreign_bytes_and_obeys_none") {
  CHECK(terminal_safe("plain \xc3\xa4 \xf0\x9f\x90\x91") == "plain \xc3\xa4 \xf0\x9f\x90\x91");
  CHECK(terminal_safe("\x1b]0;title\x07") == "\\x1b]0;title\\x07");
  CHECK(terminal_safe("a\nb\tc\r") == "a\\x0ab\\x09c\\x0d");
  CHECK(terminal_safe(std::string_view{"\0", 1}) == "\\x00");
  CHECK(terminal_safe("\x7f") == "\\x7f");
  CHECK(terminal_safe("\xc2\x9b"
                      "31m") == "\\u{009b}31m");  // C1 CSI
  CHECK(terminal_safe("user\xe2\x80\xae"
                      "txt.exe") == "user\\u{202e}txt.exe");  // override
  CHECK(terminal_safe("\xe2\x81\xa6") == "\\u{2066}");        // isolate
  CHECK(terminal_safe("\xe2\x80\x8b") == "\\u{200b}");        // zero width
  CHECK(terminal_safe("\xff\xc3") == "\\xff\\xc3");
  CHECK(terminal_safe("\xe2\x82") == "\\xe2\\x82");
  CHECK(terminal_safe("\xf3\xa0\x81\x81") == "\\u{e0041}");  // a tag
}

TEST_CASE("any_bytes_are_shown_as_one_line_of_valid_text") {
  std::mt19937 random{5};
  for (int i = 0; i < 20000; ++i) {
    std::string bytes(random() % 20, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    const auto safe = terminal_safe(bytes);
    REQUIRE(is_utf8(safe));
    REQUIRE(terminal_safe(safe) == safe);
    REQUIRE_FALSE(safe.contains('\n'));
  }
}
