// Floor 3: hosts and the egress list. Every row of cases/hosts.tsv at run time, the classes of them
// at compile time as well.
#include <pinfold/egress.hpp>

#include <array>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/cases.hpp"
#include "support/rows.hpp"

using namespace pinfold;

namespace {

constexpr std::size_t rows_handed_over = 97;

std::string_view name_of(egress_decision::answer value) {
  switch (value) {
    case egress_decision::answer::invalid:
      return "invalid";
    case egress_decision::answer::deny:
      return "deny";
    case egress_decision::answer::allow:
      return "allow";
  }
  return "";
}

/// What the project answers for one row: its verdict and the canonical host.
struct answer {
  std::string verdict;
  std::string canonical;
};

answer decide(const std::string& list, const std::string& host, const std::string& port) {
  std::vector<egress_entry> entries;
  for (const auto& text : rows::split(list, ' ')) {
    if (list.empty()) break;
    const auto entry = parse_egress_entry(text);
    if (!entry) {
      CHECK(entry.error() == code::invalid_egress_entry);
      return {"bad-entry", ""};
    }
    entries.push_back(*entry);
  }
  const auto decided = decide_egress(entries, host, static_cast<std::uint32_t>(std::stoul(port)));
  return {std::string{name_of(decided.says)},
          decided.host ? std::string{decided.host->text()} : std::string{}};
}

// The same at compile time.
constexpr std::array list{egress("example.com:443"), egress("*.example.com:8443"),
                          egress("127.0.0.1:8080"), egress("[2001:db8::1]:443")};

constexpr auto ask(std::string_view host, std::uint32_t port) {
  return decide_egress(list, host, port).says;
}
constexpr bool is_host(std::string_view text) {
  return parse_host(text).has_value();
}
constexpr bool is_entry(std::string_view text) {
  return parse_egress_entry(text).has_value();
}
constexpr bool spells(std::string_view text, std::string_view canonical) {
  const auto host = parse_host(text);
  return host && host->text() == canonical;
}

using enum egress_decision::answer;
static_assert(ask("example.com", 443) == allow);
static_assert(ask("EXAMPLE.com.", 443) == allow, "case and one trailing dot fold");
static_assert(ask("example.com", 80) == deny, "the port is part of the entry");
static_assert(ask("evil-example.com", 443) == deny, "a suffix of the text is no label");
static_assert(ask("example.com.evil.test", 443) == deny);
static_assert(ask("a.b.example.com", 8443) == allow, "any depth below the star");
static_assert(ask("example.com", 8443) == deny, "the star leaves the apex out");
static_assert(ask("notexample.com", 8443) == deny, "only at a label boundary");
static_assert(ask("127.0.0.1", 8080) == allow);
static_assert(ask("127.1", 8080) == invalid, "one spelling of an address");
static_assert(ask("[2001:DB8:0:0::1]", 443) == allow);
static_assert(ask("[::ffff:127.0.0.1]", 8080) == deny, "a mapped address is another literal");
static_assert(ask("example.com", 0) == invalid);
static_assert(ask("example.com", 65536) == invalid);
static_assert(ask("*.example.com", 8443) == invalid, "a star is no host");
static_assert(ask({"example.com\0.evil", 17}, 443) == invalid, "NUL");
static_assert(decide_egress({}, "example.com", 443) == deny, "an empty list allows nothing");

static_assert(is_host("a") && is_host("xn--exmple-4nf.com") && is_host("3com.example"));
static_assert(!is_host("") && !is_host(".") && !is_host("a..b") && !is_host("-a") &&
              !is_host("a-"));
static_assert(!is_host("a_b") && !is_host("a b") && !is_host("a%b") && !is_host("a@b"));
static_assert(!is_host("1.2.3") && !is_host("0x7f.1") && !is_host("1.2.3.4.") && !is_host("a.0x"));
static_assert(!is_host("::1") && !is_host("[::1") && !is_host("[]") && !is_host("[1.2.3.4]"));
static_assert(!is_host("[::1%lo]") && !is_host("[a.example]") && !is_host("[:::]"));

static_assert(spells("[0:0:0:0:0:0:0:0]", "::"));
static_assert(spells("[1:0:0:2:0:0:0:3]", "1:0:0:2::3"), "the longest run is left out");
static_assert(spells("[1:0:0:2:3:0:0:4]", "1::2:3:0:0:4"), "of equal runs the first");
static_assert(spells("[1:0:2:3:4:5:6:7]", "1:0:2:3:4:5:6:7"), "one group is no run");
static_assert(spells("[0:0:1::]", "0:0:1::"));
static_assert(spells("[::ffff:7f00:1]", "::ffff:127.0.0.1"));
static_assert(spells("[64:ff9b::1.2.3.4]", "64:ff9b::102:304"));
static_assert(spells("[ABCD:00EF::]", "abcd:ef::"));

static_assert(is_entry("example.com:443") && is_entry("[::1]:80") && is_entry("*.a.b:1"));
static_assert(!is_entry("*:443") && !is_entry("*.com:443") && !is_entry("*.0.0.1:80"));
static_assert(!is_entry("*.1.2.3.4:80") && !is_entry("*.[::1]:80") && !is_entry("a.*.b:80"));
static_assert(!is_entry("example.com") && !is_entry("example.com:") && !is_entry(":443"));
static_assert(!is_entry("::1:80") && !is_entry("http://example.com:443") && !is_entry(""));

}  // namespace

