// The requests that are being worked on, and where their answers go.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "mcp/message.hpp"
#include "mcp/output.hpp"

namespace pinfold::mcp {

/// The answers to one batch: sent as one array when the last one is there.
class batch_answer {
 public:
  batch_answer(outlet& to, std::size_t requests) noexcept : to_{to}, missing_{requests} {}

  /// Nothing for a request that gets no answer, since it was cancelled.
  void add(std::optional<std::string> line);

 private:
  outlet& to_;
  std::mutex lock_;
  std::size_t missing_;
  std::string lines_;
};

/// Where the answer to one request goes: to the client, or into its batch.
class answer_place {
 public:
  explicit answer_place(outlet& to, std::shared_ptr<batch_answer> batch = nullptr) noexcept
      : to_{&to}, batch_{std::move(batch)} {}

  void send(std::string line, outlet::when written = outlet::when::now) const;
  /// There will be no answer.
  void drop() const;
  [[nodiscard]] bool is_in_batch() const noexcept { return batch_ != nullptr; }

 private:
  outlet* to_;
  std::shared_ptr<batch_answer> batch_;
};

/// The requests in flight, by id.
class call_table {
 public:
  /// False when a request of this id is in flight.
  [[nodiscard]] bool begin(const request_id& id, std::stop_source stop);
  [[nodiscard]] bool has(const request_id& id) const;
  void end(const request_id& id);
  /// Cancels the request, if it is in flight.
  void cancel(const request_id& id);
  void cancel_all();

 private:
  mutable std::mutex lock_;
  std::map<request_id, std::stop_source> calls_;
};

}  // namespace pinfold::mcp
