#include "egress/decide.hpp"

#include <utility>

namespace pinfold {
namespace {

/// HOST:PORT for a person; what comes from inside is cut, so that no answer is longer than a line.
std::string pair_text(std::string_view host, std::uint32_t port) {
  constexpr std::size_t most = 300;
  std::string text{host.substr(0, most)};
  if (host.contains(':') && !host.starts_with('[')) text = "[" + text + "]";
  return text + ":" + std::to_string(port);
}

std::string list_text(std::span<const egress_entry> list) {
  constexpr std::size_t most = 1024;
  std::string text;
  for (const auto& entry : list) {
    if (text.size() > most) return text + " ...";
    text += (text.empty() ? "" : " ") + entry.text();
  }
  return text.empty() ? "an empty list" : text;
}

}  // namespace

refusal refused_connection(code error, std::string_view host, std::uint32_t port,
                           std::string detail) {
  return {.error = error,
          .op = operation::connect,
          .path = pair_text(host, port),
          .resolved = {},
          .boundary = {},
          .detail = std::move(detail)};
}

std::expected<host_text, refusal> decide_connection(std::span<const egress_entry> list,
                                                    std::string_view host, std::uint32_t port) {
  using enum egress_decision::answer;
  const auto decided = decide_egress(list, host, port);
  if (decided == allow && decided.host) return *decided.host;
  const bool is_invalid = decided == invalid || !decided.host;
  auto why = refused_connection(is_invalid ? code::invalid_host : code::network_denied, host, port);
  if (!is_invalid) {
    why.boundary = list_text(list);
    why.detail = "the list has no such entry, and only whoever runs the harness can add one";
  }
  return std::unexpected{std::move(why)};
}

std::expected<void, refusal> decide_address(std::span<const egress_entry> list,
                                            const host_text& host, std::uint16_t port,
                                            const ip_address& address) {
  const auto special = special_use_of(address);
  if (special.empty()) return {};
  const auto literal = text_of(address);
  if (decide_egress(list, literal, port) == egress_decision::answer::allow) return {};
  auto why = refused_connection(code::address_denied, host.text(), port,
                                "that address is " + std::string{special});
  why.resolved = literal;
  return std::unexpected{std::move(why)};
}

std::expected<void, refusal> decide_hello(const egress_bytes::client_hello& hello, tls_names names,
                                          const host_text& host, std::uint16_t port) {
  const auto refuse = [&](std::string detail) {
    return std::unexpected{
        refused_connection(code::tls_name_denied, host.text(), port, std::move(detail))};
  };
  if (!hello.server_name.empty()) {
    const auto named = parse_host(hello.server_name);
    if (!named || *named != host) return refuse("the TLS hello names another server");
  }
  if (names == tls_names::optional) return {};
  if (hello.is_encrypted) return refuse("the TLS hello may hide another name (ECH); --allow-no-sni lets it through");
  if (hello.server_name.empty()) return refuse("the TLS hello names no server; --allow-no-sni lets it through");
  return {};
}

}  // namespace pinfold
