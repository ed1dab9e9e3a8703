// The egress of a whole run, as an embedding program asks for it: the sandbox hands out its listeners,
// and what connects to them is the only thing that leaves.
#include <cstdlib>
#include <filesystem>

#include <pinfold/runner/runner.hpp>

#include "egress/run_egress.hpp"
#include "sandbox/egress_environment.hpp"

#include "ground.hpp"

using namespace egress_test;

namespace {

/// A workspace, gone at the end. Where bubblewrap is said to work it must.
struct confined {
  confined() {
    if (::mkdtemp(path.data()) == nullptr) std::abort();
  }
  confined(const confined&) = delete;
  confined& operator=(const confined&) = delete;
  ~confined() { std::filesystem::remove_all(path); }

  run_record run(std::string script, egress_request egress, gate open = gate::on, taint labels = {},
                 const sinks& events = {}) const {
    const auto commands = runner::for_caller({"HOME=/nonexistent", "PATH=/usr/bin:/bin"}).value();
    run_request request;
    request.workspace = path;
    request.command = {"/bin/bash", "-c", std::move(script)};
    request.caches = cache_choice::none;
    request.open = open;
    request.labels = labels;
    request.egress = std::move(egress);
    return commands.run(request, {.time = 30s}, events);
  }

  std::string path{"/var/tmp/pinfold-egress-XXXXXX"};
};

bool may_be_skipped(const run_record& record) {
  const bool is_unavailable = record.error && record.error->error == code::sandbox_unavailable;
  if (record.error) WARN(record.error->message());
  return is_unavailable && std::getenv("PINFOLD_BWRAP_MUST_WORK") == nullptr;
}

const std::string ask_the_proxy =
    "exec 3<>/dev/tcp/127.0.0.1/27080; printf 'CONNECT %s HTTP/1.1\\r\\n\\r\\n' $TO >&3; head -n 1 "
    "<&3";

}  // namespace

TEST_CASE("a_port_of_the_hosts_loopback_is_at_the_same_port_inside_and_nothing_else_is") {
  server to{&echo};
  server other{&echo};
  const confined place;
  std::vector<std::string> told;
  sinks events;
  events.on_egress = [&](const egress_attempt& one) {
    told.push_back(std::string{name_of(one.protocol)} + (one.is_open ? " open" : " over"));
  };
  const auto record = place.run("exec 3<>/dev/tcp/localhost/" + to.text() +
                                    "; echo through >&3; head -n 1 <&3; exec 3>&-; "
                                    "(exec 3<>/dev/tcp/127.0.0.1/" +
                                    other.text() + ") 2>/dev/null || echo closed",
                                {.loopback = {to.port()}}, gate::on, {}, events);
  if (may_be_skipped(record)) return;
  CHECK(record.out.text == "through\nclosed\n");
  CHECK(record.network == network_access::off);
  REQUIRE(record.egress.has_value());
  REQUIRE(record.egress->attempts.size() == 1);
  const auto& one = record.egress->attempts.front();
  CHECK((one.protocol == egress_protocol::loopback && one.sent == 8 && one.received == 8));
  CHECK(told == std::vector<std::string>{"loopback open", "loopback over"});
  CHECK(other.accepted() == 0);
  CHECK(record.decided.after == taint{taint::untrusted_content});
}

TEST_CASE("the_proxy_inside_answers_by_the_list_and_nothing_of_it_is_left_inside") {
  server to{&echo};
  const confined place;
  egress_request asked{.hosts = entries({"127.0.0.1:" + to.text()})};
  const auto record =
      place.run("TO=127.0.0.1:" + to.text() + "; " + ask_the_proxy + "; TO=denied.example:443; " +
                    ask_the_proxy +
                    "; cat /proc/net/route | wc -l; sed 1,2d /proc/net/dev | cut -d: -f1; "
                    "exec 3>&-; ls -l /proc/self/fd | grep -c socket",
                asked);
  if (may_be_skipped(record)) return;
  std::erase(const_cast<std::string&>(record.out.text), ' ');
  CHECK(record.out.text ==
        "HTTP/1.1200Connectionestablished\r\nHTTP/1.1403Forbidden\r\n1\nlo\n0\n");
  CHECK(record.egress->list == std::vector<std::string>{"127.0.0.1:" + to.text()});
  CHECK(record.egress->attempts.size() == 2);
}

