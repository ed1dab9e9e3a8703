#include "cli/egress_report.hpp"

#include <nlohmann/json.hpp>

#include "cli/text.hpp"
#include "egress/run_egress.hpp"

namespace pinfold {
namespace {

std::string proxy_of(const egress_request& request) {
  return "127.0.0.1:" + std::to_string(proxy_port_of(request));
}

std::string milliseconds(std::chrono::milliseconds time) {
  return std::to_string(time.count()) + " ms";
}

std::string limits_line(const egress_limits& limits) {
  auto text = std::to_string(limits.connections) + " connections at a time, each at most " +
              milliseconds(limits.total) + ", " + milliseconds(limits.idle) + " idle; ";
  text += limits.bytes ? "at most " + readable_size(*limits.bytes) + " leave"
                       : "no limit of what leaves";
  return text;
}

std::string names_line(tls_names names) {
  switch (names) {
    case tls_names::required:
      return "a tunnel opens with a TLS hello that names its host, or carries nothing";
    case tls_names::optional:
      return "a tunnel may be no TLS, or name no server; a name that is there is the host's";
  }
  return {};
}

}  // namespace

std::vector<titled_line> egress_lines(const prepared_run& planned, const egress_request& asked) {
  if (!asked.is_any()) return {};
  if (!planned.egress) {
    return {{"egress list", "does not apply: the network is closed for this call"}};
  }
  std::vector<titled_line> lines;
  const auto add = [&lines](std::string title, std::string value) {
    lines.push_back({std::move(title), std::move(value)});
  };
  for (const auto& entry : asked.hosts) add(lines.empty() ? "reachable" : "", entry.text());
  for (const auto port : asked.loopback) {
    add(lines.empty() ? "reachable" : "", "the host's own localhost:" + std::to_string(port) +
                                              ", as localhost:" + std::to_string(port));
  }
  add("through",
      "HTTP CONNECT, plain HTTP and SOCKS5 at " + proxy_of(asked) + ", as the environment says");
  add("", names_line(asked.names));
  add("", limits_line(asked.limits));
  add("names",
      "no DNS inside: the proxy resolves what is on the list; a resolver inside would be a "
      "way out for whatever a name can spell");
  add("", "a program that resolves by itself fails: give it the proxy, or SOCKS5 with the name");
  return lines;
}

json egress_plan_json(const prepared_run& planned) {
  if (!planned.egress) return nullptr;
  const auto& asked = *planned.egress;
  json object;
  object["list"] = planned.plan.egress;
  object["loopback"] = asked.loopback;
  object["proxy"] = proxy_of(asked);
  object["server_names"] = asked.names == tls_names::required ? "required" : "optional";
  object["connections"] = asked.limits.connections;
  object["idle_ms"] = asked.limits.idle.count();
  object["time_ms"] = asked.limits.total.count();
  object["bytes"] = asked.limits.bytes ? json(*asked.limits.bytes) : json(nullptr);
  return object;
}

}  // namespace pinfold
