// edit_file: exact text replaced by other text. One place, unless all are asked for; nothing is
// guessed and nothing near the text counts.
#include <pinfold/disk/change.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "mcp/arguments.hpp"
#include "mcp/tools/acting.hpp"
#include "mcp/tools/bytes.hpp"
#include "mcp/tools/text.hpp"
#include "mcp/tools/tools.hpp"

namespace pinfold::mcp {

namespace {

constexpr std::string_view input_schema =
    R"({"type":"object","properties":{)"
    R"("path":{"type":"string","description":"the file"},)"
    R"("old_text":{"type":"string","minLength":1,"description":"what stands there now, byte for byte"},)"
    R"("new_text":{"type":"string","description":"what comes in its place"},)"
    R"("replace_all":{"type":"boolean","description":"replace every place; default false: then old_text has to be there exactly once"}},)"
    R"("required":["path","old_text","new_text"],"additionalProperties":false})";

constexpr std::string_view output_schema =
    R"({"type":"object","properties":{)"
    R"("path":{"type":"string"},"path_base64":{"type":"string"},"addressable":{"type":"boolean"},)"
    R"("replacements":{"type":"integer"},)"
    R"("lines":{"type":"array","items":{"type":"integer"},"description":"where old_text stood, the first 20"},)"
    R"("bytes":{"type":"integer","description":"of the file now"}},)"
    R"("required":["path","replacements","lines","bytes"]})";

constexpr std::size_t most_lines_told = 20;

struct edit {
  std::string_view path;
  std::string_view old_text;
  std::string_view new_text;
  bool is_for_all{false};
};

/// The places of the old text, from left to right, none over another.
struct places {
  std::uint64_t count{0};
  std::vector<std::uint64_t> lines;  ///< of the first ones
};

places find_all(std::string_view text, std::string_view old_text) {
  places found;
  std::uint64_t line = 1;
  std::size_t from = 0;
  for (auto at = text.find(old_text); at != text.npos; at = text.find(old_text, from)) {
    if (found.count++ < most_lines_told) {
      line += static_cast<std::uint64_t>(std::ranges::count(text.substr(from, at - from), '\n'));
      found.lines.push_back(line);
      line += static_cast<std::uint64_t>(std::ranges::count(old_text, '\n'));
    }
    from = at + old_text.size();
  }
  return found;
}

std::string replaced_all(std::string_view text, const edit& asked, std::size_t size) {
  std::string made;
  made.reserve(size);
  for (auto at = text.find(asked.old_text); at != text.npos; at = text.find(asked.old_text)) {
    made.append(text.substr(0, at)).append(asked.new_text);
    text.remove_prefix(at + asked.old_text.size());
  }
  return made.append(text);
}

std::string listed(const std::vector<std::uint64_t>& lines) {
  std::string all;
  for (const auto line : lines) all += (all.empty() ? "" : ", ") + std::to_string(line);
  return all;
}

/// Why there is nothing to replace, or too much; nothing when the edit can be made.
std::optional<std::string> objection(const edit& asked, const places& found) {
  if (found.count == 0) return "the text is not in the file; read the file and copy it exactly";
  if (found.count == 1 || asked.is_for_all) return std::nullopt;
  return "the text is in the file " + std::to_string(found.count) + " times, at lines " +
         listed(found.lines) + (found.lines.size() < found.count ? " and more" : "") +
         "; give more of what stands around it, or replace_all";
}

std::string too_large(const tool_bounds& bounds) {
  return "edit_file takes files of at most " + std::to_string(bounds.edited_bytes) +
         " bytes, before and after; use a command";
}

/// What came of one attempt, beside the code.
struct outcome {
  places found;
  std::string canonical;
  std::size_t bytes{0};
  std::optional<refusal> objected;
};

class editing {
 public:
  editing(const edit& asked, const tool_bounds& bounds) : asked_{asked}, bounds_{bounds} {}

