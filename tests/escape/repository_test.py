"""git as a way out: what the host's git would run or obey later."""
import os
import subprocess
import unittest

import escape
from escape import support


class Repository(escape.Escape):
    def setUp(self):
        super().setUp()
        self.host("init", "-q", "-b", "main")
        self.host("config", "user.name", "n")
        self.host("config", "user.email", "e@x")
        self.host("commit", "-q", "--allow-empty", "-m", "one")

    def host(self, *words, check=True, cwd=None, **environment):
        return subprocess.run(["git", *words], cwd=cwd or self.project, check=check,
                              env=self.environment(**environment), capture_output=True, text=True,
                              **self.as_user())

    def kinds(self, script):
        record = self.record("-c", script)
        self.assertEqual(record["exit_code"], 0, record)
        return {one["path"]: one["kind"] for one in record["host_run"]["found"]}


@support.as_each_user
class Doors(Repository):
    def test_the_parent_of_a_carve_out_is_renamed(self):
        self.assert_error("EBUSY", "os.rename('.git', 'g')")
        self.assert_error("EBUSY", "os.mkdir('n'); os.rename('n', '.git')")

    def test_a_file_is_renamed_over_a_carve_out(self):
        self.assert_error("EBUSY EXDEV", "write('t'); os.rename('t', '.git/config')")

    def test_a_file_is_renamed_into_a_carve_out(self):
        self.assert_error("EXDEV EROFS", "write('.git/x'); os.rename('.git/x', '.git/hooks/pre-commit')")

    def test_the_configuration_names_a_program(self):
        for text in ("fsmonitor", "hooksPath", "sshCommand", "pager"):
            self.assert_error("EROFS", f"open('.git/config', 'a').write('[core]\\n{text}=evil')")
        self.assertNotIn("evil", self.read("project/.git/config"))

    def test_a_hooks_directory_of_the_checkout(self):
        self.write("project/.githooks/pre-commit", "#!/bin/sh\n", mode=0o755)
        self.own()
        self.host("config", "core.hooksPath", ".githooks")
        self.assert_error("EROFS", "write('.githooks/pre-commit')")
        self.assert_error("EBUSY", "os.rename('.githooks', 'h')")

    def test_a_hooks_directory_made_later(self):
        self.host("config", "core.hooksPath", ".githooks")
        self.assertEqual(self.kinds("mkdir .githooks; echo evil > .githooks/pre-commit"),
                         {".githooks/pre-commit": "git_hook"})

    def test_a_commondir_is_made(self):
        self.assert_error("EROFS", "os.mkdir('x'); write('.git/commondir', '../x')")

    def test_attributes_turn_a_filter_on(self):
        self.assert_error("EROFS", "write('.git/info/attributes', '* filter=x')")

    def test_the_metadata_of_a_linked_worktree_is_rewritten(self):
        self.host("worktree", "add", "-q", self.path("linked"))
        self.assert_error("EROFS", "write('.git/worktrees/linked/commondir', '../../../x')")
        self.assert_error("EROFS", "os.rename('.git/worktrees/linked', '.git/worktrees/y')")

    def test_the_git_file_of_a_linked_worktree_is_rewritten(self):
        self.host("worktree", "add", "-q", self.path("linked"))
        self.assert_error("EROFS", "write('.git', 'gitdir: evil')", cwd=self.path("linked"))


