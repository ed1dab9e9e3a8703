// `pinfold worktree create|finish|list`: a working tree of its own for each agent.
#include <unistd.h>

#include <expected>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/App.hpp>
#include <nlohmann/json.hpp>

#include <pinfold/runner/worktree.hpp>

#include "cli/commands.hpp"
#include "cli/line.hpp"
#include "cli/options.hpp"
#include "cli/text.hpp"
#include "json/worktree.hpp"

namespace pinfold {
namespace {

constexpr int refused_code = 1;

/// Each line is safe for a terminal by itself.
std::string safe_lines(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const auto end = text.find('\n');
    safe += terminal_safe(text.substr(0, end)) + "\n";
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return safe;
}

class worktree_subcommand : public command {
 public:
  explicit worktree_subcommand(CLI::App& app) {
    app.add_option("action", action_,
                   "create: cut one from HEAD and print its path; finish: remove it unless something "
                   "would be lost; list: all that are there")
        ->required()
        ->check(CLI::IsMember({"create", "finish", "list"}));
    path_option_ = app.add_option("path", path_,
                                  "For finish: the worktree, by its path, or by its name alone where only one is called so")
                       ->type_name("PATH");
    repository_option_ =
        app.add_option("--repo", repository_,
                       "For create: a folder of the parent's working tree (default: the current "
                       "directory)")
            ->type_name("DIR");
    name_option_ = app.add_option("--name", name_,
                                  "For create: what it is called; its branch is pinfold/NAME/work "
                                  "(default: one by chance)")
                       ->type_name("NAME");
    app.add_flag("--json", json_, "Print one JSON object");
    app.footer(
        "A worktree in which git would show anything is never removed.\n\n"
        "Example:\n  pinfold worktree create --name fix\n\n"
        "Exit code: 0 when it is done, also where a worktree is kept; 1 when it was refused; 2 for\n"
        "bad usage.");
  }

  int run(const invocation& call) override {
    if (const auto why = misuse(); !why.empty()) {
      complain("worktree", why);
      return usage_error;
    }
    const auto trees = worktrees::for_caller(call.environment.entries());
    if (!trees) return refuse(trees.error());
    if (action_ == "create") return create(*trees, call);
    if (action_ == "finish") return finish(*trees, call);
    return list(*trees);
  }

 private:
  [[nodiscard]] std::string misuse() const {
    const bool is_create = action_ == "create";
    if (action_ == "finish" && path_.empty()) return "finish: no path: name the worktree";
    if (action_ != "finish" && path_option_->count() > 0) return action_ + " takes no path";
    if (!is_create && repository_option_->count() > 0) return "--repo is for create";
    if (!is_create && name_option_->count() > 0) return "--name is for create";
    if (is_create && name_option_->count() > 0 && name_.empty()) return "--name: it is empty";
    if (is_create && repository_.empty()) return "--repo: the path is empty";
    return {};
  }

  int refuse(const refusal& why) const {
    if (json_) {
      json answer;
      answer["refusal"] = to_json(why);
      (void)write_line(STDOUT_FILENO, answer);
    }
    complain("worktree", why);
    return refused_code;
  }

  int create(const worktrees& trees, const invocation& call) const {
    const auto made = trees.create(
        {.repository = expand_home(repository_, call.environment), .name = name_});
    if (!made) return refuse(made.error());
    if (json_) return write_line(STDOUT_FILENO, worktree_json(*made)) ? 0 : refused_code;
    return write_all(STDOUT_FILENO, terminal_safe(made->path) + "\n") ? 0 : refused_code;
  }

  /// The path that was given, or that of the only worktree with the name that was given.
  [[nodiscard]] std::expected<std::string, refusal> path_of(const worktrees& trees,
                                                            const invocation& call) const {
    if (path_.contains('/') || path_.starts_with('~')) return expand_home(path_, call.environment);
    const auto all = trees.list();
    if (!all) return std::unexpected{all.error()};
    std::vector<std::string> found;
    for (const auto& one : *all) {
      if (one.about.name == path_) found.push_back(one.about.path);
    }
    if (found.size() == 1) return found.front();
    refusal why;
    why.error = found.empty() ? code::not_found : code::invalid_argument;
    why.op = operation::remove;
    why.path = path_;
    why.detail = found.empty() ? "no worktree has this name; pinfold worktree list shows all"
                               : "worktrees of several repositories have this name; give the path";
    return std::unexpected{std::move(why)};
  }

  int finish(const worktrees& trees, const invocation& call) const {
    const auto path = path_of(trees, call);
    if (!path) return refuse(path.error());
    const auto done = trees.finish(*path);
    if (!done) return refuse(done.error());
    if (json_) return write_line(STDOUT_FILENO, worktree_json(*done)) ? 0 : refused_code;
    return write_all(STDOUT_FILENO, safe_lines(done->summary)) ? 0 : refused_code;
  }

  int list(const worktrees& trees) const {
    const auto all = trees.list();
    if (!all) return refuse(all.error());
    if (json_) return write_line(STDOUT_FILENO, worktrees_json(trees.place(), *all)) ? 0 : refused_code;
    std::string text;
    for (const auto& one : *all) {
      text += std::string{name_of(one.state)} + "\t" + terminal_safe(one.about.path) + "\t" +
              terminal_safe(one.about.branch) + "\n";
      for (const auto& reason : one.reasons) text += "  " + terminal_safe(reason) + "\n";
    }
    return write_all(STDOUT_FILENO, text) ? 0 : refused_code;
  }

  std::string action_;
  std::string path_;
  std::string repository_{"."};
  std::string name_;
  bool json_{false};
  CLI::Option* path_option_{nullptr};
  CLI::Option* repository_option_{nullptr};
  CLI::Option* name_option_{nullptr};
};

}  // namespace

std::unique_ptr<command> make_worktree(CLI::App& app) {
  return std::make_unique<worktree_subcommand>(app);
}

}  // namespace pinfold
