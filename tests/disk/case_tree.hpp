// Builds the tree of one row of paths.tsv in a fresh folder, and puts the process where the row
// wants it: working folder, open descriptors, user. Changes the process, so it runs in a child
// (isolated.hpp) and nowhere else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <pinfold/grant.hpp>

namespace pinfold_test {

/// What a row asks beside its tree.
struct prepared {
  std::string workspace;  // the string handed to the library
  std::string start;      // "" = the canonical workspace
  std::vector<std::string> root_paths;
  std::vector<pinfold::root_access> root_accesses;
};

/// Who asks: whoever runs the tests, or an ordinary user with the same tree.
enum class asker { whoever, ordinary_user };

/// A fresh folder whose own path holds no link.
std::string make_scratch();

/// Removes a folder and all below it, however deep and whatever its modes.
void remove_tree(const std::string& path);

/// Gives this process mounts of its own, as root or in a user namespace of its own.
void enter_private_mounts();

/// Shows `from` at `to` as well; needs private mounts.
void bind_mount(const std::string& from, const std::string& to);

/// Becomes an ordinary user for good, unless the process is one.
void become_ordinary_user();

/// Builds `tree` in `scratch` and becomes the process that the row describes. Throws
/// std::runtime_error naming the item that could not be made.
prepared enter_case(const std::string& scratch, std::string_view tree, asker who);

/// True when a row leaves something behind in the process that `leave_case` cannot undo: mounts, open
/// descriptors.
bool needs_own_process(std::string_view tree);

/// Becomes whoever ran `enter_case` again, at "/".
void leave_case();

}  // namespace pinfold_test
