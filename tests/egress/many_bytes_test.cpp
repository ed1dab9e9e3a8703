// Connections that carry much: spliced past this process, and bound like those that carry little.
#include <sys/resource.h>

#include <atomic>
#include <filesystem>

#include "tunnels.hpp"

using namespace egress_test;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20U;

/// A text in which a piece that is lost, doubled or moved shows.
std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  std::uint32_t state = 1;
  for (char& c : text) {
    state = state * 1664525U + 1013904223U;
    c = static_cast<char>(state >> 24U);
  }
  return text;
}

std::size_t open_pipes() {
  std::size_t count = 0;
  for (const auto& one : std::filesystem::directory_iterator{"/proc/self/fd"}) {
    std::error_code gone;
    if (std::filesystem::read_symlink(one, gone).string().starts_with("pipe:")) ++count;
  }
  return count;
}

void wait_for_pipes(std::size_t count) {
  for (unsigned i = 0; i < 500 && open_pipes() != count; ++i) std::this_thread::sleep_for(10ms);
  CHECK(open_pipes() == count);
}

/// Sends it on a thread of its own, and answers with what comes back meanwhile.
std::string sent_and_echoed(const peer& client, const std::string& text) {
  std::thread sending{[&] {
    client.send(text);
    client.finish_sending();
  }};
  auto back = client.all();
  sending.join();
  return back;
}

void count_all(const peer& client, std::atomic<std::size_t>& reached) {
  for (auto text = client.some(); !text.empty(); text = client.some()) reached += text.size();
}

}  // namespace

TEST_CASE("many_bytes_arrive_whole_both_ways_and_are_counted") {
  server to{&echo};
  proxied proxy{settings_for(to)};
  const auto text = pattern(24 * mebibyte + 12345);
  CHECK(sent_and_echoed(tunnel(proxy, to.text()), text) == text);
  const auto over = proxy.ended(1).front();
  CHECK((over.sent == text.size() && over.received == text.size()));
  CHECK_FALSE(over.refused.has_value());
}

TEST_CASE("a_port_of_the_hosts_own_loopback_and_a_tunnel_are_spliced_once_they_carry_much") {
  server to{&echo};
  egress_request request;
  request.loopback = {to.port()};
  proxied by_port{egress_settings{.list = egress_list_of(request)}, to.port()};
  proxied by_tunnel{settings_for(to)};
  const auto before = open_pipes();
  for (const bool is_tunnel : {false, true}) {
    const auto client = is_tunnel ? tunnel(by_tunnel, to.text()) : by_port.connect();
    const auto piece = pattern(mebibyte / 4);
    for (unsigned i = 0; i < 3; ++i) {
      CHECK(client.send(piece));
      CHECK(client.exactly(piece.size()) == piece);
    }
    CHECK(open_pipes() == before);
    for (unsigned i = 0; i < 3; ++i) {
      CHECK(client.send(piece));
      CHECK(client.exactly(piece.size()) == piece);
    }
    wait_for_pipes(before + 4);
    client.finish_sending();
    CHECK(client.all().empty());
    wait_for_pipes(before);
  }
}

TEST_CASE("of_many_bytes_no_more_leave_than_may") {
  std::atomic<std::size_t> reached{0};
  server to{[&](peer& client) { count_all(client, reached); }};
  {
    proxied proxy{settings_for(to, {.bytes = 4 * mebibyte})};
    const auto client = tunnel(proxy, to.text());
    CHECK(client.send(std::string(4 * mebibyte, 'x')));
    client.finish_sending();
    CHECK(client.all().empty());
    CHECK_FALSE(proxy.ended(1).front().refused.has_value());
    CHECK(reached == 4 * mebibyte);
  }
  reached = 0;
  proxied proxy{settings_for(to, {.bytes = 4 * mebibyte})};
  const auto client = tunnel(proxy, to.text());
  CHECK_FALSE(client.send(std::string(64 * mebibyte, 'x')));
  const auto over = proxy.ended(1).front();
  REQUIRE(over.refused.has_value());
  CHECK(over.refused->error == code::egress_limit);
  CHECK((over.sent > mebibyte && over.sent <= 4 * mebibyte));
  for (unsigned i = 0; i < 500 && reached < over.sent; ++i) std::this_thread::sleep_for(10ms);
  std::this_thread::sleep_for(50ms);
  CHECK(reached == over.sent);
}

