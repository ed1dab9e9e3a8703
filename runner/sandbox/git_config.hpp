// git's configuration syntax, read as data: no includes are followed, nothing is run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// One setting: `[section "subsection"] key = value`. Section and key are in lower case; a key
/// without '=', which git reads as true, has an empty value (git-config(1), "Syntax").
struct git_setting {
  std::string section;
  std::string subsection;
  std::string key;
  std::string value;
};

/// All settings of a text, in order. What git would refuse is read as far as it makes sense: this is
/// for finding what is there, not for deciding that something is not.
[[nodiscard]] std::vector<git_setting> parse_git_config(std::string_view text);

/// True for a setting that names a program git runs, a file it obeys or a directory it takes hooks
/// from: core.fsmonitor, core.hooksPath, core.sshCommand, core.pager, core.editor, core.askPass,
/// core.attributesFile, include.path, filter.*.clean, diff.external, alias.*, credential.helper and
/// their like. Sections that hold such keys under any name count as a whole.
[[nodiscard]] bool is_obeyed_by_git(const git_setting& setting);

/// A value as git writes it, in quotes.
[[nodiscard]] std::string quoted_for_git(std::string_view value);

}  // namespace pinfold
