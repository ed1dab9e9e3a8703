// Which addresses are the public internet's, and which may be connected to.
#include "egress/address.hpp"
#include "egress/decide.hpp"

#include "ground.hpp"

using namespace egress_test;
using namespace pinfold::egress_bytes;

namespace {

constexpr ip_address v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  return {.kind = ip_address::family::v4, .bytes = {a, b, c, d}};
}

ip_address v6(std::string_view text) {
  return address_in(parse_host("[" + std::string{text} + "]").value()).value();
}

static_assert(!special_use_of(v4(127, 0, 0, 1)).empty());
static_assert(!special_use_of(v4(169, 254, 169, 254)).empty());
static_assert(special_use_of(v4(93, 184, 216, 34)).empty());

}  // namespace

TEST_CASE("an_address_that_is_not_the_public_internets_is_known_as_such") {
  for (const auto& one : {v4(0, 0, 0, 0),         v4(0, 1, 2, 3),         v4(10, 0, 0, 1),
                          v4(10, 255, 255, 255),  v4(100, 64, 0, 1),      v4(100, 127, 255, 255),
                          v4(100, 100, 100, 200), v4(127, 0, 0, 1),       v4(127, 255, 255, 254),
                          v4(169, 254, 0, 1),     v4(169, 254, 169, 254), v4(169, 254, 170, 2),
                          v4(172, 16, 0, 1),      v4(172, 31, 255, 255),  v4(192, 0, 0, 192),
                          v4(192, 0, 2, 1),       v4(192, 168, 0, 1),     v4(198, 18, 0, 1),
                          v4(198, 19, 255, 255),  v4(198, 51, 100, 1),    v4(203, 0, 113, 9),
                          v4(168, 63, 129, 16),   v4(224, 0, 0, 1),       v4(239, 255, 255, 250),
                          v4(240, 0, 0, 1),       v4(255, 255, 255, 255)}) {
    INFO(text_of(one));
    CHECK_FALSE(special_use_of(one).empty());
  }
  for (const auto& one : {v4(1, 1, 1, 1), v4(9, 255, 255, 255), v4(11, 0, 0, 0), v4(100, 63, 0, 1),
                          v4(100, 128, 0, 1), v4(126, 255, 255, 255), v4(128, 0, 0, 1),
                          v4(169, 253, 0, 1), v4(172, 15, 0, 1), v4(172, 32, 0, 1),
                          v4(192, 167, 0, 1), v4(223, 255, 255, 255), v4(168, 63, 129, 17)}) {
    INFO(text_of(one));
    CHECK(special_use_of(one).empty());
  }
  for (const std::string_view one : {"::",
                                     "::1",
                                     "::2",
                                     "::127.0.0.1",
                                     "::ffff:127.0.0.1",
                                     "::ffff:93.184.216.34",
                                     "::ffff:0:127.0.0.1",
                                     "64:ff9b::7f00:1",
                                     "64:ff9b::5db8:d822",
                                     "64:ff9b:1::1",
                                     "100::1",
                                     "fc00::1",
                                     "fd00:ec2::254",
                                     "fe80::1",
                                     "febf::1",
                                     "fec0::1",
                                     "ff02::1",
                                     "2001::1",
                                     "2001:0:7f00:1::",
                                     "2001:db8::1",
                                     "2002:7f00:1::1",
                                     "2002:a00:1::1",
                                     "3fff::1",
                                     "4000::1",
                                     "5f00::1",
                                     "1fff::1"}) {
    INFO(one);
    CHECK_FALSE(special_use_of(v6(one)).empty());
  }
  for (const std::string_view one :
       {"2606:2800:220:1::1", "2a00::1", "2400:cb00::1", "2001:4860::8888"}) {
    INFO(one);
    CHECK(special_use_of(v6(one)).empty());
  }
}

TEST_CASE("an_address_is_written_as_the_list_spells_it") {
  CHECK(text_of(v4(127, 0, 0, 1)) == "127.0.0.1");
  for (const std::string_view one : {"::1", "2001:db8::1", "::ffff:127.0.0.1", "1:0:0:2::3"}) {
    CHECK(text_of(v6(one)) == "[" + std::string{one} + "]");
  }
}

TEST_CASE("an_address_is_allowed_when_it_is_public_or_on_the_list_itself_with_that_port") {
  const auto list = entries({"a.example:80", "127.0.0.1:80", "[::1]:81"});
  const auto host = parse_host("a.example").value();
  const auto may = [&](const ip_address& one, std::uint16_t port) {
    return decide_address(list, host, port, one).has_value();
  };
  CHECK(may(v4(93, 184, 216, 34), 80));
  CHECK(may(v4(127, 0, 0, 1), 80));
  CHECK(may(v6("::1"), 81));
  CHECK_FALSE(may(v4(127, 0, 0, 1), 81));
  CHECK_FALSE(may(v4(127, 0, 0, 2), 80));
  CHECK_FALSE(may(v6("::ffff:127.0.0.1"), 80));
  CHECK_FALSE(may(v6("::1"), 80));
  const auto why = decide_address(list, host, 80, v4(10, 0, 0, 1)).error();
  CHECK(why.error == code::address_denied);
  CHECK(why.resolved == "10.0.0.1");
}
