// Recognises a carve-out under another name: shown elsewhere by a mount, or spelled otherwise on a
// file system that folds case. It decides from facts that a resolver gives and must never ask the
// disk itself.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/disk/location.hpp>

namespace pinfold::disk {

/// `name` as a folding file system could read it: ASCII in lower case, the few other letters that
/// fold to ASCII ones written out (CaseFolding.txt, status C and F), every other byte outside ASCII
/// left out (some code points are ignored), trailing dots and spaces cut. Wider than any real
/// folding on purpose.
[[nodiscard]] inline std::string widely_folded(std::string_view name) {
  constexpr std::array<std::array<std::string_view, 2>, 11> letters{{
      {"\xe2\x84\xaa", "k"},
      {"\xc5\xbf", "s"},
      {"\xc3\x9f", "ss"},
      {"\xe1\xba\x9e", "ss"},
      {"\xef\xac\x80", "ff"},
      {"\xef\xac\x81", "fi"},
      {"\xef\xac\x82", "fl"},
      {"\xef\xac\x83", "ffi"},
      {"\xef\xac\x84", "ffl"},
      {"\xef\xac\x85", "st"},
      {"\xef\xac\x86", "st"},
  }};
  std::string folded;
  while (!name.empty()) {
    const auto letter =
        std::ranges::find_if(letters, [&](const auto& pair) { return name.starts_with(pair[0]); });
    if (letter != letters.end()) {
      folded += (*letter)[1];
      name.remove_prefix((*letter)[0].size());
      continue;
    }
    const char c = name.front();
    if (c >= 'A' && c <= 'Z')
      folded += static_cast<char>(c - 'A' + 'a');
    else if (static_cast<unsigned char>(c) < 0x80)
      folded += c;
    name.remove_prefix(1);
  }
  while (!folded.empty() && (folded.back() == '.' || folded.back() == ' ')) folded.pop_back();
  return folded;
}

/// True when a folding file system could take `name` for `guard`. Asked only where neither is there
/// yet, so that nothing can be compared by identity.
[[nodiscard]] inline bool may_fold_to(std::string_view name, std::string_view guard) {
  return widely_folded(name) == widely_folded(guard);
}

/// The directory of the grant that holds `place`: the workspace, an extra root, or "" for none.
[[nodiscard]] inline std::string_view base_of(const grant& rules, std::string_view place) noexcept {
  if (contains(rules.workspace(), place)) return rules.workspace();
  const auto root = rules.root_of(place);
  return root ? root->path : std::string_view{};
}

[[nodiscard]] inline std::vector<std::string_view> names_of(std::string_view path) {
  std::vector<std::string_view> names;
  for (auto name : components{path}) names.push_back(name);
  return names;
}

/// The canonical path of the first `count` names of `tail`, which is in normal form, below `base`.
[[nodiscard]] inline std::string first_names(std::string_view base, std::string_view tail,
                                             std::size_t count) {
  if (count == 0) return std::string{base};
  auto end = tail.find('/');
  while (--count > 0 && end != std::string_view::npos) end = tail.find('/', end + 1);
  return joined(base, tail.substr(0, end));
}

/// Where `place` enters the carve-out `carve`, if it does: walks the names below the base and keeps
/// the set of positions in the carve-out's own path that the names so far may stand for (0 is the
/// workspace). A name moves a position on when
///  1. it is spelled like the next name of the carve-out,
///  2. both are absent and the directory could take one for the other, or
///  3. what the names so far lead to is the very object at that position.
/// The carve-out is entered where its last position is reached; otherwise it is not.
///
/// `facts` gives: `is_there(i)`, whether the first i names of the place exist; `guard_is_there(q)`,
/// whether the first q names of the carve-out do; `is_same(i, q)`, whether both lead to one object;
/// `folds(q)`, whether the directory at the first q names of the carve-out folds case.
template <typename Facts>
[[nodiscard]] std::optional<std::string> entered_at(std::string_view workspace,
                                                    std::string_view base, std::string_view place,
                                                    const carve_out& carve, Facts&& facts) {
  const auto tail = tail_below(base, place);
  if (!tail) return std::nullopt;
  auto guard = names_of(carve.path);
  guard.resize(
      std::min<std::size_t>(guard.size(), 63));  // deeper: its first 63 names, which hold more
  const auto end = guard.size();
  std::uint64_t at = base == workspace ? 1 : 0;
  std::size_t i = 0;
  for (auto name : components{*tail}) {
    ++i;
    std::uint64_t next = 0;
    for (std::size_t q = 0; q <= end; ++q) {
      const auto bit = std::uint64_t{1} << q;
      if (q < end && (at & bit) != 0) {
        const bool same_name = name == guard[q];
        if (same_name || (!facts.is_there(i) && !facts.guard_is_there(q + 1) &&
                          may_fold_to(name, guard[q]) && facts.folds(q))) {
          next |= bit << 1;
        }
      }
      if (facts.is_there(i) && facts.is_same(i, q)) next |= bit;
    }
    at = next;
    if (at == 0 && !facts.is_there(i)) return std::nullopt;  // and nothing below is there either
    if ((at & (std::uint64_t{1} << end)) != 0) return first_names(base, *tail, i);
  }
  return std::nullopt;
}

/// Of two carve-outs that hold a place, the one that decides: harness state before host-run.
inline void keep_stronger(std::optional<carved>& found, const carve_out& carve,
                          std::string_view entered) {
  if (found &&
      (found->carve.kind == carve_kind::harness_state || carve.kind == carve_kind::host_run)) {
    return;
  }
  found = carved{carve, std::string{entered}};
}

}  // namespace pinfold::disk
