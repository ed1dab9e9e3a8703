// The process that attaches mounts by descriptor (launch_plan::attached): started while bwrap makes the
// others, told the sandbox when it stands, gone when it is done.
#pragma once

#include <sys/types.h>

#include <expected>
#include <optional>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/sandbox/launch_plan.hpp>

#include "launch/process.hpp"
#include "launch/stage_protocol.hpp"

namespace pinfold {

class attacher {
 public:
  /// Starts it for the plan's attached mounts; `image` is stage two's, filled and sealed. Error: an
  /// errno.
  [[nodiscard]] static std::expected<attacher, int> start(const launch_plan& plan,
                                                          const descriptor& image);
  attacher(attacher&&) noexcept = default;
  attacher& operator=(attacher&&) = delete;
  /// Kills it where it is not done, and waits for it.
  ~attacher();

  /// Where its answer can be waited for.
  [[nodiscard]] int channel() const noexcept { return channel_.get(); }

  /// Names the sandbox by its PID 1, which must wait for us until the answer is there. False: it is
  /// not listening.
  [[nodiscard]] bool attach_to(pid_t init) const noexcept;

  /// Its answer, once the channel is readable: `attached`, or what failed; nothing when it is gone
  /// without a word.
  [[nodiscard]] std::optional<stage::message> answer() const noexcept;

 private:
  attacher(process child, descriptor channel)
      : child_{std::move(child)}, channel_{std::move(channel)} {}

  process child_;
  descriptor channel_;
};

}  // namespace pinfold
