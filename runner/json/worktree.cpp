#include "json/worktree.hpp"

#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace pinfold {
namespace {

json list_of(const std::vector<std::string>& texts) {
  auto list = json::array();
  for (const auto& text : texts) list.push_back(text);
  return list;
}

}  // namespace

json worktree_json(const worktree& one) {
  json object;
  put_bytes(object, "name", one.name);
  put_bytes(object, "path", one.path);
  put_bytes(object, "branch", one.branch);
  put_bytes(object, "base", one.base);
  put_bytes(object, "parent", one.parent);
  if (one.parent_branch.empty()) {
    object["parent_branch"] = nullptr;
  } else {
    put_bytes(object, "parent_branch", one.parent_branch);
  }
  return object;
}

json worktree_json(const finished_worktree& finished) {
  auto object = worktree_json(finished.about);
  object["end"] = name_of(finished.end);
  object["branch_kept"] = finished.branch == branch_end::kept;
  object["commits"] = finished.commits;
  object["reasons"] = list_of(finished.reasons);
  object["deletes"] = finished.deletes.empty() ? json(nullptr) : json(finished.deletes);
  object["summary"] = finished.summary;
  return object;
}

json worktrees_json(std::string_view place, const std::vector<listed_worktree>& all) {
  json object;
  put_bytes(object, "place", place);
  auto list = json::array();
  for (const auto& one : all) {
    auto entry = worktree_json(one.about);
    entry["state"] = name_of(one.state);
    entry["reasons"] = list_of(one.reasons);
    list.push_back(std::move(entry));
  }
  object["worktrees"] = std::move(list);
  return object;
}

}  // namespace pinfold
