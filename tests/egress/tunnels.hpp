// A proxy that lets tunnels through to one server of the test's, and a tunnel that has been let through.
#pragma once

#include <chrono>
#include <string>

#include "ground.hpp"

namespace egress_test {

inline const std::string established = "HTTP/1.1 200 Connection established\r\n\r\n";

inline egress_settings settings_for(const server& to, egress_limits limits = {}) {
  return {.list = entries({"a.example:" + to.text(), "127.0.0.1:" + to.text()}),
          .names = tls_names::optional,
          .limits = limits,
          .lookup = &all_are_loopback};
}

inline peer tunnel(const proxied& proxy, const std::string& port) {
  auto client = proxy.connect();
  REQUIRE(client.send(connect_request("a.example", port)));
  REQUIRE(client.exactly(established.size()) == established);
  return client;
}

/// That a connection of its own is served at once.
inline void check_served(const proxied& proxy, const std::string& port) {
  const auto begun = std::chrono::steady_clock::now();
  const auto client = tunnel(proxy, port);
  CHECK(client.send("x"));
  CHECK(client.exactly(1) == "x");
  CHECK(std::chrono::steady_clock::now() - begun < 5s);
}

inline std::string all_of(const peer& client) {
  const auto text = client.all();
  client.finish_sending();
  return text;
}

}  // namespace egress_test
