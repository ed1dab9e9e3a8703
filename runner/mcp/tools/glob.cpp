#include "mcp/tools/glob.hpp"

#include <re2/re2.h>

#include <utility>

#include "json/utf8.hpp"

namespace pinfold::mcp {

namespace {

/// Reads a pattern from left to right; each step takes what it knows and adds what it means.
class translation {
 public:
  explicit translation(std::string_view pattern) : rest_{pattern} {}

  std::expected<std::string, std::string> run() {
    while (!rest_.empty()) {
      if (!step()) return std::unexpected{"a '\\' has nothing behind it"};
    }
    if (open_ != 0) return std::unexpected{"a '{' has no '}'"};
    return std::move(out_);
  }

 private:
  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  [[nodiscard]] bool is_at_a_name() const { return out_.empty() || out_.ends_with('/'); }

  bool step() {
    if (is_at_a_name() && take("**/")) return add("(?:[^/]+/)*");
    if (take("**")) return add(".*");
    if (take("*")) return add("[^/]*");
    if (take("?")) return add("[^/]");
    if (rest_.front() == '[' && take_class()) return true;
    if (take("{")) return ++open_, add("(?:");
    if (open_ != 0 && take(",")) return add("|");
    if (open_ != 0 && take("}")) return --open_, add(")");
    if (take("\\") && rest_.empty()) return false;
    add_literal(rest_.front());
    rest_.remove_prefix(1);
    return true;
  }

  /// False where no class ends: the bracket then stands for itself.
  bool take_class() {
    auto text = rest_.substr(1);
    const bool is_not = text.starts_with('!') || text.starts_with('^');
    if (is_not) text.remove_prefix(1);
    const auto end = text.find(']', 1);  // a first ']' is one of the characters
    if (text.empty() || end == std::string_view::npos) return false;
    out_ += is_not ? "[^/" : "[";
    for (const char c : text.substr(0, end)) {
      if (c == '\\' || c == '[' || c == ']' || c == '^') out_ += '\\';
      out_ += c;
    }
    out_ += ']';
    rest_ = text.substr(end + 1);
    return true;
  }

  bool add(std::string_view expression) {
    out_ += expression;
    return true;
  }

  void add_literal(char c) {
    constexpr std::string_view special = R"(\.+*?()|[]{}^$)";
    if (special.contains(c)) out_ += '\\';
    out_ += c;
  }

  std::string_view rest_;
  std::string out_;
  unsigned open_{0};
};

}  // namespace

glob::glob(std::unique_ptr<re2::RE2> expression, bool is_for_paths)
    : expression_{std::move(expression)}, is_for_paths_{is_for_paths} {}
glob::glob(glob&&) noexcept = default;
glob& glob::operator=(glob&&) noexcept = default;
glob::~glob() = default;

std::expected<glob, std::string> glob::parse(std::string_view pattern) {
  if (pattern.empty()) return std::unexpected{"it is empty"};
  if (pattern.size() > longest) {
    return std::unexpected{"it is longer than " + std::to_string(longest) + " bytes"};
  }
  auto text = translation{pattern}.run();
  if (!text) return std::unexpected{std::move(text.error())};
  re2::RE2::Options how;
  how.set_log_errors(false);
  how.set_dot_nl(true);
  how.set_max_mem(std::int64_t{4} << 20);
  auto expression = std::make_unique<re2::RE2>(re2::StringPiece{*text}, how);
  if (!expression->ok()) return std::unexpected{"it cannot be read: " + expression->error()};
  return glob{std::move(expression), pattern.contains('/')};
}

bool glob::matches(std::string_view below, std::string_view name) const {
  const auto text = is_for_paths_ ? below : name;
  if (is_utf8(text)) return re2::RE2::FullMatch(re2::StringPiece{text}, *expression_);
  return re2::RE2::FullMatch(with_replacements(text), *expression_);
}

}  // namespace pinfold::mcp
