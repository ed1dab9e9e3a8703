#include "egress/ledger.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <exception>
#include <utility>

namespace pinfold {
namespace {

constexpr std::size_t most_fresh = 4096;

}  // namespace

egress_ledger::egress_ledger(news_are wanted) : wanted_{wanted} {
  if (wanted == news_are::told) news_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

void egress_ledger::add(const egress_attempt& one) noexcept try {
  const std::lock_guard held{guard_};
  if (!one.is_open) {
    report_.sent += one.sent;
    report_.received += one.received;
    if (report_.attempts.size() < egress_report::most_attempts) {
      report_.attempts.push_back(one);
    } else {
      ++report_.more;
    }
  }
  if (wanted_ == news_are::left_out || fresh_.size() >= most_fresh) return;
  fresh_.push_back(one);
  const std::uint64_t more = 1;
  const auto wrote = ::write(news_.get(), &more, sizeof more);
  (void)wrote;                     // full only after 2^64-2 of them
} catch (const std::exception&) {  // out of memory: counted all the same
  const std::lock_guard held{guard_};
  ++report_.more;
}

void egress_ledger::take_news(const std::function<void(const egress_attempt&)>& to) {
  std::uint64_t count = 0;
  const auto got = ::read(news_.get(), &count, sizeof count);
  (void)got;  // what is there is taken in any case
  std::vector<egress_attempt> news;
  {
    const std::lock_guard held{guard_};
    news = std::exchange(fresh_, {});
  }
  if (!to) return;
  for (const auto& one : news) to(one);
}

egress_report egress_ledger::take() {
  const std::lock_guard held{guard_};
  return std::exchange(report_, {});
}

}  // namespace pinfold
