"""Repositories that are laid out otherwise, and what a configuration brings along: the same doors are
shut wherever they lie."""
import os
import unittest

import escape
import git_test
import repository_test
from escape import support

IDENTITY = ("-c", "user.name=n", "-c", "user.email=e@x")


class Laid(repository_test.Repository):
    """A folder without a repository yet."""

    def setUp(self):
        escape.Escape.setUp(self)
        self.write(".gitconfig", "[user]\n\tname = n\n\temail = e@x\n")
        self.own()

    def assert_doors_shut(self, gitdir, *more):
        """What every repository directory must hold against, from the workspace's top."""
        attempts = [("EROFS", f"write('{gitdir}/{name}')")
                    for name in ("hooks/pre-commit", "info/attributes", "config", "commondir", *more)]
        for name in ("hooks", "config", "info", "commondir"):
            at = f"{gitdir}/{name}"
            attempts += [("EBUSY EROFS", f"os.rename('{at}', '{gitdir}/other')"),
                         ("EXDEV EBUSY EROFS EISDIR",
                          f"write('{gitdir}/t'); os.rename('{gitdir}/t', '{at}')")]
        self.assert_errors(attempts)


@support.as_each_user
class Separate(Laid):
    """git init --separate-git-dir, in the workspace."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("project/a"))
        self.own()
        self.host("init", "-q", "-b", "main", "--separate-git-dir", self.path("project/a/store"))
        self.host(*IDENTITY, "commit", "-q", "--allow-empty", "-m", "one")

    def test_its_doors_are_shut(self):
        self.assert_doors_shut("a/store", "worktrees/x")
        self.assert_errors([("EROFS", "write('.git')"),
                            ("EBUSY", "os.rename('a', 'elsewhere')"),
                            ("EBUSY", "os.rename('a/store', 'a/elsewhere')"),
                            ("EBUSY EXDEV", "os.mkdir('n'); os.rename('n', 'a/store')")])

    def test_a_link_on_the_way_is_refused(self):
        os.rename(self.path("project/a/store"), self.path("project/real"))
        os.symlink("../real", self.path("project/a/store"))
        self.own()
        self.assert_refused("CarveOutUnusable", "--", "true")

    def test_a_repository_that_is_not_there_is_refused_since_it_could_be_made(self):
        os.rename(self.path("project/a/store"), self.path("store"))
        self.assert_refused("CarveOutUnusable", "--", "true")
        answer = self.pinfold("run", "--mode", "plan", "--", "true")
        self.assertEqual(answer.code, 0, answer)  # nothing can be made there

    def test_a_way_that_turns_back_is_refused(self):
        self.write("project/.git", "gitdir: src/../a/store\n")
        self.own()
        self.assert_refused("CarveOutUnusable", "--", "true")

    def test_a_worktree_configuration_is_read_only_where_git_reads_it(self):
        self.host("config", "extensions.worktreeConfig", "true")
        self.assert_error("EROFS", "write('a/store/config.worktree')")
        self.host("status")

    def test_nothing_is_news_and_the_index_is_written(self):
        self.assertEqual(self.kinds("echo x > f; git add f; git commit -q -m f"), {})


@support.as_each_user
class Bare(Laid):
    """Worktrees beside a bare repository, and a workspace that is one."""

    def beside(self):
        self.host("init", "-q", "-b", "main", "--bare", ".bare")
        self.write("project/.git", "gitdir: ./.bare\n")
        self.own()
        tree = self.host("mktree", cwd=self.path("project/.bare")).stdout.strip()
        one = self.host(*IDENTITY, "commit-tree", "-m", "one", tree,
                        cwd=self.path("project/.bare")).stdout.strip()
        self.host("update-ref", "refs/heads/main", one)
        self.host("worktree", "add", "-q", "work", "main")
        self.host("worktree", "add", "-q", "-b", "far", self.path("far"))

    def test_the_doors_of_one_beside_its_worktrees_are_shut(self):
        self.beside()
        self.assert_doors_shut(".bare", "worktrees/far/commondir", "worktrees/work/commondir",
                               "worktrees/work/gitdir")
        self.assert_errors([("EBUSY EXDEV", f"os.rename('{name}', '{name}-elsewhere')")
                            for name in (".bare", ".bare/worktrees", ".bare/worktrees/work")])

    def test_daily_work_goes_on_in_a_worktree(self):
        self.beside()
        found = self.kinds("cd work && git checkout -q -b no-news && git commit -q --allow-empty -m x"
                           " && git checkout -q main && git branch -D no-news")
        self.assertEqual(found, {})
        self.inside("cd work && echo one > one && git add one && git commit -q -m two\n"
                    + git_test.WORK.replace("checkout -q main", "checkout -q base")
                    .replace("set -e", "set -e; git checkout -q -b base")
                    .replace("-x main", "-x base"))
        self.host("fsck", "--strict", cwd=self.path("project/work"))
        self.host("worktree", "list")

    def test_the_doors_of_a_workspace_that_is_one_are_shut(self):
        self.host("init", "-q", "-b", "main", "--bare", ".")
        self.assert_doors_shut(".", "worktrees/x")
        self.inside("git log --all; git branch -a; git gc -q; git notes list; git rev-parse --is-bare-repository")
        self.host("fsck", "--strict")

    def test_a_repository_that_shares_with_another_one(self):
        self.host("init", "-q", "-b", "main")
        self.host("init", "-q", "--bare", "x/shared")
        self.write("project/.git/commondir", "../x/shared\n")
        self.own()
        self.assert_doors_shut("x/shared")
        self.assert_error("EROFS", "write('.git/commondir')")
        self.assert_error("EBUSY", "os.rename('x', 'y')")


@support.as_each_user
class Brought(repository_test.Repository):
    """What a configuration brings along."""

    def test_an_include_of_an_include_and_its_hooks(self):
        self.write("project/one.inc", "[include]\n\tpath = two.inc\n")
        self.write("project/two.inc", "[core]\n\thooksPath = tools/hooks\n")
        self.write("project/tools/hooks/pre-commit", "#!/bin/sh\n", mode=0o755)
        self.own()
        self.host("config", "include.path", "../one.inc")
        self.assert_errors([("EROFS", f"write('{name}')") for name in
                            ("one.inc", "two.inc", "tools/hooks/pre-commit", "tools/hooks/post-merge")]
                           + [("EBUSY", "os.rename('tools', 't')")])

    def test_the_callers_own_configuration_leads_here(self):
        self.write(".gitconfig", '[includeIf "gitdir:~/"]\n\tpath = .gitconfig-work\n')
        self.write(".gitconfig-work", "[core]\n\thooksPath = .githooks\n"
                                      "[include]\n\tpath = project/team.inc\n")
        self.write("project/team.inc", "[alias]\n\tst = status\n")
        self.write("project/.githooks/pre-commit", "#!/bin/sh\n", mode=0o755)
        self.own()
        self.assert_errors([("EROFS", "write('team.inc')"),
                            ("EROFS", "write('.githooks/pre-commit')")])

    def test_the_configuration_of_a_repository_outside_leads_here(self):
        self.write("project/src/hooks/pre-commit", "#!/bin/sh\n", mode=0o755)
        self.own()
        self.host("config", "core.hooksPath", "src/hooks")
        self.assert_error("EROFS", "write('hooks/pre-commit')", cwd=self.path("project/src"))

    def test_a_way_that_turns_back_is_refused(self):
        self.write("project/.githooks/pre-commit", "#!/bin/sh\n", mode=0o755)
        self.own()
        self.host("config", "core.hooksPath", "src/../.githooks")
        self.assert_refused("CarveOutUnusable", "--", "true")

    def test_programs_that_git_runs_unasked(self):
        for name in ("watch", "clean.py", "real"):
            self.write(f"project/tools/{name}", "#!/bin/sh\n", mode=0o755)
        os.symlink("real", self.path("project/tools/linked"))
        self.own()
        self.host("config", "core.fsmonitor", "false")
        self.host("config", "diff.x.textconv", "./tools/watch --fast")
        self.host("config", "filter.x.clean", "python3 tools/clean.py %f")
        self.host("config", "diff.y.textconv", "tools/linked")
        self.assert_errors([("EROFS", "write('tools/watch')"), ("EROFS", "write('tools/clean.py')"),
                            ("EBUSY", "os.rename('tools', 't')")])
        self.assertEqual(self.kinds("ln -sfn /bin/sh tools/linked; echo evil > tools/real"),
                         {"tools/linked": "program", "tools/real": "program"})

    def test_a_program_in_an_ignored_directory_that_comes_later(self):
        self.write("project/.gitignore", "build\n")
        self.own()
        self.host("config", "diff.x.textconv", "build/tool")
        self.assertEqual(self.kinds("mkdir build; echo evil > build/tool"),
                         {"build/tool": "program"})


@support.as_each_user
class Submodules(repository_test.Repository):
    def add(self, name):
        other = self.path("other")
        if not os.path.exists(other):
            self.write("other/file", "x")
            self.own()
            for words in (("init", "-q"), ("add", "."), (*IDENTITY, "commit", "-q", "-m", "x")):
                self.host(*words, cwd=other)
        self.host("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, name)
        self.host("commit", "-q", "-m", name)

    def test_a_head_beside_a_submodule_hides_nothing(self):
        self.add("libs/one")
        self.add("libs/logs/two")
        for name in ("HEAD", "objects/x", "refs/x"):
            self.write(f"project/.git/modules/libs/{name}", "")
        self.own()
        attempts = []
        for at in (".git/modules/libs/one", ".git/modules/libs/logs/two"):
            attempts += [("EROFS", f"write('{at}/{door}')")
                         for door in ("config", "hooks/pre-commit", "commondir")]
            attempts += [("EBUSY", f"os.rename('{at}', '{at}-elsewhere')")]
        self.assert_errors(attempts)
        self.inside("cd libs/one && echo y >> file && git -c user.name=n -c user.email=e@x commit "
                    "-q -a -m y && git status")
        self.host("status")

    def test_a_submodules_own_configuration_leads_into_its_tree(self):
        self.add("sub")
        self.write("project/sub/.githooks/pre-commit", "#!/bin/sh\n", mode=0o755)
        self.own()
        self.host("config", "core.hooksPath", ".githooks", cwd=self.path("project/sub"))
        self.assert_error("EROFS", "write('sub/.githooks/pre-commit')")

    def test_a_submodule_that_is_a_link_is_refused(self):
        self.add("sub")
        os.rename(self.path("project/.git/modules/sub"), self.path("project/.git/modules/real"))
        os.symlink("real", self.path("project/.git/modules/sub"))
        self.own()
        self.assert_refused("CarveOutUnusable", "--", "true")


@support.as_each_user
class Bounded(repository_test.Repository):
    """Reading a repository has a budget, and what is beyond it is refused."""

    def assert_too_much(self, place):
        record = self.record("-c", "touch started")
        self.assertEqual(record["refusal"]["error"], "NotEnforceable", record)
        self.assertIn(place, record["refusal"]["path"])
        self.assertIn("before a run", record["refusal"]["message"])
        self.assertFalse(os.path.exists(self.path("project/started")))

    def test_more_directories_below_modules_than_are_looked_at(self):
        os.mkdir(self.path("project/.git/modules"))
        for number in range(20_001):
            os.mkdir(self.path(f"project/.git/modules/{number}"))
        self.assert_too_much(".git/modules")

    def test_a_megabyte_of_includes(self):
        with open(self.path("project/.git/config"), "a", encoding="utf-8") as file:
            for number in range(25_000):
                file.write(f"[include]\n\tpath = /nowhere/at/all/{number}\n")
        self.assert_too_much("/")

    def test_more_included_files_than_mounts(self):
        os.mkdir(self.path("project/i"))
        with open(self.path("project/.git/config"), "a", encoding="utf-8") as file:
            for number in range(260):
                file.write(f"[include]\n\tpath = ../i/{number}\n")
                self.write(f"project/i/{number}", "")
        self.own()
        self.assert_too_much("project/i/")

    def test_an_include_that_includes_itself_twice_ends(self):
        self.write("project/x.inc", "[include]\n\tpath = x.inc\n[include]\n\tpath = ./x.inc\n")
        self.own()
        self.host("config", "include.path", "../x.inc")
        self.assert_error("EROFS", "write('x.inc')")


if __name__ == "__main__":
    unittest.main()
