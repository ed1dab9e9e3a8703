// Files are followed first, whatever condition their include has; then every name is looked at from
// every place where git may start.
#include "sandbox/git_obeyed.hpp"

#include <algorithm>
#include <utility>

#include <pinfold/path.hpp>

namespace pinfold {
namespace {

constexpr int deepest_include = 10;  // MAX_INCLUDE_DEPTH in git's config.c

bool is_include(const git_setting& setting) {
  return (setting.section == "include" || setting.section == "includeif") && setting.key == "path";
}

bool is_core(const git_setting& setting, std::string_view key) {
  return setting.section == "core" && setting.key == key;
}

/// Characters that end a word, or begin one, in what a shell is given.
constexpr std::string_view between_words = " \t\n\"'`;&|()<>=,$";

}  // namespace

git_step git_obeyed::add(const git_naming& repository) {
  if (!of_the_caller_) {
    if (auto done = follow_global(); !done) return done;
  }
  settings own;
  followed_.clear();
  for (const auto& file : repository.files) {
    if (auto done = follow(file, 0, own); !done) return done;
  }
  if (auto done = add_all(*of_the_caller_, repository.bases); !done) return done;
  return add_all(own, repository.bases);
}

git_step git_obeyed::follow_global() {
  settings all;
  for (const auto& source : global_.files) {
    if (source.text.size() >= ground_.budget.most_of_a_file()) {
      return std::unexpected{unusable(source.path, "it is larger than a mebibyte")};
    }
    auto done = follow({source.path, parse_git_config(source.text)}, 0, all);
    if (!done) return done;
  }
  of_the_caller_ = std::move(all);
  return {};
}

/// The settings of a file, then of those that it includes; a file that comes again brings nothing
/// new, whatever the order, since every setting counts here and not the last one alone.
git_step git_obeyed::follow(const git_settings& file, int depth, settings& into) {
  if (!followed_.insert(file.path).second) return {};
  const std::string directory{parent_of(file.path)};
  std::vector<git_settings> included;
  for (const auto& setting : file.all) {
    if (!is_include(setting)) {
      into.push_back(setting);
      continue;
    }
    if (setting.value.empty() || !followed_.insert(directory + '\0' + setting.value).second)
      continue;
    auto found = include(setting.value, directory);
    if (!found) return std::unexpected{std::move(found.error())};
    if (*found) included.push_back(std::move(**found));
  }
  for (const auto& one : included) {
    if (depth == deepest_include) {
      return std::unexpected{unusable(one.path, "git's configuration includes it too deep")};
    }
    if (auto done = follow(one, depth + 1, into); !done) return done;
  }
  return {};
}

std::expected<std::optional<git_settings>, refusal> git_obeyed::include(
    std::string_view named, const std::string& directory) {
  auto way = way_to(named, directory);
  if (!way) return std::unexpected{std::move(way.error())};
  if (way->where == git_way::place::inside) {
    if (!way->kind && mode_ == git_files::as_found) return std::nullopt;
    if (auto done = check_way(*way); !done) return std::unexpected{std::move(done.error())};
    if (!way->kind) {
      return std::unexpected{
          unusable(way->path, "git's configuration includes it and it is not there")};
    }
    if (way->kind != file_kind::file) {
      return std::unexpected{unusable(way->path, "it is not a file")};
    }
    if (auto done = carving_.carve(way->tail, file_kind::file); !done) {
      return std::unexpected{std::move(done.error())};
    }
  }
  if (way->kind != file_kind::file) return std::nullopt;
  auto text = text_of(ground_, way->path);
  if (!text) return std::unexpected{std::move(text.error())};
  if (!*text) return std::nullopt;
  return git_settings{std::move(way->path), parse_git_config(**text)};
}

std::expected<git_way, refusal> git_obeyed::way_to(std::string_view named,
                                                   const std::string& start) const {
  if (named.starts_with("~/") && !global_.home.empty()) {
    return find_way(ground_, global_.home + std::string{named.substr(1)}, start);
  }
  if (named.empty() || named.starts_with('~') || named.contains('\0')) return git_way{};
  return find_way(ground_, named, start);
}

/// What may be replaced on the way there cannot be held.
git_step git_obeyed::check_way(const git_way& way) const {
  if (!way.link.empty()) {
    return std::unexpected{
        unusable(ground_.path_of(way.link), "git's configuration names it through a link")};
  }
  if (way.turns_back) {
    return std::unexpected{unusable(
        way.path, "git's configuration names it with \"..\" after a directory; name it plainly")};
  }
  return {};
}

git_step git_obeyed::add_all(const settings& all, const std::vector<std::string>& bases) {
  for (const auto& setting : all) {
    if (!is_obeyed_by_git(setting)) continue;
    for (const auto& base : bases) {
      auto what = base + '\0' + setting.section + '\0' + setting.key + '\0' + setting.value;
      if (!looked_at_.insert(std::move(what)).second) continue;
      if (auto done = add_one(setting, base); !done) return done;
    }
  }
  return {};
}

git_step git_obeyed::add_one(const git_setting& setting, const std::string& base) {
  if (is_core(setting, "hookspath")) return add_hooks(setting.value, base);
  if (is_core(setting, "attributesfile")) return add_word(setting.value, base, held::yes);
  if (is_core(setting, "worktree")) return {};
  if (setting.section == "alias") {
    if (!setting.value.starts_with('!')) return {};
    return add_words(setting.value, base, held::no);
  }
  return add_words(setting.value, base, held::yes);
}

git_step git_obeyed::add_hooks(std::string_view named, const std::string& base) {
  auto way = way_to(named, base);
  if (!way) return std::unexpected{std::move(way.error())};
  if (way->where == git_way::place::outside) return {};
  if (way->where == git_way::place::top) {
    return std::unexpected{
        unusable(way->path, "git takes hooks from the top of the workspace, which is written to")};
  }
  if (carving_.covers(way->tail)) return {};
  if (auto done = check_way(*way); !done) return done;
  state_.hooks_paths.push_back(way->tail);
  if (!way->kind) return {};
  if (way->kind != file_kind::directory) {
    return std::unexpected{unusable(way->path, "it is not a directory")};
  }
  return carving_.carve(way->tail, file_kind::directory);
}

/// A value may be a command line: git hands it to a shell.
git_step git_obeyed::add_words(std::string_view value, const std::string& base, held how) {
  if (value.starts_with('!')) value.remove_prefix(1);
  bool is_first = true;
  while (!value.empty()) {
    value.remove_prefix(std::min(value.find_first_not_of(between_words), value.size()));
    const auto word = value.substr(0, value.find_first_of(between_words));
    value.remove_prefix(word.size());
    // The first one without a slash is looked up in PATH.
    const bool may_be_file = word.contains('/') || (!is_first && !word.starts_with('-'));
    is_first = false;
    if (word.empty() || !may_be_file) continue;
    if (auto done = add_word(word, base, how); !done) return done;
  }
  return {};
}

git_step git_obeyed::add_word(std::string_view word, const std::string& base, held how) {
  auto way = way_to(word, base);
  if (!way) return std::unexpected{std::move(way.error())};
  if (!way->link.empty()) state_.obeyed.push_back(way->link);
  if (way->where != git_way::place::inside || carving_.covers(way->tail)) return {};
  const bool is_plain = way->link.empty() && !way->turns_back;
  if (way->kind == file_kind::file && is_plain && how == held::yes) {
    return carving_.carve(way->tail, file_kind::file);
  }
  const bool may_come = !way->kind && (word.contains('/') || word.contains('.'));
  if (way->kind == file_kind::file || may_come) state_.obeyed.push_back(way->tail);
  return {};
}

}  // namespace pinfold
