#include "path/checks.hpp"

#include <optional>
#include <string_view>
#include <vector>

#include <pinfold/grant.hpp>

#include "path/model.hpp"
#include "support/target.hpp"

namespace pinfold_fuzz {

namespace {

using pinfold::carve_kind;
using pinfold::region;
using pinfold::root_access;

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

}  // namespace

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

}  // namespace pinfold_fuzz
