// Lines to the client: the only thing that ever writes to the server's output.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <pinfold/disk/descriptor.hpp>

namespace pinfold::mcp {

/// A line is sent whole and never in the middle of another; what is sent by one thread keeps its
/// order. Who sends to a client that does not read waits; when the client is gone, or after `close`,
/// lines are dropped.
class outlet {
 public:
  /// Where the client writes, and what tells of the end; negative: there is none.
  struct watched {
    int input{-1};
    int ending{-1};
  };

  /// All are borrowed. When `ending` is readable, who waits for the client waits no more; when the client
  /// has closed the other end of `input`, a pipe, a socket or a terminal, not much longer: the thread that
  /// would read the end may be the one that waits.
  outlet(int descriptor, watched other);

  /// So long a client that closed its end is still waited for, in all.
  static constexpr std::chrono::milliseconds patience{1000};

  enum class when : std::uint8_t {
    now,
    later,  ///< with the next line, or by `flush`: for a thread that has more to answer
  };

  /// `line` is without its newline and holds none.
  void send(std::string_view line, when written = when::now);
  void flush();

  /// Whoever waits for the client waits no more.
  void close() noexcept;
  [[nodiscard]] bool is_closed() const noexcept { return is_closed_.load(); }

 private:
  void write_pending();
  [[nodiscard]] long write_some(std::string_view bytes);
  [[nodiscard]] bool wait_for_room();
  [[nodiscard]] int left_of_patience();

  static constexpr std::size_t most_pending = std::size_t{64} << 10;

  enum class kind : std::uint8_t { plain, pipe, socket };

  int descriptor_;
  watched other_;
  std::optional<std::chrono::steady_clock::time_point> until_;  ///< since the client closed its end
  descriptor own_;  ///< of a pipe: opened anew, so that nobody else's descriptor stops waiting
  kind kind_{kind::plain};
  descriptor closing_;
  std::atomic<bool> is_closed_{false};
  std::mutex lock_;
  std::string pending_;
};

}  // namespace pinfold::mcp
