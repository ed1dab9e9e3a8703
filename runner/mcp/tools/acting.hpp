// One call of a file tool: the workspace as it is held now, the guard of this moment, and what was
// decided. What a tool does to the disk it does through here, so that every path is resolved, asked
// of the guard and acted on in one; nothing is ever opened by its name.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/disk/open.hpp>
#include <pinfold/guard.hpp>

#include "mcp/tool.hpp"

namespace pinfold::mcp {

/// What becomes of a path that leads out in mode `ask`. Walks are refused: a person approves one
/// place, not all that lies below it.
enum class leading_out : std::uint8_t { asked_about, refused };

/// What a tool does at the place that its path leads to, below `root`. Errors as those of
/// `beneath::attempt`: what a change of the tree may have caused is tried again.
using act_at_place =
    std::function<std::expected<void, code>(const beneath::held_root& root, const resolved& place)>;

/// A file that was opened for reading, and where its path led.
struct opened_file {
  descriptor file;
  std::string canonical;
};

/// Where the two ends of a rename led.
struct moved_file {
  std::string from;
  std::string to;
};

class acting {
 public:
  /// Error: why the workspace is not held now.
  [[nodiscard]] static std::expected<acting, refusal> begin(const tool_call& call);

  /// `act` where `path` leads, if the guard allows `op` there or a person approves it: the canonical
  /// path then. Errors: those of the resolver, the guard's and the act's. In mode `ask` all paths that
  /// lead out are answered alike, whatever is there: a refusal is no oracle. `manner` as for `approval`.
  /// What the session keeps is refused (`harness_state`) without a question.
  [[nodiscard]] std::expected<std::string, refusal> perform(
      operation op, std::string_view path, const act_at_place& act,
      leading_out elsewhere = leading_out::asked_about, std::string_view manner = {});

  /// A regular file for reading, through the disk's straight way where there is one.
  [[nodiscard]] std::expected<opened_file, refusal> open_read(
      std::string_view path, leading_out elsewhere = leading_out::asked_about);

  /// Both ends are asked about as one call.
  [[nodiscard]] std::expected<moved_file, refusal> rename(std::string_view from,
                                                          std::string_view to, overwrite existing);

  [[nodiscard]] const workspace& ws() const noexcept { return *ws_; }
  [[nodiscard]] const guard& now() const noexcept { return now_; }
  [[nodiscard]] const tool_call& asked() const noexcept { return call_; }
  [[nodiscard]] bool is_cancelled() const noexcept { return call_.cancelled.stop_requested(); }

  /// The labels for what was read there.
  void after_read(std::string_view canonical) { call_.now.after_read(*ws_, canonical); }
  /// The labels for the names that were listed there: outside of the workspace those of a read.
  void after_list(std::string_view canonical);
  /// For what a walk looked at on its own, once the guard has allowed it.
  void note_read(std::string_view canonical);

  /// The result, with what was decided on the way to it.
  [[nodiscard]] tool_result finish(tool_result result);

 private:
  acting(const tool_call& call, std::shared_ptr<const workspace> ws)
      : call_{call}, ws_{std::move(ws)}, now_{call.now.guard_for(*ws_)} {}

  [[nodiscard]] std::expected<std::string, refusal> inside(operation op, std::string_view path,
                                                           const act_at_place& act);
  [[nodiscard]] std::expected<std::string, refusal> once_approved(operation op,
                                                                  std::string_view path,
                                                                  const act_at_place& act,
                                                                  refusal first,
                                                                  std::string_view manner);
  [[nodiscard]] std::expected<moved_file, refusal> rename_inside(std::string_view from,
                                                                 std::string_view to,
                                                                 overwrite existing);
  [[nodiscard]] std::expected<moved_file, refusal> rename_approved(std::string_view from,
                                                                   std::string_view to,
                                                                   overwrite existing,
                                                                   refusal first);
  [[nodiscard]] std::string place_to_ask_about(operation op, std::string_view path) const;
  [[nodiscard]] bool may_ask_about(const refusal& why) const noexcept;
  [[nodiscard]] std::expected<one_call_grant, refusal> ask(const call& made, std::string_view path,
                                                           const refusal& first,
                                                           std::string_view manner);
  [[nodiscard]] bool is_kept(operation op, const std::string& canonical) const;
  void note_refused(operation op, std::string_view path, const refusal& why);

  const tool_call& call_;
  std::shared_ptr<const workspace> ws_;
  guard now_;
  std::vector<effect> effects_;
};

}  // namespace pinfold::mcp
