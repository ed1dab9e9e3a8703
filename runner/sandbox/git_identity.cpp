// user.name and user.email out of a configuration, and the configuration that a command gets.
#include <string>
#include <string_view>

#include "sandbox/caller.hpp"
#include "sandbox/git_config.hpp"

namespace pinfold {

git_identity parse_git_identity(std::string_view text) {
  git_identity who;
  for (auto& setting : parse_git_config(text)) {
    if (setting.section != "user" || !setting.subsection.empty()) continue;
    if (setting.key == "name") who.name = std::move(setting.value);
    if (setting.key == "email") who.email = std::move(setting.value);
  }
  return who;
}

std::string git_configuration_for(const git_identity& who, std::string_view workspace) {
  std::string text;
  if (!who.name.empty() || !who.email.empty()) text += "[user]\n";
  if (!who.name.empty()) text += "\tname = " + quoted_for_git(who.name) + "\n";
  if (!who.email.empty()) text += "\temail = " + quoted_for_git(who.email) + "\n";
  return text + "[safe]\n\tdirectory = " + quoted_for_git(workspace) + "\n";
}

}  // namespace pinfold
