#include "egress/names.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "launch/signals_blocked.hpp"

namespace pinfold {
namespace {

ip_address address_of(const sockaddr* socket_address) {
  ip_address address;
  if (socket_address->sa_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, socket_address, sizeof v6);
    address.kind = ip_address::family::v6;
    std::memcpy(address.bytes.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
  } else {
    sockaddr_in v4{};
    std::memcpy(&v4, socket_address, sizeof v4);
    std::memcpy(address.bytes.data(), &v4.sin_addr, sizeof v4.sin_addr);
  }
  return address;
}

}  // namespace

name_answer ask_the_machine(const std::string& name) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int wrong = ::getaddrinfo(name.c_str(), nullptr, &wanted, &found);
  if (wrong != 0) return std::unexpected{std::string{::gai_strerror(wrong)}};
  std::vector<ip_address> addresses;
  for (const auto* one = found; one != nullptr; one = one->ai_next) {
    if (one->ai_family == AF_INET || one->ai_family == AF_INET6) {
      addresses.push_back(address_of(one->ai_addr));
    }
  }
  ::freeaddrinfo(found);
  return addresses;
}

std::optional<std::vector<ip_address>> recent_names::find(std::string_view name,
                                                          clock::time_point now) const {
  const auto found = kept_.find(name);
  if (found == kept_.end() || found->second.until <= now) return std::nullopt;
  return found->second.addresses;
}

void recent_names::keep(std::string_view name, std::vector<ip_address> addresses,
                        clock::time_point now) {
  std::erase_if(kept_, [now](const auto& one) { return one.second.until <= now; });
  if (kept_.size() >= most_kept) return;
  kept_.insert_or_assign(std::string{name}, answer{std::move(addresses), now + kept_for});
}

/// Owned by the pool and by each of its threads, so that one that hangs outlives nothing it needs.
struct name_pool::state {
  struct question {
    std::string name;
    std::function<void(name_answer)> tell;
  };

  explicit state(name_lookup lookup) : how{std::move(lookup)} {}

  name_lookup how;
  std::mutex guard;
  std::condition_variable changed;
  std::deque<question> waiting;
  unsigned threads{0};
  unsigned idle{0};
  bool is_over{false};

  void work() {
    std::unique_lock held{guard};
    while (!is_over) {
      if (waiting.empty()) {
        ++idle;
        changed.wait(held);
        --idle;
        continue;
      }
      auto next = std::move(waiting.front());
      waiting.pop_front();
      held.unlock();
      auto answer = how(next.name);
      held.lock();
      if (!is_over) next.tell(std::move(answer));
    }
    --threads;
    changed.notify_all();
  }
};

name_pool::name_pool(name_lookup how) : shared_{std::make_shared<state>(std::move(how))} {}

name_pool::~name_pool() {
  std::unique_lock held{shared_->guard};
  shared_->is_over = true;
  shared_->waiting.clear();
  shared_->changed.notify_all();
  shared_->changed.wait_for(held, std::chrono::seconds{1},
                            [this] { return shared_->threads == 0; });
}

void name_pool::ask(std::string name, std::function<void(name_answer)> tell) {
  const std::lock_guard held{shared_->guard};
  shared_->waiting.push_back({std::move(name), std::move(tell)});
  if (shared_->idle >= shared_->waiting.size() || shared_->threads == most_threads) {
    return shared_->changed.notify_one();
  }
  const signals_blocked quiet;
  try {
    std::thread{[own = shared_] { own->work(); }}.detach();
    ++shared_->threads;
  } catch (const std::system_error& none) {
    if (shared_->threads > 0) return;  // one of the others comes to it
    auto question = std::move(shared_->waiting.back());
    shared_->waiting.pop_back();
    question.tell(std::unexpected{std::string{none.what()}});
  }
}

}  // namespace pinfold