  std::expected<void, code> operator()(const beneath::held_root& root, const resolved& place) {
    came_ = {};
    came_.canonical = place.canonical;
    const auto file = beneath::open_read_at(root, place);
    if (!file) return std::unexpected{file.error()};
    struct stat as_read{};
    if (::fstat(file->get(), &as_read) != 0) return std::unexpected{beneath::code_of(errno)};
    if (static_cast<std::uint64_t>(as_read.st_size) > bounds_.edited_bytes) {
      return object("path", too_large(bounds_));
    }
    const auto text = bytes_at(file->get(), 0, bounds_.edited_bytes + 1);
    if (!text) return std::unexpected{text.error()};
    if (text->size() > bounds_.edited_bytes) return object("path", too_large(bounds_));
    came_.found = find_all(*text, asked_.old_text);
    if (auto why = objection(asked_, came_.found)) return object("old_text", std::move(*why));
    const auto count = static_cast<std::size_t>(came_.found.count);
    const auto kept = text->size() - count * asked_.old_text.size();
    const bool is_too_large =
        !asked_.new_text.empty() && count > (bounds_.edited_bytes - kept) / asked_.new_text.size();
    if (is_too_large) return object("new_text", too_large(bounds_));
    came_.bytes = kept + count * asked_.new_text.size();
    const auto made = replaced_all(*text, asked_, came_.bytes);
    const auto done = beneath::replace_at(root, place, made, &as_read);
    if (!done) return std::unexpected{done.error()};
    return {};
  }

  [[nodiscard]] outcome& came() noexcept { return came_; }

 private:
  std::expected<void, code> object(std::string_view argument, std::string why) {
    came_.objected = wrong_argument(operation::write, argument, std::move(why));
    return std::unexpected{code::invalid_argument};
  }

  const edit& asked_;
  const tool_bounds& bounds_;
  outcome came_;
};

tool_result edit_file(const tool_call& call, const tool_bounds& bounds) {
  argument_reader from{call.arguments, operation::write};
  const edit asked{from.text("path"), from.text("old_text"), from.text("new_text"),
                   from.flag("replace_all", false)};
  if (auto why = from.wrong()) return not_done(std::move(*why));
  const auto wrong = [](std::string_view name, std::string why) {
    return not_done(wrong_argument(operation::write, name, std::move(why)));
  };
  if (asked.old_text.empty()) return wrong("old_text", "it is empty; write_file makes new files");
  if (asked.old_text == asked.new_text) return wrong("new_text", "it is the same as old_text");
  auto now = acting::begin(call);
  if (!now) return not_done(std::move(now.error()));
  editing act{asked, bounds};
  const auto done = now->perform(operation::write, asked.path, std::ref(act));
  auto& came = act.came();
  if (!done) {
    if (came.objected) now->after_read(came.canonical);  // a count tells what the file holds
    return now->finish(not_done(came.objected ? std::move(*came.objected) : done.error()));
  }
  now->after_read(*done);
  json out;
  put_name(out, "path", as_given(now->ws(), *done));
  out["replacements"] = came.found.count;
  out["lines"] = came.found.lines;
  out["bytes"] = came.bytes;
  return now->finish(mcp::done("Replaced " + counted(came.found.count, "place", "places") + " in " +
                                   shown(as_given(now->ws(), *done)) + " (line " +
                                   listed(came.found.lines) + ").",
                               std::move(out)));
}

}  // namespace

tool edit_file_tool(const session& now, const tool_bounds& bounds) {
  return {.name = "edit_file",
          .title = "Edit a file",
          .description = described(
              now,
              "Replaces exact text in a file: old_text has to be there once, or replace_all "
              "replaces every place. Nothing is changed when it is not there, or there more "
              "often. The mode is kept; the answer says how many places and where."),
          .input = std::string{input_schema},
          .output = std::string{output_schema},
          .hints = {.destructive = true},
          .runs = pace::file,
          .act = [bounds](const tool_call& call) { return edit_file(call, bounds); }};
}

}  // namespace pinfold::mcp
