#include "path/checks.hpp"

#include <array>
#include <optional>

#include <pinfold/egress.hpp>
#include <pinfold/host.hpp>

#include "path/model.hpp"
#include "support/target.hpp"

namespace pinfold_fuzz {

namespace {

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return text;
}

void check_ipv6(const std::string& text, const std::optional<pinfold::host_text>& host) {
  const auto inner =
      text.size() > 2 && text.back() == ']' ? text.substr(1, text.size() - 2) : std::string{};
  const auto expected = model::address<16>(inner);
  must(host.has_value() == expected.has_value(), "an address in brackets is one of IPv6",
       quoted(text));
  if (!host) return;
  const std::string canonical{host->text()};
  must(host->kind() == pinfold::host_kind::ipv6 && model::address<16>(canonical) == expected,
       "the canonical spelling is the same address", quoted(text) + " " + quoted(canonical));
  must(pinfold::parse_host("[" + canonical + "]")->text() == canonical,
       "a canonical address is its own canonical spelling", quoted(canonical));
}

}  // namespace

void check_host(const std::string& text) {
  const auto host = pinfold::parse_host(text);
  if (text.starts_with('[')) return check_ipv6(text, host);
  if (model::address<4>(text)) {
    must(host && host->kind() == pinfold::host_kind::ipv4 && host->text() == text,
         "a dotted quad is an address as it stands", quoted(text));
    return;
  }
  const auto name = text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
  const bool is_name = model::is_name(name);
  must(host.has_value() == is_name, "a name, or no host", quoted(text));
  if (!host) return;
  must(host->kind() == pinfold::host_kind::name && host->text() == lower(name),
       "a name is spelled in lower case", quoted(text));
}

void check_egress(const std::string& text, const std::string& host, unsigned port) {
  const auto entry = pinfold::parse_egress_entry(text);
  if (!entry) return;
  const auto written = entry->text();
  must(pinfold::parse_egress_entry(written) == entry, "an entry is read as it is written",
       quoted(text) + " " + quoted(written));
  const std::array list{*entry};
  const auto says = pinfold::decide_egress(list, host, port);
  const auto parsed = pinfold::parse_host(host);
  bool is_covered = parsed && port == entry->port() && port != 0;
  if (is_covered && written.starts_with("*.")) {
    const auto labels = model::pieces(parsed->text(), '.');
    const auto below = model::pieces(entry->host(), '.');
    is_covered = parsed->kind() == pinfold::host_kind::name && labels.size() > below.size() &&
                 std::equal(below.rbegin(), below.rend(), labels.rbegin());
  } else if (is_covered) {
    is_covered = lower(std::string{parsed->text()}) == entry->host() &&
                 (parsed->kind() == pinfold::host_kind::ipv6) == written.starts_with('[');
  }
  must((says == pinfold::egress_decision::answer::allow) == is_covered,
       "an entry covers its host, or the names below it", quoted(written) + " " + quoted(host));
}

}  // namespace pinfold_fuzz