@support.as_each_user
class Reported(Repository):
    """What cannot be prevented is in the record."""

    def test_a_nested_repository(self):
        found = self.kinds("git init -q vendor/x; echo evil > vendor/x/.git/hooks/pre-commit; "
                           "git -C vendor/x config core.fsmonitor evil; git add vendor 2>/dev/null; true")
        self.assertEqual(found["vendor/x/.git/hooks/pre-commit"], "git_hook")
        self.assertEqual(found["vendor/x/.git/config"], "git_config")

    def test_a_repository_where_none_was(self):
        subprocess.run(["rm", "-rf", self.path("project/.git")], check=True)
        self.assertIn(".git/config", self.kinds("git init -q; git config core.fsmonitor evil"))

    def test_a_git_file_that_leads_elsewhere(self):
        self.assertEqual(self.kinds("mkdir sub; echo 'gitdir: /home/u/other' > sub/.git"),
                         {"sub/.git": "git_file"})

    def test_a_link_below_git(self):
        self.assertEqual(self.kinds("ln -sf ~/.bashrc .git/COMMIT_EDITMSG"),
                         {".git/COMMIT_EDITMSG": "git_link"})

    def test_files_that_other_programs_run(self):
        found = self.kinds("mkdir -p .vscode .claude; echo x > .vscode/tasks.json; echo x > .mcp.json; "
                           "echo x > .envrc; echo x > .claude/settings.json; echo x > AGENTS.md")
        self.assertEqual(sorted(found), [".claude/settings.json", ".envrc", ".mcp.json",
                                         ".vscode/tasks.json", "AGENTS.md"])

    def test_a_gitlink_below_an_ignored_directory(self):
        """git goes into it whatever its ignore files say; it may have lain there unseen before."""
        self.write("project/.gitignore", "node_modules\n")
        self.own()
        self.inside("git init -q node_modules/x && git -C node_modules/x -c user.name=n -c user.email=e@x "
                    "commit -q --allow-empty -m x && git -C node_modules/x config core.fsmonitor evil")
        found = self.kinds("git add -f node_modules/x 2>/dev/null")
        self.assertEqual(found["node_modules/x/.git/config"], "git_config")
        self.assertEqual(self.kinds("true"), {})
        found = self.kinds("echo evil > node_modules/x/.git/hooks/post-checkout")
        self.assertEqual(found, {"node_modules/x/.git/hooks/post-checkout": "git_hook"})

    def test_a_rebase_left_in_progress(self):
        self.host("commit", "-q", "--allow-empty", "-m", "two")
        found = self.record("-c", "git rebase -q -x 'false' HEAD~1; true")["host_run"]["found"]
        self.assertEqual([(one["path"], one["kind"]) for one in found],
                         [(".git/rebase-merge", "git_sequence")])
        self.write("project/.git/rebase-merge/git-rebase-todo", "pick 123\n")
        self.own()
        found = self.record("-c", "echo 'exec evil' >> .git/rebase-merge/git-rebase-todo")["host_run"]
        self.assertIn("starts a program", found["found"][0]["detail"])

    def test_attributes_whose_filter_comes_late(self):
        self.assertEqual(self.kinds("head -c 100000 /dev/zero | tr '\\0' '#' > .gitattributes;"
                                    "echo >> .gitattributes; echo '* filter=x' >> .gitattributes"),
                         {".gitattributes": "git_attributes"})
        self.assertEqual(self.kinds("head -c 1100000 /dev/zero | tr '\\0' '#' > .gitattributes"),
                         {".gitattributes": "git_attributes"})

    def test_remotes_in_gits_old_form(self):
        self.assertEqual(self.kinds("mkdir -p .git/remotes .git/branches; echo 'URL: ext::evil' > "
                                    ".git/remotes/x; echo y > .git/branches/y; git branch remotes/z"),
                         {".git/remotes/x": "git_config", ".git/branches/y": "git_config"})

    def test_a_worktree_configuration_that_nothing_reads_yet(self):
        self.assertEqual(self.kinds("echo '[core] fsmonitor = evil' > .git/config.worktree"),
                         {".git/config.worktree": "git_config"})

    def test_a_submodule_called_logs(self):
        found = self.kinds("mkdir -p .git/modules/logs; "
                           "git init -q --separate-git-dir .git/modules/logs/x x")
        self.assertEqual(found[".git/modules/logs/x/config"], "git_config")

    def test_files_of_more_tools(self):
        files = (".devcontainer/devcontainer.json", ".exrc", ".nvim.lua", "lefthook.yml",
                 ".pre-commit-config.yaml", "a.code-workspace", ".windsurfrules", ".cursor/x",
                 "opencode.json", ".gemini/x", ".codex/x", ".npmrc", ".yarnrc.yml",
                 ".cargo/config.toml", ".direnv/python/bin/ls", ".tool-versions", "mise.toml",
                 ".yarn/releases/yarn.cjs")
        script = "".join(f"mkdir -p $(dirname {one}); echo x > {one};" for one in files)
        self.assertEqual(sorted(self.kinds(script + "echo x > Makefile; echo x > package.json")),
                         sorted(files))

    def test_a_repository_that_the_host_makes_while_a_run_lasts(self):
        subprocess.run(["rm", "-rf", self.path("project/.git")], check=True)
        child = self.start("run", "--json", "-c", "touch here; while [ ! -e go ]; do sleep 0.05; done;"
                           "git config core.fsmonitor evil")
        escape.ground.wait_for(self.path("project/here"))
        self.host("init", "-q")
        self.write("project/go", "")
        out, _ = child.communicate(timeout=support.HANG)
        found = {one["path"]: one["kind"] for one in support.json.loads(out)["host_run"]["found"]}
        self.assertEqual(found[".git/config"], "git_config")


if __name__ == "__main__":
    unittest.main()
