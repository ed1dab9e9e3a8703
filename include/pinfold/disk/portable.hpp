// The resolver that runs everywhere: it walks a path by name, one component at a time, on
// Boost.Filesystem. It answers by name, so between its answer and a later open the tree may change:
// it must never be the basis of an open where a descriptor-based resolver is there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/filesystem/operations.hpp>

#include <pinfold/disk/carved.hpp>
#include <pinfold/disk/location.hpp>
#include <pinfold/disk/unwalked.hpp>

namespace pinfold::portable {

namespace fs = boost::filesystem;

/// The code for what the file system said.
[[nodiscard]] inline code code_of(const boost::system::error_code& error) {
  namespace errc = boost::system::errc;
  if (error == errc::no_such_file_or_directory) return code::not_found;
  if (error == errc::not_a_directory) return code::not_a_directory;
  if (error == errc::too_many_symbolic_link_levels) return code::symlink_loop;
  if (error == errc::filename_too_long) return code::name_too_long;
  if (error == errc::permission_denied || error == errc::operation_not_permitted) {
    return code::permission_denied;
  }
  if (error == errc::too_many_files_open || error == errc::too_many_files_open_in_system ||
      error == errc::not_enough_memory) {
    return code::resource_exhausted;
  }
  return code::input_output_error;
}

/// True for a link in /proc that names an open object and not a path: all but those directly in
/// /proc (self, thread-self, mounts, net), which are ordinary (proc(5)). By canonical path, because
/// that is all this resolver has.
[[nodiscard]] constexpr bool is_magic_link(std::string_view place) noexcept {
  return contains("/proc", place) && parent_of(place) != "/proc";
}

/// One walk. Follows links by hand, 40 at most; a name that is not there begins the missing rest
/// when the operation allows one.
class walk {
 public:
  /// `start` is a canonical directory; an absolute `input` that spells the workspace's own
  /// canonical path first begins there, any other begins at "/".
  walk(const grant& rules, operation op, std::string_view start, std::string_view input)
      : op_{op}, seen_{rules}, place_{start}, pending_{input} {
    if (!is_absolute(input)) return;
    const auto tail = tail_below(rules.workspace(), input);
    place_ = tail ? rules.workspace() : "/";
    if (tail) pending_ = disk::unwalked{*tail};
  }

  /// Walks to the end. The answer's place is canonical.
  [[nodiscard]] disk::walk_end finish() {
    look_at_the_way();
    while (!error_) {
      const auto name = pending_.take();
      if (name.empty()) break;
      step(name);
    }
    if (!error_ && !missing_) check_end();
    return {std::move(place_), error_};
  }

  [[nodiscard]] disk::trail& seen() noexcept { return seen_; }

 private:
  /// From "/" down, as if the path had been spelled in full: a start outside is not told further
  /// than its first name outside.
  void look_at_the_way() {
    std::string way = "/";
    seen_.look_at(way);
    for (auto name : components{place_}) {
      way = disk::joined(way, name);
      seen_.look_at(way);
    }
  }

  /// Numbered as the kernel takes them:
  ///  1. below a missing name all is text
  ///  2. "." and ".." need a directory that may be searched; ".." of "/" is "/"
  ///  3. a name is looked up without following it
  ///  4. a link is followed unless it is the last name and the operation acts on the name itself
  void step(const std::string& name) {
    if (missing_) return append_missing(name);
    if (name == "." || name == "..") return step_dots(name);
    auto next = disk::joined(place_, name);
    seen_.look_at(next);
    const auto status = look(next);
    if (error_ == code::not_found && disk::may_be_missing(op_)) {
      error_.reset();
      missing_ = true;
      return append_missing(name);
    }
    if (error_ || !fs::is_symlink(status) || (pending_.is_last() && disk::acts_on_the_name(op_))) {
      place_ = std::move(next);
      return;
    }
    follow(next);
  }

