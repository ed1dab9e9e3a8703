// What a client, a server or a resolver may do wrong, slowly or too often. None of it holds up the
// others, ends the process or costs more than its bound.
#include <sys/resource.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tunnels.hpp"

using namespace egress_test;

namespace {

std::size_t resident_bytes() {
  std::ifstream file{"/proc/self/statm"};
  std::size_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

auto open_descriptors() {
  return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, {});
}

}  // namespace

TEST_CASE("a_head_over_64_KiB_garbage_and_TLS_are_refused_in_words") {
  proxied proxy{egress_settings{}};
  const auto large = proxy.connect();
  CHECK(large.send("GET http://a.example/ HTTP/1.1\r\nA: " + std::string(65536, 'x')));
  CHECK(code_in(all_of(large)) == "InvalidRequest");
  const auto garbage = proxy.connect();
  CHECK(garbage.send(std::string_view{"\0\xff\xfe garbage", 11}));
  CHECK(code_in(all_of(garbage)) == "InvalidRequest");
  const auto tls = proxy.connect();
  CHECK(tls.send(hello_for("a.example")));
  CHECK(all_of(tls) == std::string{"\x15\3\3\0\2\2\x31", 7});
  for (const auto& one : proxy.ended(3)) CHECK(one.refused->error == code::invalid_request);
}

TEST_CASE("an_end_one_way_is_an_end_one_way") {
  server to{[](peer& client) {
    const auto text = client.all();
    client.send("got " + text);
  }};
  proxied proxy{settings_for(to)};
  const auto client = tunnel(proxy, to.text());
  CHECK(client.send("all of it"));
  client.finish_sending();
  CHECK(client.all() == "got all of it");
  const auto sent_first = tunnel(proxy, to.text());
  CHECK(sent_first.is_silent(100ms));
}

TEST_CASE("a_reset_is_passed_on_both_ways") {
  std::atomic<int> seen{0};
  server to{[&](peer& client) {
    const auto text = client.some();
    if (text == "reset me") return client.reset();
    if (client.some().empty()) seen = errno;
  }};
  proxied proxy{settings_for(to)};
  const auto client = tunnel(proxy, to.text());
  CHECK(client.send("reset me"));
  CHECK(client.some().empty());
  CHECK(errno == ECONNRESET);
  auto other = tunnel(proxy, to.text());
  CHECK(other.send("x"));
  std::this_thread::sleep_for(100ms);
  other.reset();
  (void)proxy.ended(2);
  for (unsigned i = 0; i < 200 && seen == 0; ++i) std::this_thread::sleep_for(10ms);
  CHECK(seen == ECONNRESET);
}

TEST_CASE("a_server_that_is_gone_raises_no_signal_here") {
  server to{[](peer& client) { client.reset(); }};
  proxied proxy{settings_for(to)};
  for (unsigned i = 0; i < 50; ++i) {
    const auto client = proxy.connect();
    CHECK(client.send(connect_request("a.example", to.text()) + std::string(200000, 'x')));
    (void)client.all();
  }
  (void)proxy.ended(50);  // and this process is alive: SIGPIPE would have ended it
}

TEST_CASE("a_stream_of_a_gibibyte_takes_no_more_memory_than_a_short_one") {
  constexpr std::size_t size = std::size_t{1} << 30U;
  server to{[](peer& client) {
    if (client.some(1) != "f") return echo(client);
    const std::string piece(1 << 20U, 'x');
    for (std::size_t sent = 0; sent < size && client.send(piece);) sent += piece.size();
  }};
  proxied proxy{settings_for(to)};
  const auto client = tunnel(proxy, to.text());
  CHECK(client.send("f"));
  while (client.is_silent(1ms)) {
  }
  std::this_thread::sleep_for(200ms);  // nothing is read here: nothing piles up there
  const auto before = resident_bytes();
  {
    const auto other = tunnel(proxy, to.text());
    CHECK(other.send("exx"));
    CHECK(other.exactly(2) == "xx");
  }
  std::size_t got = 0;
  std::string room(1 << 20U, '\0');
  for (;;) {
    const auto more = ::recv(client.get(), room.data(), room.size(), 0);
    if (more <= 0) break;
    got += static_cast<std::size_t>(more);
  }
  CHECK(got == size);
  CHECK(resident_bytes() < before + (std::size_t{32} << 20U));
}

