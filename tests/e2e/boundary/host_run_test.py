"""What git obeys in the workspace is read-only; what a host program may run later is in the record."""
import os
import subprocess
import unittest

import git_test
import ground
from ground import support


@support.as_each_user
class Obeyed(git_test.Checkout):
    def test_a_hooks_directory_of_the_checkout_is_read_only(self):
        self.write("project/tools/hooks/pre-commit", "#!/bin/sh\n", mode=0o755)
        self.own()
        self.host_git("config", "core.hooksPath", "tools/hooks")
        for act in ("echo evil > tools/hooks/pre-commit", "echo evil > tools/hooks/post-merge",
                    "mv tools t", "mv tools/hooks tools/h", "rm -rf tools"):
            self.assert_fails(act)
        self.assertEqual(self.read("project/tools/hooks/pre-commit"), "#!/bin/sh\n")
        self.assertEqual(os.listdir(self.path("project/tools/hooks")), ["pre-commit"])

    def test_an_included_configuration_is_read_only(self):
        self.write("project/team.gitconfig", "[alias]\n\tst = status\n")
        self.own()
        self.host_git("config", "include.path", "../team.gitconfig")
        for act in ("echo '[core] fsmonitor = evil' >> team.gitconfig", "rm -f team.gitconfig",
                    "echo x > t && mv t team.gitconfig"):
            self.assert_fails(act)
        self.assertIn("st", self.inside("git st --short && echo st"))

    def test_an_included_configuration_that_is_not_there_stops_the_run(self):
        self.host_git("config", "include.path", "../absent")
        self.assert_refused("CarveOutUnusable", "-c", "touch started")
        self.assertFalse(os.path.exists(self.path("project/started")))

    def test_the_configuration_and_hooks_of_a_submodule_are_read_only(self):
        self.write("other/file", "x")
        self.own()
        other = self.path("other")
        for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "x")):
            subprocess.run(["git", *words], cwd=other, env=self.environment(), check=True,
                           **self.as_user())
        self.host_git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "sub")
        self.host_git("commit", "-q", "-m", "a submodule")
        at = ".git/modules/sub"
        for act in (f"echo x >> {at}/config", f"echo x > {at}/hooks/pre-commit",
                    f"mv {at} .git/modules/other", f"mv {at}/hooks {at}/h", "mv .git/modules .git/m",
                    "git -C sub config core.fsmonitor evil"):
            self.assert_fails(act)
        self.inside("cd sub && echo y >> file && git commit -q -a -m y && git status")
        self.host_git("status")


@support.as_each_user
class Report(git_test.Checkout):
    def found(self, script, *options):
        record = self.record(*options, "-c", script)
        self.assertEqual(record["exit_code"], 0, record)
        report = record["host_run"]
        self.assertTrue(report["complete"], report)
        return [(one["kind"], one["path"], one["detail"]) for one in report["found"]]

    def test_daily_work_is_no_news(self):
        self.assertEqual(self.found("mkdir -p src/x; echo x > src/x/f; make -v >/dev/null 2>&1; true"), [])
        self.assertEqual(self.found(git_test.WORK), [])
        self.assertEqual(self.found("true"), [])

    def test_a_nested_repository_with_a_monitor_is_named_with_its_setting(self):
        self.assertEqual(
            self.found("git init -q x && git -C x config core.fsmonitor 'touch pwned'"
                       " && echo '#!/bin/sh' > x/.git/hooks/post-checkout"),
            [("git_config", "x/.git/config", "core.fsmonitor"),
             ("git_hook", "x/.git/hooks/post-checkout", None)])

    def test_a_link_below_git_is_named(self):
        self.assertEqual(self.found("ln -sf ~/.bashrc .git/COMMIT_EDITMSG"),
                         [("git_link", ".git/COMMIT_EDITMSG", "/tmp/home/.bashrc")])

    def test_a_repository_made_where_none_was_is_named(self):
        subprocess.run(["rm", "-rf", self.path("project/.git")], check=True)
        self.assertEqual(self.found("git init -q . && git config core.fsmonitor x"),
                         [("git_config", ".git/config", "core.fsmonitor")])

    def test_what_other_programs_run_is_named(self):
        self.assertEqual(
            self.found("mkdir -p .vscode .local/bin .claude; echo x > .vscode/tasks.json;"
                       "echo x > .local/bin/ls; echo x > .envrc; echo x > .claude/settings.json;"
                       "ln -s /etc/passwd out; mkfifo pipe; echo '* filter=x' > .gitattributes"),
            [("agent", ".claude/settings.json", None), ("environment", ".envrc", None),
             ("git_attributes", ".gitattributes", None), ("program", ".local/bin/ls", None),
             ("editor", ".vscode/tasks.json", None), ("link_out", "out", "/etc/passwd"),
             ("fifo", "pipe", None)])

    def test_a_time_set_back_hides_nothing(self):
        self.assertEqual(self.found("echo x > .envrc; touch -d '2001-01-01' .envrc"),
                         [("environment", ".envrc", None)])

    def test_text_mode_says_it_on_one_safe_line(self):
        answer = self.pinfold("run", "-c", r"ln -s /etc \"$(printf 'a\033[2Jb')\"".replace('\\"', '"'))
        self.assertEqual(answer.code, 0, answer)
        self.assert_one_line(answer.err)
        self.assertIn("link_out", answer.err)
        self.assertNotIn("\033", answer.err)

    def test_a_run_that_could_change_nothing_here_has_no_report(self):
        self.assertIsNone(self.record("--no-sandbox", "--", "true")["host_run"])
        self.assertIsNone(self.record("--cwd", "/etc", "--", "true")["host_run"])


if __name__ == "__main__":
    unittest.main()
