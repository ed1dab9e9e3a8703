#include "mcp/tools/walk.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "mcp/tools/text.hpp"

namespace pinfold::mcp {

tree_walk::tree_walk(const acting& now, const tool_bounds& bounds)
    : now_{now}, bounds_{bounds}, began_{std::chrono::steady_clock::now()}, told_{began_} {}

walk_end tree_walk::time_left() {
  if (now_.is_cancelled()) return walk_end::cancelled;
  const auto at = std::chrono::steady_clock::now();
  if (at - began_ > bounds_.time) return walk_end::time;
  if (now_.asked().progress && at - told_ > std::chrono::milliseconds{500}) {
    told_ = at;
    tell_progress();
  }
  return walk_end::all_seen;
}

void tree_walk::tell_progress() {
  now_.asked().progress(static_cast<double>(seen_), std::nullopt,
                        counted(seen_, "entry", "entries") + " looked at");
}

walk_end tree_walk::run(descriptor directory, const std::string& start, const visitor& tell) {
  path_ = start;
  start_size_ = start == "/" ? 1 : start.size() + 1;
  is_in_git_ = std::ranges::any_of(components{start}, [](auto name) { return name == ".git"; });
  auto first = entries::of(std::move(directory));
  if (!first) {
    ++passed_.unreadable;
    return walk_end::all_seen;
  }
  levels_.push_back({std::move(*first), path_.size()});
  while (!levels_.empty()) {
    const auto end = step(tell);
    if (end != walk_end::all_seen) return end;
  }
  return walk_end::all_seen;
}

/// One entry of the directory at the top.
walk_end tree_walk::step(const visitor& tell) {
  const auto next = levels_.back().names.next();
  if (!next || next->name.empty()) {
    if (!next) ++passed_.unreadable;
    levels_.pop_back();
    return walk_end::all_seen;
  }
  if (seen_ == bounds_.entries) return walk_end::entries;
  if (++seen_ % 64 == 0) {
    const auto end = time_left();
    if (end != walk_end::all_seen) return end;
  }
  path_.resize(levels_.back().path_size);
  if (path_ != "/") path_ += '/';
  path_ += next->name;
  if (path_.size() >= path_max) {
    ++passed_.too_deep;
    return walk_end::all_seen;
  }
  const walked_entry entry{path_, std::string_view{path_}.substr(start_size_), next->name,
                           next->type, now_.ws().grant().region_of_unchecked(path_)};
  if (!is_allowed(entry)) {
    ++passed_.closed;
    return walk_end::all_seen;
  }
  if (!tell(entry)) return walk_end::enough;
  if (entry.type == file_type::directory) go_into(entry);
  return walk_end::all_seen;
}

bool tree_walk::is_allowed(const walked_entry& entry) const {
  const auto asked = entry.type == file_type::directory ? call::list(entry.canonical)
                                                        : call::read(entry.canonical);
  return now_.now().check(asked) == verdict::allow;
}

/// Opened from the workspace down by its canonical path, through no link, and checked by what was
/// opened: harness state is recognised under other names too.
void tree_walk::go_into(const walked_entry& entry) {
  if (entry.name == ".git" && !is_in_git_) {
    ++passed_.git;
    return;
  }
  if (levels_.size() > bounds_.depth) {
    ++passed_.too_deep;
    return;
  }
  auto opened = beneath::open_place(now_.ws().root().held(), operation::list,
                                    {std::string{entry.canonical}, entry.where},
                                    {.flags = O_RDONLY | O_DIRECTORY | beneath::never_wait});
  if (!opened) {
    ++(opened.error() == code::harness_state ? passed_.closed : passed_.unreadable);
    return;
  }
  auto names = entries::of(std::move(*opened));
  if (!names) {
    ++passed_.unreadable;
    return;
  }
  levels_.push_back({std::move(*names), entry.canonical.size()});
}

const std::string_view end_schema =
    R"("truncated":{"type":"boolean"},)"
    R"("stopped":{"type":"string","enum":["limit","entries","time","cancelled"],"description":"what cut it"},)"
    R"("next_offset":{"type":"integer","description":"how to go on after a limit; else narrow the path"},)"
    R"("skipped":{"type":"object","description":"not looked into, by reason","properties":{)"
    R"("closed":{"type":"integer"},"unreadable":{"type":"integer"},"too_deep":{"type":"integer"},)"
    R"("git":{"type":"integer"},"credentials":{"type":"integer"},"binary":{"type":"integer"}}})";

std::string matches_schema(std::string_view members, std::string_view required,
                           std::string_view counted) {
  constexpr std::string_view place =
      R"("path":{"type":"string"},"path_base64":{"type":"string"},"addressable":{"type":"boolean"},)";
  auto text = R"({"type":"object","properties":{)" + std::string{place};
  text += R"("matches":{"type":"array","items":{"type":"object","properties":{)" + std::string{place};
  text.append(members).append(R"(},"required":[)").append(required).append("]}},");
  text += R"("offset":{"type":"integer"},")" + std::string{counted} +
          R"(":{"type":"integer","description":"looked at"},)" + std::string{end_schema};
  return text + R"(},"required":["path","matches","offset",")" + std::string{counted} +
         R"(","truncated","skipped"]})";
}

std::string page_schema(std::size_t most, std::string_view things) {
  const auto number = std::to_string(most);
  return R"("offset":{"type":"integer","minimum":0,"description":"matches to pass over; default 0"},)"
         R"("limit":{"type":"integer","minimum":1,"maximum":)" +
         number + R"(,"description":"at most this many)" + std::string{things} + "; default " + number +
         R"("}},"required":["pattern"],"additionalProperties":false})";
}

void put_end(json& out, std::string& text, walk_end end, std::uint64_t next,
             const passed_over& passed) {
  constexpr std::array<std::string_view, 5> names{"", "limit", "entries", "time", "cancelled"};
  out["truncated"] = end != walk_end::all_seen;
  if (end != walk_end::all_seen) {
    const auto name = names[static_cast<std::size_t>(end)];
    out["stopped"] = name;
    if (end == walk_end::enough) out["next_offset"] = next;
    text += "[pinfold: cut here by its bound (" + std::string{name} + "); ";
    text += end == walk_end::enough ? "go on with offset " + std::to_string(next)
                                    : "ask again with a narrower path";
    text += "]\n";
  }
  auto& skipped = out["skipped"] = json::object();
  std::string words;
  const auto put = [&](std::string_view name, std::uint64_t count) {
    if (count == 0) return;
    skipped[std::string{name}] = count;
    words += (words.empty() ? "" : ", ") + std::to_string(count) + ' ' + std::string{name};
  };
  put("closed", passed.closed);
  put("unreadable", passed.unreadable);
  put("too_deep", passed.too_deep);
  put("git", passed.git);
  put("credentials", passed.credentials);
  put("binary", passed.binary);
  if (!words.empty()) text += "[pinfold: not looked into: " + words + "]\n";
}

}  // namespace pinfold::mcp
