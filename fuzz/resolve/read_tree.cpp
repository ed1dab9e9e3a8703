// From the bytes of an input to a tree and to paths in it.
#include <unistd.h>

#include <array>
#include <utility>

#include <pinfold/path.hpp>

#include "resolve/tree.hpp"

namespace pinfold_fuzz {

namespace {

using std::string_view_literals::operator""sv;

constexpr std::array pool{
    "a"sv,         "b"sv,        "c"sv,         "d"sv,           "f"sv,      "l"sv,
    ".efferent"sv, ".foundry"sv, ".git"sv,      "hooks"sv,       "config"sv, "info"sv,
    "ws"sv,        "ws-old"sv,   "outside"sv,   "state"sv,       "ro"sv,     "rw"sv,
    "kept"sv,      "..foo"sv,    "..."sv,       " "sv,           "a b"sv,    "-rf"sv,
    "~"sv,         "$HOME"sv,    "*"sv,         "a (deleted)"sv, "\n"sv,     "\xff\xfe"sv,
    ".EFFERENT"sv, ".git "sv,    "commondir"sv, "worktrees"sv,   "new"sv,    ".efferent-old"sv};

/// A name that a directory can hold.
std::string read_name(bytes& input) {
  const auto choice = input.below(pool.size() + 4);
  if (choice < pool.size()) return std::string{pool[choice]};
  if (choice == pool.size()) return std::string(255, 'n');
  if (choice == pool.size() + 1) return std::string(254 - input.below(4), 'm');
  std::string name{input.text().substr(0, 255)};
  for (char& c : name) {
    if (c == '/' || c == '\0') c = '_';
  }
  return name.empty() || name == "." || name == ".." ? "x" : name;
}

/// Makes the tree grow, in data only.
class grower {
 public:
  grower(planned_tree& plan, bytes& input) : plan_{plan}, data_{plan.data}, input_{input} {}

  void grow() {
    enum { directory, file, link, hard_link, fifo, closed_directory, chain, deep, kinds };
    const auto parent = input_.one_of(data_.directories);
    // What is costly to make is rare.
    const auto choice = input_.below(4 * kinds);
    switch (choice < kinds ? choice : choice % closed_directory) {
      case directory:
        add(parent, read_name(input_), {.kind = node_kind::directory});
        return;
      case file:
        add(parent, read_name(input_), {.kind = node_kind::file});
        return;
      case link: {
        auto name = read_name(input_);
        add(parent, std::move(name), {.kind = node_kind::link, .target = read_path(input_, data_)});
        return;
      }
      case hard_link:
        return add_hard_link(parent);
      case fifo:
        add(parent, read_name(input_), {.kind = node_kind::special});
        return;
      case chain:
        return add_chain(parent);
      case closed_directory:
        add(parent, read_name(input_), {.kind = node_kind::directory, .is_searchable = false});
        return;
      default:
        return add_deep(parent);
    }
  }

  /// The number of the new object; that of `parent` when the name is taken.
  std::size_t add(std::size_t parent, std::string name, node made) {
    if (data_.nodes[parent].names.contains(name)) return parent;
    const auto number = data_.nodes.size();
    made.parent = parent;
    made.name = name;
    // A link without a text, or one too long for the kernel, cannot be made.
    if (made.kind == node_kind::link && (made.target.empty() || made.target.size() > 4000)) {
      made.target = "a";
    }
    std::ranges::replace(made.target, '\0', '_');
    if (made.kind == node_kind::directory) data_.directories.push_back(number);
    data_.nodes[parent].names.emplace(name, number);
    data_.nodes.push_back(std::move(made));
    plan_.entries.push_back({parent, std::move(name), number});
    return number;
  }

 private:
  void add_hard_link(std::size_t parent) {
    const auto& first = input_.one_of(plan_.entries);
    auto name = read_name(input_);
    if (data_.nodes[first.object].kind == node_kind::directory || first.is_hard_link) return;
    if (!data_.nodes[parent].names.emplace(name, first.object).second) return;
    entry second{parent, std::move(name), first.object, true, first.parent, first.name};
    plan_.entries.push_back(std::move(second));
  }

