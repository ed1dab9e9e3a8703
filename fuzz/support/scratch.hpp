// A private folder for trees, in memory where the machine has a tmpfs, and the few calls that build
// in it. Gone at the end of the process.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include <pinfold/disk/descriptor.hpp>

#include "support/target.hpp"

namespace pinfold_fuzz {

/// The path of a folder whose own path holds no link.
inline std::string make_scratch() {
  const char* wanted = std::getenv("PINFOLD_FUZZ_TREES");
  const std::string base = wanted != nullptr                        ? wanted
                           : ::access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm"
                                                                    : "/tmp";
  std::string made = base + "/pinfold-fuzz-XXXXXX";
  must(::mkdtemp(made.data()) != nullptr, "a folder for trees can be made", base);
  const std::unique_ptr<char, void (*)(void*)> real{::realpath(made.c_str(), nullptr), std::free};
  must(real != nullptr, "the folder for trees is there", made);
  return real.get();
}

/// Empties a directory by handle, however deep it is and whatever it holds; follows nothing.
inline void empty_directory(int directory) {
  DIR* entries = ::fdopendir(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (entries == nullptr) return;
  while (const auto* entry = ::readdir(entries)) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (::unlinkat(directory, name.c_str(), 0) == 0) continue;
    ::fchmodat(directory, name.c_str(), 0700, 0);
    const pinfold::descriptor next{
        ::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (!next) continue;
    empty_directory(next.get());
    ::unlinkat(directory, name.c_str(), AT_REMOVEDIR);
  }
  ::closedir(entries);
}

/// The scratch folder of this process; there is one.
class scratch {
 public:
  static const scratch& of_this_process() {
    static const scratch only;
    return only;
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] int fd() const noexcept { return directory_.get(); }

 private:
  scratch() : path_{make_scratch()} {
    directory_ = pinfold::descriptor{::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    must(directory_.is_open(), "the folder for trees can be opened", path_);
    before_the_end = [] { of_this_process().remove(); };
  }
  ~scratch() { remove(); }
  void remove() const {
    empty_directory(directory_.get());
    ::rmdir(path_.c_str());
  }

  std::string path_;
  pinfold::descriptor directory_;
};

}  // namespace pinfold_fuzz