  void step_dots(const std::string& name) {
    look_through_dots(name);
    if (error_ || name == ".") return;
    place_ = parent_of(place_);
    seen_.look_at(place_);
  }

  /// Spelled with its dots a directory may be too long to be asked for; then without them.
  void look_through_dots(const std::string& dots) {
    const auto spelled = disk::joined(place_, dots);
    const auto status = look(spelled.size() < path_max ? spelled : place_);
    if (!error_ && !fs::is_directory(status)) error_ = code::not_a_directory;
  }

  void append_missing(const std::string& name) {
    if (name == ".") return check_missing_end();
    auto next = disk::joined(place_, name);
    seen_.look_at(next);
    if (name == "..") {
      error_ = code::not_found;
    } else if (name.size() > name_max || next.size() >= path_max) {
      error_ = code::name_too_long;
    }
    if (name != "..") place_ = std::move(next);
    if (!error_) check_missing_end();
  }

  /// A file that is to be made may not end in '/'; a directory may.
  void check_missing_end() {
    if (pending_.is_last() && pending_.ends_as_directory() && op_ == operation::write) {
      error_ = code::invalid_path;
    }
  }

  void follow(const std::string& link) {
    if (is_magic_link(link)) return fail(code::magic_link, link);
    if (++links_ > disk::most_links) return fail(code::symlink_loop, link);
    boost::system::error_code failed;
    auto target = fs::read_symlink(link, failed).native();
    if (failed) return fail(code_of(failed), link);
    if (is_absolute(target)) place_ = "/";
    pending_.put_before(target);
  }

  void fail(code why, const std::string& where) {
    error_ = why;
    place_ = where;
  }

  fs::file_status look(const std::string& path) {
    if (path.size() >= path_max) {
      error_ = code::name_too_long;
      return {};
    }
    boost::system::error_code failed;
    const auto status = fs::symlink_status(path, failed);
    if (failed) error_ = code_of(failed);
    return status;
  }

  /// What is spelled as a directory must be one; "." and ".." cannot be removed or renamed.
  void check_end() {
    if (pending_.is_dots() && disk::acts_on_the_name(op_)) {
      error_ = code::invalid_path;
    } else if (pending_.ends_as_directory()) {
      const auto status = look(place_);
      if (!error_ && !fs::is_directory(status)) error_ = code::not_a_directory;
    }
  }

  operation op_;
  disk::trail seen_;
  std::string place_;  // canonical so far
  disk::unwalked pending_;
  std::optional<code> error_;
  int links_{0};
  bool missing_{false};
};

/// What `disk::entered_at` asks about one place and one carve-out, answered by name.
class named_facts {
 public:
  named_facts(std::string_view workspace, std::string_view base, std::string_view place,
              const carve_out& carve)
      : workspace_{workspace}, base_{base}, tail_{*tail_below(base, place)}, carve_{carve} {
    const auto all = disk::names_of(tail_).size();
    while (existing_ < all && exists(here(existing_ + 1))) ++existing_;
  }

  [[nodiscard]] bool is_there(std::size_t i) const { return i <= existing_; }
  [[nodiscard]] bool guard_is_there(std::size_t q) const { return exists(guard(q)); }
  [[nodiscard]] bool is_same(std::size_t i, std::size_t q) const {
    boost::system::error_code failed;
    if (fs::is_symlink(fs::symlink_status(here(i), failed)))
      return false;  // only a name acted upon
    return fs::equivalent(here(i), guard(q), failed) && !failed;
  }
  /// Tried on an entry of the directory, or on its own name: its letters' case turned, does it
  /// still name the same object? A directory with nothing to try counts as exact.
  [[nodiscard]] bool folds(std::size_t q) const {
    boost::system::error_code failed;
    const fs::path directory{guard(q)};
    for (fs::directory_iterator entry{directory, failed}, end; !failed && entry != end;
         entry.increment(failed)) {
      if (auto answer = is_one_name(entry->path())) return *answer;
    }
    return is_one_name(directory).value_or(false);
  }

