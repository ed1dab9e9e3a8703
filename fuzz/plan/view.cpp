#include "plan/view.hpp"

#include <algorithm>
#include <span>

#include <pinfold/path.hpp>

namespace pinfold_fuzz {

using namespace pinfold;

namespace {

bool makes_a_mount(mount_kind kind) {
  return kind != mount_kind::directory && kind != mount_kind::symbolic_link &&
         kind != mount_kind::remount_ro;
}

}  // namespace

const mount* mounted_view::over(std::string_view path) const {
  const mount* last = nullptr;
  for (const auto& one : mounts_) {
    if (makes_a_mount(one.kind) && contains(one.target, path)) last = &one;
  }
  return last;
}

sight mounted_view::at(std::string_view path) const {
  const auto* top = over(path);
  if (top == nullptr) return {};
  sight seen;
  seen.is_readable = true;
  const bool is_bind = top->kind == mount_kind::bind || top->kind == mount_kind::ro_bind;
  if (is_bind && top->source != "/dev/null") {
    const std::string tail{*tail_below(top->target, path)};
    seen.host = tail.empty() ? top->source : (top->source == "/" ? "" : top->source) + "/" + tail;
  }
  const auto later = std::span{mounts_}.subspan(static_cast<std::size_t>(top - mounts_.data()));
  const bool is_closed = std::ranges::any_of(later, [&](const mount& one) {
    return one.kind == mount_kind::remount_ro && one.target == top->target;
  });
  const bool may_write = top->kind == mount_kind::bind || top->kind == mount_kind::tmpfs;
  seen.is_writable = may_write && !is_closed;
  return seen;
}

sight profiled_view::at(std::string_view path) const {
  return {.host = std::string{path},
          .is_readable = allows("file-read-data", path),
          .is_writable = allows("file-write-data", path)};
}

namespace {

/// Takes words off an argument vector.
class words {
 public:
  explicit words(std::span<const std::string> all) : rest_{all} {}
  [[nodiscard]] bool are_empty() const { return rest_.empty(); }
  [[nodiscard]] bool is_short() const { return is_short_; }
  std::string take() {
    if (rest_.empty()) {
      is_short_ = true;
      return {};
    }
    const auto& first = rest_.front();
    rest_ = rest_.subspan(1);
    return first;
  }

 private:
  std::span<const std::string> rest_;
  bool is_short_{false};
};

std::optional<mount> bind_named(const std::string& option, words& rest) {
  mount one;
  if (option == "--bind" || option == "--ro-bind") {
    one.kind = option == "--bind" ? mount_kind::bind : mount_kind::ro_bind;
    one.source = rest.take();
  } else if (option == "--symlink") {
    one.kind = mount_kind::symbolic_link;
    one.source = rest.take();
  } else if (option == "--proc") {
    one.kind = mount_kind::proc;
  } else if (option == "--dev") {
    one.kind = mount_kind::dev;
  } else if (option == "--dir") {
    one.kind = mount_kind::directory;
  } else if (option == "--remount-ro") {
    one.kind = mount_kind::remount_ro;
  } else {
    return std::nullopt;
  }
  one.target = rest.take();
  return one;
}

/// --perms MODE --size BYTES --tmpfs TARGET, as they follow each other.
std::optional<mount> tmpfs_after_perms(words& rest) {
  mount one;
  one.kind = mount_kind::tmpfs;
  one.mode = static_cast<unsigned>(std::stoul(rest.take(), nullptr, 8));
  if (rest.take() != "--size") return std::nullopt;
  one.size = std::stoull(rest.take());
  if (rest.take() != "--tmpfs") return std::nullopt;
  one.target = rest.take();
  return one;
}

}  // namespace

std::optional<parsed_options> parse_options(const std::vector<std::string>& argv) {
  parsed_options found;
  words rest{argv};
  while (!rest.are_empty()) {
    const auto option = rest.take();
    if (option == "--perms") {
      auto one = tmpfs_after_perms(rest);
      if (!one) return std::nullopt;
      found.mounts.push_back(std::move(*one));
    } else if (auto one = bind_named(option, rest)) {
      found.mounts.push_back(std::move(*one));
    } else if (option == "--chdir") {
      found.directory = rest.take();
    } else if (option == "--cap-drop") {
      found.words.push_back(option + " " + rest.take());
    } else if (option.starts_with("--unshare-") || option == "--disable-userns" ||
               option == "--new-session") {
      found.words.push_back(option);
    } else {
      return std::nullopt;
    }
  }
  if (rest.is_short()) return std::nullopt;
  return found;
}

}  // namespace pinfold_fuzz
