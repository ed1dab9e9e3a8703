// search_text: the lines that match a regular expression, in a file or in all text files below a
// directory.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <pinfold/intake.hpp>

#include "json/utf8.hpp"
#include "mcp/arguments.hpp"
#include "mcp/tools/glob.hpp"
#include "mcp/tools/line_search.hpp"
#include "mcp/tools/text.hpp"
#include "mcp/tools/walk.hpp"

namespace pinfold::mcp {

namespace {

struct page {
  std::uint64_t offset{0};
  std::size_t limit{0};
};

/// What is shown of a line: the match and what stands around it, cut between characters.
struct shown_line {
  std::string text;
  bool is_cut{false};
};

shown_line excerpt(const matched_line& line, std::size_t most) {
  auto text = line.text;
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (text.size() <= most) return {with_replacements(text), false};
  auto begin = std::min(line.match, text.size());
  begin -= std::min(begin, most / 4);
  text = text.substr(begin, most);
  if (begin > 0) text.remove_prefix(rest_at_start(text));
  text.remove_suffix(unfinished_at_end(text));
  return {with_replacements(text), true};
}

/// The matches of one answer, from whichever files they come.
class collection {
 public:
  collection(const acting& now, const page& asked, const tool_bounds& bounds)
      : now_{now}, asked_{asked}, bounds_{bounds} {}

  /// False: no more.
  bool add(std::string_view canonical, const matched_line& line) {
    if (count_ < asked_.offset) return ++count_, true;
    const bool is_full = all_.size() == asked_.limit || bytes_ >= bounds_.match_bytes;
    if (is_full) return false;
    ++count_;
    auto shown_part = excerpt(line, bounds_.shown_bytes);
    const auto given = as_given(now_.ws(), canonical);
    json one;
    put_name(one, "path", given);
    one["line"] = line.number;
    one["offset"] = line.offset;
    const auto head = shown(given) + ':' + std::to_string(line.number) + ": ";
    bytes_ += head.size() + shown_part.text.size();
    text_ += head + shown_part.text + (shown_part.is_cut ? " [...]\n" : "\n");
    one["text"] = std::move(shown_part.text);
    if (shown_part.is_cut) one["cut"] = true;
    all_.push_back(std::move(one));
    if (files_.empty() || files_.back() != canonical) files_.emplace_back(canonical);
    return true;
  }

  [[nodiscard]] const std::vector<std::string>& files() const noexcept { return files_; }

  tool_result answer(std::string_view start, std::uint64_t searched, walk_end end,
                     const passed_over& passed) {
    json out;
    put_name(out, "path", as_given(now_.ws(), start));
    if (all_.empty()) text_ = "No line matches.\n";
    out["matches"] = std::move(all_);
    out["offset"] = asked_.offset;
    out["files"] = searched;
    put_end(out, text_, end, count_, passed);
    return mcp::done(std::move(text_), std::move(out));
  }

 private:
  const acting& now_;
  const page& asked_;
  const tool_bounds& bounds_;
  json all_ = json::array();
  std::string text_;
  std::vector<std::string> files_;
  std::uint64_t count_{0};
  std::size_t bytes_{0};
};

/// Where a search begins: a file or a directory, open.
struct beginning {
  descriptor open;
  bool is_file{false};
};

std::expected<beginning, code> open_start(const beneath::held_root& root, const resolved& place) {
  auto seen = beneath::open_place(root, operation::read, place, {});
  if (!seen) return std::unexpected{seen.error()};
  struct stat status{};
  if (::fstat(seen->get(), &status) != 0) return std::unexpected{beneath::code_of(errno)};
  if (S_ISDIR(status.st_mode)) {
    auto directory = beneath::open_place(root, operation::list, place,
                                         {.flags = O_RDONLY | O_DIRECTORY | beneath::never_wait});
    if (!directory) return std::unexpected{directory.error()};
    return beginning{std::move(*directory), false};
  }
  auto file = beneath::open_read_at(root, place);
  if (!file) return std::unexpected{file.error()};
  return beginning{std::move(*file), true};
}

class searching {
 public:
  searching(acting& now, line_search& lines, const std::optional<glob>& names, collection& matches,
            const tool_bounds& bounds)
      : now_{now}, lines_{lines}, names_{names}, matches_{matches}, walk_{now, bounds} {}

  walk_end run(beginning from, const std::string& start) {
    if (from.is_file) return in_file(from.open, start);
    takes_credentials_ = looks_like_a_credential(start);
    auto end = walk_.run(std::move(from.open), start, [&](const walked_entry& entry) {
      if (!is_wanted(entry)) return true;
      const auto file = open(entry);
      if (!file.is_open()) return true;
      inner_ = in_file(file, entry.canonical);
      return inner_ == walk_end::all_seen;
    });
    return end == walk_end::enough ? inner_ : end;
  }

  [[nodiscard]] std::uint64_t files() const noexcept { return files_; }
  [[nodiscard]] const passed_over& passed() noexcept { return walk_.passed(); }

