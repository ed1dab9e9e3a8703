// What can be read about a cgroup is read through a descriptor of it, so that every answer is about
// the one that will be used.
#include "launch/cgroup/find.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <pinfold/disk/kernel.hpp>
#include <pinfold/path.hpp>

#include "launch/mountinfo.hpp"
#include "launch/random_digits.hpp"

namespace pinfold {
namespace {

using found = std::expected<cgroup_place, std::string>;

std::unexpected<std::string> because(std::string reason) {
  return std::unexpected{std::move(reason)};
}

/// The path behind "0::" in /proc/self/cgroup: as seen from the root of our cgroup namespace.
std::optional<std::string> own_cgroup_in(std::string_view text) {
  for (; !text.empty(); text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1)) {
    if (!text.starts_with("0::/")) continue;
    text.remove_prefix(3);
    return std::string{text.substr(0, text.find('\n'))};
  }
  return std::nullopt;
}

struct seen_cgroup {
  std::string mount;  ///< where the file system is mounted
  std::string below;  ///< our cgroup below it; empty: the mount itself
};

/// The first mount under which `own` lies. One that shows another part of the tree is passed over.
std::optional<seen_cgroup> where_is(const std::string& own, std::string_view mountinfo) {
  std::optional<seen_cgroup> seen;
  for_each_mount(mountinfo, [&](const mount_fields& one) {
    if (seen || one.type != "cgroup2") return;
    if (const auto tail = tail_below(unescaped(one.root), own)) {
      seen = {unescaped(one.point), std::string{*tail}};
    }
  });
  return seen;
}

std::string joined(const std::string& mount, std::string_view below) {
  return below.empty() ? mount : mount + "/" + std::string{below};
}

/// Readable, since attributes are not asked of a descriptor that only names (open(2), O_PATH).
descriptor open_cgroup(const seen_cgroup& at, const cgroup_files& files) {
  descriptor mount{beneath::open_name(AT_FDCWD, at.mount.c_str(), O_RDONLY | O_DIRECTORY)};
  if (!mount || !files.is_cgroup2(mount.get())) return {};
  if (at.below.empty()) return mount;
  descriptor cgroup{beneath::open_below(beneath::lookup::openat2, mount.get(), at.below.c_str(),
                                        {.flags = O_RDONLY | O_DIRECTORY})};
  if (!cgroup || !files.is_cgroup2(cgroup.get())) return {};
  return cgroup;
}

bool is_there(int cgroup, const char* name) {
  return ::faccessat(cgroup, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

bool is_writable(int cgroup) {
  const auto may = [cgroup](const char* name, int how) {
    return ::faccessat(cgroup, name, how, AT_EACCESS) == 0;
  };
  return may(".", W_OK | X_OK) && may("cgroup.procs", W_OK) && may("cgroup.subtree_control", W_OK);
}

enum class members : std::uint8_t { none, this_process, others, unknown };

/// A process of another PID namespace is listed as 0.
members members_of(int cgroup) {
  const auto list = read_control(cgroup, "cgroup.procs");
  if (!list) return members::unknown;  // a threaded one (EOPNOTSUPP), for one
  if (list->empty()) return members::none;
  return *list == std::to_string(::getpid()) + "\n" ? members::this_process : members::others;
}

/// What makes a cgroup ours to divide, besides that it can be written to.
enum class title : std::uint8_t { mark_needed, ours_already };

/// Everything but who sits in it.
found offered_by(std::string path, descriptor held, const cgroup_files& files, title need,
                 controllers wanted) {
  const int at = held.get();
  const auto has = read_control(at, "cgroup.controllers");
  const auto enabled = read_control(at, "cgroup.subtree_control");
  if (!has || !enabled) return because(path + " cannot be read");
  const auto all = controllers::listed_in(*has);
  const controllers offered{wanted.memory && all.memory, wanted.pids && all.pids};
  if (!offered.is_any()) {
    return because("the controllers memory and pids are not available in " + path);
  }
  if (!is_writable(at)) return because(path + " cannot be written to");
  if (is_there(at, "init.scope")) return because("a service manager runs in " + path);
  if (need == title::mark_needed && !files.is_marked_delegated(at)) {
    return because(path + " was not delegated to us");
  }
  const auto now = controllers::listed_in(*enabled);
  return cgroup_place{std::move(path), std::move(held), offered,
                      {offered.memory && now.memory, offered.pids && now.pids}};
}

/// The root of all may have processes beside its children; it is the one without a type.
bool may_hold_processes(int cgroup) {
  return !is_there(cgroup, "cgroup.type");
}

found above(const seen_cgroup& own, const cgroup_files& files, controllers wanted) {
  if (own.below.empty()) return because("nothing above it is seen");
  const auto slash = own.below.rfind('/');
  const auto name = std::string_view{own.below}.substr(slash == std::string::npos ? 0 : slash + 1);
  const seen_cgroup parent{own.mount,
                           slash == std::string::npos ? std::string{} : own.below.substr(0, slash)};
  const auto need = is_cgroup_name(name, ::getpid()) ? title::ours_already : title::mark_needed;
  auto path = joined(parent.mount, parent.below);
  auto held = open_cgroup(parent, files);
  if (!held) return because(path + " cannot be opened");
  auto place = offered_by(std::move(path), std::move(held), files, need, wanted);
  if (!place || may_hold_processes(place->held.get())) return place;
  if (members_of(place->held.get()) != members::none) {
    return because("processes sit in " + place->path);
  }
  return place;
}

}  // namespace

controllers controllers::listed_in(std::string_view text) noexcept {
  controllers all;
  while (!text.empty()) {
    const auto name = text.substr(0, text.find_first_of(" \n"));
    all.memory = all.memory || name == "memory";
    all.pids = all.pids || name == "pids";
    text.remove_prefix(std::min(name.size() + 1, text.size()));
  }
  return all;
}

found find_cgroup_place(const cgroup_search& search, controllers wanted) {
  const auto& files = *search.files;
  const auto text = read_control(AT_FDCWD, (search.proc + "/self/cgroup").c_str());
  const auto path = text ? own_cgroup_in(*text) : std::nullopt;
  if (!path) return because("this process is in no cgroup v2");
  if (!is_canonical_form(*path)) return because("its cgroup lies outside of what is seen");
  const auto table = read_control(AT_FDCWD, (search.proc + "/self/mountinfo").c_str());
  const auto own = table ? where_is(*path, *table) : std::nullopt;
  if (!own) return because("no mounted cgroup v2 shows its cgroup");
  auto held = open_cgroup(*own, files);
  if (!held) return because(joined(own->mount, own->below) + " is no cgroup that can be opened");
  const auto sitting = members_of(held.get());
  const bool has_manager = ::access(search.service_manager.c_str(), F_OK) == 0;
  const auto need = has_manager ? title::mark_needed : title::ours_already;
  auto place = offered_by(joined(own->mount, own->below), std::move(held), files, need, wanted);
  if (place && may_hold_processes(place->held.get())) return place;
  if (auto higher = above(*own, files, wanted)) return higher;
  if (!place) return place;
  switch (sitting) {
    case members::this_process:
      place->is_our_seat = true;
      return place;
    case members::others:
      return because("other processes sit in " + place->path + " beside this one");
    case members::none:  // then it is not ours
    case members::unknown:
      break;
  }
  return because(place->path + " does not list this process");
}

std::string new_cgroup_name() {
  const auto digits = random_digits();
  if (digits.empty()) return {};
  return "pinfold-" + std::to_string(::getpid()) + "-" + digits;
}

bool is_cgroup_name(std::string_view name, long pid) noexcept {
  constexpr std::string_view start = "pinfold-";
  if (!name.starts_with(start)) return false;
  name.remove_prefix(start.size());
  long number = 0;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
  if (read.ec != std::errc{} || number <= 0 || (pid != 0 && number != pid)) return false;
  const std::string_view rest{read.ptr, name.data() + name.size()};
  return rest.size() >= 2 && rest.size() <= 17 && rest.front() == '-' &&
         rest.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
}

}  // namespace pinfold
