#include "mcp/tools/line_search.hpp"

#include <re2/re2.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <pinfold/disk/kernel.hpp>

namespace pinfold::mcp {

namespace {

constexpr std::size_t longest_pattern = 4096;

std::uint64_t newlines_in(std::string_view text) {
  return static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
}

ssize_t read_more(int file, char* to, std::size_t room) noexcept {
  ssize_t size = 0;
  do {
    size = ::read(file, to, room);
  } while (size < 0 && errno == EINTR);
  return size;
}

}  // namespace

line_search::line_search(std::unique_ptr<re2::RE2> expression, std::size_t room)
    : expression_{std::move(expression)}, buffer_(room, '\0') {}
line_search::line_search(line_search&&) noexcept = default;
line_search& line_search::operator=(line_search&&) noexcept = default;
line_search::~line_search() = default;

std::expected<line_search, std::string> line_search::parse(std::string_view pattern, letters how,
                                                           std::size_t longest_line) {
  if (pattern.empty()) return std::unexpected{"it is empty"};
  if (pattern.size() > longest_pattern) {
    return std::unexpected{"it is longer than " + std::to_string(longest_pattern) + " bytes"};
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_never_nl(true);
  options.set_case_sensitive(how == letters::as_they_are);
  options.set_max_mem(std::int64_t{8} << 20);
  // In front alone: brackets around the pattern would make an unbalanced one lawful.
  auto expression = std::make_unique<re2::RE2>("(?m)" + std::string{pattern}, options);
  if (!expression->ok()) return std::unexpected{"it cannot be read: " + expression->error()};
  return line_search{std::move(expression), longest_line};
}

/// The lines of a part that begins with a line; what it passes is counted into `at`.
bool line_search::tell_lines(std::string_view part, progress& at,
                             const std::function<bool(const matched_line&)>& tell) const {
  std::size_t from = 0;
  while (from < part.size()) {
    re2::StringPiece match;
    if (!expression_->Match(re2::StringPiece{part}, from, part.size(), re2::RE2::UNANCHORED, &match,
                            1)) {
      break;
    }
    const auto begin = static_cast<std::size_t>(match.data() - part.data());
    if (begin == part.size() && part.back() == '\n') break;  // behind the last line there is none
    const auto before = begin == 0 ? part.npos : part.rfind('\n', begin - 1);
    const auto line = before == part.npos ? 0 : before + 1;
    const auto end = std::min(part.find('\n', begin), part.size());
    at.line += newlines_in(part.substr(from, line - from));
    if (!tell({at.line, at.offset + line, part.substr(line, end - line), begin - line})) {
      return false;
    }
    from = std::min(end + 1, part.size());
    if (end < part.size()) ++at.line;
  }
  at.line += newlines_in(part.substr(from));
  at.offset += part.size();
  return true;
}

std::expected<searched_file, code> line_search::run(
    int file, const std::function<bool()>& may_go_on,
    const std::function<bool(const matched_line&)>& tell) {
  progress at;
  std::size_t have = 0;
  for (;;) {
    if (!may_go_on()) return searched_file{.is_ended = false};
    const auto size = read_more(file, buffer_.data() + have, buffer_.size() - have);
    if (size < 0) return std::unexpected{beneath::code_of(errno)};
    const auto fresh = static_cast<std::size_t>(size);
    if (std::memchr(buffer_.data() + have, 0, fresh) != nullptr) {
      return searched_file{.is_binary = true};
    }
    have += fresh;
    const std::string_view all{buffer_.data(), have};
    const auto newline = all.rfind('\n');
    auto part = newline == all.npos ? std::string_view{} : all.substr(0, newline + 1);
    if (fresh == 0 || (part.empty() && have == buffer_.size())) part = all;
    if (!tell_lines(part, at, tell)) return searched_file{.is_ended = false};
    if (fresh == 0) return searched_file{};
    const auto rest = have - part.size();
    std::memmove(buffer_.data(), buffer_.data() + part.size(), rest);
    have = rest;
  }
}

}  // namespace pinfold::mcp