 private:
  [[nodiscard]] bool is_wanted(const walked_entry& entry) {
    if (entry.type != file_type::file) return false;
    if (names_ && !names_->matches(entry.below, entry.name)) return false;
    // What is not in such a file would be told too: it is searched only when it is asked for by name.
    if (takes_credentials_ || !looks_like_a_credential(entry.canonical)) return true;
    ++walk_.passed().credentials;
    return false;
  }

  /// None where it cannot be opened or is no regular file any more.
  [[nodiscard]] descriptor open(const walked_entry& entry) {
    auto file = beneath::open_place(now_.ws().root().held(), operation::read,
                                    {std::string{entry.canonical}, entry.where},
                                    {.flags = O_RDONLY | beneath::never_wait});
    if (file && !beneath::not_a_file(*file)) return std::move(*file);
    const bool is_closed = !file && file.error() == code::harness_state;
    ++(is_closed ? walk_.passed().closed : walk_.passed().unreadable);
    return {};
  }

  walk_end in_file(const descriptor& file, std::string_view canonical) {
    auto end = walk_end::all_seen;
    const auto done = lines_.run(
        file.get(),
        [&] {
          end = walk_.time_left();
          return end == walk_end::all_seen;
        },
        [&](const matched_line& line) {
          if (matches_.add(canonical, line)) return true;
          end = walk_end::enough;
          return false;
        });
    if (!done) {
      ++walk_.passed().unreadable;
      return walk_end::all_seen;
    }
    ++files_;
    if (done->is_binary) ++walk_.passed().binary;
    return end;
  }

  acting& now_;
  line_search& lines_;
  const std::optional<glob>& names_;
  collection& matches_;
  tree_walk walk_;
  walk_end inner_{walk_end::all_seen};
  std::uint64_t files_{0};
  bool takes_credentials_{false};
};

tool_result search_text(const tool_call& call, const tool_bounds& bounds) {
  argument_reader from{call.arguments, operation::read};
  const auto pattern = from.text("pattern");
  const auto path = from.text_if_given("path").value_or(".");
  const auto files = from.text_if_given("files");
  const bool folds = from.flag("ignore_case", false);
  const page asked{from.number("offset", 0, std::uint64_t{1} << 53, 0),
                   from.number("limit", 1, bounds.matches, bounds.matches)};
  if (auto why = from.wrong()) return not_done(std::move(*why));
  const auto wrong = [](std::string_view name, std::string why) {
    return not_done(wrong_argument(operation::read, name, std::move(why)));
  };
  const auto letters =
      folds ? line_search::letters::either_case : line_search::letters::as_they_are;
  auto lines = line_search::parse(pattern, letters, bounds.line_bytes);
  if (!lines) return wrong("pattern", std::move(lines.error()));
  std::optional<glob> names;
  if (files) {
    auto parsed = glob::parse(*files);
    if (!parsed) return wrong("files", std::move(parsed.error()));
    names = std::move(*parsed);
  }
  auto now = acting::begin(call);
  if (!now) return not_done(std::move(now.error()));
  beginning opened;
  const auto start = now->perform(
      operation::read, path,
      [&](const beneath::held_root& root, const resolved& place) -> std::expected<void, code> {
        auto found = open_start(root, place);
        if (!found) return std::unexpected{found.error()};
        opened = std::move(*found);
        return {};
      },
      leading_out::refused);
  if (!start) return now->finish(not_done(start.error()));
  now->after_read(*start);
  collection matches{*now, asked, bounds};
  searching search{*now, *lines, names, matches, bounds};
  const auto end = search.run(std::move(opened), *start);
  for (const auto& file : matches.files()) {
    if (file != *start) now->note_read(file);
  }
  return now->finish(matches.answer(*start, search.files(), end, search.passed()));
}

std::string input_schema(const tool_bounds& bounds) {
  return R"({"type":"object","properties":{)"
         R"("pattern":{"type":"string","description":"a regular expression in RE2's syntax, matched within each line"},)"
         R"("path":{"type":"string","description":"a file, or the directory to look below; default the workspace"},)"
         R"("files":{"type":"string","description":"only files with such a name, as in find_files"},)"
         R"("ignore_case":{"type":"boolean"},)" +
         page_schema(bounds.matches, " lines");
}

std::string output_schema() {
  return matches_schema(
      R"("line":{"type":"integer"},"offset":{"type":"integer","description":"of the line in its file, for read_file"},)"
      R"("text":{"type":"string"},"cut":{"type":"boolean","description":"only a part of the line"})",
      R"("path","line","offset","text")", "files");
}

}  // namespace

tool search_text_tool(const session& now, const tool_bounds& bounds) {
  return {.name = "search_text",
          .title = "Search in files",
          .description = described(
              now,
              "Finds lines by a regular expression, in one file or in all text files below a "
              "directory. Links are not followed; directories .git and files named like "
              "credentials are searched only when the path names them; ignore files mean "
              "nothing. A long answer is cut and says how to go on."),
          .input = input_schema(bounds),
          .output = output_schema(),
          .hints = {.read_only = true, .idempotent = true},
          .runs = pace::file,
          .act = [bounds](const tool_call& call) { return search_text(call, bounds); }};
}

}  // namespace pinfold::mcp
