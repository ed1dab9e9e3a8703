// The entries of an open directory, one after the other: a directory of any size in the memory of one
// buffer.
#pragma once

#include <dirent.h>

#include <expected>
#include <memory>
#include <string_view>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/disk/entry.hpp>
#include <pinfold/error.hpp>

namespace pinfold::mcp {

/// One entry; the name is gone with the next one.
struct seen_entry {
  std::string_view name;
  file_type type{file_type::file};
};

/// The name of a type in an answer.
[[nodiscard]] constexpr std::string_view type_name(file_type type) noexcept {
  switch (type) {
    case file_type::file:
      return "file";
    case file_type::directory:
      return "directory";
    case file_type::link:
      return "link";
    case file_type::special:
      break;
  }
  return "special";
}

class entries {
 public:
  /// `directory` is open for reading.
  [[nodiscard]] static std::expected<entries, code> of(descriptor directory);

  /// The next one but "." and ".."; one with an empty name at the end.
  [[nodiscard]] std::expected<seen_entry, code> next();
  /// Begins anew.
  void rewind() noexcept { ::rewinddir(open_.get()); }
  /// The directory itself.
  [[nodiscard]] int fd() const noexcept { return ::dirfd(open_.get()); }

 private:
  struct closer {
    void operator()(DIR* open) const noexcept { ::closedir(open); }
  };
  explicit entries(DIR* open) noexcept : open_{open} {}
  std::unique_ptr<DIR, closer> open_;
};

}  // namespace pinfold::mcp
