// Paths in a configuration are resolved as tools' paths are, so a name that leads out of the
// workspace is nobody's business here.
#include "sandbox/git_obeyed.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <utility>

#include <pinfold/disk/resolve.hpp>
#include <pinfold/grant.hpp>
#include <pinfold/path.hpp>

#include "sandbox/git_config.hpp"

namespace pinfold {
namespace {

refusal unusable(std::string path, std::string why) {
  return refusal{.error = code::carve_out_unusable,
                 .op = operation::execute,
                 .path = std::move(path),
                 .resolved = {},
                 .boundary = {},
                 .detail = std::move(why)};
}

class obeyed {
 public:
  obeyed(git_state& state, const std::string& workspace) : state_{state}, workspace_{workspace} {}

  std::expected<void, refusal> add_hooks(std::string_view named) {
    const auto place = place_of(named, workspace_);
    if (!place) return {};
    state_.hooks_path = tail_below(workspace_, *place).value_or("");
    struct stat about {};
    if (::lstat(place->c_str(), &about) != 0) return {};
    if (!S_ISDIR(about.st_mode)) return std::unexpected{unusable(*place, "it is not a directory")};
    return carve(*place, spelled(named, workspace_), file_kind::directory);
  }

  std::expected<void, refusal> add_included(std::string_view named) {
    const auto start = workspace_ + "/.git";
    const auto place = place_of(named, start);
    if (!place) return {};
    struct stat about {};
    if (::lstat(place->c_str(), &about) != 0) {
      return std::unexpected{unusable(*place, "git's configuration includes it and it is not there")};
    }
    if (!S_ISREG(about.st_mode)) return std::unexpected{unusable(*place, "it is not a file")};
    return carve(*place, spelled(named, start), file_kind::file);
  }

  /// The first word of a value, which may be a command line.
  void add_program(std::string_view value) {
    if (value.starts_with('!')) value.remove_prefix(1);
    const auto word = value.substr(0, value.find_first_of(" \t"));
    if (!word.contains('/')) return;
    const auto place = place_of(word, workspace_);
    if (!place) return;
    if (const auto tail = tail_below(workspace_, *place); tail && !tail->empty()) {
      state_.obeyed.emplace_back(*tail);
    }
  }

 private:
  /// The canonical place when it lies in the workspace, there or not, and is not carved out already.
  [[nodiscard]] std::optional<std::string> place_of(std::string_view named,
                                                    const std::string& start) const {
    if (named.empty() || named.starts_with('~')) return std::nullopt;
    const auto found = resolve(grant{workspace_}, operation::write, named, start);
    if (!found || found->where != region::workspace) return std::nullopt;
    if (found->canonical == workspace_) return std::nullopt;
    return found->canonical;
  }

  /// The same name without a look at the disk; empty where that cannot be said.
  [[nodiscard]] static std::string spelled(std::string_view named, const std::string& start) {
    std::string path{named.starts_with('/') ? std::string_view{} : std::string_view{start}};
    for (auto name : components{named}) {
      if (name == ".") continue;
      if (name != "..") {
        path += '/';
        path += name;
      } else if (path.contains('/')) {
        path.resize(path.rfind('/'));
      }
    }
    return path;
  }

  std::expected<void, refusal> carve(const std::string& place, const std::string& written,
                                     file_kind type) {
    if (place != written) {
      return std::unexpected{unusable(written, "git's configuration names it through a link")};
    }
    if (std::ranges::find(state_.carve_outs, place, &carved_path::path) !=
        state_.carve_outs.end()) {
      return {};
    }
    for (auto slash = place.find('/', workspace_.size() + 1); slash != std::string::npos;
         slash = place.find('/', slash + 1)) {
      auto above = place.substr(0, slash);
      if (std::ranges::find(state_.pinned, above) == state_.pinned.end()) {
        state_.pinned.push_back(std::move(above));
      }
    }
    state_.carve_outs.push_back({.path = place,
                                 .kind = carve_kind::host_run,
                                 .type = type,
                                 .shell = carved_path::shown::visible});
    return {};
  }

  git_state& state_;
  const std::string& workspace_;
};

bool is_include(const git_setting& setting) {
  return (setting.section == "include" || setting.section == "includeif") && setting.key == "path";
}

}  // namespace

std::expected<void, refusal> add_what_is_obeyed(git_state& state, const std::string& workspace,
                                                std::string_view configuration,
                                                std::string_view global_hooks_path) {
  obeyed add{state, workspace};
  std::string hooks{global_hooks_path};
  for (const auto& setting : parse_git_config(configuration)) {
    if (setting.section == "core" && setting.key == "hookspath") {
      hooks = setting.value;
    } else if (is_include(setting)) {
      if (auto done = add.add_included(setting.value); !done) return done;
    } else if (is_obeyed_by_git(setting)) {
      add.add_program(setting.value);
    }
  }
  return add.add_hooks(hooks);
}

}  // namespace pinfold
