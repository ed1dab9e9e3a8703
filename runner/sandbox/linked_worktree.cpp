// What lies outside is the caller's; what the file .git says about it may be a command's.
#include "sandbox/linked_worktree.hpp"

#include <string_view>
#include <utility>

#include <pinfold/path.hpp>

#include "sandbox/git_config.hpp"
#include "sandbox/git_state/ground.hpp"

namespace pinfold {
namespace {

using found_worktree = std::expected<std::optional<linked_worktree>, refusal>;

class acceptance {
 public:
  acceptance(const git_ground& ground, std::string gitdir)
      : ground_{ground}, gitdir_{std::move(gitdir)} {}

  found_worktree run() const {
    auto shared = text_of(ground_, gitdir_ + "/commondir");
    if (!shared) return std::unexpected{std::move(shared.error())};
    return *shared ? as_worktree(path_in(**shared)) : as_submodule();
  }

 private:
  found_worktree as_worktree(std::string_view shared) const {
    auto common = find_way(ground_, shared, gitdir_);
    if (!common) return std::unexpected{std::move(common.error())};
    const auto worktrees = common->path + "/worktrees";
    if (common->kind != file_kind::directory || parent_of(gitdir_) != worktrees) return refused();
    auto named = text_of(ground_, gitdir_ + "/gitdir");
    if (!named) return std::unexpected{std::move(named.error())};
    if (!*named) return refused();
    const auto back = path_in(**named);
    if (back.empty() || back.contains('\0')) return refused();
    auto way = find_way(ground_, back, gitdir_);
    if (!way) return std::unexpected{std::move(way.error())};
    if (way->path != ground_.path_of(".git")) return refused();
    return linked_worktree{gitdir_, common->path, true};
  }

  found_worktree as_submodule() const {
    auto text = text_of(ground_, gitdir_ + "/config");
    if (!text) return std::unexpected{std::move(text.error())};
    for (const auto& setting : parse_git_config(text->value_or(""))) {
      if (setting.section != "core" || setting.key != "worktree") continue;
      if (setting.value.empty() || setting.value.contains('\0')) continue;
      auto way = find_way(ground_, setting.value, gitdir_);
      if (!way) return std::unexpected{std::move(way.error())};
      if (way->where == git_way::place::top) return linked_worktree{gitdir_, gitdir_, false};
    }
    return refused();
  }

  /// The same words whatever is there, so that nobody learns what is.
  [[nodiscard]] std::unexpected<refusal> refused() const {
    return std::unexpected{refusal{.error = code::gitdir_outside,
                                   .op = operation::execute,
                                   .path = ground_.path_of(".git"),
                                   .resolved = {},
                                   .boundary = ground_.workspace,
                                   .detail = {}}};
  }

  const git_ground& ground_;
  std::string gitdir_;
};

}  // namespace

found_worktree find_linked_worktree(const std::string& workspace, int directory) {
  if (kind_of(directory, ".git") != file_kind::file) return std::nullopt;
  git_budget budget{{}};
  const git_ground ground{workspace, directory, budget};
  auto text = text_of(ground, ground.path_of(".git"));
  if (!text) return std::unexpected{std::move(text.error())};
  constexpr std::string_view prefix = "gitdir: ";
  if (!*text || !(*text)->starts_with(prefix)) return std::nullopt;
  const auto named = path_in(std::string_view{**text}.substr(prefix.size()));
  if (named.empty() || named.contains('\0')) return std::nullopt;  // git takes it for nothing
  auto way = find_way(ground, named, workspace);
  if (!way) return std::unexpected{std::move(way.error())};
  if (way->where != git_way::place::outside) return std::nullopt;
  return acceptance{ground, std::move(way->path)}.run();
}

}  // namespace pinfold
