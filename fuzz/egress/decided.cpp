// Whatever was read, the host that is decided on has one spelling, and the list speaks about that one.
#include <array>
#include <cstdint>
#include <string>

#include "egress/checks.hpp"
#include "egress/decide.hpp"
#include "egress/pieces.hpp"
#include "path/model.hpp"

namespace pinfold_fuzz {

namespace {

using namespace pinfold;

std::string in_brackets(const host_text& host) {
  const std::string text{host.text()};
  return host.kind() == host_kind::ipv6 ? "[" + text + "]" : text;
}

bool is_canonical_host(const host_text& host) {
  const std::string text{host.text()};
  switch (host.kind()) {
    case host_kind::name:
      return model::is_name(text) &&
             std::ranges::none_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
    case host_kind::ipv4:
      return model::address<4>(text).has_value();
    case host_kind::ipv6:
      return model::address<16>(text).has_value();
  }
  return false;
}

}  // namespace

void check_asked(const std::string& host, std::uint32_t port) {
  const std::string_view facts = host;
  std::vector<egress_entry> list{egress("*.example.com:443"), egress("127.0.0.1:80"),
                                 egress("[::1]:80")};
  const auto other = decide_connection(list, host, port);
  if (const auto own = parse_egress_entry(host + ":" + std::to_string(port))) list.push_back(*own);
  const auto decided = decide_connection(list, host, port);
  const auto says = decide_egress(list, host, port);
  must_hold(decided.has_value() == (says == egress_decision::answer::allow), "the engine decides",
            facts);
  must_hold(decided.has_value() || !other, "an entry more never takes anything away", facts);
  if (!decided) {
    const auto why = decided.error().error;
    must_hold((why == code::invalid_host) == (says == egress_decision::answer::invalid),
              "no host is told from a host that is not on the list", facts);
    must_hold(decided.error().path.size() < 400, "a refusal is no longer than a line", facts);
    return;
  }
  must_hold(is_canonical_host(*decided), "the host that is decided on is canonical", facts);
  must_hold(parse_host(in_brackets(*decided)) == *decided, "it is its own spelling", facts);
  must_hold(port > 0 && port < 65536, "the port is one", facts);
  const auto address = address_in(*decided);
  must_hold(address.has_value() == (decided->kind() != host_kind::name),
            "an address is known as one", facts);
  if (!address) return;
  must_hold(text_of(*address) == in_brackets(*decided), "the address dialled is the one decided on",
            facts);
}

}  // namespace pinfold_fuzz
