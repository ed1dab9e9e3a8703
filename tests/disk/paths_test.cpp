// Every row of tests/cases/paths.tsv, over every resolver, as whoever runs the tests and as an
// ordinary user.
#include <pinfold/disk/resolve.hpp>

#include <array>
#include <string>
#include <vector>

#include "disk/case_table.hpp"
#include "disk/case_tree.hpp"
#include "support/catch.hpp"
#include "support/isolated.hpp"

using namespace pinfold;
using namespace pinfold_test;

namespace {

operation operation_of(const std::string& name) {
  if (name == "read") return operation::read;
  if (name == "write" || name == "create") return operation::write;
  if (name == "mkdir") return operation::make_directory;
  if (name == "list") return operation::list;
  if (name == "remove") return operation::remove;
  if (name == "rename") return operation::rename;
  throw std::runtime_error{"no such operation: " + name};
}

constexpr std::array every_resolver{resolver::portable, resolver::beneath, resolver::beneath_walk};

std::string answer_by(resolver by, const case_row& row, const std::string& scratch,
                      const prepared& at) {
  auto workspace = canonical_workspace(at.workspace);
  if (!workspace) return "workspace: " + workspace.error().message();
  std::vector<extra_root> roots;
  for (std::size_t i = 0; i < at.root_paths.size(); ++i) {
    roots.push_back({at.root_paths[i], at.root_accesses[i]});
  }
  const grant rules{*workspace, default_carve_outs, roots};
  const auto found =
      resolve(rules, operation_of(row.operation), input_bytes(row.input, scratch), at.start, by);
  if (!found) return verdict_of(found.error().error);
  if (auto tail = tail_below(*workspace, found->canonical)) {
    return "inside " + (tail->empty() ? "." : std::string{*tail});
  }
  return "inside " + found->canonical;
}

// One line for each resolver.
std::string answers_for(const case_row& row, const std::string& scratch, const prepared& at) {
  std::string all;
  for (auto by : every_resolver) all += answer_by(by, row, scratch, at) + "\n";
  return all;
}

std::string expected_for(const case_row& row, const std::string& scratch) {
  auto one = row.verdict;
  if (one == "inside") one += " " + bytes_of(row.canonical, scratch);
  std::string all;
  for (std::size_t i = 0; i < every_resolver.size(); ++i) all += one + "\n";
  return all;
}

// The answers to one row, with the process as it was before.
std::string ask(const case_row& row, asker who, const std::string& scratch) {
  std::string answer;
  try {
    const auto at = enter_case(scratch, row.tree, who);
    answer = answers_for(row, scratch, at);
  } catch (const std::exception& thrown) {
    answer = std::string{"threw: "} + thrown.what();
  }
  leave_case();
  const auto expected = expected_for(row, scratch);
  if (answer == expected) return {};
  return row.id + ": " + row.operation + " \"" + row.input + "\" " + row.note + "\nexpected " +
         expected + "answered " + answer;
}

// Rows that can be undone share a child, because a child for each costs more than the rows.
void check_all(asker who) {
  const auto rows = read_cases(path_table);
  CHECK(rows.size() >= 418);
  const auto shared = [](const case_row& row) { return !needs_own_process(row.tree); };
  CHECK("" == isolated(
                  [&] {
                    std::string wrong;
                    for (const auto& row : rows) {
                      if (!shared(row)) continue;
                      const auto scratch = make_scratch();
                      wrong += ask(row, who, scratch);
                      remove_tree(scratch);
                    }
                    return wrong;
                  },
                  300));
  for (const auto& row : rows) {
    if (shared(row)) continue;
    const auto scratch = make_scratch();
    CHECK("" == isolated([&] { return ask(row, who, scratch); }));
    remove_tree(scratch);  // from out here, where the row's mounts are not
  }
}

}  // namespace

TEST_CASE("every_checked_case_resolves_as_stated") {
  check_all(asker::whoever);
}

TEST_CASE("every_checked_case_resolves_as_stated_for_an_ordinary_user") {
  check_all(asker::ordinary_user);
}
