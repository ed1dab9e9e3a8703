// Always http://, for ALL_PROXY too: a client library that has no SOCKS fails at the mere sight of
// another scheme, and each client that takes SOCKS5 takes CONNECT.
#include "sandbox/egress_environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace pinfold {
namespace {

constexpr std::uint16_t port_of_ssh = 22;

/// ssh knows no proxies; one of these has to be there to carry it. %h and %p are ssh's own. socat comes
/// first: it ends when the server does, nc waits for ssh.
std::string ssh_carrier(const std::string& port, program_finder is_here) {
  if (constexpr auto socat = "/usr/bin/socat"; is_here(socat)) {
    return std::string{socat} + " - PROXY:127.0.0.1:%h:%p,proxyport=" + port;
  }
  if (constexpr auto nc = "/usr/bin/nc.openbsd"; is_here(nc)) {
    return std::string{nc} + " -X connect -x 127.0.0.1:" + port + " %h %p";
  }
  return {};
}

bool needs_ssh(const egress_request& request) {
  return request.names == tls_names::optional &&
         std::ranges::any_of(request.hosts,
                             [](const egress_entry& entry) { return entry.port() == port_of_ssh; });
}

}  // namespace

bool is_program(const char* path) {
  return ::access(path, X_OK) == 0;
}

std::vector<std::string> egress_environment(const egress_request& request, std::uint16_t port,
                                            program_finder is_here) {
  const auto digits = std::to_string(port);
  const auto proxy = "http://127.0.0.1:" + digits;
  constexpr std::string_view own = "localhost,127.0.0.1,::1";
  std::vector<std::string> entries;
  for (const std::string_view name :
       {"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"}) {
    entries.push_back(std::string{name} + "=" + proxy);
  }
  for (const std::string_view name : {"NO_PROXY", "no_proxy"}) {
    entries.push_back(std::string{name} + "=" + std::string{own});
  }
  entries.emplace_back("NODE_USE_ENV_PROXY=1");  // node 22.21 and 24
  std::string java = "JAVA_TOOL_OPTIONS=";
  for (const std::string_view scheme : {"http", "https"}) {
    java.append("-D").append(scheme).append(".proxyHost=127.0.0.1 -D").append(scheme);
    java.append(".proxyPort=").append(digits).append(" ");
  }
  entries.push_back(java + "-Dhttp.nonProxyHosts=localhost|127.0.0.1|[::1]");
  if (!needs_ssh(request)) return entries;
  if (const auto carrier = ssh_carrier(digits, is_here); !carrier.empty()) {
    entries.push_back("GIT_SSH_COMMAND=ssh -o ProxyCommand='" + carrier + "'");
  }
  return entries;
}

}  // namespace pinfold
