// list_directory: one page of a directory, whatever its size.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "mcp/arguments.hpp"
#include "mcp/tools/acting.hpp"
#include "mcp/tools/entries.hpp"
#include "mcp/tools/text.hpp"
#include "mcp/tools/tools.hpp"

namespace pinfold::mcp {

namespace {

constexpr std::string_view output_schema =
    R"({"type":"object","properties":{)"
    R"("path":{"type":"string"},"path_base64":{"type":"string"},"addressable":{"type":"boolean"},)"
    R"("entries":{"type":"array","items":{"type":"object","properties":{)"
    R"("name":{"type":"string"},"name_base64":{"type":"string"},)"
    R"("addressable":{"type":"boolean","description":"false: the name is not UTF-8, so no file tool can be given it; a command can"},)"
    R"("type":{"type":"string","enum":["file","directory","link","special"]},)"
    R"("size":{"type":"integer","description":"of a file"},)"
    R"("access":{"type":"string","enum":["none","read"],"description":"none: the harness's own; read: not to be changed"}},)"
    R"("required":["name","type"]}},)"
    R"("total":{"type":"integer","description":"entries in the directory"},)"
    R"("offset":{"type":"integer"},"order":{"type":"string","enum":["name","directory"]},)"
    R"("truncated":{"type":"boolean"},"left":{"type":"integer"},)"
    R"("next_offset":{"type":"integer","description":"how to go on"}},)"
    R"("required":["path","entries","total","offset","order","truncated"]})";

struct listed_entry {
  std::string name;
  file_type type{file_type::file};
  std::optional<std::uint64_t> size;
};

/// Where a page begins and how long it may be.
struct page {
  std::uint64_t offset{0};
  std::size_t limit{0};
};

struct listing {
  std::vector<listed_entry> entries;
  std::uint64_t total{0};
  bool is_sorted{false};
};

/// Keeps the page only, and beyond it what is needed to sort a directory that is not too large.
std::expected<listing, code> read_page(entries directory, const page& asked, std::size_t sorted,
                                       const acting& now) {
  listing all;
  std::vector<listed_entry> beyond;  // of the page, while there are few enough to sort
  for (;;) {
    const auto entry = directory.next();
    if (!entry) return std::unexpected{entry.error()};
    if (entry->name.empty()) break;
    const auto number = all.total++;
    if (now.is_cancelled()) break;
    if (all.total == sorted + 1) beyond = {};
    const bool is_in_page = number >= asked.offset && number - asked.offset < asked.limit;
    if (is_in_page) {
      all.entries.push_back({std::string{entry->name}, entry->type, std::nullopt});
    } else if (all.total <= sorted) {
      beyond.push_back({std::string{entry->name}, entry->type, std::nullopt});
    }
  }
  all.is_sorted = all.total <= sorted;
  if (all.is_sorted) {
    std::ranges::move(beyond, std::back_inserter(all.entries));
    std::ranges::sort(all.entries, {}, &listed_entry::name);
    const auto begin = std::min<std::uint64_t>(asked.offset, all.entries.size());
    all.entries.erase(all.entries.begin(),
                      all.entries.begin() + static_cast<std::ptrdiff_t>(begin));
    if (all.entries.size() > asked.limit) all.entries.resize(asked.limit);
  }
  for (auto& one : all.entries) {
    struct stat status{};
    const bool is_file =
        one.type == file_type::file &&
        ::fstatat(directory.fd(), one.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(status.st_mode);
    if (is_file) one.size = static_cast<std::uint64_t>(status.st_size);
  }
  return all;
}

/// What a tool may do there, where that is less than everything.
std::optional<std::string_view> access_to(const grant& rules, std::string_view canonical) {
  switch (rules.region_of(canonical)) {
    case region::harness_state:
      return "none";
    case region::host_run:
      return "read";
    case region::extra_root:
      if (!rules.is_writable(canonical)) return "read";
      return std::nullopt;
    case region::workspace:
    case region::outside:
      break;
  }
  return std::nullopt;
}

tool_result answer(const acting& now, const std::string& canonical, const page& asked,
                   listing found) {
  json out;
  put_name(out, "path", as_given(now.ws(), canonical));
  auto& all = out["entries"] = json::array();
  std::string text;
  for (const auto& entry : found.entries) {
    json one;
    put_name(one, "name", entry.name);
    one["type"] = type_name(entry.type);
    if (entry.size) one["size"] = *entry.size;
    const auto access = access_to(now.ws().grant(), disk::joined(canonical, entry.name));
    if (access) one["access"] = *access;
    text += shown(entry.name) + (entry.type == file_type::directory ? "/" : "");
    if (entry.type == file_type::link) text += " (link)";
    if (entry.type == file_type::special) text += " (special)";
    if (entry.size) text += ' ' + std::to_string(*entry.size);
    if (access) text += *access == "none" ? " (not available)" : " (read only)";
    text += '\n';
    all.push_back(std::move(one));
  }
  const auto next = asked.offset + found.entries.size();
  const auto left = found.total > next ? found.total - next : 0;
  out["total"] = found.total;
  out["offset"] = asked.offset;
  out["order"] = found.is_sorted ? "name" : "directory";
  out["truncated"] = left > 0;
  if (found.total == 0) text = "The directory is empty.\n";
  if (left > 0) {
    out["left"] = left;
    out["next_offset"] = next;
    text += "[pinfold: cut here, " + counted(left, "entry", "entries") + " of " +
            std::to_string(found.total) + " left; go on with offset " + std::to_string(next) +
            "]\n";
  }
  return mcp::done(std::move(text), std::move(out));
}

tool_result list_directory(const tool_call& call, const tool_bounds& bounds) {
  argument_reader from{call.arguments, operation::list};
  const auto path = from.text_if_given("path").value_or(".");
  const page asked{from.number("offset", 0, std::uint64_t{1} << 53, 0),
                   from.number("limit", 1, bounds.listed, bounds.listed)};
  if (auto why = from.wrong()) return not_done(std::move(*why));
  auto now = acting::begin(call);
  if (!now) return not_done(std::move(now.error()));
  listing found;
  const auto done = now->perform(
      operation::list, path,
      [&](const beneath::held_root& root, const resolved& place) -> std::expected<void, code> {
        auto opened = beneath::open_place(root, operation::list, place,
                                          {.flags = O_RDONLY | O_DIRECTORY | beneath::never_wait});
        if (!opened) return std::unexpected{opened.error()};
        auto directory = entries::of(std::move(*opened));
        if (!directory) return std::unexpected{directory.error()};
        auto read = read_page(std::move(*directory), asked, bounds.sorted, *now);
        if (!read) return std::unexpected{read.error()};
        found = std::move(*read);
        return {};
      });
  if (!done) return now->finish(not_done(done.error()));
  now->after_list(*done);
  return now->finish(answer(*now, *done, asked, std::move(found)));
}

std::string input_schema(const tool_bounds& bounds) {
  const auto most = std::to_string(bounds.listed);
  return R"({"type":"object","properties":{)"
         R"("path":{"type":"string","description":"the directory; default the workspace"},)"
         R"("offset":{"type":"integer","minimum":0,"description":"entries to pass over; default 0"},)"
         R"("limit":{"type":"integer","minimum":1,"maximum":)" +
         most + R"(,"description":"at most this many; default )" + most +
         R"("}},"additionalProperties":false})";
}

}  // namespace

tool list_directory_tool(const session& now, const tool_bounds& bounds) {
  return {.name = "list_directory",
          .title = "List a directory",
          .description = described(
              now,
              "Lists the names in a directory, sorted (a very large one in its own order), with "
              "their types and the sizes of files. A long list is cut, and the answer says how "
              "to go on."),
          .input = input_schema(bounds),
          .output = std::string{output_schema},
          .hints = {.read_only = true, .idempotent = true},
          .runs = pace::file,
          .act = [bounds](const tool_call& call) { return list_directory(call, bounds); }};
}

}  // namespace pinfold::mcp
