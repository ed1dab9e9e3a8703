// A head that fills once and a page-aligned ring that turns: read(2) writes into place, nothing is
// copied until the end.
#include "launch/drain.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

namespace pinfold {
namespace {

constexpr std::size_t page = 4096;
/// Room for one full pipe (64 KiB by default, pipe(7)), so that a small cap does not mean small
/// reads.
constexpr std::size_t least_ring = std::size_t{128} << 10;
constexpr std::size_t most_per_turn = std::size_t{4} << 20;

constexpr std::size_t usual_pipe = std::size_t{64} << 10;
/// For a command that fills its pipe before anybody comes to read: fewer wakes on both sides. No more
/// than this, since a user's pipes share a bound (pipe-user-pages-soft, pipe(7)); where it is reached,
/// or this is no pipe, it stays as it is.
constexpr int wide_pipe = 256 << 10;

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + page - 1) / page * page;
}

}  // namespace

page_buffer::page_buffer(std::size_t size)
    : data_{nullptr}, size_{whole_pages(std::max(size, page))} {
  void* at = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc{};
  data_ = static_cast<char*>(at);
}

page_buffer::~page_buffer() {
  ::munmap(data_, size_);
}

drain::drain(std::size_t cap, blob* whole)
    : head_cap_{cap - cap / 2},
      tail_cap_{cap / 2},
      head_{head_cap_},
      ring_{std::max(tail_cap_, least_ring)},
      whole_{whole} {}

drain::state drain::read_from(int fd, const std::function<void(std::string_view)>& on_head,
                              const std::function<void(std::string_view)>& on_piece) {
  for (std::size_t turn = 0; turn < most_per_turn;) {
    const bool in_head = head_size_ < head_cap_;
    const auto offset = in_head ? head_size_ : static_cast<std::size_t>(ring_bytes_ % ring_.size());
    char* to = (in_head ? head_.data() : ring_.data()) + offset;
    const auto room = (in_head ? head_cap_ : ring_.size()) - offset;
    const auto got = ::read(fd, to, room);
    if (got == 0) return state::ended;
    if (got < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN ? state::open : state::ended;
    }
    const auto size = static_cast<std::size_t>(got);
    turn += size;
    if (size >= usual_pipe && !is_wide_) widen(fd);
    if (on_piece) on_piece({to, size});
    if (in_head) {
      head_size_ += size;
      if (on_head) on_head({to, size});
    } else {
      ring_bytes_ += size;
      if (whole_ != nullptr) spill({to, size});
    }
    if (size < room) return state::open;  // that was all; poll(2) says when there is more
  }
  return state::open;
}

void drain::widen(int fd) {
  ::fcntl(fd, F_SETPIPE_SZ, wide_pipe);
  is_wide_ = true;
}

/// At the first byte too many the ring has not turned yet: it was within its cap before this piece,
/// and no piece goes beyond its end. So the stream is there from its start.
void drain::spill(std::string_view piece) {
  if (ring_bytes_ <= tail_cap_) return;
  if (is_spilling_) return whole_->write(piece);
  is_spilling_ = true;
  whole_->write(head());
  whole_->write({ring_.data(), static_cast<std::size_t>(ring_bytes_)});
}

captured_output drain::take() const {
  captured_output kept;
  kept.bytes = bytes();
  const auto tail = static_cast<std::size_t>(std::min<std::uint64_t>(ring_bytes_, tail_cap_));
  kept.dropped = ring_bytes_ - tail;
  kept.text.reserve(head_size_ + tail);
  kept.text.assign(head_.data(), head_size_);
  kept.head = head_size_;
  const auto start = static_cast<std::size_t>((ring_bytes_ - tail) % ring_.size());
  const auto first = std::min(tail, ring_.size() - start);
  kept.text.append(ring_.data() + start, first);
  kept.text.append(ring_.data(), tail - first);
  return kept;
}

}  // namespace pinfold