 private:
  [[nodiscard]] static bool exists(const std::string& path) {
    boost::system::error_code failed;
    return fs::exists(fs::symlink_status(path, failed));
  }
  [[nodiscard]] static std::optional<bool> is_one_name(const fs::path& path) {
    auto turned = path.filename().native();
    for (char& c : turned) {
      if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) c = static_cast<char>(c ^ 0x20);
    }
    if (turned == path.filename().native()) return std::nullopt;
    boost::system::error_code failed;
    return fs::equivalent(path, path.parent_path() / turned, failed) && !failed;
  }
  [[nodiscard]] std::string here(std::size_t i) const { return disk::first_names(base_, tail_, i); }
  [[nodiscard]] std::string guard(std::size_t q) const {
    return disk::first_names(workspace_, carve_.path, q);
  }
  std::string_view workspace_;
  std::string_view base_;
  std::string_view tail_;
  const carve_out& carve_;
  std::size_t existing_{0};
};

/// The carve-out that `place` lies in: by name, by where a carve-out that is a link leads (there or
/// not), or by identity, where something on the way is a carve-out under another name.
[[nodiscard]] inline std::optional<disk::carved> carved_at(const grant& rules,
                                                           const std::string& place) {
  auto found = disk::carved_by_name(rules, place);
  const auto base = disk::base_of(rules, place);
  if (base.empty()) return found;
  for (const auto& carve : rules.carve_outs()) {
    const grant nothing_carved{rules.workspace(), {}};
    walk to_it{nothing_carved, operation::make_directory, rules.workspace(), carve.path};
    const auto target = to_it.finish();
    if (!target.error && contains(target.place, place) && contains(base, target.place)) {
      disk::keep_stronger(found, carve, target.place);
    }
    const named_facts facts{rules.workspace(), base, place, carve};
    if (auto entered = disk::entered_at(rules.workspace(), base, place, carve, facts)) {
      disk::keep_stronger(found, carve, *entered);
    }
  }
  return found;
}

/// The first carve-out whose own way through links leads over `place` or through it.
[[nodiscard]] inline const carve_out* carve_out_led_through(const grant& rules,
                                                            const std::string& place) {
  for (const auto& carve : rules.carve_outs()) {
    const grant nothing_carved{rules.workspace(), {}};
    walk to_it{nothing_carved, operation::make_directory, rules.workspace(), carve.path};
    to_it.seen().watch(place);
    static_cast<void>(to_it.finish());
    if (to_it.seen().has_passed_watched()) return &carve;
  }
  return nullptr;
}

/// Where `input` leads, or why it may not be used. `start` is the canonical directory in which a
/// relative `input` begins.
[[nodiscard]] inline std::expected<resolved, refusal> resolve(const grant& rules, operation op,
                                                              std::string_view input,
                                                              std::string_view start) {
  const disk::question asked{rules, op, input};
  if (auto wrong = misspelling_of(input)) return std::unexpected{disk::refused(asked, *wrong)};
  if (!is_canonical_form(start) || rules.workspace().empty()) {
    return std::unexpected{disk::refused(asked, code::invalid_path)};
  }
  boost::system::error_code failed;
  const auto status = fs::symlink_status(std::string{rules.workspace()}, failed);
  if (!fs::is_directory(status)) {
    const auto why = failed ? code_of(failed) : code::workspace_gone;
    const bool is_known = why == code::permission_denied || why == code::resource_exhausted;
    return std::unexpected{disk::refused(asked, is_known ? why : code::workspace_gone)};
  }
  walk way{rules, op, start, input};
  auto end = way.finish();
  disk::surroundings around{.inside = carved_at(rules, end.place)};
  if (disk::may_break_a_way(op)) around.led_through = carve_out_led_through(rules, end.place);
  return disk::judge(asked, std::move(end), way.seen(), around);
}

}  // namespace pinfold::portable
