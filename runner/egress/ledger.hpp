// What the proxy says, kept for the run: the proxy's thread writes, the run's thread reads.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/runner/egress.hpp>

namespace pinfold {

/// Whether anybody takes the news. Else the run's thread is not woken for each connection, beside which
/// a client waits.
enum class news_are : bool { left_out, told };

/// Thread-safe. Bounded: beyond `egress_report::most_attempts` attempts are only counted, and news
/// that nobody takes are dropped.
class egress_ledger {
 public:
  explicit egress_ledger(news_are wanted);

  /// On any thread.
  void add(const egress_attempt& one) noexcept;

  /// Becomes readable when there are news; -1 where they are left out, or there is no descriptor for it.
  [[nodiscard]] int news() const noexcept { return news_.get(); }

  /// Gives what came since the last time, in order.
  void take_news(const std::function<void(const egress_attempt&)>& to);

  /// All that has ended.
  [[nodiscard]] egress_report take();

 private:
  const news_are wanted_;
  std::mutex guard_;
  descriptor news_;
  std::vector<egress_attempt> fresh_;
  egress_report report_;
};

}  // namespace pinfold
