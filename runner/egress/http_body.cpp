#include "egress/http_body.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace pinfold::egress_bytes {
namespace {

constexpr std::size_t most_size_digits = 8;  // 4 GiB less a byte for one chunk

std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto* end = text.data() + text.size();
  if (text.empty() || text.size() > most_size_digits) return std::nullopt;
  const auto read = std::from_chars(text.data(), end, value, 16);
  return read.ec == std::errc{} && read.ptr == end ? std::optional{value} : std::nullopt;
}

}  // namespace

body_reader::body_reader(const http_request& request)
    : is_chunked_{request.framing == http_request::body::chunked},
      now_{is_chunked_          ? state::size_line
           : request.length > 0 ? state::data
                                : state::at_end},
      left_{request.length} {}

void body_reader::take_data(std::string_view& bytes, std::string& out) {
  const auto part =
      bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size())));
  out += part;
  bytes.remove_prefix(part.size());
  left_ -= part.size();
  if (left_ == 0) now_ = is_chunked_ ? state::after_chunk : state::at_end;
}

/// One line of the framing: a size, the end of a chunk, or the end of all. False when it is not whole.
std::expected<bool, fault> body_reader::take_line(std::string_view& bytes, std::string& out) {
  const auto end = bytes.find('\n');
  if (end == std::string_view::npos) {
    if (bytes.size() > most_size_digits + 1) return bad("a chunk's size with more behind it");
    return false;
  }
  if (end == 0 || bytes[end - 1] != '\r') return bad("a line of the chunks without a CR");
  const auto line = bytes.substr(0, end - 1);
  bytes.remove_prefix(end + 1);
  if (now_ != state::size_line) {
    if (!line.empty()) {
      return bad(now_ == state::after_chunk ? "a chunk is longer than it says"
                                            : "the proxy takes no trailers");
    }
    out += "\r\n";
    now_ = now_ == state::after_chunk ? state::size_line : state::at_end;
    return true;
  }
  const auto size = hexadecimal(line);
  if (!size) return bad("the size of a chunk is no number, or has something behind it");
  left_ = *size;
  out.append(line).append("\r\n");
  now_ = left_ == 0 ? state::last_line : state::data;
  return true;
}

std::expected<void, fault> body_reader::take(std::string_view& bytes, std::string& out) {
  while (!bytes.empty() && now_ != state::at_end) {
    if (now_ == state::data) {
      take_data(bytes, out);
      continue;
    }
    const auto went_on = take_line(bytes, out);
    if (!went_on) return std::unexpected{went_on.error()};
    if (!*went_on) return {};
  }
  return {};
}

}  // namespace pinfold::egress_bytes
