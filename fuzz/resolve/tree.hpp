// A small file tree in two forms: as data, which is all that the oracle ever sees, and on the disk,
// which is all that a resolver sees. The bytes of an input say what is in it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/disk/descriptor.hpp>

#include "support/bytes.hpp"

namespace pinfold_fuzz {

enum class node_kind : std::uint8_t {
  directory,
  file,
  link,
  special,     ///< a FIFO
  magic_link,  ///< a link of a process in /proc
};

/// One object. Its number is its place in `tree::nodes`; two names with one number are hard links.
struct node {
  node_kind kind{node_kind::directory};
  std::map<std::string, std::size_t> names{};  ///< of a directory
  std::string target{};                        ///< of a link
  std::size_t parent{0};                       ///< of a directory
  std::string name{};                          ///< of a directory: its own, in its parent
  bool is_searchable{true};                    ///< of a directory: whether its owner may enter it
  bool is_known{true};  ///< of a directory: false when it holds more than the data says
};

/// The tree: "/" is node 0, and the scratch folder lies somewhere below with `ws` and `outside`.
struct tree {
  std::vector<node> nodes;
  std::size_t scratch{0};
  std::size_t workspace{0};
  std::size_t outside{0};
  std::vector<std::size_t> directories;  ///< those below the scratch folder, in order of making

  [[nodiscard]] std::string path_of(std::size_t directory) const;
};

/// One name to be made on the disk.
struct entry {
  std::size_t parent;
  std::string name;
  std::size_t object;
  bool is_hard_link{false};
  std::size_t linked_parent{0};  ///< of a hard link: where the object's first name is
  std::string linked_name{};
};

/// A tree with the order in which it is made.
struct planned_tree {
  tree data;
  std::vector<entry> entries;
};

/// Reads a tree out of an input. `scratch` is the canonical path of the folder it will be in.
planned_tree read_tree(bytes& input, const std::string& scratch);

/// A path or the text of a link, made of pieces that tend to lead somewhere in `data`.
std::string read_path(bytes& input, const tree& data);

/// A planned tree on the disk, below the scratch folder; gone when it goes out of scope.
class built_tree {
 public:
  built_tree(const planned_tree& plan, int scratch);
  built_tree(const built_tree&) = delete;
  built_tree& operator=(const built_tree&) = delete;
  ~built_tree();

 private:
  void make(const entry& one);
  void set_mode(std::size_t directory, mode_t mode);

  const planned_tree& plan_;
  std::vector<pinfold::descriptor> directories_;  // by number of node
};

}  // namespace pinfold_fuzz
