// A small reader for the profiles of the seatbelt backend: it parses the text anew, with a grammar
// of its own, and answers what a rule list of "the later one wins" lets through.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/path.hpp>

namespace pinfold::profile {

/// A list, a word or a string of the profile.
struct node {
  enum class kind { list, word, string } what{kind::list};
  std::string text{};
  std::vector<node> items{};
};

/// Reads one text; throws when it is not balanced or a string does not end.
class reader {
 public:
  explicit reader(std::string_view text) : rest_{text} {}

  std::vector<node> all() {
    std::vector<node> found;
    for (skip_space(); !rest_.empty(); skip_space()) found.push_back(one());
    return found;
  }

 private:
  node one() {
    if (rest_.front() == '(') return list();
    if (rest_.front() == ')') throw std::runtime_error{"a ) too many"};
    return rest_.front() == '"' ? string() : word();
  }
  node list() {
    node found;
    take();
    for (skip_space();; skip_space()) {
      if (rest_.empty()) throw std::runtime_error{"a ) too few"};
      if (rest_.front() == ')') break;
      found.items.push_back(one());
    }
    take();
    return found;
  }
  node string() {
    node found{.what = node::kind::string};
    take();
    for (;;) {
      char c = take();
      if (c == '"') return found;
      if (c == '\\') c = take();
      found.text += c;
    }
  }
  node word() {
    node found{.what = node::kind::word};
    while (!rest_.empty() &&
           std::string_view{"() \t\r\n\""}.find(rest_.front()) == std::string_view::npos) {
      found.text += take();
    }
    return found;
  }
  char take() {
    if (rest_.empty()) throw std::runtime_error{"the text ends too early"};
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  void skip_space() {
    while (!rest_.empty() &&
           std::string_view{" \t\r\n"}.find(rest_.front()) != std::string_view::npos) {
      rest_.remove_prefix(1);
    }
  }

  std::string_view rest_;
};

/// One rule: (allow|deny OPERATION [FILTER]).
struct rule {
  bool allows;
  std::string operation;
  enum class filter { none, literal, subpath, socket_below } kind{filter::none};
  std::string path{};

  friend bool operator==(const rule&, const rule&) = default;
};

inline rule::filter filter_named(const std::string& word) {
  if (word == "literal") return rule::filter::literal;
  if (word == "subpath") return rule::filter::subpath;
  throw std::runtime_error{"unknown filter " + word};
}

/// The rule that a list of the profile stands for; throws for anything that the backend has no
/// business to write.
inline rule rule_of(const node& list) {
  const auto& items = list.items;
  if (list.what != node::kind::list || items.size() < 2 || items.size() > 3) {
    throw std::runtime_error{"no rule"};
  }
  if (items[0].text != "allow" && items[0].text != "deny") throw std::runtime_error{"no rule"};
  rule made{.allows = items[0].text == "allow", .operation = items[1].text};
  if (items.size() == 2) return made;
  const auto* filter = &items[2];
  if (filter->items.at(0).text == "remote") {
    if (filter->items.at(1).text != "unix-socket") throw std::runtime_error{"no filter"};
    made.kind = rule::filter::socket_below;
    filter = &filter->items.at(2);
    if (filter_named(filter->items.at(0).text) != rule::filter::subpath) {
      throw std::runtime_error{"no filter"};
    }
  } else {
    made.kind = filter_named(filter->items.at(0).text);
  }
  if (filter->items.size() != 2 || filter->items[1].what != node::kind::string) {
    throw std::runtime_error{"a filter without a string"};
  }
  made.path = filter->items[1].text;
  return made;
}

/// The rules of a profile, in order; the first list has to be (version 1).
inline std::vector<rule> rules_of(std::string_view text) {
  const auto lists = reader{text}.all();
  if (lists.empty() || lists[0].items.size() != 2 || lists[0].items[0].text != "version" ||
      lists[0].items[1].text != "1") {
    throw std::runtime_error{"no (version 1)"};
  }
  std::vector<rule> rules;
  for (std::size_t i = 1; i < lists.size(); ++i) rules.push_back(rule_of(lists[i]));
  return rules;
}

inline bool covers_operation(const std::string& pattern, std::string_view operation) {
  if (pattern == "default") return true;
  if (!pattern.ends_with('*')) return pattern == operation;
  return operation.starts_with(std::string_view{pattern}.substr(0, pattern.size() - 1));
}

inline bool covers_path(const rule& one, std::string_view path) {
  switch (one.kind) {
    case rule::filter::none:
      return true;
    case rule::filter::literal:
      return one.path == path;
    case rule::filter::subpath:
    case rule::filter::socket_below:
      return contains(one.path, path);
  }
  return false;
}

/// Whether the profile lets an operation on a path through: the last rule that fits decides.
inline bool lets_through(const std::vector<rule>& rules, std::string_view operation,
                         std::string_view path) {
  bool answer = false;
  for (const auto& one : rules) {
    const bool is_about_sockets = one.kind == rule::filter::socket_below;
    if (is_about_sockets && operation != "network-outbound") continue;
    if (covers_operation(one.operation, operation) && covers_path(one, path)) answer = one.allows;
  }
  return answer;
}

/// The place of the last rule that equals one, or nothing.
inline std::optional<std::size_t> place_of(const std::vector<rule>& rules, const rule& wanted) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i] == wanted) found = i;
  }
  return found;
}

}  // namespace pinfold::profile
