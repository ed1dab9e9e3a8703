#include "mcp/tools/entries.hpp"

#include <cerrno>

#include <pinfold/disk/act.hpp>

namespace pinfold::mcp {

std::expected<entries, code> entries::of(descriptor directory) {
  auto* open = ::fdopendir(directory.get());
  if (open == nullptr) return std::unexpected{beneath::code_of(errno)};
  static_cast<void>(directory.release());  // closed with `open`
  return entries{open};
}

std::expected<seen_entry, code> entries::next() {
  for (;;) {
    errno = 0;
    const auto* entry = ::readdir(open_.get());
    if (entry == nullptr) {
      if (errno != 0) return std::unexpected{beneath::code_of(errno)};
      return seen_entry{};
    }
    const std::string_view name{entry->d_name};
    if (name != "." && name != "..") return seen_entry{name, beneath::entry_type(fd(), *entry)};
  }
}

}  // namespace pinfold::mcp
