// Draining one output stream to its end in bounded memory: the first and the last part are kept,
// what lies between is counted and dropped. It never stops reading, so the writer never blocks.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include <pinfold/runner/record.hpp>

#include "launch/blob.hpp"

namespace pinfold {

/// Anonymous pages, page-aligned; untouched ones cost nothing. Throws std::bad_alloc.
class page_buffer {
 public:
  explicit page_buffer(std::size_t size);
  page_buffer(const page_buffer&) = delete;
  page_buffer& operator=(const page_buffer&) = delete;
  ~page_buffer();
  [[nodiscard]] char* data() noexcept { return data_; }
  [[nodiscard]] const char* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  char* data_;
  std::size_t size_;
};

class drain {
 public:
  enum class state : bool { open, ended };

  /// Keeps `cap` bytes at most: half of them from the start, half from the end. A stream that has
  /// more goes into `whole`, from its first byte on, when there is one; it must outlive the drain.
  explicit drain(std::size_t cap, blob* whole = nullptr);

  /// Reads what is there now (at most a few MiB, so that a flood cannot hold the caller up) from a
  /// non-blocking descriptor; the end of the stream may show at the next call. `on_head` gets each piece of the first part as it comes, `on_piece`
  /// each piece of the whole; the text is lent until the call returns.
  state read_from(int fd, const std::function<void(std::string_view)>& on_head,
                  const std::function<void(std::string_view)>& on_piece = {});

  /// The first part, as far as it has come.
  [[nodiscard]] std::string_view head() const noexcept { return {head_.data(), head_size_}; }

  /// All that has come.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return head_size_ + ring_bytes_; }

  /// What was kept.
  [[nodiscard]] captured_output take() const;

 private:
  void spill(std::string_view piece);
  void widen(int fd);

  std::size_t head_cap_;
  std::size_t tail_cap_;
  page_buffer head_;
  page_buffer ring_;
  std::size_t head_size_{0};
  std::uint64_t ring_bytes_{0};  ///< all that ever went through the ring
  blob* whole_;
  bool is_spilling_{false};
  bool is_wide_{false};  ///< the pipe was asked to hold more
};

}  // namespace pinfold
