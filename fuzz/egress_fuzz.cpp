// What comes from inside through the one way out, byte by byte: the first byte, HTTP, SOCKS5, the hello
// of TLS. Any bytes, in any pieces.
#include <algorithm>

#include "egress/checks.hpp"
#include "support/bytes.hpp"
#include "support/target.hpp"

namespace pinfold_fuzz {

std::vector<std::size_t> cuts::of(std::size_t size) const {
  constexpr std::size_t long_text = 4096, few = 8;  // each piece is read from the start
  const auto most = size > long_text ? std::min(few, sizes_.size()) : sizes_.size();
  std::vector<std::size_t> ends;
  std::size_t end = 0;
  for (std::size_t i = 0; i < most && end < size; ++i) {
    end += static_cast<unsigned char>(sizes_[i]) + std::size_t{1};
    ends.push_back(std::min(end, size));
  }
  if (end < size || ends.empty()) ends.push_back(size);
  return ends;
}

std::string read_run(bytes& input) {
  constexpr std::size_t step = 257;
  std::string text;
  while (!input.is_empty()) {
    const auto byte = static_cast<char>(input.byte());
    if (byte != '\xfe') {
      text += byte;
      continue;
    }
    const auto count = input.byte() * step;
    text.append(count, static_cast<char>(input.byte()));
  }
  return text;
}

void try_input(std::span<const std::uint8_t> input) {
  bytes rest{input};
  const auto which = rest.below(4);
  const cuts pieces{rest};
  if (which == 3) return check_made_hello(rest, pieces);
  const auto text = read_run(rest);
  check_opening(text);
  if (which == 0) check_request(text, pieces);
  if (which == 1) check_socks(text, pieces);
  if (which == 2) check_hello(text, pieces);
}

}  // namespace pinfold_fuzz
