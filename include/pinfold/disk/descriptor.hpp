// An owned file descriptor. It never copies and always closes.
#pragma once

#include <unistd.h>

#include <utility>

namespace pinfold {

/// Closes what it owns; -1 is none.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int owned) noexcept : fd_{owned} {}
  descriptor(descriptor&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
  descriptor& operator=(descriptor&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() { reset(); }

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
  [[nodiscard]] explicit operator bool() const noexcept { return is_open(); }
  /// Hands the descriptor over: the caller closes it from now on.
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }
  void reset(int owned = -1) noexcept {
    if (fd_ >= 0) ::close(fd_);
    fd_ = owned;
  }

 private:
  int fd_{-1};
};

}  // namespace pinfold