  /// 36 to 43 links, each to the next, around the kernel's limit of 40.
  void add_chain(std::size_t parent) {
    const auto last = read_path(input_, data_);
    const auto length = 36 + input_.below(8);
    for (std::size_t i = 1; i <= length; ++i) {
      auto next = i == length ? last : "k" + std::to_string(i + 1);
      add(parent, "k" + std::to_string(i), {.kind = node_kind::link, .target = std::move(next)});
    }
  }

  /// Directories down to a canonical path just about as long as a path may be.
  void add_deep(std::size_t parent) {
    const auto wanted = 4088 + input_.below(12);
    for (auto size = data_.path_of(parent).size(); size + 1 < wanted;) {
      const auto length = std::min<std::size_t>(255, wanted - size - 1);
      const auto below = add(parent, std::string(length, 'n'), {.kind = node_kind::directory});
      if (below == parent) return;
      parent = below;
      size += 1 + length;
    }
  }

  planned_tree& plan_;
  tree& data_;
  bytes& input_;
};

std::size_t add_system_directory(tree& data, std::size_t parent, std::string_view name) {
  const auto number = data.nodes.size();
  data.nodes[parent].names.emplace(name, number);
  data.nodes.push_back({.parent = parent, .name = std::string{name}, .is_known = false});
  return number;
}

/// The few entries of /proc that the oracle has to know: what its magic links are.
void add_proc(tree& data) {
  const auto proc = add_system_directory(data, 0, "proc");
  const auto self = std::to_string(::getpid());
  const auto process = add_system_directory(data, proc, self);
  const auto add = [&](std::size_t parent, std::string_view name, node made) {
    data.nodes[parent].names.emplace(name, data.nodes.size());
    data.nodes.push_back(std::move(made));
  };
  add(proc, "self", {.kind = node_kind::link, .target = self});
  for (auto name : {"root", "cwd", "exe"}) add(process, name, {.kind = node_kind::magic_link});
}

}  // namespace

std::string tree::path_of(std::size_t directory) const {
  if (directory == 0) return "/";
  const auto& one = nodes[directory];
  return (one.parent == 0 ? "" : path_of(one.parent)) + "/" + one.name;
}

planned_tree read_tree(bytes& input, const std::string& scratch) {
  planned_tree plan;
  auto& data = plan.data;
  data.nodes.push_back({.is_known = false});
  for (auto name : pinfold::components{scratch}) {
    data.scratch = add_system_directory(data, data.scratch, name);
  }
  data.nodes[data.scratch].is_known = true;
  add_proc(data);
  data.directories.push_back(data.scratch);
  grower growing{plan, input};
  data.workspace = growing.add(data.scratch, "ws", {});
  data.outside = growing.add(data.scratch, "outside", {});
  for (auto count = input.below(24); count > 0; --count) growing.grow();
  return plan;
}

std::string read_path(bytes& input, const tree& data) {
  std::string path;
  for (auto pieces = input.below(10); pieces > 0; --pieces) {
    enum { name, there, up, here, absolute, workspace, slash, raw, close, kinds };
    switch (input.below(kinds)) {
      case name:
        path += read_name(input);
        break;
      case there: {  // a name that some directory holds
        const auto& names = data.nodes[input.one_of(data.directories)].names;
        if (names.empty()) break;
        auto nth = names.begin();
        std::advance(nth, static_cast<std::ptrdiff_t>(input.below(names.size())));
        path += nth->first;
        break;
      }
      case up:
        path += "..";
        break;
      case here:
        path += ".";
        break;
      case absolute:
        path = data.path_of(input.one_of(data.directories));
        break;
      case workspace:
        path = data.path_of(data.workspace);
        break;
      case slash:
        path += "/";
        continue;
      case raw:
        path += input.text();
        continue;
      default:
        return path;
    }
    path += "/";
  }
  if (!path.empty() && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace pinfold_fuzz
