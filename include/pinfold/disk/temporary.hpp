// A new file beside another, filled and then put in its place by a rename. Until then it is removed
// again when it goes out of scope; it never replaces anything by itself.
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <pinfold/disk/kernel.hpp>

namespace pinfold::beneath {

/// A file beside the one that it is to replace; gone again unless it took its place.
class temporary_file {
 public:
  /// Makes one in `directory`, which must stay open; its name begins with ".pinfold-".
  [[nodiscard]] static std::expected<temporary_file, code> beside(int directory) {
    for (int tries = 0; tries < most_tries; ++tries) {
      std::uint64_t number = 0;
      if (::getrandom(&number, sizeof number, 0) != sizeof number) {
        return std::unexpected{code_of(errno)};
      }
      std::array<char, 16> digits{};
      const auto end = std::to_chars(digits.begin(), digits.end(), number, 16).ptr;
      auto name = ".pinfold-" + std::string{digits.begin(), end};
      const int fd =
          open_name(directory, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOCTTY, 0666);
      if (fd >= 0) return temporary_file{directory, std::move(name), descriptor{fd}};
      if (fd != -EEXIST) return std::unexpected{code_of(-fd)};
    }
    return std::unexpected{code::try_again};
  }
  temporary_file(temporary_file&& other) noexcept
      : directory_{other.directory_},
        name_{std::exchange(other.name_, {})},
        file_{std::move(other.file_)} {}
  ~temporary_file() {
    if (!name_.empty()) ::unlinkat(directory_, name_.c_str(), 0);
  }

  [[nodiscard]] std::optional<code> append(std::string_view bytes) const noexcept {
    while (!bytes.empty()) {
      const auto written = ::write(file_.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return code_of(written == 0 ? EIO : errno);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<code> append_all_of(int source) const noexcept {
    std::array<char, 64 * 1024> buffer;
    for (;;) {
      const auto size = ::read(source, buffer.data(), buffer.size());
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) return code_of(errno);
      if (size == 0) return std::nullopt;
      if (auto why = append({buffer.data(), static_cast<std::size_t>(size)})) return why;
    }
  }

  /// The permissions of another file, less its set-id bits, and its owner where the process may set
  /// it (EPERM: it may not, and the file stays its own).
  [[nodiscard]] std::optional<code> take_mode_of(const struct stat& other) const noexcept {
    struct stat own {};
    if (::fstat(file_.get(), &own) != 0) return code_of(errno);
    const bool is_other_owner = own.st_uid != other.st_uid || own.st_gid != other.st_gid;
    if (is_other_owner && ::fchown(file_.get(), other.st_uid, other.st_gid) != 0 &&
        errno != EPERM && errno != EINVAL) {
      return code_of(errno);
    }
    if (::fchmod(file_.get(), other.st_mode & 0777) != 0) return code_of(errno);
    return std::nullopt;
  }

  [[nodiscard]] std::optional<code> flush() const noexcept {
    if (::fsync(file_.get()) != 0) return code_of(errno);
    return std::nullopt;
  }

  /// Gives the file its name in the same directory, in place of what is there, and hands it over,
  /// at its start and with `extra_flags` set.
  [[nodiscard]] std::expected<descriptor, code> put_at(const std::string& name, int extra_flags) {
    if (extra_flags != 0 && ::fcntl(file_.get(), F_SETFL, extra_flags) != 0) {
      return std::unexpected{code_of(errno)};
    }
    if (::lseek(file_.get(), 0, SEEK_SET) < 0) return std::unexpected{code_of(errno)};
    if (::renameat(directory_, name_.c_str(), directory_, name.c_str()) != 0) {
      return std::unexpected{code_of(errno)};
    }
    name_.clear();
    return std::move(file_);
  }

 private:
  temporary_file(int directory, std::string name, descriptor file) noexcept
      : directory_{directory}, name_{std::move(name)}, file_{std::move(file)} {}

  int directory_;
  std::string name_;
  descriptor file_;
};

}  // namespace pinfold::beneath
