// Random plans of every operation that tools use, while a rival turns the tree over. Whatever the
// moment: nothing outside and nothing in harness state is opened, changed or removed, what a host
// runs and what is granted for reading stays as it is, and no descriptor is left behind.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include <pinfold/disk/open.hpp>

#include "open/ground.hpp"
#include "open/rival.hpp"
#include "support/target.hpp"

namespace pinfold_fuzz {

namespace {

using namespace pinfold;

/// One call of a tool, and the one after it is about other paths.
struct tool_call {
  enum class kind : std::uint8_t {
    open_read,
    open_write,
    replace_file,
    make_directories,
    list_directory,
    remove,
    rename_within,
    stat_of,
    resolve,
  } what{kind::open_read};
  std::string path{};
  std::string other{};
  write_options how{};
  overwrite existing{overwrite::allowed};
};

std::vector<tool_call> read_plan(bytes& input, const ground& on) {
  std::vector<tool_call> plan(1 + input.below(8));
  for (auto& one : plan) {
    one.what = static_cast<tool_call::kind>(input.below(9));
    one.path = read_asked_path(input, on);
    if (one.what == tool_call::kind::rename_within) {
      one.other = read_asked_path(input, on);
      one.existing = input.coin() ? overwrite::refused : overwrite::allowed;
    }
    if (one.what == tool_call::kind::open_write) {
      one.how.make = static_cast<creation>(input.below(3));
      one.how.existing = static_cast<contents>(input.below(3));
      one.how.shared = static_cast<hard_links>(input.below(2));
    }
  }
  return plan;
}

std::string described(const std::vector<tool_call>& plan) {
  constexpr std::array names{"open_read",        "open_write",     "replace_file",
                             "make_directories", "list_directory", "remove",
                             "rename_within",    "stat_of",        "resolve"};
  std::string words;
  for (const auto& one : plan) {
    words += std::string{names[static_cast<std::size_t>(one.what)]} + " " + quoted(one.path);
    if (!one.other.empty()) words += " to " + quoted(one.other);
    words += "\n";
  }
  return words;
}

class player {
 public:
  player(const workspace& ws, const std::vector<tool_call>& plan) : ws_{ws}, plan_{plan} {}

  void play() const {
    for (const auto& one : plan_) act(one);
  }

 private:
  void hold(bool holds, std::string_view promise, const tool_call& one) const {
    if (!holds) broken(promise, "at " + quoted(one.path) + "\n" + described(plan_));
  }

  void act(const tool_call& one) const {
    switch (one.what) {
      case tool_call::kind::open_read:
        return check_read(one);
      case tool_call::kind::open_write:
        return check_write(one);
      case tool_call::kind::replace_file:
        return static_cast<void>(ws_.replace_file(one.path, "replaced"));
      case tool_call::kind::make_directories:
        if (const auto made = ws_.make_directories(one.path)) check_place(one, *made);
        return;
      case tool_call::kind::list_directory:
        return check_list(one);
      case tool_call::kind::remove:
        return static_cast<void>(ws_.remove(one.path));
      case tool_call::kind::rename_within:
        return static_cast<void>(ws_.rename_within(one.path, one.other, one.existing));
      case tool_call::kind::stat_of:
        if (const auto facts = ws_.stat_of(one.path)) {
          hold(facts->size != canary.size() || facts->type != file_type::file,
               "no canary is looked at", one);
        }
        return;
      case tool_call::kind::resolve:
        if (const auto found = ws_.resolve(operation::write, one.path)) check_place(one, *found);
        return;
    }
  }

  void check_place(const tool_call& one, const resolved& place) const {
    hold(ws_.grant().is_writable(place.canonical), "what is made lies where it may", one);
  }

  void check_read(const tool_call& one) const {
    const auto file = ws_.open_read(one.path);
    if (!file) return;
    struct stat status {};
    hold(::fstat(file->get(), &status) == 0 && S_ISREG(status.st_mode),
         "only files are opened for reading", one);
    std::array<char, 64> text;
    const auto size = ::read(file->get(), text.data(), text.size());
    hold(size >= 0, "what was opened for reading can be read", one);
    hold(std::string_view{text.data(), static_cast<std::size_t>(size)} != canary,
         "no canary is read", one);
  }

  void check_write(const tool_call& one) const {
    const auto file = ws_.open_write(one.path, one.how);
    if (!file) return;
    struct stat status {};
    hold(::fstat(file->get(), &status) == 0 && S_ISREG(status.st_mode),
         "only files are opened for writing", one);
    hold(::write(file->get(), "written", 7) == 7, "what was opened for writing can be written",
         one);
  }

  void check_list(const tool_call& one) const {
    const auto listed = ws_.list_directory(one.path);
    if (!listed) return;
    for (const auto& entry : *listed) {
      hold(entry.name != never_listed, "no directory that stays is listed", one);
    }
  }

  const workspace& ws_;
  const std::vector<tool_call>& plan_;
};

/// The lowest descriptor that is free: no higher than before when nothing was left open.
int lowest_free_descriptor() {
  const descriptor next{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  return next.get();
}

/// A thread of the fuzzer or of a sanitizer may hold a descriptor of its own for a moment; a leak
/// stays.
bool is_left_open(int before) {
  for (int looks = 0; looks < 1000; ++looks) {
    if (lowest_free_descriptor() <= before) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace

void try_input(std::span<const std::uint8_t> input) {
  bytes rest{input};
  auto& on = ground::of_this_process();
  const auto names = rest.coin() ? beneath::lookup::walk_only : beneath::lookup::openat2;
  on.build(rest);
  const auto steps = read_steps(rest, on);
  const auto plan = read_plan(rest, on);
  const int before = lowest_free_descriptor();
  {
    const std::array roots{extra_root{on.written_root(), root_access::write},
                           extra_root{on.read_root(), root_access::read}};
    const auto ws = workspace::open(on.workspace(), default_carve_outs, roots, names);
    must(ws.has_value(), "the workspace can be opened");
    auto& other = rival::of_this_process();
    other.start(steps);
    player{*ws, plan}.play();
    other.stop();
  }
  must(!is_left_open(before), "no descriptor is left open", described(plan));
  on.check(described(plan));
  on.clear();
}

}  // namespace pinfold_fuzz
