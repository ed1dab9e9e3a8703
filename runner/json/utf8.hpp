// Bytes that may or may not be UTF-8, made into text that is: replacement of what is broken, and
// cuts that split no character. It must never change a count of bytes on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pinfold {

/// What stands for bytes that are not UTF-8: U+FFFD, three bytes long.
inline constexpr std::string_view replacement_character = "\xef\xbf\xbd";

/// One step through bytes that should be UTF-8 (RFC 3629: no surrogates, nothing above U+10FFFF, no
/// overlong form).
struct utf8_step {
  enum class kind : std::uint8_t {
    character,   ///< `value` is a whole character
    broken,      ///< these bytes begin no character
    unfinished,  ///< the text ends inside a character that is lawful so far
  };
  kind what{kind::broken};
  char32_t value{0};
  std::size_t length{1};  ///< bytes taken, 1 to 4
};

/// The first step of `text`, which must not be empty. A broken part is as long as the longest start
/// of a character that it makes, at least one byte (the practice the Unicode Standard recommends in
/// chapter 3.9), so that walking on always finds the next whole character.
[[nodiscard]] utf8_step next_utf8(std::string_view text) noexcept;

[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

/// `text` with each broken or unfinished part replaced by one U+FFFD. Always valid UTF-8; `text`
/// itself when it is valid already.
[[nodiscard]] std::string with_replacements(std::string_view text);

/// How many bytes at the end of `text` begin a character and do not finish it: 0 to 3.
[[nodiscard]] std::size_t unfinished_at_end(std::string_view text) noexcept;

/// How many bytes at the start of `text` can only be the rest of a character: 0 to 3.
[[nodiscard]] std::size_t rest_at_start(std::string_view text) noexcept;

/// Text with a hole in it.
struct legible_text {
  std::string text;          ///< valid UTF-8
  std::uint64_t dropped{0};  ///< bytes left out, those at the edges of the hole included
};

/// The line that stands where bytes were left out: "\n[pinfold: N bytes left out]\n".
[[nodiscard]] std::string left_out_marker(std::uint64_t bytes);

/// `head` and `tail` of a stream of which `dropped` bytes between them were left out, as text.
/// Where the hole splits a character, its bytes go into the hole and are counted as dropped; bytes
/// that are broken elsewhere become U+FFFD. With nothing dropped there is no hole: head and tail
/// are taken as one text.
[[nodiscard]] legible_text legible(std::string_view head, std::string_view tail,
                                   std::uint64_t dropped);

}  // namespace pinfold
