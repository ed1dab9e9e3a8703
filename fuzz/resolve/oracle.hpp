// A second opinion on every question: worked out on the tree as data, by code that shares nothing
// with the engine but the names of its answers. It never asks the disk.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/error.hpp>
#include <pinfold/grant.hpp>
#include <pinfold/refusal.hpp>

#include "resolve/tree.hpp"

namespace pinfold_fuzz {

/// The names of a path from "/" down.
using names = std::vector<std::string>;

names names_in(std::string_view path);
std::string text_of(const names& place);

/// How a walk treats the last name, and names that are not there.
struct manners {
  bool may_be_missing{false};
  bool follows_last{true};
  bool makes_a_file{false};
};

/// Where a walk ended, told name by name.
struct footing {
  names place;
  std::vector<std::size_t> objects;  ///< of "/" and of each name of the place that is there
  std::optional<pinfold::code> error;
  bool is_unknown{false};     ///< it went where the data does not reach
  std::vector<names> passed;  ///< every name that was looked at, links too
};

/// Walks `text` from the directory `start` as path_resolution(7) says.
footing walk(const tree& data, const names& start, std::string_view text, manners how);

/// What a grant says, as names.
struct rules {
  struct carve {
    names path;  // below the workspace
    pinfold::carve_kind kind;
  };
  struct root {
    names path;
    pinfold::root_access access;
  };
  names workspace;
  std::vector<carve> carves;
  std::vector<root> roots;
};

rules rules_of(const pinfold::grant& grant);

/// The answer to one question: a code, or a canonical path and its region.
struct opinion {
  bool is_unknown{false};
  std::optional<pinfold::code> refused{};
  std::string canonical{};
  pinfold::region where{pinfold::region::workspace};
};

opinion opinion_on(const tree& data, const rules& rules, pinfold::operation op,
                   std::string_view input, std::string_view start);

}  // namespace pinfold_fuzz
