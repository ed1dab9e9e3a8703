// What the proxy says yes and no to. Every protocol asks here, and nowhere else; the list itself is
// the engine's to decide by.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include <pinfold/egress.hpp>
#include <pinfold/refusal.hpp>
#include <pinfold/runner/egress.hpp>

#include "egress/address.hpp"
#include "egress/client_hello.hpp"

namespace pinfold {

/// A refusal to connect to `host` and `port`, as they were asked for.
[[nodiscard]] refusal refused_connection(code error, std::string_view host, std::uint32_t port,
                                         std::string detail = {});

/// The canonical host, when the list lets a call reach it. Errors: `invalid_host`, `network_denied`
/// (its boundary is the list).
[[nodiscard]] std::expected<host_text, refusal> decide_connection(
    std::span<const egress_entry> list, std::string_view host, std::uint32_t port);

/// Whether an address that an allowed host led to may be connected to: a public one, or one that is
/// on the list itself, with this port. Error: `address_denied`.
[[nodiscard]] std::expected<void, refusal> decide_address(std::span<const egress_entry> list,
                                                          const host_text& host, std::uint16_t port,
                                                          const ip_address& address);

/// Whether a tunnel to `host` may open with this hello. In order; the last line permits:
///  1. it names a server that is not the host -> refuse
///  2. it is encrypted, or names nobody       -> refuse where names are required
///  3. anything else                          -> a hello for the host
[[nodiscard]] std::expected<void, refusal> decide_hello(const egress_bytes::client_hello& hello,
                                                        tls_names names, const host_text& host,
                                                        std::uint16_t port);

}  // namespace pinfold
