#include "resolve/inquiry.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <pinfold/path.hpp>

#include "support/target.hpp"

namespace pinfold_fuzz {

namespace {

using pinfold::carve_kind;
using pinfold::carve_out;
using pinfold::operation;
using pinfold::root_access;

constexpr std::array single{carve_out{"a", carve_kind::harness_state}};
constexpr std::array nested{carve_out{"a/b", carve_kind::host_run},
                            carve_out{"a/b/c", carve_kind::harness_state},
                            carve_out{"d/f", carve_kind::harness_state}};
constexpr std::array outer_last{carve_out{"l/state/a", carve_kind::harness_state},
                                carve_out{"l", carve_kind::host_run},
                                carve_out{"b", carve_kind::host_run}};
constexpr std::array<std::span<const carve_out>, 6> carve_out_lists{
    pinfold::default_carve_outs, pinfold::default_carve_outs, single, nested, outer_last,
    std::span<const carve_out>{}};

constexpr std::array operations{operation::read, operation::write,  operation::make_directory,
                                operation::list, operation::remove, operation::rename};

/// The path of some directory that is short enough to be spoken of.
std::string path_of_some_directory(bytes& input, const tree& data) {
  auto path = data.path_of(input.one_of(data.directories));
  return path.size() < pinfold::path_max ? path : data.path_of(data.outside);
}

/// True when somebody could be in the directory: all above it may be entered.
bool can_be_stood_in(const tree& data, std::size_t directory) {
  for (auto above = data.nodes[directory].parent; above != 0; above = data.nodes[above].parent) {
    if (!data.nodes[above].is_searchable) return false;
  }
  return true;
}

/// Where a relative path may begin beside the workspace.
std::string path_of_some_start(bytes& input, const tree& data) {
  const auto directory = input.one_of(data.directories);
  const auto path = data.path_of(directory);
  const bool is_usable = path.size() < pinfold::path_max && can_be_stood_in(data, directory);
  return is_usable ? path : data.path_of(data.outside);
}

}  // namespace

inquiry::inquiry(bytes input, const std::string& scratch, grants kind) {
  // The choices first, so that a longer tree does not turn them all over.
  if (kind == grants::any) carve_outs_ = input.one_of(carve_out_lists);
  const auto root_count = kind == grants::any ? input.below(4) : 0;
  const auto question_count = 1 + input.below(6);
  plan_ = read_tree(input, scratch);
  workspace_ = data().path_of(data().workspace);
  root_paths_.reserve(root_count);
  for (std::size_t i = 0; i < root_count; ++i) {
    root_paths_.push_back(path_of_some_directory(input, data()));
    roots_.push_back({root_paths_.back(), input.coin() ? root_access::read : root_access::write});
  }
  for (std::size_t i = 0; i < question_count; ++i) {
    const auto op = input.one_of(operations);
    const bool is_elsewhere = kind == grants::any && input.below(4) == 3;
    auto start = is_elsewhere ? path_of_some_start(input, data()) : workspace_;
    questions_.push_back({op, read_path(input, data()), std::move(start)});
  }
}

std::string inquiry::described(const question& asked) const {
  std::string words = std::string{name_of(asked.op)} + " " + quoted(asked.input) + " from " +
                      quoted(asked.start) + "\n";
  for (const auto& carve : carve_outs_) {
    words += "carve-out " + quoted(carve.path) +
             (carve.kind == carve_kind::harness_state ? " harness state\n" : " host-run\n");
  }
  for (const auto& root : roots_) {
    words += "root " + quoted(root.path) +
             (root.access == root_access::read ? " for reading\n" : " for writing\n");
  }
  for (const auto& one : plan_.entries) {
    constexpr std::array kinds{"directory", "file", "link", "FIFO", "magic link"};
    const auto& object = data().nodes[one.object];
    words += std::string{kinds[static_cast<std::size_t>(object.kind)]} + " #" +
             std::to_string(one.object) + " " + quoted(data().path_of(one.parent)) + " " +
             quoted(one.name);
    if (object.kind == node_kind::link) words += " -> " + quoted(object.target);
    if (!object.is_searchable) words += " (closed)";
    words += "\n";
  }
  return words;
}

}  // namespace pinfold_fuzz