TEST_CASE("five_thousand_short_connections_leave_nothing_behind") {
  server to{&echo};
  proxied proxy{settings_for(to)};
  check_served(proxy, to.text());
  const auto before = open_descriptors();
  const auto memory = resident_bytes();
  for (unsigned i = 0; i < 5000; ++i) {
    auto client = proxy.connect();
    if (i % 3 == 0) client.send("CONNECT evil.example:1 HTTP/1.1\r\n\r\n");
    if (i % 3 == 1) client.reset();
  }
  check_served(proxy, to.text());
  for (unsigned i = 0; i < 500 && open_descriptors() > before; ++i)
    std::this_thread::sleep_for(10ms);
  CHECK(open_descriptors() <= before);
  CHECK(resident_bytes() < memory + (std::size_t{64} << 20U));
}

TEST_CASE("a_resolver_that_hangs_holds_up_neither_the_others_nor_the_end") {
  server to{&echo};
  std::mutex guard;
  std::condition_variable changed;
  bool may_go = false;
  std::atomic<unsigned> stuck{0};
  const auto settings = [&] {
    egress_settings all{.list = entries({"stuck.example:1", "127.0.0.1:" + to.text()}),
                        .names = tls_names::optional,
                        .limits = {.idle = 500ms}};
    all.lookup = [&](const std::string&) -> name_answer {
      ++stuck;
      std::unique_lock held{guard};
      changed.wait(held, [&] { return may_go; });
      --stuck;
      return std::unexpected{std::string{"late"}};
    };
    return all;
  };
  {
    proxied proxy{settings()};
    std::vector<peer> waiting;
    for (unsigned i = 0; i < 12; ++i) {
      waiting.push_back(proxy.connect());
      CHECK(waiting.back().send(connect_request("stuck.example", "1")));
    }
    {
      const auto client = proxy.connect();
      CHECK(client.send(connect_request("127.0.0.1", to.text()) + "x"));
      CHECK(client.exactly(established.size() + 1) == established + "x");
    }
    for (const auto& one : waiting) CHECK(code_in(all_of(one)) == "HostUnreachable");
    CHECK(stuck <= name_pool::most_threads);
    const auto begun = std::chrono::steady_clock::now();
    proxy.end();
    CHECK(std::chrono::steady_clock::now() - begun < 3s);
  }
  {
    const std::lock_guard held{guard};
    may_go = true;
  }
  changed.notify_all();
  while (stuck > 0) std::this_thread::sleep_for(5ms);
}

TEST_CASE("the_end_of_the_proxy_ends_what_is_open_and_says_so") {
  server to{&echo};
  const auto before = open_descriptors();
  {
    proxied proxy{settings_for(to)};
    const auto client = tunnel(proxy, to.text());
    const auto undecided = proxy.connect();
    CHECK(client.send("x"));
    CHECK(client.exactly(1) == "x");
    proxy.end();
    const auto over = proxy.ended(1).front();
    CHECK((over.sent == 1 && over.received == 1 && !over.refused));
    CHECK(client.all().empty());
    CHECK(undecided.all().empty());
    CHECK(connect_to(proxy.port()).get() < 0);
  }
  for (unsigned i = 0; i < 100 && open_descriptors() > before; ++i)
    std::this_thread::sleep_for(10ms);
  CHECK(open_descriptors() <= before);
}

TEST_CASE("a_proxy_without_descriptors_to_spare_goes_on_when_there_are_some") {
  server to{&echo};
  proxied proxy{settings_for(to)};
  check_served(proxy, to.text());
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const auto waiting = proxy.connect();
  auto late = connect_to(proxy.port());
  const rlimit none{.rlim_cur = 3, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);  // what is open stays open; nothing more can be
  CHECK(waiting.send(connect_request("a.example", to.text())));
  std::this_thread::sleep_for(200ms);
  CHECK(::dup(0) < 0);
  ::setrlimit(RLIMIT_NOFILE, &before);
  late.reset();
  check_served(proxy, to.text());
}
