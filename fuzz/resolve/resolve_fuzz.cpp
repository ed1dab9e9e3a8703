// The bytes build a tree, then ask. The three resolvers and the oracle must agree on every verdict
// and every canonical path; the kernel has its say wherever it can be asked the same question.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <expected>
#include <string>

#include <pinfold/disk/resolve.hpp>

#include "resolve/inquiry.hpp"
#include "resolve/oracle.hpp"
#include "support/scratch.hpp"
#include "support/target.hpp"

namespace pinfold_fuzz {

namespace {

using pinfold::code;
using pinfold::operation;
using answer = std::expected<pinfold::resolved, pinfold::refusal>;

std::string words_of(const answer& one) {
  if (!one) {
    return std::string{name_of(one.error().error)} + " resolved " + quoted(one.error().resolved) +
           " boundary " + quoted(one.error().boundary);
  }
  return quoted(one->canonical) + " in " + std::string{name_of(one->where)};
}

std::string words_of(const opinion& one) {
  if (one.is_unknown) return "cannot tell";
  if (one.refused) return std::string{name_of(*one.refused)};
  return quoted(one.canonical) + " in " + std::string{name_of(one.where)};
}

bool agrees(const opinion& expected, const answer& given) {
  if (expected.refused) return !given && given.error().error == *expected.refused;
  return given && given->canonical == expected.canonical && given->where == expected.where;
}

/// What must hold of any answer, also where the oracle cannot tell.
bool is_sound(const pinfold::grant& grant, const answer& given) {
  if (given) {
    const auto where = grant.region_of(given->canonical);
    return where != pinfold::region::outside && where != pinfold::region::harness_state;
  }
  if (given.error().error != code::outside_workspace) return true;
  // A refusal is no oracle: it stops at the first name outside.
  const auto& shown = given.error().resolved;
  const auto above = pinfold::parent_of(shown);
  const auto is_root_way = [&](const pinfold::extra_root& root) {
    return pinfold::contains(above, root.path);
  };
  return pinfold::contains(shown, grant.workspace()) ||
         pinfold::contains(above, grant.workspace()) ||
         grant.region_of(above) != pinfold::region::outside ||
         std::ranges::any_of(grant.extra_roots(), is_root_way);
}

/// The codes with which the kernel itself can be asked; the others are ours.
std::optional<int> errno_for(code why) {
  if (why == code::not_found) return ENOENT;
  if (why == code::not_a_directory) return ENOTDIR;
  if (why == code::symlink_loop) return ELOOP;
  if (why == code::permission_denied) return EACCES;
  return std::nullopt;
}

/// The oracle's walk against the kernel's own, for reading.
void compare_with_kernel(const inquiry& all, const question& asked) {
  const auto mine = walk(all.data(), names_in(asked.start), asked.input, {});
  if (mine.is_unknown || asked.input.empty() || asked.input.contains('\0')) return;
  const pinfold::descriptor start{::open(asked.start.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!start) return;  // too deep to be opened by name, or closed
  const pinfold::descriptor found{::openat(start.get(), asked.input.c_str(), O_PATH | O_CLOEXEC)};
  const int failure = found ? 0 : errno;
  if (mine.error) {
    const auto expected = errno_for(*mine.error);
    if (!expected || failure == ENAMETOOLONG) return;
    // A walk that the kernel has to begin again counts its links on, so ELOOP may come too early.
    if (failure == *expected || failure == ELOOP) return;
    broken("the oracle meets the error that the kernel meets",
           all.described(asked) + std::string{name_of(*mine.error)} + " kernel " +
               std::to_string(failure));
  }
  if (failure == ENAMETOOLONG || failure == ELOOP) return;
  std::array<char, 5000> text;
  const auto link = "/proc/self/fd/" + std::to_string(found.get());
  const auto size = ::readlink(link.c_str(), text.data(), text.size());
  if (found && size < 0) return;  // a path longer than the kernel tells
  const std::string canonical{text.data(), size < 0 ? 0 : static_cast<std::size_t>(size)};
  if (found && canonical == text_of(mine.place)) return;
  broken("the oracle gets where the kernel gets",
         all.described(asked) + quoted(text_of(mine.place)) + "\nkernel " + quoted(canonical) +
             " " + std::to_string(failure));
}

class asking {
 public:
  explicit asking(const inquiry& all)
      : all_{all},
        grant_{all.grant()},
        rules_{rules_of(grant_)},
        held_{grant_, pinfold::beneath::lookup::openat2},
        walked_{grant_, pinfold::beneath::lookup::walk_only} {}

  void ask(const question& asked) const {
    const auto expected = opinion_on(all_.data(), rules_, asked.op, asked.input, asked.start);
    const std::array<answer, 3> given{
        pinfold::beneath::resolve(held_, asked.op, asked.input, asked.start),
        pinfold::beneath::resolve(walked_, asked.op, asked.input, asked.start),
        pinfold::portable::resolve(grant_, asked.op, asked.input, asked.start)};
    const auto facts = [&] {
      std::string words = all_.described(asked) + "oracle:   " + words_of(expected);
      constexpr std::array by{"\nbeneath:  ", "\nwalk:     ", "\nportable: "};
      for (std::size_t i = 0; i < given.size(); ++i) words += by[i] + words_of(given[i]);
      return words;
    };
    for (const auto& one : given) {
      if (!is_sound(grant_, one)) broken("an answer stays in the grant", facts());
      if (expected.is_unknown) {
        if (!agree(one, given[0])) broken("the resolvers agree", facts());
        continue;
      }
      if (!agrees(expected, one)) broken("resolvers and oracle agree", facts());
      if (!one && one.error() != given[0].error()) {
        broken("the resolvers refuse in the same words", facts());
      }
    }
    if (asked.op == operation::read) compare_with_kernel(all_, asked);
  }

 private:
  /// What lies in /proc may be another thing for each that asks, but never inside.
  static bool agree(const answer& a, const answer& b) {
    return a.has_value() == b.has_value() && (!a || *a == *b);
  }

  const inquiry& all_;
  pinfold::grant grant_;
  rules rules_;
  pinfold::beneath::held_root held_;
  pinfold::beneath::held_root walked_;
};

}  // namespace

void try_input(std::span<const std::uint8_t> input) {
  const auto& place = scratch::of_this_process();
  const inquiry all{bytes{input}, place.path(), grants::any};
  const built_tree standing{all.plan(), place.fd()};
  const asking now{all};
  for (const auto& asked : all.questions()) now.ask(asked);
}

}  // namespace pinfold_fuzz
