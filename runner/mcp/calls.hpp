// The requests that are being worked on, and where their answers go.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/message.hpp"
#include "mcp/output.hpp"

namespace pinfold::mcp {

/// Room for answers that wait for others, in bytes: of the whole server, whatever it is asked.
class answer_room {
 public:
  explicit answer_room(std::size_t most) noexcept : left_{most} {}

  /// False when so much is not left.
  [[nodiscard]] bool take(std::size_t bytes) noexcept;
  void give_back(std::size_t bytes) noexcept { left_ += bytes; }

 private:
  std::atomic<std::size_t> left_;
};

/// The answers to one batch: sent as one array when the last one is there.
class batch_answer {
 public:
  /// Takes the room for an error to each of the `requests`, which came in `bytes`. Null when that is not
  /// left.
  [[nodiscard]] static std::shared_ptr<batch_answer> begin(outlet& to, answer_room& room,
                                                           std::size_t requests, std::size_t bytes);
  batch_answer(const batch_answer&) = delete;
  batch_answer& operator=(const batch_answer&) = delete;
  ~batch_answer() { room_.give_back(taken_); }

  /// False when there is no room for it: `add_error` then.
  [[nodiscard]] bool add_result(std::string_view line);
  void add_error(std::string_view line);
  /// For a request that gets no answer, since it was cancelled.
  void add_nothing();

 private:
  batch_answer(outlet& to, answer_room& room, std::size_t requests, std::size_t taken) noexcept
      : to_{to}, room_{room}, taken_{taken}, missing_{requests} {}
  void add(std::string_view line, std::unique_lock<std::mutex> locked);

  outlet& to_;
  answer_room& room_;
  std::mutex lock_;
  std::size_t taken_;
  std::size_t missing_;
  std::string lines_;
};

/// Where the answer to one request goes: to the client, or into its batch.
class answer_place {
 public:
  explicit answer_place(outlet& to, std::shared_ptr<batch_answer> batch = nullptr) noexcept
      : to_{&to}, batch_{std::move(batch)} {}

  /// The result, JSON text. One for which a batch has no room becomes an error: the request is done, and
  /// only its answer is lost.
  void send_result(const request_id& id, std::string_view result, outlet::when written) const;
  /// An error's line.
  void send_error(std::string_view line, outlet::when written = outlet::when::now) const;
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
