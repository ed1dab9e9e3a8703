// Names to addresses, on threads of their own: a resolver that hangs holds up one of them, never the
// proxy.
#pragma once

#include <chrono>
#include <cstddef>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "egress/address.hpp"

namespace pinfold {

/// The addresses of a name, or why there are none.
using name_answer = std::expected<std::vector<ip_address>, std::string>;

/// Blocks for as long as it takes. Called on several threads at once.
using name_lookup = std::function<name_answer(const std::string& name)>;

/// The machine's own resolver (getaddrinfo(3)).
[[nodiscard]] name_answer ask_the_machine(const std::string& name);

/// What names led to a moment ago, so that a client that connects again and again asks once. Each
/// address is checked anew whenever it is to be connected to. Not thread-safe.
class recent_names {
 public:
  using clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kept_for{5};
  static constexpr std::size_t most_kept = 256;

  [[nodiscard]] std::optional<std::vector<ip_address>> find(std::string_view name,
                                                            clock::time_point now) const;
  void keep(std::string_view name, std::vector<ip_address> addresses, clock::time_point now);

 private:
  struct answer {
    std::vector<ip_address> addresses;
    clock::time_point until;
  };
  std::map<std::string, answer, std::less<>> kept_;
};

/// At most `most_threads` lookups at a time; the others wait for their turn.
class name_pool {
 public:
  static constexpr unsigned most_threads = 4;

  explicit name_pool(name_lookup how);
  name_pool(const name_pool&) = delete;
  name_pool& operator=(const name_pool&) = delete;
  /// Waits for lookups under way, but no longer than a second: a thread whose resolver hangs ends by
  /// itself with the resolver's own time limit, and has nothing left to tell anybody.
  ~name_pool();

  /// `tell` is called once, on a thread of the pool, or never when the pool ends first. It must not
  /// throw.
  void ask(std::string name, std::function<void(name_answer)> tell);

 private:
  struct state;
  std::shared_ptr<state> shared_;
};

}  // namespace pinfold
