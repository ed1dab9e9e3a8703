#include "mcp/input.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "mcp/message.hpp"

namespace pinfold::mcp {
namespace {

bool is_blank(std::string_view line) noexcept {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

/// True when there is something to read; false when `ending` says that it is over.
bool wait_for(int descriptor, int ending) {
  std::array<pollfd, 2> watched{{{descriptor, POLLIN, 0}, {ending, POLLIN, 0}}};
  for (;;) {
    const int ready = ::poll(watched.data(), watched.size(), -1);
    if (ready < 0 && errno != EINTR) return false;
    if (watched[1].revents != 0) return false;
    if (ready > 0 && watched[0].revents != 0) return true;
  }
}

}  // namespace

line_source::line_source(int descriptor, int ending, std::function<void()> before_waiting)
    : descriptor_{descriptor},
      ending_{ending},
      before_waiting_{std::move(before_waiting)},
      bytes_{std::make_unique_for_overwrite<char[]>(usual)} {}

line_source::got line_source::next(std::string_view& line) {
  for (;;) {
    const auto* found =
        static_cast<const char*>(std::memchr(&bytes_[scanned_], '\n', end_ - scanned_));
    if (found != nullptr) {
      const auto at = static_cast<std::size_t>(found - bytes_.get());
      line = {&bytes_[begin_], at - begin_};
      begin_ = scanned_ = at + 1;
      if (is_skipping_ || line.size() > most_message) {
        is_skipping_ = false;
        return got::too_long;
      }
      if (is_blank(line)) continue;
      return got::line;
    }
    scanned_ = end_;
    if (end_ - begin_ > most_message) is_skipping_ = true;
    if (is_skipping_) begin_ = scanned_ = end_;
    if (!fill()) return got::end;
  }
}

/// Moves what is left to the front; grows while a line does not fit, and shrinks after it.
void line_source::make_room() {
  const auto left = end_ - begin_;
  auto size = size_;
  if (left == 0) size = usual;
  if (left * 2 > size) size *= 2;
  if (size != size_) {
    auto other = std::make_unique_for_overwrite<char[]>(size);
    std::memcpy(other.get(), &bytes_[begin_], left);
    bytes_ = std::move(other);
    size_ = size;
  } else if (begin_ > 0) {
    std::memmove(bytes_.get(), &bytes_[begin_], left);
  }
  scanned_ -= begin_;
  end_ = left;
  begin_ = 0;
}

bool line_source::fill() {
  make_room();
  before_waiting_();
  for (;;) {
    if (!wait_for(descriptor_, ending_)) return false;
    const auto count = ::read(descriptor_, &bytes_[end_], size_ - end_);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return false;
    end_ += static_cast<std::size_t>(count);
    return true;
  }
}

}  // namespace pinfold::mcp
