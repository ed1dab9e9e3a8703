// The lexical floors against a naive model: paths, grants, hosts, egress entries.
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/egress.hpp>
#include <pinfold/grant.hpp>
#include <pinfold/host.hpp>
#include <pinfold/path.hpp>

#include "path/model.hpp"
#include "support/bytes.hpp"
#include "support/target.hpp"

namespace pinfold_fuzz {

namespace {

using pinfold::carve_kind;
using pinfold::code;
using pinfold::region;
using pinfold::root_access;

/// A field in which 0xfe N C stands for N times 17 bytes C: the limits are long, inputs are short.
std::string read_text(bytes& input) {
  const auto field = input.field();
  std::string text;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] == '\xfe' && i + 2 < field.size()) {
      text.append(static_cast<unsigned char>(field[i + 1]) * std::size_t{17}, field[i + 2]);
      i += 2;
    } else {
      text += field[i];
    }
  }
  return text;
}

char letter_for(std::optional<code> wrong) {
  if (!wrong) return ' ';
  return *wrong == code::invalid_path ? 'i' : *wrong == code::name_too_long ? 'l' : '?';
}

void check_one_path(const std::string& path) {
  std::vector<std::string> taken;
  for (auto name : pinfold::components{path}) taken.emplace_back(name);
  must(taken == model::components(path), "components are the names between slashes",
       quoted(path));
  const auto wrong = model::misspelling(path);
  must(letter_for(pinfold::misspelling_of(path)) == wrong, "misspellings are told apart",
       quoted(path));
  const bool is_canonical = model::is_canonical(path);
  must(pinfold::is_canonical_form(path) == is_canonical, "canonical form", quoted(path));
  must(pinfold::is_normal_tail(path) ==
           (path.size() < 4096 && !path.empty() && path.front() != '/' &&
            model::misspelling(path) == ' ' && "/" + path == model::normal("/" + path)),
       "normal form of a tail", quoted(path));
  if (is_canonical) {
    must(pinfold::parent_of(path) == model::parent(path), "the parent", quoted(path));
  }
}

void check_normal_form(const std::string& path, std::size_t room) {
  // Exactly as large as told, so that the address sanitizer sees a byte too many.
  std::vector<char> buffer(room);
  const auto form = pinfold::lexically_normal(path, buffer);
  if (model::misspelling(path) != ' ' || path.front() != '/') {
    must(!form, "only an absolute, lawful path has a normal form", quoted(path));
    return;
  }
  const auto expected = model::normal(path);
  if (form) {
    must(*form == expected && pinfold::is_canonical_form(*form), "the normal form", quoted(path));
  } else {
    // On the way there may be more names than in the end.
    must(form.error() == code::name_too_long && room < path.size(),
         "a normal form is refused only for want of room", quoted(path));
  }
}

void check_two_paths(const std::string& root, const std::string& path) {
  if (!model::is_canonical(root) || !model::is_canonical(path)) return;
  const bool holds = model::holds(root, path);
  must(pinfold::contains(root, path) == holds, "containment is by component",
       quoted(root) + " " + quoted(path));
  const auto tail = pinfold::tail_below(root, path);
  if (!holds) return must(!tail, "nothing outside has a tail", quoted(path));
  const auto back = tail->empty() ? root : (root == "/" ? "" : root) + "/" + std::string{*tail};
  must(back == path, "root and tail are the path again", quoted(root) + " " + quoted(path));
}

// --- grants ------------------------------------------------------------------------------------

struct grant_texts {
  std::string workspace;
  std::vector<std::string> carve_paths;
  std::vector<carve_kind> carve_kinds;
  std::vector<std::string> root_paths;
  std::vector<root_access> root_accesses;

  [[nodiscard]] bool is_well_formed() const {
    const auto is_tail = [](const std::string& path) {
      return !path.empty() && path.front() != '/' && path.size() < 4096 &&
             model::misspelling(path) == ' ' && model::normal("/" + path) == "/" + path;
    };
    return model::is_canonical(workspace) && std::ranges::all_of(carve_paths, is_tail) &&
           std::ranges::all_of(root_paths, model::is_canonical);
  }
  [[nodiscard]] std::string place_of(std::size_t carve) const {
    return (workspace == "/" ? "" : workspace) + "/" + carve_paths[carve];
  }
};

grant_texts read_grant(bytes& input) {
  grant_texts texts;
  texts.workspace = read_text(input);
  const auto carves = input.below(5);
  const auto roots = input.below(4);
  for (std::size_t i = 0; i < carves; ++i) {
    texts.carve_kinds.push_back(input.coin() ? carve_kind::harness_state : carve_kind::host_run);
    texts.carve_paths.push_back(read_text(input));
  }
  for (std::size_t i = 0; i < roots; ++i) {
    texts.root_accesses.push_back(input.coin() ? root_access::read : root_access::write);
    texts.root_paths.push_back(read_text(input));
  }
  return texts;
}