TEST_CASE("a_list_waits_for_the_gate") {
  server to{&echo};
  const confined place;
  const auto record =
      place.run("(exec 3<>/dev/tcp/localhost/" + to.text() + ") 2>/dev/null; echo $?",
                {.loopback = {to.port()}}, gate::untainted, taint::private_data);
  if (may_be_skipped(record)) return;
  CHECK(record.out.text == "1\n");
  CHECK_FALSE(record.egress.has_value());
  CHECK(to.accepted() == 0);
}

TEST_CASE("the_proxys_port_is_none_that_was_asked_for") {
  CHECK(proxy_port_of({}) == 27080);
  CHECK(proxy_port_of({.loopback = {27081, 27080}}) == 27082);
}

TEST_CASE("programs_are_told_of_the_proxy_each_in_its_own_words") {
  const egress_request request{.hosts = entries({"a.example:443", "git.example:22"})};
  const auto told = egress_environment(request, 27081, [](const char*) { return true; });
  CHECK(told == std::vector<std::string>{
                    "HTTP_PROXY=http://127.0.0.1:27081", "http_proxy=http://127.0.0.1:27081",
                    "HTTPS_PROXY=http://127.0.0.1:27081", "https_proxy=http://127.0.0.1:27081",
                    "ALL_PROXY=http://127.0.0.1:27081", "all_proxy=http://127.0.0.1:27081",
                    "NO_PROXY=localhost,127.0.0.1,::1", "no_proxy=localhost,127.0.0.1,::1",
                    "NODE_USE_ENV_PROXY=1",
                    "JAVA_TOOL_OPTIONS=-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=27081 "
                    "-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=27081 "
                    "-Dhttp.nonProxyHosts=localhost|127.0.0.1|[::1]"});
}

TEST_CASE("ssh_is_told_of_the_proxy_where_it_can_get_through_and_something_can_carry_it") {
  const auto last_of = [](const egress_request& request, program_finder is_here) {
    return egress_environment(request, 27080, is_here).back();
  };
  const auto with = [](std::string entry, tls_names names) {
    return egress_request{.hosts = entries({std::move(entry)}), .names = names};
  };
  const auto git = with("git.example:22", tls_names::optional);
  CHECK(last_of(git, [](const char*) { return true; }) ==
        "GIT_SSH_COMMAND=ssh -o ProxyCommand='/usr/bin/socat - "
        "PROXY:127.0.0.1:%h:%p,proxyport=27080'");
  CHECK(last_of(git, [](const char* path) { return std::string_view{path}.contains("/nc."); }) ==
        "GIT_SSH_COMMAND=ssh -o ProxyCommand='/usr/bin/nc.openbsd -X connect -x 127.0.0.1:27080 %h "
        "%p'");
  const auto is_told = [&](const egress_request& request, program_finder is_here) {
    return last_of(request, is_here).starts_with("GIT_SSH_COMMAND=");
  };
  CHECK_FALSE(is_told(git, [](const char*) { return false; }));
  const program_finder all = [](const char*) { return true; };
  CHECK_FALSE(is_told(with("git.example:22", tls_names::required), all));
  CHECK_FALSE(is_told(with("git.example:443", tls_names::optional), all));
}

TEST_CASE("what_a_run_told_ends_with_a_count_where_it_is_too_much") {
  egress_ledger ledger{news_are::told};
  egress_attempt one;
  one.host = "a.example";
  one.sent = 2;
  one.received = 3;
  for (std::size_t i = 0; i < egress_report::most_attempts + 5; ++i) ledger.add(one);
  one.is_open = true;
  ledger.add(one);
  std::size_t told = 0;
  ledger.take_news([&](const egress_attempt&) { ++told; });
  CHECK(told == egress_report::most_attempts + 6);
  ledger.take_news([&](const egress_attempt&) { ++told; });
  CHECK(told == egress_report::most_attempts + 6);
  const auto report = ledger.take();
  CHECK((report.attempts.size() == egress_report::most_attempts && report.more == 5));
  CHECK((report.sent == 2 * 1005 && report.received == 3 * 1005));
}

TEST_CASE("news_that_nobody_takes_wake_nobody_and_are_reported_all_the_same") {
  egress_ledger ledger{news_are::left_out};
  egress_attempt one;
  one.sent = 2;
  ledger.add(one);
  CHECK(ledger.news() == -1);
  ledger.take_news([](const egress_attempt&) { FAIL("none was kept"); });
  const auto report = ledger.take();
  CHECK((report.attempts.size() == 1 && report.sent == 2));
}
