// Where the body of a request ends: what comes after it would be another request, to which nobody has
// said yes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "egress/http_head.hpp"

namespace pinfold::egress_bytes {

/// Takes a body apart as it comes. Chunks are written anew; their extensions and trailers, which no
/// client here needs and readers differ about, are faults.
class body_reader {
 public:
  explicit body_reader(const http_request& request);

  /// Takes what is to be passed on off the front of `bytes` and appends it to `out`. What is left in
  /// `bytes` afterwards is the start of a line that has not come whole yet, or lies behind the end.
  [[nodiscard]] std::expected<void, fault> take(std::string_view& bytes, std::string& out);

  [[nodiscard]] bool is_at_end() const noexcept { return now_ == state::at_end; }

 private:
  enum class state : std::uint8_t { data, size_line, after_chunk, last_line, at_end };

  [[nodiscard]] std::expected<bool, fault> take_line(std::string_view& bytes, std::string& out);
  void take_data(std::string_view& bytes, std::string& out);

  bool is_chunked_;
  state now_;
  std::uint64_t left_;  ///< of the body, or of the chunk
};

}  // namespace pinfold::egress_bytes
