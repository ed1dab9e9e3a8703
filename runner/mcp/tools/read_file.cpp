// read_file: part of a file as text, by bytes or by lines. Lines are looked for only where lines are
// asked for.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <expected>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "json/utf8.hpp"
#include "mcp/arguments.hpp"
#include "mcp/tools/acting.hpp"
#include "mcp/tools/bytes.hpp"
#include "mcp/tools/text.hpp"
#include "mcp/tools/tools.hpp"

namespace pinfold::mcp {

namespace {

constexpr std::uint64_t farthest = std::uint64_t{1} << 53;  // what every JSON reader keeps exactly

struct wanted {
  std::string_view path;
  std::uint64_t offset{0};
  std::size_t limit{0};
  std::uint64_t start_line{0};  // 0: none given
  std::uint64_t lines{0};       // 0: as many as there are
  bool is_numbered{false};
  bool is_base64{false};

  [[nodiscard]] bool is_by_line() const noexcept {
    return start_line != 0 || lines != 0 || is_numbered;
  }
};

std::expected<wanted, refusal> read_arguments(const json& arguments, const tool_bounds& bounds) {
  argument_reader from{arguments, operation::read};
  wanted asked;
  asked.path = from.text("path");
  asked.offset = from.number("offset", 0, farthest, 0);
  asked.limit = from.number("limit", 1, bounds.read_bytes, bounds.read_bytes);
  asked.start_line = from.number("start_line", 1, farthest, 0);
  asked.lines = from.number("lines", 1, farthest, 0);
  asked.is_numbered = from.flag("line_numbers", false);
  asked.is_base64 = from.flag("base64", false);
  if (auto why = from.wrong()) return std::unexpected{std::move(*why)};
  const auto wrong = [](std::string_view name, std::string why) {
    return std::unexpected{wrong_argument(operation::read, name, std::move(why))};
  };
  if (asked.offset != 0 && asked.start_line != 0) {
    return wrong("start_line", "begin at an offset or at a line, not at both");
  }
  if (asked.offset != 0 && asked.is_numbered) {
    return wrong("line_numbers", "lines are numbered from a start_line, not from an offset");
  }
  if (asked.is_base64 && asked.is_by_line()) {
    return wrong("base64", "bytes have no lines; use offset and limit");
  }
  return asked;
}

/// A part of a file. `bytes` are those of the file, before anything is put to them.
struct part {
  std::string bytes;
  std::uint64_t offset{0};
  bool is_text{false};
  bool is_cut{false};
  std::optional<std::uint64_t> next_line;
};

/// Ends the part at a whole line where it can, and after the lines that were asked for.
void keep_lines(part& read, const wanted& asked) {
  std::uint64_t count = 0;
  std::size_t end = 0;
  while (asked.lines == 0 || count < asked.lines) {
    const auto newline = read.bytes.find('\n', end);
    if (newline == std::string::npos) break;
    end = newline + 1;
    ++count;
  }
  const bool has_all = asked.lines != 0 && count == asked.lines;
  if (!has_all && (!read.is_cut || end == 0)) return;  // to the end, or inside one long line
  read.is_cut = read.is_cut || end < read.bytes.size();
  read.bytes.resize(end);
  if (read.is_cut) read.next_line = std::max<std::uint64_t>(asked.start_line, 1) + count;
}

/// What lies between whole characters; bytes that are no text stay as they are.
void keep_characters(part& read, const wanted& asked) {
  const auto begin = asked.offset == 0 ? 0 : rest_at_start(read.bytes);
  const auto end = read.is_cut ? unfinished_at_end(read.bytes) : 0;
  const std::string_view whole{read.bytes};
  const auto between = begin + end <= whole.size() ? whole.substr(begin, whole.size() - begin - end)
                                                   : std::string_view{};
  read.is_text = is_text(between) && (!between.empty() || whole.empty());
  if (!read.is_text) return;
  read.offset += begin;
  read.bytes.resize(read.bytes.size() - end);
  read.bytes.erase(0, begin);
}

std::expected<part, refusal> read_part(const opened_file& from, const wanted& asked,
                                       const tool_bounds& bounds) {
  const auto failed = [&](code why) {
    return std::unexpected{
        refusal{why, operation::read, std::string{asked.path}, from.canonical, {}, {}}};
  };
  part read;
  read.offset = asked.offset;
  if (asked.start_line > 1) {
    const auto found = line_at(from.file.get(), asked.start_line, bounds.line_scan);
    if (!found) return failed(found.error());
    if (!found->is_there) {
      return std::unexpected{wrong_argument(operation::read, "start_line", found->why())};
    }
    read.offset = found->offset;
  }
  auto bytes = bytes_at(from.file.get(), read.offset, asked.limit + 1);
  if (!bytes) return failed(bytes.error());
  read.bytes = std::move(*bytes);
  read.is_cut = read.bytes.size() > asked.limit;
  if (read.is_cut) read.bytes.resize(asked.limit);
  if (asked.is_base64) return read;
  if (asked.is_by_line()) keep_lines(read, asked);
  keep_characters(read, asked);
  return read;
}

std::string numbered(std::string_view text, std::uint64_t number) {
  std::string all;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
    const auto digits = std::to_string(number++);
    if (digits.size() < 6) all.append(6 - digits.size(), ' ');
    all.append(digits).append("\t").append(text.substr(0, end));
    text.remove_prefix(end);
  }
  return all;
}

tool_result answer(const acting& now, const opened_file& from, const wanted& asked, part read) {
  json out;
  put_name(out, "path", as_given(now.ws(), from.canonical));
  const auto next = read.offset + read.bytes.size();
  const bool is_shown = asked.is_base64 || read.is_text;
  out["binary"] = !asked.is_base64 && !read.is_text;
  out["encoding"] = asked.is_base64 ? "base64" : read.is_text ? "utf-8" : "none";
  out["offset"] = read.offset;
  out["bytes"] = is_shown ? read.bytes.size() : 0;
  out["truncated"] = read.is_cut;
  std::string text;
  if (asked.is_base64) {
    text = base64_of(read.bytes);
  } else if (read.is_text) {
    text = asked.is_numbered ? numbered(read.bytes, std::max<std::uint64_t>(asked.start_line, 1))
                             : std::move(read.bytes);
  }
  out["content"] = text;
  if (!read.is_cut && is_shown) return mcp::done(std::move(text), std::move(out));
  const auto size = size_of(from.file.get());
  out["size"] = size;
  if (!is_shown) {
    return mcp::done("A binary file of " + counted(size, "byte", "bytes") +
                         ": not shown as text; base64 reads its bytes.",
                     std::move(out));
  }
  out["left"] = size > next ? size - next : 0;
  out["next_offset"] = next;
  auto how = "offset " + std::to_string(next);
  if (read.next_line) {
    out["next_start_line"] = *read.next_line;
    how = "start_line " + std::to_string(*read.next_line);
  }
  text += "\n[pinfold: cut here, " + counted(size > next ? size - next : 0, "byte", "bytes") +
          " left; go on with " + how + "]\n";
  return mcp::done(std::move(text), std::move(out));
}

tool_result read_file(const tool_call& call, const tool_bounds& bounds) {
  auto asked = read_arguments(call.arguments, bounds);
  if (!asked) return not_done(std::move(asked.error()));
  auto now = acting::begin(call);
  if (!now) return not_done(std::move(now.error()));
  const auto opened = now->open_read(asked->path);
  if (!opened) return now->finish(not_done(opened.error()));
  now->after_read(opened->canonical);
  auto read = read_part(*opened, *asked, bounds);
  if (!read) return now->finish(not_done(std::move(read.error())));
  return now->finish(answer(*now, *opened, *asked, std::move(*read)));
}

std::string input_schema(const tool_bounds& bounds) {
  const auto most = std::to_string(bounds.read_bytes);
  return R"({"type":"object","properties":{)"
         R"("path":{"type":"string","description":"the file"},)"
         R"("offset":{"type":"integer","minimum":0,"description":"the first byte; default 0"},)"
         R"("limit":{"type":"integer","minimum":1,"maximum":)" +
         most + R"(,"description":"at most this many bytes; default )" + most +
         R"("},)"
         R"("start_line":{"type":"integer","minimum":1,"description":"the first line, from 1, in place of an offset"},)"
         R"("lines":{"type":"integer","minimum":1,"description":"at most this many lines"},)"
         R"("line_numbers":{"type":"boolean","description":"put its number and a tab before each line"},)"
         R"("base64":{"type":"boolean","description":"the bytes as base64 in place of text"}},)"
         R"("required":["path"],"additionalProperties":false})";
}

