#include "open/ground.hpp"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "support/scratch.hpp"
#include "support/target.hpp"

namespace pinfold_fuzz {

namespace {

// Reading of what the host runs is lawful; opening anything else that stays is not.
constexpr std::uint32_t changed = IN_MODIFY | IN_ATTRIB | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE |
                                  IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF;
constexpr std::uint32_t touched = changed | IN_OPEN | IN_ACCESS;

void put(const std::string& path, std::string_view text) {
  std::filesystem::create_directories(std::filesystem::path{path}.parent_path());
  std::ofstream{path, std::ios::binary} << text;
}

pinfold::descriptor opened(int directory, const char* name) {
  pinfold::descriptor made{::openat(directory, name, O_PATH | O_DIRECTORY | O_CLOEXEC)};
  must(made.is_open(), "the ground can be opened", name);
  return made;
}

/// Empties a directory but for the names that stay.
void empty_but(int directory, const std::vector<std::string_view>& staying) {
  DIR* entries = ::fdopendir(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  must(entries != nullptr, "the ground can be cleared");
  while (const auto* entry = ::readdir(entries)) {
    const std::string_view name{entry->d_name};
    if (name == "." || name == ".." || std::ranges::find(staying, name) != staying.end()) continue;
    if (::unlinkat(directory, entry->d_name, 0) == 0) continue;
    {
      const pinfold::descriptor below{
          ::openat(directory, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
      if (below) empty_directory(below.get());
    }
    ::unlinkat(directory, entry->d_name, AT_REMOVEDIR);
  }
  ::closedir(entries);
}

}  // namespace

const std::vector<std::string> ground_names{"a", "b", "c", "d1", "d2", "f", "l", "new"};

ground& ground::of_this_process() {
  static ground only;
  return only;
}

ground::ground()
    : scratch_{scratch::of_this_process().path()},
      workspace_{scratch_ + "/ws"},
      written_{scratch_ + "/rw"},
      read_{scratch_ + "/rw/kept/ro"} {
  make_what_stays();
  root_ = opened(AT_FDCWD, workspace_.c_str());
  written_directory_ = opened(AT_FDCWD, written_.c_str());
  for (const auto* place : {"/outside/canary", "/ws/.efferent/canary"}) {
    canaries_.emplace_back(::open((scratch_ + place).c_str(), O_RDONLY | O_CLOEXEC));
  }
  events_ = pinfold::descriptor{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
  must(events_.is_open(), "the kernel reports who opens what");
  for (const auto* place :
       {"/outside", "/outside/canary", "/outside/d1", "/outside/d1/f", "/ws/.efferent",
        "/ws/.efferent/canary", "/ws/.efferent/d1", "/ws/.efferent/d1/f"}) {
    watch(scratch_ + place, touched);
  }
  for (const auto* place :
       {"/ws/.git/hooks", "/ws/.git/hooks/f", "/ws/.git/config", "/rw/kept/ro", "/rw/kept/ro/f"}) {
    watch(scratch_ + place, changed);
  }
  watch(scratch_ + "/outside/shared", IN_MODIFY);  // names of it come and go in the workspace
  for (const auto* place : {"/ws", "/ws/.git", "/rw", "/rw/kept"}) {
    watch(scratch_ + place, IN_MOVE_SELF | IN_DELETE_SELF);
  }
}

void ground::make_what_stays() {
  for (const auto* place :
       {"/outside/canary", "/outside/d1/f", "/ws/.efferent/canary", "/ws/.efferent/d1/f"}) {
    put(scratch_ + place, canary);
    const auto above = std::filesystem::path{scratch_ + place}.parent_path();
    put(above / never_listed, canary);
  }
  for (const auto* place :
       {"/outside/shared", "/ws/.git/hooks/f", "/ws/.git/config", "/rw/kept/ro/f"}) {
    put(scratch_ + place, "readable");
  }
}

void ground::watch(const std::string& path, std::uint32_t events) {
  const int number = ::inotify_add_watch(events_.get(), path.c_str(), events);
  must(number >= 0, "the kernel reports who opens what", path);
  watched_.resize(static_cast<std::size_t>(number) + 1);
  watched_.back() = path;
}

void ground::forget_events() const {
  alignas(inotify_event) std::array<char, 8192> buffer;
  while (::read(events_.get(), buffer.data(), buffer.size()) > 0) {
  }
}

void ground::check(std::string_view facts) {
  alignas(inotify_event) std::array<char, 8192> buffer;
  const auto size = ::read(events_.get(), buffer.data(), buffer.size());
  if (size > 0) {
    const auto* event = reinterpret_cast<const inotify_event*>(buffer.data());
    const auto number = static_cast<std::size_t>(event->wd);
    broken("nothing that stays is opened or changed",
           (number < watched_.size() ? watched_[number] : "too many events") + " event " +
               std::to_string(event->mask) + " " + (event->len > 0 ? event->name : "") + "\n" +
               std::string{facts});
  }
  for (const auto& file : canaries_) {
    std::array<char, canary.size() + 1> text;
    const auto read = ::pread(file.get(), text.data(), text.size(), 0);
    must(read == static_cast<ssize_t>(canary.size()) &&
             std::string_view{text.data(), canary.size()} == canary,
         "a canary reads as it always did", facts);
  }
  forget_events();
}

void ground::build(bytes& input) {
  for (const auto* name : {"d1", "d2"}) {
    must(::mkdirat(root_.get(), name, 0755) == 0, "the workspace was cleared", name);
  }
  first_ = opened(root_.get(), "d1");
  second_ = opened(root_.get(), "d2");
  held_ = {root_.get(), first_.get(), second_.get(), written_directory_.get()};
  for (auto count = input.below(10); count > 0; --count) {
    const int in = input.one_of(held_);
    const auto& name = input.one_of(ground_names);
    switch (input.below(6)) {
      case 0:
        ::mkdirat(in, name.c_str(), 0755);
        break;
      case 1: {
        const pinfold::descriptor file{
            ::openat(in, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)};
        static_cast<void>(!::write(file.get(), "inside", 6));
        break;
      }
      case 2:
      case 3: {
        const auto target = read_asked_path(input, *this);
        if (!target.empty()) ::symlinkat(target.c_str(), in, name.c_str());
        break;
      }
      case 4:
        ::mkfifoat(in, name.c_str(), 0644);
        break;
      default:
        // A second name of a file outside: it may be read, it must not be written through.
        ::linkat(AT_FDCWD, (scratch_ + "/outside/shared").c_str(), in, name.c_str(), 0);
        break;
    }
  }
  forget_events();
}

void ground::clear() {
  empty_but(root_.get(), {".efferent", ".git"});
  empty_but(opened(root_.get(), ".git").get(), {"hooks", "config"});
  empty_but(written_directory_.get(), {"kept"});
  empty_but(opened(written_directory_.get(), "kept").get(), {"ro"});
  forget_events();
}

std::string read_asked_path(bytes& input, const ground& on) {
  static const std::vector<std::string> others{
      "..",       ".",     ".efferent", ".efferent/canary",  ".git",   ".git/hooks",
      ".foundry", "hooks", "config",    "../outside/canary", "canary", "../outside",
      "shared",   "kept",  "ro"};
  std::string path;
  for (auto pieces = 1 + input.below(5); pieces > 0; --pieces) {
    const auto choice = input.below(32);
    if (choice < 12) {
      path += ground_names[choice % ground_names.size()];
    } else if (choice - 12 < others.size()) {
      path += others[choice - 12];
    } else if (choice == 27) {
      path = on.workspace();
    } else if (choice == 28) {
      path = on.written_root();
    } else if (choice == 29) {
      path = on.read_root();
    } else if (choice == 30) {
      path = on.workspace() + "/../outside";
    } else {
      path += input.text();
    }
    path += "/";
  }
  if (input.below(4) != 3) path.pop_back();
  if (const auto nul = path.find('\0'); nul != std::string::npos) path.resize(nul);
  return path.substr(0, 4000);
}

}  // namespace pinfold_fuzz
