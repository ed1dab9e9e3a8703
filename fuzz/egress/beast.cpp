#include "egress/beast.hpp"

#include <utility>  // boost/asio of 1.74 needs it and does not say so

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

#include <limits>

namespace pinfold_fuzz {

namespace http = boost::beast::http;

std::optional<seen_by_beast> read_by_beast(std::string_view head) {
  http::request_parser<http::empty_body> parser;
  parser.header_limit(std::numeric_limits<std::uint32_t>::max());
  parser.body_limit(std::numeric_limits<std::uint64_t>::max());
  boost::beast::error_code wrong;
  const auto taken = parser.put(boost::asio::buffer(head.data(), head.size()), wrong);
  if (wrong && wrong != http::error::need_more) return std::nullopt;
  if (taken != head.size() || !parser.is_header_done()) return std::nullopt;
  const auto& request = parser.get();
  seen_by_beast seen{.method = std::string{request.method_string()},
                     .target = std::string{request.target()},
                     .hosts = {},
                     .length = std::nullopt,
                     .is_chunked = parser.chunked()};
  const auto [first, last] = request.equal_range(http::field::host);
  for (auto one = first; one != last; ++one) seen.hosts.emplace_back(one->value());
  if (const auto length = parser.content_length()) seen.length = *length;
  return seen;
}

}  // namespace pinfold_fuzz
