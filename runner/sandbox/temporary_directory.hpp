// A private directory: made empty, removed with all in it at the end. It is the home of a command
// that runs without a sandbox, and the workspace of a probe. (A program that is killed hard leaves it
// behind.)
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include <pinfold/refusal.hpp>

namespace pinfold {

class temporary_directory {
 public:
  /// A new directory "/tmp/pinfold-<purpose>-XXXXXX" that only this user can enter. Errors:
  /// ResourceExhausted.
  [[nodiscard]] static std::expected<temporary_directory, refusal> make(std::string_view purpose);
  temporary_directory(temporary_directory&& other) noexcept;
  temporary_directory& operator=(temporary_directory&&) = delete;
  ~temporary_directory();
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  explicit temporary_directory(std::string path) : path_{std::move(path)} {}
  std::string path_;
};

}  // namespace pinfold
