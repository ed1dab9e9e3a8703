#include "mcp/tools/bytes.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <pinfold/disk/kernel.hpp>

namespace pinfold::mcp {

namespace {

ssize_t read_some(int file, char* to, std::size_t room, std::uint64_t offset) noexcept {
  ssize_t size = 0;
  do {
    size = ::pread(file, to, room, static_cast<off_t>(offset));
  } while (size < 0 && errno == EINTR);
  return size;
}

}  // namespace

std::expected<std::string, code> bytes_at(int file, std::uint64_t offset, std::size_t most) {
  constexpr std::size_t first = std::size_t{16} << 10;
  std::string bytes;
  for (ssize_t size = 1; size > 0 && bytes.size() < most;) {
    const auto have = bytes.size();
    const auto room = std::min(most, std::max(first, have * 4)) - have;
    bytes.resize_and_overwrite(have + room, [&](char* to, std::size_t) {
      size = read_some(file, to + have, room, offset + have);
      return have + static_cast<std::size_t>(std::max<ssize_t>(size, 0));
    });
    if (size < 0) return std::unexpected{beneath::code_of(errno)};
  }
  return bytes;
}

std::string line_place::why() const {
  if (is_too_far) {
    return "the line lies further than " + std::to_string(offset) +
           " bytes into the file; read by offset, or search_text for its place";
  }
  return "the file has only " + std::to_string(lines) + (lines == 1 ? " line" : " lines");
}

std::expected<line_place, code> line_at(int file, std::uint64_t number, std::uint64_t most) {
  std::array<char, 64 * 1024> buffer;
  line_place at{.lines = 1};
  char last = '\n';
  while (at.lines < number) {
    if (at.offset >= most) {
      at.is_too_far = true;
      return at;
    }
    const auto size = read_some(file, buffer.data(), buffer.size(), at.offset);
    if (size < 0) return std::unexpected{beneath::code_of(errno)};
    if (size == 0) break;
    std::string_view part{buffer.data(), static_cast<std::size_t>(size)};
    last = part.back();
    const auto begin = at.offset;
    at.offset += part.size();
    for (std::size_t end = 0; at.lines < number;) {
      const auto newline = part.find('\n', end);
      if (newline == std::string_view::npos) break;
      end = newline + 1;
      ++at.lines;
      if (at.lines == number) at.offset = begin + end;
    }
  }
  at.is_there = at.lines == number;
  // What ends in a newline, or is empty, has no line behind it.
  const bool is_at_end = at.is_there && at.offset >= size_of(file) && number > 1;
  if (at.is_there && is_at_end) at.is_there = false;
  if (!at.is_there && last == '\n' && at.lines > 0) --at.lines;
  return at;
}

std::uint64_t size_of(int file) noexcept {
  struct stat status{};
  return ::fstat(file, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace pinfold::mcp
