#include "sandbox/host_run/by_path.hpp"

#include <algorithm>
#include <utility>

#include <pinfold/path.hpp>

#include "sandbox/host_run/step.hpp"

namespace pinfold {
namespace {

std::optional<host_run_kind> kind_of_file_in(const to_visit& at, std::string_view name) {
  if (at.kind == room::hooks && name.ends_with(".sample")) return std::nullopt;
  if (const auto kind = kind_in(at.kind)) return kind;
  if (at.kind == room::sequence) return host_run_kind::git_sequence;
  if (at.kind == room::git) {
    const bool decides = std::ranges::find(git_deciders, name) != git_deciders.end();
    return decides && !at.has_users_names ? std::optional{host_run_kind::git_config} : std::nullopt;
  }
  if (name == "commondir" || name == "gitdir") return host_run_kind::git_config;
  if (name == ".git") return host_run_kind::git_file;
  if (name == ".gitattributes") return host_run_kind::git_attributes;
  return kind_of_file(name);
}

std::optional<host_run_kind> kind_of_directory(const to_visit& at) {
  if (at.kind == room::git) return host_run_kind::git_repository;
  if (at.kind == room::sequence) return host_run_kind::git_sequence;
  return kind_in(at.kind);
}

}  // namespace

std::optional<host_run_kind> kind_by_path(std::string_view path, put_there what) {
  const host_run_search nothing_known;
  to_visit at{"", room::plain};
  std::string_view last;
  for (const auto name : components{path}) {
    if (!last.empty()) {
      auto next = entered(nothing_known, at, false, last);
      if (!next) return std::nullopt;
      at = std::move(*next);
    }
    last = name;
  }
  if (const auto kind = kind_of_file_in(at, last)) return kind;
  if (what == put_there::file) return std::nullopt;
  const auto inside = entered(nothing_known, at, false, last);
  return inside ? kind_of_directory(*inside) : std::nullopt;
}

}  // namespace pinfold
