// remove: one name goes; a directory that is not empty only when that was said.
#include <sys/stat.h>

#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include <pinfold/disk/change.hpp>

#include "mcp/arguments.hpp"
#include "mcp/tools/acting.hpp"
#include "mcp/tools/removal.hpp"
#include "mcp/tools/text.hpp"
#include "mcp/tools/tools.hpp"

namespace pinfold::mcp {

namespace {

constexpr std::string_view input_schema =
    R"({"type":"object","properties":{)"
    R"("path":{"type":"string","description":"what is removed; a link itself, not what it leads to"},)"
    R"("recursive":{"type":"boolean","description":"a directory with all that is in it; default false"}},)"
    R"("required":["path"],"additionalProperties":false})";

constexpr std::string_view output_schema =
    R"({"type":"object","properties":{)"
    R"("path":{"type":"string"},"path_base64":{"type":"string"},"addressable":{"type":"boolean"},)"
    R"("removed":{"type":"integer","description":"names that are gone"}},"required":["path","removed"]})";

/// The directory at `place` with all below it. What the resolver refused (carve-outs on the way of
/// the names) never gets here; what is mounted in it is found by the look that comes first.
removal remove_tree(const acting& now, const beneath::held_root& root, const resolved& place) {
  const auto at = beneath::reach_parent(root, operation::remove, place);
  if (!at) return {.error = at.error()};
  struct stat status{};
  if (::fstatat(at->directory, at->name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return {.error = beneath::code_of(errno)};
  }
  if (S_ISDIR(status.st_mode)) {
    return remove_tree_at(root.names(), at->directory, at->name,
                          [&] { return now.is_cancelled(); });
  }
  const auto done = beneath::remove_at(root, place);
  if (!done) return {.error = done.error()};
  return {.names = 1};
}

tool_result remove_path(const tool_call& call) {
  argument_reader from{call.arguments, operation::remove};
  const auto path = from.text("path");
  const bool takes_all = from.flag("recursive", false);
  if (auto why = from.wrong()) return not_done(std::move(*why));
  auto now = acting::begin(call);
  if (!now) return not_done(std::move(now.error()));
  removal came;
  std::uint64_t gone = 0;
  auto done = now->perform(
      operation::remove, path,
      [&](const beneath::held_root& root, const resolved& place) -> std::expected<void, code> {
        if (!takes_all) {
          auto one = beneath::remove_at(root, place);
          if (one) ++gone;
          return one;
        }
        came = remove_tree(*now, root, place);
        gone += came.names;
        if (came.error) return std::unexpected{*came.error};
        return {};
      },
      leading_out::asked_about, takes_all ? " with all that is below it" : "");
  if (!done) {
    auto why = std::move(done.error());
    if (!came.detail.empty()) why.detail = std::move(came.detail);
    if (why.error == code::not_empty && !takes_all) {
      why.detail = "recursive removes it with all that is in it";
    }
    if (gone > 0)
      why.detail += (why.detail.empty() ? "" : "; ") + counted(gone, "name", "names") +
                    " below it are gone already";
    return now->finish(not_done(std::move(why)));
  }
  json out;
  put_name(out, "path", as_given(now->ws(), *done));
  out["removed"] = gone;
  auto text = "Removed " + shown(as_given(now->ws(), *done));
  if (gone > 1) text += " with all that was in it: " + counted(gone, "name", "names");
  return now->finish(mcp::done(text + ".", std::move(out)));
}

}  // namespace

tool remove_tool(const session& now) {
  return {.name = "remove",
          .title = "Remove a file or directory",
          .description = described(
              now,
              "Removes a file, a link (not what it leads to) or an empty directory; with "
              "recursive a directory and all that is in it, through no link, and nothing of it "
              "when a carve-out or a mount lies in it."),
          .input = std::string{input_schema},
          .output = std::string{output_schema},
          .hints = {.destructive = true},
          .runs = pace::file,
          .act = remove_path};
}

}  // namespace pinfold::mcp
