// gitformat-index(5). Entries are not told apart by length but by their flags, and names of version 4
// are what the one before had, cut and carried on; so all of it is walked.
#include "git/git_index.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>

#include <pinfold/path.hpp>

namespace pinfold {
namespace {

class reader {
 public:
  explicit reader(std::string_view bytes) : bytes_{bytes} {}

  [[nodiscard]] bool has(std::size_t count) const { return bytes_.size() - at_ >= count; }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }

  std::string_view take(std::size_t count) {
    const auto text = bytes_.substr(at_, count);
    at_ += text.size();
    return text;
  }
  /// Big-endian; the bytes must be there.
  std::uint32_t number(std::size_t width) {
    std::uint32_t value = 0;
    for (char c : take(width)) value = (value << 8) | static_cast<unsigned char>(c);
    return value;
  }
  /// Up to a NUL, which is taken as well; nothing when there is none.
  std::optional<std::string_view> text() {
    const auto end = bytes_.find('\0', at_);
    if (end == bytes_.npos) return std::nullopt;
    const auto found = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return found;
  }
  /// git's number of variable width (its varint.c), or nothing.
  std::optional<std::size_t> varint() {
    std::size_t value = 0;
    for (int i = 0; i < 9 && has(1); ++i) {
      const auto c = number(1);
      value = i == 0 ? (c & 127U) : ((value + 1) << 7) + (c & 127U);
      if ((c & 128U) == 0) return value;
    }
    return std::nullopt;
  }

 private:
  std::string_view bytes_;
  std::size_t at_{0};
};

constexpr std::size_t before_mode = 24;        // two times, device, inode
constexpr std::size_t from_mode_to_name = 16;  // mode, owner, group, size; then name and flags
constexpr std::uint32_t gitlink_type = 0160000;
constexpr std::size_t most_gitlinks = 4096;

/// True at the end of the extensions, which fill what is left up to the checksum.
std::expected<void, index_error> pass_extensions(reader& in, std::size_t hash) {
  while (in.left() > hash) {
    if (!in.has(8 + hash)) return std::unexpected{index_error::damaged};
    const auto name = in.take(4);
    const std::size_t size = in.number(4);
    if (!in.has(size + hash)) return std::unexpected{index_error::damaged};
    const auto body = in.take(size);
    const bool names_another =
        name == "link" && body.substr(0, hash).find_first_not_of('\0') != std::string_view::npos;
    if (names_another) return std::unexpected{index_error::split};
  }
  if (in.left() != hash) return std::unexpected{index_error::damaged};
  return {};
}

/// With names of objects of `hash` bytes.
std::expected<std::vector<std::string>, index_error> gitlinks_with(std::string_view bytes,
                                                                   std::size_t hash) {
  reader in{bytes};
  if (!in.has(12) || in.take(4) != "DIRC") return std::unexpected{index_error::damaged};
  const auto version = in.number(4);
  if (version < 2 || version > 4) return std::unexpected{index_error::damaged};
  std::vector<std::string> found;
  std::string path;  // of version 4, carried on
  for (auto left = in.number(4); left > 0; --left) {
    const auto begin = in.at();
    if (!in.has(before_mode + from_mode_to_name + hash + 2)) {
      return std::unexpected{index_error::damaged};
    }
    (void)in.take(before_mode);
    const auto mode = in.number(4);
    (void)in.take(from_mode_to_name - 4 + hash);
    const auto flags = in.number(2);
    constexpr std::uint32_t is_extended = 0x4000;
    if ((flags & is_extended) != 0) {
      if (version < 3 || !in.has(2)) return std::unexpected{index_error::damaged};
      (void)in.take(2);
    }
    if (version == 4) {
      const auto cut = in.varint();
      if (!cut || *cut > path.size()) return std::unexpected{index_error::damaged};
      path.resize(path.size() - *cut);
    } else {
      path.clear();
    }
    const auto name = in.text();
    if (!name) return std::unexpected{index_error::damaged};
    path += *name;
    if (path.size() > path_max) return std::unexpected{index_error::damaged};
    if (version < 4) {
      // Padded with one to eight NUL bytes to a multiple of eight; one of them was taken.
      const auto length = in.at() - begin;
      const auto padding = (8 - length % 8) % 8;
      if (!in.has(padding)) return std::unexpected{index_error::damaged};
      (void)in.take(padding);
    }
    if ((mode & 0170000U) != gitlink_type) continue;
    if (found.size() == most_gitlinks) return std::unexpected{index_error::too_long};
    found.push_back(path);
  }
  if (auto done = pass_extensions(in, hash); !done) return std::unexpected{done.error()};
  return found;
}

}  // namespace

std::expected<std::vector<std::string>, index_error> gitlinks_in(std::string_view bytes) {
  constexpr std::size_t sha1 = 20;
  constexpr std::size_t sha256 = 32;
  auto found = gitlinks_with(bytes, sha1);
  if (found || found.error() == index_error::split) return found;
  return gitlinks_with(bytes, sha256);
}

std::expected<std::vector<std::string>, index_error> gitlinks_of(int file) {
  struct stat about{};
  if (::fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
    return std::unexpected{index_error::unreadable};
  }
  if (static_cast<std::size_t>(about.st_size) > most_of_an_index) {
    return std::unexpected{index_error::too_long};
  }
  std::string bytes(static_cast<std::size_t>(about.st_size), '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const auto got =
        ::pread(file, bytes.data() + have, bytes.size() - have, static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::unexpected{index_error::unreadable};
    have += static_cast<std::size_t>(got);
  }
  return gitlinks_in(bytes);
}

}  // namespace pinfold