/// The index of the innermost root that holds the path, the one for reading of two for one place.
std::optional<std::size_t> root_around(const grant_texts& texts, const std::string& path) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < texts.root_paths.size(); ++i) {
    const auto& root = texts.root_paths[i];
    if (!model::holds(root, path)) continue;
    const auto depth = model::components(root).size();
    const auto best = found ? model::components(texts.root_paths[*found]).size() : 0;
    if (!found || depth > best ||
        (depth == best && texts.root_accesses[*found] == root_access::write)) {
      found = i;
    }
  }
  return found;
}

region region_by_model(const grant_texts& texts, const std::string& path) {
  if (!texts.is_well_formed() || !model::is_canonical(path)) return region::outside;
  if (!model::holds(texts.workspace, path)) {
    return root_around(texts, path) ? region::extra_root : region::outside;
  }
  auto where = region::workspace;
  for (std::size_t i = 0; i < texts.carve_paths.size(); ++i) {
    if (!model::holds(texts.place_of(i), path)) continue;
    if (texts.carve_kinds[i] == carve_kind::harness_state) return region::harness_state;
    where = region::host_run;
  }
  return where;
}

void check_place(const grant_texts& texts, const pinfold::grant& grant, const std::string& path) {
  const auto where = region_by_model(texts, path);
  const auto facts = quoted(texts.workspace) + " " + quoted(path);
  must(grant.region_of(path) == where, "the region of a path", facts);
  const bool is_readable = where != region::outside && where != region::harness_state;
  must(grant.is_readable(path) == is_readable, "what is readable", facts);
  const auto root = where == region::extra_root ? root_around(texts, path) : std::nullopt;
  const bool is_writable =
      where == region::workspace || (root && texts.root_accesses[*root] == root_access::write);
  must(grant.is_writable(path) == is_writable, "what is writable", facts);
  if (!texts.is_well_formed() || !model::is_canonical(path)) return;
  bool has_below = path != texts.workspace && model::holds(path, texts.workspace);
  for (std::size_t i = 0; i < texts.carve_paths.size(); ++i) {
    const auto carve = texts.place_of(i);
    if (model::holds(texts.workspace, path)) {
      has_below = has_below || (carve != path && model::holds(path, carve));
    }
  }
  must(grant.has_carve_out_below(path) == has_below, "what would come along with a rename", facts);
}

void check_grant(bytes& input) {
  const auto texts = read_grant(input);
  std::vector<pinfold::carve_out> carves;
  std::vector<pinfold::extra_root> roots;
  for (std::size_t i = 0; i < texts.carve_paths.size(); ++i) {
    carves.push_back({texts.carve_paths[i], texts.carve_kinds[i]});
  }
  for (std::size_t i = 0; i < texts.root_paths.size(); ++i) {
    roots.push_back({texts.root_paths[i], texts.root_accesses[i]});
  }
  const pinfold::grant grant{std::string_view{texts.workspace}, carves, roots};
  must(grant.workspace().empty() != texts.is_well_formed(),
       "a malformed grant covers nothing, a well-formed one its workspace",
       quoted(texts.workspace));
  while (!input.is_empty()) {
    const auto path = read_text(input);
    check_place(texts, grant, path);
    check_place(texts, grant, texts.workspace + "/" + path);
  }
  for (std::size_t i = 0; i < carves.size(); ++i) {
    check_place(texts, grant, texts.place_of(i));
    check_place(texts, grant, texts.place_of(i) + "x");
    check_place(texts, grant, texts.place_of(i) + "/x");
  }
}

// --- hosts -------------------------------------------------------------------------------------

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

}  // namespace

void try_input(std::span<const std::uint8_t> input) {
  bytes rest{input};
  switch (rest.below(4)) {
    case 0: {
      const auto room = rest.byte() * 17U;  // around every length up to PATH_MAX
      const auto first = read_text(rest);
      const auto second = read_text(rest);
      for (const auto& path : {first, second, "/" + first, first + "/" + second}) {
        check_one_path(path);
        check_normal_form(path, room);
        check_normal_form(path, path.size() + 1);
      }
      check_two_paths(first, second);
      check_two_paths("/" + first, "/" + first + second);
      check_two_paths("/" + first, "/" + first + "/" + second);
      return;
    }
    case 1:
      return check_grant(rest);
    case 2:
      while (!rest.is_empty()) check_host(read_text(rest));
      return;
    default: {
      const unsigned port = rest.byte() * 256U + rest.byte();
      const auto entry = read_text(rest);
      const auto host = read_text(rest);
      check_egress(entry, host, port);
      check_egress(host + ":" + std::to_string(port), host, port);
      check_egress("*." + host + ":443", entry + "." + host, 443);
      return;
    }
  }
}

}  // namespace pinfold_fuzz
