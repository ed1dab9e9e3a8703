// Every value is checked before anything is started; a list that holds one bad entry is no list.
#include "cli/egress_options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include <CLI/App.hpp>

#include "cli/text.hpp"
#include "launch/stage_protocol.hpp"

namespace pinfold {
namespace {

constexpr std::uint32_t first_unprivileged = 1024;
constexpr std::uint32_t most_connections = 4096;
constexpr std::size_t most_loopback = stage::most_listeners - 1;  // one is the proxy's
constexpr size_range egress_sizes{1, 1ULL << 50};

std::expected<std::uint32_t, std::string> number_in(const char* option, const std::string& text,
                                                    std::uint32_t least, std::uint32_t most) {
  std::uint32_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec == std::errc{} && read.ptr == text.data() + text.size() && number >= least &&
      number <= most) {
    return number;
  }
  return std::unexpected{std::string{option} + ": \"" + terminal_safe(text) +
                         "\" is not a number from " + std::to_string(least) + " to " +
                         std::to_string(most)};
}

std::optional<std::string> add_hosts(egress_request& to, const egress_options& given) {
  for (const auto& text : given.hosts) {
    const auto entry = parse_egress_entry(text);
    if (!entry) {
      return "--allow-host: \"" + terminal_safe(text) +
             "\" is no HOST:PORT: write example.org:443, *.example.org:443 (with two labels or more "
             "behind the star) or [::1]:8080";
    }
    to.hosts.push_back(*entry);
  }
  return std::nullopt;
}

std::optional<std::string> add_loopback(egress_request& to, const egress_options& given) {
  for (const auto& text : given.loopback) {
    const auto port = number_in("--allow-loopback", text, first_unprivileged, 65535);
    if (!port) return port.error();
    const auto number = static_cast<std::uint16_t>(*port);
    if (std::ranges::find(to.loopback, number) == to.loopback.end()) to.loopback.push_back(number);
  }
  if (to.loopback.size() <= most_loopback) return std::nullopt;
  return "--allow-loopback: at most " + std::to_string(most_loopback) + " ports";
}

std::optional<std::string> add_limits(egress_limits& to, const egress_options& given) {
  if (!given.bytes.empty()) {
    const auto bytes = parse_size(given.bytes, egress_sizes);
    if (!bytes) return "--egress-bytes: " + bytes.error();
    to.bytes = *bytes;
  }
  if (!given.connections.empty()) {
    const auto most = number_in("--egress-connections", given.connections, 1, most_connections);
    if (!most) return most.error();
    to.connections = *most;
  }
  if (!given.idle.empty()) {
    const auto time = parse_duration(given.idle);
    if (!time) return "--egress-idle: " + time.error();
    to.idle = *time;
  }
  if (!given.time.empty()) {
    const auto time = parse_duration(given.time);
    if (!time) return "--egress-time: " + time.error();
    to.total = *time;
  }
  return std::nullopt;
}

}  // namespace

void add_egress_options(CLI::App& app, egress_options& to) {
  app.add_option("--allow-host", to.hosts,
                 "Of the network only this: example.org:443, or *.example.org:443 for every name "
                 "below; repeatable. The gate is then on, unless --gate says otherwise")
      ->type_name("HOST:PORT")
      ->expected(1)
      ->take_all();
  app.add_option("--allow-loopback", to.loopback,
                 "This port of the host's own loopback, found at localhost inside; repeatable")
      ->type_name("PORT")
      ->expected(1)
      ->take_all();
  app.add_flag("--allow-no-sni", to.allow_no_sni,
               "Let tunnels through whose TLS names no server, or that are no TLS, like ssh");
  app.add_option("--egress-bytes", to.bytes,
                 "Of all connections together no more than this may leave (default: no limit)")
      ->type_name("SIZE");
  app.add_option("--egress-connections", to.connections,
                 "No more connections than this at a time (default: 256)")
      ->type_name("N");
  app.add_option("--egress-idle", to.idle,
                 "End a connection that sends nothing either way for this long (default: 2m)")
      ->type_name("TIME");
  app.add_option("--egress-time", to.time, "End a connection after this long (default: 1h)")
      ->type_name("TIME");
}

std::expected<egress_request, std::string> egress_request_of(const egress_options& given) {
  egress_request request;
  const bool has_limit = given.allow_no_sni || !given.bytes.empty() || !given.connections.empty() ||
                         !given.idle.empty() || !given.time.empty();
  if (has_limit && !given.has_list()) {
    return std::unexpected{
        "--allow-no-sni and --egress-... are about an egress list: give --allow-host or "
        "--allow-loopback too"};
  }
  if (given.allow_no_sni) request.names = tls_names::optional;
  if (auto wrong = add_hosts(request, given)) return std::unexpected{std::move(*wrong)};
  if (auto wrong = add_loopback(request, given)) return std::unexpected{std::move(*wrong)};
  if (auto wrong = add_limits(request.limits, given)) return std::unexpected{std::move(*wrong)};
  return request;
}

}  // namespace pinfold
