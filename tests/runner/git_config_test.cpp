// git's configuration, read as data; what counts as obeyed.
#include "sandbox/git_config.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "runner/ground.hpp"
#include "support/catch.hpp"

using namespace pinfold;

namespace {

/// "section.subsection.key=value" for each setting, as `git config --list` writes it.
std::vector<std::string> listed(std::string_view text) {
  std::vector<std::string> lines;
  for (const auto& one : parse_git_config(text)) {
    auto line = one.section + ".";
    if (!one.subsection.empty()) line += one.subsection + ".";
    lines.push_back(line + one.key + "=" + one.value);
  }
  return lines;
}

}  // namespace

TEST_CASE("sections_subsections_keys_and_values_are_told_apart") {
  CHECK(listed("[core]\n\tfsmonitor = x\n[filter \"Lfs.A\"]\n\tClean = \"a b\" # no\n"
               "[url.old]\ninsteadOf=y\n[core] pager=z\n") ==
        std::vector<std::string>{"core.fsmonitor=x", "filter.Lfs.A.clean=a b",
                                 "url.old.insteadof=y", "core.pager=z"});
}

TEST_CASE("a_value_goes_on_after_a_backslash_at_the_end_of_a_line") {
  CHECK(listed("[alias]\n\tx = \"!sh -c \\\nevil\"\n\ty = 1\n") ==
        std::vector<std::string>{"alias.x=!sh -c evil", "alias.y=1"});
}

TEST_CASE("it_reads_what_git_itself_reads") {
  const std::string text =
      "\xef\xbb\xbf; a comment\n[core]\n\tbare = false ; no\n\thooksPath=../h\\\\x\n\tempty =\n"
      "[include]\n\tpath = \"a;b\"\n[section \"with \\\"quotes\\\" and \\\\\"]\n\tk = \"  v  \"\n"
      "[a.B]\n\tk = v\n";
  const pinfold_test::folder at;
  const auto file = at.path + "/config";
  {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out{std::fopen(file.c_str(), "we"),
                                                              &std::fclose};
    REQUIRE(out);
    REQUIRE(std::fwrite(text.data(), 1, text.size(), out.get()) == text.size());
  }
  const auto command = "git config --file '" + file + "' --list --null";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> git{::popen(command.c_str(), "re"),
                                                            &::pclose};
  REQUIRE(git);
  std::vector<std::string> said;
  std::string entry;
  for (int c = 0; (c = std::fgetc(git.get())) != EOF;) {
    if (c != '\0') {
      entry.push_back(static_cast<char>(c == '\n' ? '=' : c));
    } else {
      said.push_back(std::move(entry));
      entry.clear();
    }
  }
  REQUIRE(said.size() == 6);
  CHECK(listed(text) == said);
}

TEST_CASE("what_names_a_program_or_another_file_is_obeyed") {
  for (const std::string_view text :
       {"[core]\nfsmonitor=x", "[core]\nhooksPath=x", "[core]\nsshCommand=x", "[core]\npager=x",
        "[core]\neditor=x", "[core]\nattributesFile=x", "[core]\nworktree=x", "[filter \"a\"]\nclean=x",
        "[filter \"a\"]\nprocess=x", "[diff]\nexternal=x", "[diff \"a\"]\ntextconv=x",
        "[include]\npath=x", "[includeIf \"gitdir:/x\"]\npath=x", "[alias]\nst=!x",
        "[credential]\nhelper=x", "[merge \"a\"]\ndriver=x", "[gpg]\nprogram=x",
        "[gpg \"ssh\"]\nprogram=x", "[submodule \"a\"]\nupdate=!x", "[remote \"o\"]\nuploadpack=x",
        "[pager]\nlog=x", "[difftool \"a\"]\ncmd=x", "[sequence]\neditor=x"}) {
    INFO(text);
    const auto settings = parse_git_config(text);
    REQUIRE(settings.size() == 1);
    CHECK(is_obeyed_by_git(settings.front()));
  }
  for (const std::string_view text :
       {"[core]\nbare=false", "[core]\nrepositoryformatversion=0", "[user]\nname=x",
        "[branch \"main\"]\nmerge=refs/heads/main", "[remote \"origin\"]\nurl=x"}) {
    INFO(text);
    CHECK_FALSE(is_obeyed_by_git(parse_git_config(text).front()));
  }
}