TEST_CASE("every_row_of_the_checked_hosts_is_answered_as_it_says") {
  const auto all = rows::read(pinfold_test::cases("hosts.tsv"), 7);
  CHECK(all.size() >= rows_handed_over);
  for (const auto& row : all) {
    INFO(row[0] << " | " << row[1] << " | " << row[2] << " | " << row[3] << " | " << row[6]);
    const auto decided =
        decide(rows::expanded(row[1]), rows::expanded(row[2]), rows::expanded(row[3]));
    CHECK(decided.verdict == row[4]);
    CHECK(decided.canonical == rows::expanded(row[5]));
  }
}

TEST_CASE("the_canonical_spelling_of_a_host_is_its_own_canonical_spelling") {
  const auto all = rows::read(pinfold_test::cases("hosts.tsv"), 7);
  for (const auto& row : all) {
    const auto host = parse_host(rows::expanded(row[2]));
    if (!host) continue;
    INFO(row[0]);
    const auto again = host->kind() == host_kind::ipv6
                           ? parse_host("[" + std::string{host->text()} + "]")
                           : parse_host(host->text());
    REQUIRE(again.has_value());
    CHECK(*again == *host);
  }
}

TEST_CASE("an_entry_is_written_so_that_it_is_read_back_as_itself") {
  struct row {
    std::string_view given, written;
  };
  for (const auto& it :
       {row{"Example.com.:443", "example.com:443"}, row{"*.Example.com:1", "*.example.com:1"},
        row{"127.0.0.1:65535", "127.0.0.1:65535"}, row{"[0:0::1]:80", "[::1]:80"}}) {
    const auto entry = parse_egress_entry(it.given);
    REQUIRE(entry.has_value());
    CHECK(entry->text() == it.written);
    CHECK(parse_egress_entry(entry->text()) == entry);
  }
}

TEST_CASE("a_shorter_list_never_allows_more") {
  for (std::size_t size = 0; size < list.size(); ++size) {
    const std::span shorter{list.data(), size};
    for (std::string_view host : {"example.com", "a.example.com", "127.0.0.1", "[2001:db8::1]"}) {
      for (auto port : {443U, 8443U, 8080U}) {
        CHECK(decide_egress(shorter, host, port).says <= decide_egress(list, host, port).says);
      }
    }
  }
}

TEST_CASE("an_address_has_one_spelling_and_every_other_one_is_no_host") {
  for (unsigned a : {0U, 1U, 9U, 10U, 99U, 127U, 255U}) {
    const auto quad = std::to_string(a) + ".0.0.1";
    CHECK(parse_host(quad)->kind() == host_kind::ipv4);
    CHECK_FALSE(parse_host("0" + quad));
    CHECK_FALSE(parse_host(quad + "."));
    CHECK_FALSE(parse_host(quad + ".0"));
  }
  for (auto text : {"256.0.0.1", "1.2.3", "1.2.3.4.5", "0x1.2.3.4", "4294967295", "1..2.3"}) {
    INFO(text);
    CHECK_FALSE(parse_host(text));
  }
}

TEST_CASE("every_byte_that_is_no_letter_digit_hyphen_or_dot_makes_a_text_no_host") {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool lawful = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '-' || c == '.';
    INFO(byte);
    CHECK(parse_host(std::string{"ab"} + c + "cd.example").has_value() == lawful);
  }
}
