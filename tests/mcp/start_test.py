"""What `pinfold mcp` refuses before it serves: commands that could never run, an audit log in a place that
is not the user's own. And what it makes ready instead of refusing."""
import os
import stat
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import peer  # noqa: E402
import support  # noqa: E402


@support.as_each_user
class Commands(peer.Served):

    def setUp(self):
        super().setUp()
        self.need_sandbox()

    def refused_like_run(self, *options):
        """The complaint of `mcp`, which is refused with the code that `run` has for the same options."""
        before = self.tree()
        answer = self.pinfold("mcp", *options)
        self.assertEqual((answer.code, answer.out), (2, ""), options)
        self.assert_one_line(answer.err)
        self.assertEqual(self.tree(), before)
        run = self.pinfold("run", *options, "--", "true")
        self.assertEqual(run.code, 125, run)
        self.assertEqual(answer.err.split(": ")[2], run.err.split(": ")[2], (answer, run))
        return answer.err

    def test_commands_that_no_call_could_run_are_refused_at_the_start(self):
        err = self.refused_like_run("--no-sandbox", "--gate", "off")
        self.assertIn("NotEnforceable", err)
        self.assertIn("--gate on", err)
        err = self.refused_like_run("--git-commit")
        self.assertIn("linked worktree", err)
        self.assertIn("without --git-commit", err)
        for options in (("--no-sandbox", "--allow-host", "example.org:443"),
                        ("--no-sandbox", "--allow-loopback", "8080"),
                        ("--no-sandbox", "--git-commit"),
                        ("--no-sandbox", "--root", "minimal"),
                        ("--allow-socket", self.path("none"))):
            self.refused_like_run(*options)

    def test_an_egress_list_that_the_gate_closes_is_refused(self):
        for closed in (("--gate", "off"), ("--network", "off")):
            answer = self.pinfold("mcp", "--allow-host", "example.org:443", *closed)
            self.assertEqual((answer.code, answer.out), (2, ""))
            self.assertIn("an egress list opens a part of the network", answer.err)

    def test_what_later_calls_can_still_run_is_served(self):
        for options in (("--allow-host", "example.org:443"),
                        ("--allow-host", "example.org:443", "--gate", "untainted", "--taint", "private_data"),
                        ("--no-sandbox",), ("--no-sandbox", "--mode", "ask"),
                        ("--no-sandbox", "--mode", "plan"), ("--mode", "plan")):
            before = self.tree()
            on = self.session(*options)
            self.assertEqual(on.end(), 0, options)
            self.assertEqual(self.tree(), before, "nothing is kept of what was prepared")

    def test_without_a_sandbox_on_the_machine_files_are_served_all_the_same(self):
        os.makedirs(self.path("empty"))
        on = self.session(env=self.environment(PATH=self.path("empty")))
        self.assertNotIn("isError", on.call("read_file", path="src/main.c"))


@support.as_each_user
class Place(peer.Served):

    def test_a_log_where_others_could_put_another_is_refused_without_dangerous_advice(self):
        os.makedirs(self.path("sticky"))
        os.makedirs(self.path("open"))
        self.own()
        os.chmod(self.path("sticky"), 0o1777)
        os.chmod(self.path("open"), 0o777)
        for place, may_chmod in (("/tmp/x", False), (self.path("sticky/x"), False),
                                 (self.path("open/x"), True), (self.path("open/a/x"), True)):
            answer = self.pinfold("mcp", "--audit", place)
            self.assertEqual((answer.code, answer.out), (2, ""), place)
            self.assert_one_line(answer.err)
            self.assertIn(f'PermissionDenied: refusing to write "{place}"', answer.err)
            self.assertIn("--audit", answer.err)
            self.assertIn("a directory of your own (mode 0700)", answer.err)
            self.assertEqual("chmod" in answer.err, may_chmod, answer.err)
            self.assertFalse(os.path.exists(place))

    def test_on_a_fresh_account_the_directories_of_a_log_are_made_for_the_user_alone(self):
        os.chmod(self.home, 0o755)
        on = self.session("--audit", "~/.local/state/pinfold/app.jsonl")
        self.assertNotIn("isError", on.call("read_file", path="src/main.c"))
        self.assertEqual(on.end(), 0)
        for name in (".local", ".local/state", ".local/state/pinfold"):
            self.assertEqual(stat.S_IMODE(os.stat(self.path(name)).st_mode), 0o700, name)
        self.assertEqual(self.pinfold("audit", self.path(".local/state/pinfold/app.jsonl")).code, 0)

    def test_in_the_workspace_and_the_caches_no_directory_is_made_for_a_log(self):
        os.chmod(self.home, 0o755)
        os.symlink("project", self.path("link"))
        before = self.tree()
        for place in ("logs/a", self.path("link/logs/a"), self.path(".cache/pinfold/logs/a"),
                      self.path("none/../logs/a")):
            answer = self.pinfold("mcp", "--audit", place)
            self.assertEqual((answer.code, answer.out), (2, ""), place)
            self.assertIn("--audit", answer.err)
            self.assertEqual(self.tree(), before, place)

    def test_the_help_of_a_time_limit_is_that_of_a_server(self):
        told = " ".join(self.pinfold("mcp", "--help").out.split())
        self.assertIn("--timeout TIME End the command after this long: 30s, 500ms, 2m (default: 2m)", told)
        self.assertNotIn("person at a terminal", told)
        self.assertIn("none for a person at a terminal", " ".join(self.pinfold("run", "--help").out.split()))


if __name__ == "__main__":
    unittest.main(verbosity=2)