TEST_CASE("a_reset_amid_many_bytes_is_passed_on_both_ways_and_raises_no_signal") {
  std::atomic<int> seen{0};
  server to{[&](peer& client) {
    if (client.some(1) == "r") {
      (void)client.exactly(4 * mebibyte);
      return client.reset();
    }
    // The kernel tells a reset once, be it before these bytes were read or after.
    bool is_open = client.exactly(4 * mebibyte).size() == 4 * mebibyte;
    while (is_open) is_open = !client.some().empty();
    seen = errno;
  }};
  proxied proxy{settings_for(to)};
  const auto client = tunnel(proxy, to.text());
  CHECK_FALSE(client.send("r" + std::string(64 * mebibyte, 'x')));
  CHECK((errno == ECONNRESET || errno == EPIPE));
  (void)proxy.ended(1);
  auto other = tunnel(proxy, to.text());
  CHECK(other.send("x" + std::string(8 * mebibyte, 'x')));
  other.reset();
  (void)proxy.ended(2);
  for (unsigned i = 0; i < 500 && seen == 0; ++i) std::this_thread::sleep_for(10ms);
  CHECK(seen == ECONNRESET);
}

TEST_CASE("who_takes_nothing_of_many_bytes_is_cut_off_and_holds_nobody_up") {
  server to{[](peer& client) {
    if (client.some(1) != "f") return echo(client);
    const std::string piece(mebibyte, 'x');
    while (client.send(piece)) {
    }
  }};
  proxied proxy{settings_for(to, {.idle = 1s})};
  const auto stuck = tunnel(proxy, to.text());
  CHECK(stuck.send("f"));
  CHECK(stuck.exactly(2 * mebibyte).size() == 2 * mebibyte);
  {
    const auto other = tunnel(proxy, to.text());
    CHECK(other.send("exx"));
    CHECK(other.exactly(2) == "xx");
  }
  const auto over = proxy.ended(2).back();
  REQUIRE(over.refused.has_value());
  CHECK(over.refused->error == code::egress_limit);
}

TEST_CASE("a_stream_that_never_pauses_leaves_the_others_their_turn") {
  server to{[](peer& client) {
    if (client.some(1) != "f") return echo(client);
    const std::string piece(mebibyte, 'x');
    while (client.send(piece)) {
    }
  }};
  proxied proxy{settings_for(to)};
  const auto client = tunnel(proxy, to.text());
  CHECK(client.send("f"));
  std::atomic<bool> is_over{false};
  std::thread reading{[&] {
    while (!is_over && !client.some(mebibyte).empty()) {
    }
  }};
  for (unsigned i = 0; i < 20; ++i) {
    const auto other = tunnel(proxy, to.text());
    CHECK(other.send("exx"));
    CHECK(other.exactly(2) == "xx");
  }
  is_over = true;
  reading.join();
}

TEST_CASE("without_descriptors_for_a_pipe_many_bytes_arrive_all_the_same") {
  server to{&echo};
  proxied proxy{settings_for(to)};
  const auto client = tunnel(proxy, to.text());
  CHECK(client.send("x"));
  CHECK(client.exactly(1) == "x");
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{.rlim_cur = 3, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);  // what is open stays open; nothing more can be
  const auto text = pattern(4 * mebibyte);
  const auto back = sent_and_echoed(client, text);
  const bool is_full = ::dup(0) < 0;
  ::setrlimit(RLIMIT_NOFILE, &before);  // before a CHECK: the sanitizers look at memory through a pipe
  CHECK(is_full);
  CHECK(back == text);
}
