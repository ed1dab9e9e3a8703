// A few threads for what would otherwise keep the reader waiting.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace pinfold::mcp {

/// What may wait for a free thread.
struct queue_bounds {
  std::size_t threads{1};
  std::size_t waiting{1024};                       ///< pieces of work
  std::size_t bytes{std::size_t{16} << 20};        ///< what they hold, in all
};

/// Work is begun in the order in which it is offered, on `threads` threads, and one more for each piece
/// of work that is aside. Threads begin when they are needed, and take no
/// signal. `close` or the destructor waits for what runs; what waits is dropped.
class workers {
 public:
  explicit workers(queue_bounds bounds) noexcept : bounds_{bounds} {}
  workers(const workers&) = delete;
  workers& operator=(const workers&) = delete;
  ~workers() { close(); }

  /// False when too much waits already, or no thread can be had. `work` must not throw.
  [[nodiscard]] bool offer(std::function<void()> work, std::size_t bytes);

  /// While one lives, the piece of work that made it counts for no thread: it waits for something that may
  /// take long, and others run meanwhile. To be made on a thread of these, by its work alone.
  class aside {
   public:
    explicit aside(workers& of) : of_{of} { of_.leave(); }
    aside(const aside&) = delete;
    aside& operator=(const aside&) = delete;
    ~aside() { of_.come_back(); }

   private:
    workers& of_;
  };

  void close() noexcept;

 private:
  struct piece {
    std::function<void()> work;
    std::size_t bytes;
  };

  void run() noexcept;
  [[nodiscard]] bool has_thread();
  void leave();
  void come_back() noexcept;

  const queue_bounds bounds_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<piece> waiting_;
  std::size_t bytes_{0};
  std::size_t idle_{0};
  std::size_t running_{0};  ///< pieces of work that are not aside
  std::size_t aside_{0};
  bool is_closed_{false};
  std::vector<std::thread> threads_;
};

}  // namespace pinfold::mcp
