// The plug point: define this one function, and a resolver of your own is asked what ours is asked,
// over the same trees, and held to the same oracle.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <pinfold/refusal.hpp>

namespace pinfold_fuzz {

/// `declined` stands for every answer but "inside", whatever the reason. It is never held against a
/// resolver, because a stricter one is lawful; the number of them is printed at the end.
enum class plugged_verdict : std::uint8_t { inside, declined };

struct plugged_answer {
  plugged_verdict verdict{plugged_verdict::declined};
  std::string canonical{};  ///< absolute, when the verdict is `inside`
};

/// To be defined by whoever plugs in: where `path` (any bytes; a relative one begins at the root)
/// leads, and whether that is at or below `root`, a canonical directory. `op` is `read` or `list`
/// (what is asked for must be there), `write` or `make_directory` (it need not be), `remove` or
/// `rename` (a link in the last place is meant itself; the target of a rename need not be there).
/// Must neither change the tree nor throw. An answer `inside` is wrong when
///  1. the path leads out of the root, or nowhere, and
///  2. when the kernel would reach another place than `canonical`.
plugged_answer resolve_plugged(const std::string& root, std::string_view path,
                               pinfold::operation op);

}  // namespace pinfold_fuzz
