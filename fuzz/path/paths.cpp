#include "path/checks.hpp"

#include <optional>
#include <vector>

#include <pinfold/path.hpp>

#include "path/model.hpp"
#include "support/target.hpp"

namespace pinfold_fuzz {

namespace {

char letter_for(std::optional<pinfold::code> wrong) {
  if (!wrong) return ' ';
  return *wrong == pinfold::code::invalid_path    ? 'i'
         : *wrong == pinfold::code::name_too_long ? 'l'
                                                  : '?';
}

}  // namespace

void check_one_path(const std::string& path) {
  std::vector<std::string> taken;
  for (auto name : pinfold::components{path}) taken.emplace_back(name);
  must(taken == model::components(path), "components are the names between slashes", quoted(path));
  const auto wrong = model::misspelling(path);
  must(letter_for(pinfold::misspelling_of(path)) == wrong, "misspellings are told apart",
       quoted(path));
  const bool is_canonical = model::is_canonical(path);
  must(pinfold::is_canonical_form(path) == is_canonical, "canonical form", quoted(path));
  must(pinfold::is_normal_tail(path) ==
           (path.size() < 4096 && !path.empty() && path.front() != '/' &&
            model::misspelling(path) == ' ' && "/" + path == model::normal("/" + path)),
       "normal form of a tail", quoted(path));
  if (is_canonical) {
    must(pinfold::parent_of(path) == model::parent(path), "the parent", quoted(path));
  }
}

void check_normal_form(const std::string& path, std::size_t room) {
  // Exactly as large as told, so that the address sanitizer sees a byte too many.
  std::vector<char> buffer(room);
  const auto form = pinfold::lexically_normal(path, buffer);
  if (model::misspelling(path) != ' ' || path.front() != '/') {
    must(!form, "only an absolute, lawful path has a normal form", quoted(path));
    return;
  }
  const auto expected = model::normal(path);
  if (form) {
    must(*form == expected && pinfold::is_canonical_form(*form), "the normal form", quoted(path));
  } else {
    // On the way there may be more names than in the end.
    must(form.error() == pinfold::code::name_too_long && room < path.size(),
         "a normal form is refused only for want of room", quoted(path));
  }
}

void check_two_paths(const std::string& root, const std::string& path) {
  if (!model::is_canonical(root) || !model::is_canonical(path)) return;
  const bool holds = model::holds(root, path);
  must(pinfold::contains(root, path) == holds, "containment is by component",
       quoted(root) + " " + quoted(path));
  const auto tail = pinfold::tail_below(root, path);
  if (!holds) return must(!tail, "nothing outside has a tail", quoted(path));
  const auto back = tail->empty() ? root : (root == "/" ? "" : root) + "/" + std::string{*tail};
  must(back == path, "root and tail are the path again", quoted(root) + " " + quoted(path));
}

}  // namespace pinfold_fuzz
