// Lines to the client: the only thing that ever writes to the server's output.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include <pinfold/disk/descriptor.hpp>

namespace pinfold::mcp {

/// A line is sent whole and never in the middle of another; what is sent by one thread keeps its
/// order. Who sends to a client that does not read waits; when the client is gone, or after `close`,
/// lines are dropped.
class outlet {
 public:
  /// Both are borrowed. When `ending` is readable, who waits for the client waits no more; negative:
  /// there is none.
  outlet(int descriptor, int ending);

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

  static constexpr std::size_t most_pending = std::size_t{64} << 10;

  enum class kind : std::uint8_t { plain, pipe, socket };

  int descriptor_;
  int ending_;
  descriptor own_;  ///< of a pipe: opened anew, so that nobody else's descriptor stops waiting
  kind kind_{kind::plain};
  descriptor closing_;
  std::atomic<bool> is_closed_{false};
  std::mutex lock_;
  std::string pending_;
};

}  // namespace pinfold::mcp
