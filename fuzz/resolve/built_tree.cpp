// A tree on the disk: made and removed name by name through descriptors, so that neither depth nor
// odd names nor closed directories matter, and nothing is ever followed.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ranges>

#include "resolve/tree.hpp"
#include "support/target.hpp"

namespace pinfold_fuzz {

built_tree::built_tree(const planned_tree& plan, int scratch) : plan_{plan} {
  directories_.resize(plan.data.nodes.size());
  directories_[plan.data.scratch] = pinfold::descriptor{::fcntl(scratch, F_DUPFD_CLOEXEC, 0)};
  for (const auto& one : plan.entries) make(one);
  for (const auto number : plan.data.directories | std::views::reverse) set_mode(number, 0600);
}

built_tree::~built_tree() {
  for (const auto number : plan_.data.directories) set_mode(number, 0700);
  for (const auto& one : plan_.entries | std::views::reverse) {
    const int parent = directories_[one.parent].get();
    const auto& object = plan_.data.nodes[one.object];
    const bool is_directory = object.kind == node_kind::directory;
    const bool is_gone = ::unlinkat(parent, one.name.c_str(), is_directory ? AT_REMOVEDIR : 0) == 0;
    must(is_gone, "asking changes nothing in the tree", one.name);
  }
}

/// Of a directory that its owner may not enter, while the tree stands.
void built_tree::set_mode(std::size_t directory, mode_t mode) {
  const auto& closed = plan_.data.nodes[directory];
  if (closed.is_searchable) return;
  ::fchmodat(directories_[closed.parent].get(), closed.name.c_str(), mode, 0);
}

void built_tree::make(const entry& one) {
  const auto& object = plan_.data.nodes[one.object];
  const int parent = directories_[one.parent].get();
  const char* name = one.name.c_str();
  bool is_made = false;
  if (one.is_hard_link) {
    is_made = ::linkat(directories_[one.linked_parent].get(), one.linked_name.c_str(), parent, name,
                       0) == 0;
    must(is_made, "the tree can be built: hard link", one.name);
    return;
  }
  switch (object.kind) {
    case node_kind::directory: {
      is_made = ::mkdirat(parent, name, 0700) == 0;
      auto& opened = directories_[one.object];
      opened = pinfold::descriptor{::openat(parent, name, O_PATH | O_DIRECTORY | O_CLOEXEC)};
      is_made = is_made && opened.is_open();
      break;
    }
    case node_kind::file: {
      const pinfold::descriptor file{
          ::openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
      is_made = file.is_open();
      break;
    }
    case node_kind::special:
      is_made = ::mkfifoat(parent, name, 0600) == 0;
      break;
    case node_kind::link:
    case node_kind::magic_link:
      is_made = ::symlinkat(object.target.c_str(), parent, name) == 0;
      break;
  }
  must(is_made, "the tree can be built", one.name);
}

}  // namespace pinfold_fuzz
