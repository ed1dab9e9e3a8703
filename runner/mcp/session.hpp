// What one client's session holds: the workspace and its grant, the mode, the gate, what was taken in,
// and the last decisions. Every member may be called from several threads at once. Nothing that a
// client sends changes any of it but the labels, which only grow.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinfold/disk/open.hpp>
#include <pinfold/guard.hpp>
#include <pinfold/network.hpp>
#include <pinfold/refusal.hpp>
#include <pinfold/runner/bounds.hpp>
#include <pinfold/runner/record.hpp>
#include <pinfold/runner/request.hpp>
#include <pinfold/runner/runner.hpp>
#include <pinfold/settings.hpp>
#include <pinfold/taint.hpp>

#include "mcp/kept_file.hpp"

namespace pinfold::mcp {

/// Whether commands are held by the kernel, or the harness said that they need not be.
enum class commands : std::uint8_t { confined, unconfined_by_request };

/// What the server was started with.
struct session_settings {
  /// Of each command: workspace, mode, gate, first labels, caches, egress; `read_roots` are canonical
  /// and count for file tools too.
  run_request defaults;
  limits bounds;         ///< of each command; a call may ask for less time, never for more
  commands boundary{commands::confined};
  taint on_network{taint::untrusted_content};  ///< what a command with the network takes in
  taint on_read_outside{taint::private_data};  ///< what reading outside of the workspace takes in
};

/// One decision, as `pinfold://grant` shows it. `asked` is as the model spelled it.
struct decision_taken {
  std::uint64_t call{0};
  std::string tool;
  operation op{operation::read};
  std::string asked;
  std::string canonical;
  verdict::answer says{verdict::refuse};
  std::optional<code> why;  ///< where it is no plain allow
};

class session {
 public:
  /// Holds the workspace. Errors: those of `canonical_workspace` and of `runner::carve_outs`.
  [[nodiscard]] static std::expected<std::unique_ptr<session>, refusal> open(
      session_settings settings, runner launcher);

  /// The workspace as it is held now, with the carve-outs that were found last. Kept by whoever uses
  /// it: `look_again` puts another in its place. Error: why it could not be held anew; every call is
  /// then refused until it can, which is tried each time.
  [[nodiscard]] std::expected<std::shared_ptr<const workspace>, refusal> held();

  /// Looks for carve-outs anew: after whatever may have changed what git obeys. Never follows the
  /// path to another directory than the one that was held first (WorkspaceGone).
  void look_again();

  /// No tool changes this file from now on. To be called before anything is served.
  void keep(kept_file file) { kept_ = std::move(file); }
  /// Whether a change of `canonical` is one of the file that is kept, or of where it lies.
  [[nodiscard]] bool is_kept(const std::string& canonical) const {
    return kept_ && kept_->is_held_by(canonical);
  }

  [[nodiscard]] const session_settings& settings() const noexcept { return settings_; }
  [[nodiscard]] const runner& launcher() const noexcept { return launcher_; }
  [[nodiscard]] mode present() const noexcept { return settings_.defaults.present; }
  [[nodiscard]] enforcement boundary() const noexcept;

  /// The guard of this moment. Views `ws`, which must outlive it.
  [[nodiscard]] guard guard_for(const workspace& ws) const;

  [[nodiscard]] taint labels() const;
  /// Adds what a call took in; the labels then.
  taint take_in(taint more);
  /// What reading `canonical` took in: what the engine says, but outside of the workspace what the
  /// server was started with.
  taint after_read(const workspace& ws, std::string_view canonical);

  void note(std::vector<decision_taken> decisions);
  /// The last decisions, the oldest first.
  [[nodiscard]] std::vector<decision_taken> last_decisions() const;
  static constexpr std::size_t most_decisions = 100;

 private:
  session(session_settings settings, runner launcher) noexcept;
  [[nodiscard]] std::expected<std::shared_ptr<const workspace>, refusal> hold();

  const session_settings settings_;
  const runner launcher_;
  std::optional<kept_file> kept_;
  std::mutex looking_;
  std::optional<std::pair<dev_t, ino_t>> first_;  ///< the directory that was held first
  mutable std::mutex lock_;
  std::expected<std::shared_ptr<const workspace>, refusal> held_;
  session_taint labels_;
  std::deque<decision_taken> last_;
};

}  // namespace pinfold::mcp
