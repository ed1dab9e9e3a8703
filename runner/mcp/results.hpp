// From what a tool answered to the text of a result, as the revision in force has it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mcp/tool.hpp"

namespace pinfold::mcp {

/// The revisions that are spoken, the oldest first.
enum class revision : std::uint8_t { v2024_11_05, v2025_03_26, v2025_06_18, v2025_11_25 };

inline constexpr revision newest_revision = revision::v2025_11_25;

[[nodiscard]] std::string_view name_of(revision value) noexcept;
/// The revision of that name; the newest one for a name that is not known (lifecycle, "Version
/// Negotiation").
[[nodiscard]] revision negotiated(std::string_view name) noexcept;

/// A result of tools/call as JSON text: `content`; from 2025-06-18 on `structuredContent`; `isError`.
/// A refusal is a result with `isError`: its sentence, the refusal as text of its own, for clients that
/// read no more than that, and `structuredContent.refusal`.
[[nodiscard]] std::string result_of(const tool_result& result, revision spoken);

/// The result of tools/list: `tools`, each as the revision has it.
[[nodiscard]] std::string listed(const std::vector<tool>& tools, revision spoken);

/// The text of `pinfold://grant`: one JSON object.
[[nodiscard]] std::string grant_text(session& now);

}  // namespace pinfold::mcp
