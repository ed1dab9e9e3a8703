// How a specification is written: bytes as they lie in memory, and texts with their length. Both sides
// are one build on one machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pinfold {

template <class T>
void append_bytes(std::string& to, const T& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// A 32-bit length, the bytes, and a NUL that the length does not count.
inline void append_text(std::string& to, std::string_view text) {
  append_bytes(to, static_cast<std::uint32_t>(text.size()));
  to.append(text);
  to.push_back('\0');
}

}  // namespace pinfold
