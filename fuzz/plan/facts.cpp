#include "plan/facts.hpp"

#include <array>
#include <string_view>

#include <pinfold/path.hpp>

#include "support/target.hpp"

namespace pinfold_fuzz {

namespace {

using std::string_view_literals::operator""sv;
using namespace pinfold;

constexpr std::array pool{"/home/u/w"sv,
                          "/home/u/w/.efferent"sv,
                          "/home/u/w/.git"sv,
                          "/home/u/w/.git/hooks"sv,
                          "/home/u/w/a"sv,
                          "/home/u/w/a/b"sv,
                          "/home/u/w/a/b/c"sv,
                          "/home/u"sv,
                          "/home"sv,
                          "/home/u/.cargo"sv,
                          "/tmp"sv,
                          "/tmp/w"sv,
                          "/tmp/home"sv,
                          "/var/tmp"sv,
                          "/var"sv,
                          "/run"sv,
                          "/run/sock"sv,
                          "/root"sv,
                          "/etc"sv,
                          "/etc/shadow"sv,
                          "/usr"sv,
                          "/usr/bin"sv,
                          "/bin"sv,
                          "/opt/t"sv,
                          "/proc"sv,
                          "/proc/sys"sv,
                          "/proc/1"sv,
                          "/dev"sv,
                          "/dev/shm"sv,
                          "/dev/shm/w"sv,
                          "/"sv,
                          "/home/u/w-old"sv};

template <typename Enum>
Enum one_of_two(bytes& input, Enum first, Enum second) {
  return input.coin() ? second : first;
}

file_kind read_kind(bytes& input) {
  // A link is refused at once, so it is rare.
  const auto choice = input.below(16);
  return choice == 0 ? file_kind::link : choice % 2 == 0 ? file_kind::file : file_kind::directory;
}

/// Below the workspace more often than not, and sometimes what holds it.
std::string read_place_inside(bytes& input, const std::string& workspace) {
  constexpr std::array inside{".efferent"sv,   ".foundry"sv, ".git"sv, ".git/hooks"sv,
                              ".git/config"sv, "a"sv,        "a/b"sv,  "a/b/c"sv};
  const auto choice = input.below(inside.size() + 2);
  if (choice > inside.size()) return read_place(input);
  if (choice == inside.size()) return std::string{pinfold::parent_of(workspace)};
  return (workspace == "/" ? "" : workspace) + "/" + std::string{inside[choice]};
}

}  // namespace

std::string read_place(bytes& input) {
  const auto choice = input.below(pool.size() + 6);
  if (choice < pool.size()) return std::string{pool[choice]};
  if (choice + 2 >= pool.size() + 6) return std::string{input.text()};
  std::string path{input.one_of(pool)};
  if (path != "/") path += "/";
  constexpr std::array below{"x"sv, "w"sv, "a"sv, "..."sv, "--bind"sv, "\""sv, "\\"sv, "\n)"sv};
  return path += input.one_of(below);
}

confinement read_facts(bytes& input) {
  confinement facts;
  facts.workspace = read_place(input);
  facts.directory = input.coin() ? facts.workspace : read_place(input);
  facts.access = one_of_two(input, workspace_access::read_write, workspace_access::read_only);
  facts.root = one_of_two(input, root_profile::host, root_profile::minimal);
  facts.network = one_of_two(input, network_access::off, network_access::on);
  facts.nesting = one_of_two(input, nested_namespaces::forbidden, nested_namespaces::allowed);
  if (input.below(32) != 31) facts.command = {"true", "--bind"};
  if (input.below(16) == 15) facts.egress.emplace_back(input.text());
  if (input.coin()) facts.environment.emplace_back(input.text());
  facts.scratch_bytes = input.byte() + 1U;
  for (auto n = input.below(5); n > 0; --n) {
    auto& carve = facts.carve_outs.emplace_back();
    carve.path = read_place_inside(input, facts.workspace);
    carve.kind = one_of_two(input, carve_kind::harness_state, carve_kind::host_run);
    carve.type = read_kind(input);
    carve.shell = one_of_two(input, carved_path::shown::hidden, carved_path::shown::visible);
  }
  for (auto n = input.below(4); n > 0; --n) {
    facts.pinned.push_back(read_place_inside(input, facts.workspace));
  }
  for (auto n = input.below(5); n > 0; --n) {
    auto& one = facts.shared.emplace_back();
    const bool is_near = input.below(4) == 3;
    one.source = is_near ? read_place_inside(input, facts.workspace) : read_place(input);
    one.target = input.below(4) == 3 ? read_place(input) : one.source;
    one.access = one_of_two(input, root_access::read, root_access::write);
  }
  for (auto n = input.below(5); n > 0; --n) {
    auto& one = facts.hidden.emplace_back();
    one.path = read_place(input);
    one.contents = one_of_two(input, hidden_path::use::closed, hidden_path::use::scratch);
  }
  for (auto n = input.below(3); n > 0; --n) facts.hidden_files.push_back(read_place(input));
  for (auto n = input.below(4); n > 0; --n) {
    auto& one = facts.visible.emplace_back();
    one.path = read_place(input);
    one.type = input.below(3) == 2 ? file_kind::link : file_kind::directory;
    if (one.type == file_kind::link) {
      one.target = input.coin() ? std::string{input.text()} : read_place(input);
    }
  }
  return facts;
}

std::vector<std::string> places_of(const confinement& facts) {
  std::vector<std::string> places{
      "/",        "/x",         "/proc/1/environ", "/proc/sys/kernel/core_pattern",
      "/dev/sda", "/dev/shm/x", "/tmp/x"};
  const auto add = [&places](const std::string& path) {
    const std::string base = path == "/" ? "" : path;
    places.push_back(path);
    places.push_back(base + "/x");
    places.push_back(base + "/a/b");
  };
  add(facts.workspace);
  for (const auto& one : facts.carve_outs) add(one.path);
  for (const auto& one : facts.pinned) add(one);
  for (const auto& one : facts.shared) {
    add(one.source);
    add(one.target);
    // What lies in the workspace or in a carve-out may be seen through another name.
    const auto see_through = [&](const std::string& path) {
      if (!pinfold::contains(one.source, path)) return;
      const std::string base = one.target == "/" ? "" : one.target;
      const auto tail = *pinfold::tail_below(one.source, path);
      add(tail.empty() ? one.target : base + "/" + std::string{tail});
    };
    for (const auto& carve : facts.carve_outs) see_through(carve.path);
    for (const auto& hidden : facts.hidden) see_through(hidden.path);
    for (const auto& hidden : facts.hidden_files) see_through(hidden);
    see_through(facts.workspace);
  }
  for (const auto& one : facts.hidden) add(one.path);
  for (const auto& one : facts.hidden_files) add(one);
  for (const auto& one : facts.visible) add(one.path);
  return places;
}

std::string described(const confinement& facts) {
  std::string words = "workspace " + quoted(facts.workspace) +
                      (facts.access == workspace_access::read_write ? " writable" : " read-only") +
                      ", root " + (facts.root == root_profile::host ? "host" : "minimal") + "\n";
  for (const auto& one : facts.carve_outs) {
    words += "carve-out " + quoted(one.path) +
             (one.kind == carve_kind::harness_state ? " harness state" : " host-run") +
             (one.type == file_kind::file ? " file" : " directory") +
             (one.shell == carved_path::shown::hidden ? "\n" : " visible\n");
  }
  for (const auto& one : facts.pinned) words += "pinned " + quoted(one) + "\n";
  for (const auto& one : facts.shared) {
    words += "shared " + quoted(one.source) + " at " + quoted(one.target) +
             (one.access == root_access::read ? " for reading\n" : " for writing\n");
  }
  for (const auto& one : facts.hidden) {
    words += "hidden " + quoted(one.path) +
             (one.contents == hidden_path::use::closed ? "\n" : " scratch\n");
  }
  for (const auto& one : facts.hidden_files) words += "hidden file " + quoted(one) + "\n";
  for (const auto& one : facts.visible) {
    words += "visible " + quoted(one.path) +
             (one.type == file_kind::link ? " -> " + quoted(one.target) : "") + "\n";
  }
  return words;
}

}  // namespace pinfold_fuzz
