// Bytes of the disk for a model: what counts as text, how a path is given in an answer, how a name is
// shown in a line. It must never put bytes that are not UTF-8 into JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <pinfold/disk/open.hpp>
#include <pinfold/refusal.hpp>

#include "json/json.hpp"

namespace pinfold::mcp {

/// UTF-8 without a NUL byte. Eight bytes at a time while they are ASCII.
[[nodiscard]] bool is_text(std::string_view bytes) noexcept;

/// The path to give to a tool: relative where it lies in the workspace ("." for the workspace itself),
/// else the canonical one.
[[nodiscard]] std::string_view as_given(const workspace& ws, std::string_view canonical) noexcept;

/// Puts a path or name. One that is not UTF-8 cannot be named in a call: its field then holds
/// replacement characters, `NAME_base64` the bytes, and `addressable` is false. (A command reaches it.)
void put_name(json& object, std::string_view name, std::string_view bytes);

/// A name for a line of text: as it is, or in quotes with escapes where it holds a control character,
/// a quote, a backslash, a bidirectional control or a line end of Unicode, or is not UTF-8.
[[nodiscard]] std::string shown(std::string_view name);

/// "3 entries", "1 entry".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view one, std::string_view many);

/// The refusal for an argument that cannot be used.
[[nodiscard]] refusal wrong_argument(operation op, std::string_view argument, std::string why);

}  // namespace pinfold::mcp
