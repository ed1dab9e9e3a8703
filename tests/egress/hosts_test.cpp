// One function decides for every protocol: each checked row of hosts has the same outcome by the
// function, by CONNECT, by plain HTTP and by SOCKS5.
#include "support/cases.hpp"
#include "support/rows.hpp"

#include "ground.hpp"

using namespace egress_test;

namespace {

constexpr std::size_t rows_handed_over = 97;

/// No name resolves, so what is allowed ends as unreachable, and nothing leaves this machine.
name_answer nothing_resolves(const std::string&) {
  return std::unexpected{std::string{"there are no names here"}};
}

struct outcome {
  std::string verdict;
  std::string canonical;
};

outcome outcome_of(const egress_attempt& attempt) {
  const auto why = attempt.refused ? attempt.refused->error : code::host_unreachable;
  if (why == code::host_unreachable) return {"allow", attempt.host};
  if (why == code::network_denied) return {"deny", attempt.host};
  if (why == code::invalid_host || why == code::invalid_request) return {"invalid", ""};
  return {std::string{name_of(why)}, ""};
}

struct way {
  std::string_view name;
  std::function<std::string(const std::string& host, const std::string& port)> first;
  std::function<std::string(const std::string& host, const std::string& port)> second;
};

const std::vector<way> ways{
    {"CONNECT", [](auto& host, auto& port) { return connect_request(host, port); }, {}},
    {"plain HTTP",
     [](auto& host, auto& port) {
       return "GET http://" + host + ":" + port + "/ HTTP/1.1\r\nHost: x\r\n\r\n";
     },
     {}},
    {"SOCKS5", [](auto&, auto&) { return std::string{socks_hello}; },
     [](auto& host, auto& port) {
       return socks_request_for(host, static_cast<std::uint32_t>(std::stoul(port)));
     }},
};

/// A way that has no words for a row: a URL ends its host at a slash, and a port of SOCKS5 has 16
/// bits, a name one byte of length.
bool can_say(const way& by, const std::string& host, const std::string& port) {
  if (by.name == "plain HTTP") return !host.contains('/');
  if (by.name == "SOCKS5") return std::stoul(port) < 65536 && host.size() < 256;
  return true;
}

}  // namespace

TEST_CASE("every_row_of_the_checked_hosts_has_the_same_outcome_by_every_protocol") {
  std::size_t decided = 0;
  const auto all = rows::read(pinfold_test::cases("hosts.tsv"), 7);
  CHECK(all.size() >= rows_handed_over);
  for (const auto& row : all) {
    if (row[4] == "bad-entry") continue;  // there is no proxy with such a list
    egress_settings settings{.limits = {.idle = 2s}, .lookup = &nothing_resolves};
    for (const auto& text : rows::split(rows::expanded(row[1]), ' ')) {
      if (!row[1].empty()) settings.list.push_back(parse_egress_entry(text).value());
    }
    const auto host = rows::expanded(row[2]);
    proxied proxy{settings};
    std::size_t count = 0;
    for (const auto& by : ways) {
      if (!can_say(by, host, row[3])) continue;
      INFO(row[0] << " by " << by.name << ": " << row[6]);
      const auto client = proxy.connect();
      REQUIRE(client.send(by.first(host, row[3])));
      if (by.second) {
        REQUIRE(client.exactly(2) == std::string{"\5\0", 2});
        REQUIRE(client.send(by.second(host, row[3])));
      }
      CHECK_FALSE(client.some().empty());  // it is told
      client.finish_sending();
      const auto came = outcome_of(proxy.ended(++count).back());
      CHECK(came.verdict == row[4]);
      CHECK(came.canonical == (row[4] == "invalid" ? "" : rows::expanded(row[5])));
      ++decided;
    }
    CHECK(proxy.opened() == 0);
  }
  CHECK(decided > 200);
}
