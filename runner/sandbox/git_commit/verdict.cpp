// Every question is asked in `checked`, where an object has the name that its content has.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "sandbox/git_commit/importing.hpp"

namespace pinfold {

importing::step importing::check() {
  if (!pack_.empty()) {
    auto strict = git("checked", {"index-pack", "--strict", pack_ + ".pack"});
    if (!strict) return std::unexpected{std::move(strict.error())};
    if (!strict->has_succeeded()) return refuse(said("checking what is new", *strict));
  }
  auto type = git("checked", {"cat-file", "-t", report_.after});
  if (!type) return std::unexpected{std::move(type.error())};
  if (type->line() != "commit") return refuse("the branch names no commit that is there");
  auto whole = git("checked", {"rev-list", "--objects", "--quiet", report_.after, "^" + ground_.tip});
  if (!whole) return std::unexpected{std::move(whole.error())};
  if (!whole->has_succeeded()) return refuse(said("what the branch names is not complete", *whole));
  return {};
}

/// Where the branch was set back since it was made, what it was then is no measure.
importing::step importing::check_base() {
  const auto base_holds = contains_commit(ground_.tip, ground_.base);
  if (!base_holds) return std::unexpected{base_holds.error()};
  const auto& base = *base_holds ? ground_.base : ground_.tip;
  const auto descends = contains_commit(report_.after, base);
  if (!descends) return std::unexpected{descends.error()};
  if (!*descends) {
    return refuse("it does not contain " + base + ", the commit that the branch begins at");
  }
  const auto goes_on = contains_commit(report_.after, ground_.tip);
  if (!goes_on) return std::unexpected{goes_on.error()};
  report_.is_rewritten = !*goes_on;
  auto count = git("checked", {"rev-list", "--count", report_.after, "^" + ground_.tip});
  if (!count) return std::unexpected{std::move(count.error())};
  report_.commits = std::strtoull(std::string{count->line()}.c_str(), nullptr, 10);
  return {};
}

/// Exit code 1 is git's no.
std::expected<bool, importing::stop> importing::contains_commit(const std::string& whole,
                                                                const std::string& part) {
  auto answer = git("checked", {"merge-base", "--is-ancestor", part, whole});
  if (!answer) return std::unexpected{std::move(answer.error())};
  if (answer->exit_code == 0 || answer->exit_code == 1) return answer->exit_code == 0;
  return refuse(said("looking for its beginning", *answer));
}

/// Trees that hold each other many times over are small, and what they unpack to is not.
importing::step importing::count_files() {
  struct too_many {};
  std::uint64_t files = 0;
  auto call = call_in("checked", {"ls-tree", "-r", "-z", "--name-only", report_.after});
  call.on_output = [&](std::string_view text) {
    files += static_cast<std::uint64_t>(std::ranges::count(text, '\0'));
    if (files > most_.files) throw too_many{};  // it would go on for ever
  };
  try {
    auto answer = started(call);
    if (!answer) return std::unexpected{std::move(answer.error())};
    if (!answer->has_succeeded()) return refuse(said("what the branch names", *answer));
  } catch (const too_many&) {
    return refuse("its tree unpacks to more than " + std::to_string(most_.files) + " files");
  }
  return {};
}

}  // namespace pinfold
