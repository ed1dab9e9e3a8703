// Foreign text for a person: what is shown as it is, and what as an escape, is decided here alone, for a
// terminal, a question and a line of a list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "json/utf8.hpp"

namespace pinfold {

/// A whole character that shows as itself, and that no terminal obeys: no control (C0, C1), nothing that
/// turns the text round, ends its line or shows as nothing.
[[nodiscard]] bool is_showable(const utf8_step& step) noexcept;

/// `text` so that a terminal shows it and obeys none of it: control characters (newline and tab
/// among them) and bytes that are not UTF-8 as \xNN; bidirectional controls, characters that show
/// as nothing and other controls of Unicode as \u{NNNN}. Valid UTF-8 and one line, always.
[[nodiscard]] std::string terminal_safe(std::string_view text);

/// The digits of a number to a base up to 16, at least `least` of them.
[[nodiscard]] std::string digits_of(std::uint32_t value, unsigned base, std::size_t least);

}  // namespace pinfold
