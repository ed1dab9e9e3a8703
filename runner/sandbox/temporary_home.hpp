// A private home for a command that runs without a sandbox: made empty, removed at the end. (A
// runner that is killed hard leaves it behind; under bubblewrap the home is in the sandbox.)
#pragma once

#include <expected>
#include <string>

#include <pinfold/refusal.hpp>

namespace pinfold {

class temporary_home {
 public:
  /// A new directory below /tmp that only this user can enter.
  [[nodiscard]] static std::expected<temporary_home, refusal> make();
  temporary_home(temporary_home&& other) noexcept;
  temporary_home& operator=(temporary_home&&) = delete;
  ~temporary_home();
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  explicit temporary_home(std::string path) : path_{std::move(path)} {}
  std::string path_;
};

}  // namespace pinfold
