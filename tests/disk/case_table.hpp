// Reads tests/cases/paths.tsv: rows as they stand, and the little language of its cells (escapes,
// {N*text}, {fill=N}, SCRATCH). It must never touch the disk beyond that one file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <pinfold/error.hpp>

#include "support/cases.hpp"

namespace pinfold_test {

struct case_row {
  std::string id;
  std::string source;
  std::string tree;
  std::string input;
  std::string operation;
  std::string verdict;
  std::string canonical;
  std::string note;
};

/// All rows of a table, the header line left out. Throws std::runtime_error for a line that has not
/// eight cells: a table that cannot be read must not pass as an empty one.
std::vector<case_row> read_cases(const std::string& file);

/// The table of paths that the tests share.
inline const std::string path_table = cases("paths.tsv");

/// The table's word for a code; the code's own name where it has none.
std::string verdict_of(pinfold::code value);

/// A cell with its macros written out, SCRATCH replaced, escapes still standing.
std::string expand_macros(std::string_view cell, const std::string& scratch);

/// A cell of the tree, or a canonical path, as the bytes it means.
std::string bytes_of(std::string_view cell, const std::string& scratch);

/// The input as the bytes it means; knows {fill=N} too.
std::string input_bytes(std::string_view cell, const std::string& scratch);

/// The items of a tree cell, macros written out, escapes still standing.
std::vector<std::string> tree_items(std::string_view cell, const std::string& scratch);

/// Escapes (\n \t \r \\ \0 \xHH) turned into the bytes they mean.
std::string unescape(std::string_view text);

}  // namespace pinfold_test