constexpr std::string_view output_schema =
    R"({"type":"object","properties":{)"
    R"("path":{"type":"string"},"path_base64":{"type":"string"},"addressable":{"type":"boolean"},)"
    R"("binary":{"type":"boolean","description":"it is not UTF-8 or holds a NUL byte; content is empty"},)"
    R"("encoding":{"type":"string","enum":["utf-8","base64","none"]},)"
    R"("offset":{"type":"integer","description":"where content begins"},)"
    R"("bytes":{"type":"integer","description":"of the file in content"},)"
    R"("content":{"type":"string"},)"
    R"("truncated":{"type":"boolean"},"size":{"type":"integer"},)"
    R"("left":{"type":"integer","description":"bytes of the file after content"},)"
    R"("next_offset":{"type":"integer","description":"how to go on"},)"
    R"("next_start_line":{"type":"integer","description":"how to go on by lines"}},)"
    R"("required":["path","binary","encoding","offset","bytes","content","truncated"]})";

}  // namespace

tool read_file_tool(const session& now, const tool_bounds& bounds) {
  // A person who is asked answers through the thread that reads.
  const auto runs = now.present() == mode::ask ? pace::file : pace::quick;
  return {.name = "read_file",
          .title = "Read a file",
          .description = described(
              now,
              "Reads a text file, or part of it by bytes (offset, limit) or lines (start_line, "
              "lines). What does not fit in one answer is cut, and the answer says how to go "
              "on. A binary file is told apart and not shown."),
          .input = input_schema(bounds),
          .output = std::string{output_schema},
          .hints = {.read_only = true, .idempotent = true},
          .runs = runs,
          .act = [bounds](const tool_call& call) { return read_file(call, bounds); }};
}

}  // namespace pinfold::mcp
