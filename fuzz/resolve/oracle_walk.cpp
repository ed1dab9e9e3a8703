// The oracle's walk: path_resolution(7) over data.
#include <unistd.h>

#include <utility>

#include "resolve/oracle.hpp"

namespace pinfold_fuzz {

namespace {

using pinfold::code;

constexpr std::size_t longest_name = 255;
constexpr std::size_t longest_path = 4095;
constexpr int most_links = 40;

class walker {
 public:
  walker(const tree& data, manners how) : data_{data}, how_{how} { at_.objects = {0}; }

  footing go(const names& start, std::string_view text) {
    if (!text.starts_with('/')) {
      for (const auto& name : start) enter(name, data_.nodes[object()].names.at(name));
    }
    set_out(text);
    while (!pending_.empty() && !at_.error && !at_.is_unknown) {
      last_ = std::move(pending_.front());
      pending_.pop_front();
      step();
    }
    if (!at_.error && !at_.is_unknown && !is_missing_) check_end();
    return std::move(at_);
  }

 private:
  /// Puts a text before what is left to walk.
  void set_out(std::string_view text) {
    const auto more = names_in(text);
    if (pending_.empty() && text.ends_with('/')) ends_in_slash_ = true;
    pending_.insert(pending_.begin(), more.begin(), more.end());
  }

  [[nodiscard]] std::size_t object() const { return at_.objects.back(); }
  [[nodiscard]] bool is_dots() const { return last_ == "." || last_ == ".."; }
  [[nodiscard]] bool is_last() const { return pending_.empty(); }

  void step() {
    if (is_missing_) return append();
    // No place on the way may be too long, and that is seen before the disk is asked about it.
    auto next = at_.place;
    next.push_back(last_);
    if (!is_dots() && text_of(next).size() > longest_path) return fail_below(code::name_too_long);
    const auto& here = data_.nodes[object()];
    if (here.kind != node_kind::directory) return fail_below(code::not_a_directory);
    if (!here.is_searchable && ::geteuid() != 0) return fail_below(code::permission_denied);
    if (last_ == ".") return;
    if (last_ == "..") return leave();
    at_.passed.push_back(next);
    if (last_.size() > longest_name) return fail_below(code::name_too_long);
    const auto found = here.names.find(last_);
    if (found != here.names.end()) return take(found->second);
    if (!here.is_known) {
      at_.is_unknown = true;
      return;
    }
    if (!how_.may_be_missing) return fail_below(code::not_found);
    is_missing_ = true;
    append();
  }

  void take(std::size_t number) {
    const auto& found = data_.nodes[number];
    const bool is_link = found.kind == node_kind::link || found.kind == node_kind::magic_link;
    if (!is_link || (is_last() && !how_.follows_last)) return enter(last_, number);
    if (found.kind == node_kind::magic_link) return fail_below(code::magic_link);
    if (++links_ > most_links) return fail_below(code::symlink_loop);
    if (found.target.starts_with('/')) {
      at_.place.clear();
      at_.objects = {0};
    }
    set_out(found.target);
  }

  void enter(const std::string& name, std::size_t number) {
    at_.place.push_back(name);
    at_.objects.push_back(number);
  }

  void leave() {
    if (at_.place.empty()) return;
    at_.place.pop_back();
    at_.objects.pop_back();
  }

  /// From the first name on that is not there, the rest is text.
  void append() {
    if (last_ == "..") {
      at_.error = code::not_found;
      return;
    }
    if (last_ != ".") {
      at_.place.push_back(last_);
      at_.passed.push_back(at_.place);
      if (last_.size() > longest_name || text_of(at_.place).size() > longest_path) {
        at_.error = code::name_too_long;
        return;
      }
    }
    if (is_last() && how_.makes_a_file && (ends_in_slash_ || is_dots())) {
      at_.error = code::invalid_path;
    }
  }

  void check_end() {
    if (is_dots() && !how_.follows_last) {
      at_.error = code::invalid_path;
    } else if ((ends_in_slash_ || is_dots()) &&
               data_.nodes[object()].kind != node_kind::directory) {
      at_.error = code::not_a_directory;
    }
  }

  /// An error at the name that was to be taken.
  void fail_below(code why) {
    if (!is_dots()) at_.place.push_back(last_);
    at_.error = why;
  }

  const tree& data_;
  manners how_;
  footing at_;
  std::deque<std::string> pending_;
  std::string last_;
  bool ends_in_slash_{false};
  bool is_missing_{false};
  int links_{0};
};

}  // namespace

names names_in(std::string_view path) {
  names found;
  std::string name;
  for (char c : path) {
    if (c != '/') {
      name += c;
    } else if (!name.empty()) {
      found.push_back(std::exchange(name, {}));
    }
  }
  if (!name.empty()) found.push_back(std::move(name));
  return found;
}

std::string text_of(const names& place) {
  std::string text;
  for (const auto& name : place) text += "/" + name;
  return text.empty() ? "/" : text;
}

footing walk(const tree& data, const names& start, std::string_view text, manners how) {
  return walker{data, how}.go(start, text);
}

}  // namespace pinfold_fuzz
