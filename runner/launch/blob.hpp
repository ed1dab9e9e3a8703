// Keeping the whole of an output stream in a file, once it is more than what the record keeps. A
// file that cannot be made or written to the end is told in the record; the run goes on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/runner/record.hpp>

namespace pinfold {

/// Where whole outputs go: the caller's own directory, which the command cannot write to.
struct blob_place {
  int directory{-1};                ///< borrowed, O_PATH is enough; negative: none are kept
  std::string path;                 ///< its name, for the record
  std::uint64_t most{64ULL << 20};  ///< bytes of each file
};

/// The file of one stream. Made at the first write: a new name each time, mode 0600, never through
/// a link and never over something that is there.
class blob {
 public:
  /// `stream` is part of the name. Nothing is made yet.
  blob(const blob_place& where, std::string_view stream);

  [[nodiscard]] bool is_wanted() const noexcept { return where_.directory >= 0; }

  /// Writes all of it, or stops for good at the bound or at the first error. Blocks for as long as
  /// the disk does.
  void write(std::string_view bytes);

  /// Closes the file. What is to be told about it; nothing when none was needed. What the file
  /// system reports only after this, while it writes back, is not known.
  [[nodiscard]] std::optional<kept_blob> finish();

 private:
  void open();
  void fail(int error);
  void write_some(std::string_view bytes);

  blob_place where_;
  std::string name_;
  descriptor file_;
  std::uint64_t most_{0};
  std::optional<kept_blob> told_;
};

}  // namespace pinfold
