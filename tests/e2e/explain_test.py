"""`pinfold explain`: what `run` would do, as a plan that can be started and in words."""
import os
import shlex
import subprocess
import unittest

import support


@support.as_each_user
class Explain(support.Confined):
    def explain(self, *words, **more):
        return self.pinfold("explain", *words, **more)

    def test_it_starts_nothing_and_leaves_nothing(self):
        os.makedirs(f"{self.project}/.git/hooks")
        self.own()
        before = self.tree()
        for words in (("--", "touch", "started"), ("--json", "--", "touch", "started"),
                      ("--no-sandbox", "--", "touch", "started"), ("-c", "touch started")):
            with self.subTest(words=words):
                self.assertEqual(self.explain(*words).code, 0)
                self.assertEqual(self.tree(), before)

    def test_the_first_lines_are_the_plan_and_a_shell_can_start_it(self):
        os.makedirs(f"{self.project}/.efferent")
        os.makedirs(f"{self.project}/.foundry")
        self.own()
        words = ("--", "sh", "-c", "echo 'it'\\''s' \"$HOME\"; pwd; touch inside; touch /etc/x", "\x1b")
        plan = self.explain(*words).out.split("\n\n", 1)[0]
        self.assertNotIn("\x1b", plan)
        self.assertEqual(shlex.split(plan)[0], "/usr/bin/bwrap")
        done = subprocess.run(["sh", "-c", plan], cwd="/", env=self.environment(),
                              capture_output=True, timeout=support.HANG, check=False,
                              stdin=subprocess.DEVNULL, **self.as_user())
        self.assertEqual(done.stdout.decode(), f"it's /tmp/home\n{self.project}\n", done)
        self.assertNotEqual(done.returncode, 0)
        self.assertTrue(os.path.exists(f"{self.project}/inside"))

    def test_the_table_says_in_words_what_is_what(self):
        os.makedirs(f"{self.project}/.git/hooks")
        self.write("project/.git/config", "[core]\n")
        self.own()
        table = self.explain("--timeout", "30s", "--max-output", "1MiB", "--", "true").out
        table = table.split("\n\n", 1)[1]
        for name in ("writable", "read-only", "hidden", "network", "time limit", "output kept"):
            self.assertRegex(table, rf"(?m)^{name} ")
        self.assertRegex(table, rf"(?m)^writable +{self.project}$")
        self.assertRegex(table, r"(?m)^network +off")
        self.assertRegex(table, r"(?m)^time limit +30000 ms")
        self.assertRegex(table, r"(?m)^output kept +1 MiB")
        self.assertIn(f" {self.home}\n", table)
        self.assertIn(f" {self.project}/.efferent\n", table)
        self.assertIn(f" {self.project}/.git/hooks\n", table)

    def test_the_options_of_run_show_in_the_plan(self):
        self.assertIn("--unshare-net", self.explain("--", "true").out)
        opened = self.explain("--network", "on", "--", "true").out
        self.assertNotIn("--unshare-net", opened)
        self.assertRegex(opened, r"(?m)^network +on")
        minimal = self.explain("--root", "minimal", "--", "true").out
        self.assertNotIn("--ro-bind / /", minimal)

    def test_the_json_form_holds_the_plan(self):
        answer = self.explain("--json", "--timeout", "30s", "--", "sh", "-c", "a b")
        self.assertEqual(answer.out.count("\n"), 1)
        plan = answer.json
        self.assertEqual(plan["backend"], "bubblewrap")
        self.assertEqual(plan["argv"][-3:], ["sh", "-c", "a b"])
        self.assertEqual(plan["workspace"], self.project)
        self.assertEqual(plan["network"], "off")
        self.assertEqual(plan["limits"]["time_ms"], 30_000)
        targets = [mount["target"] for mount in plan["mounts"]]
        self.assertLess(targets.index(self.home), targets.index(self.project))

    def test_what_run_refuses_explain_refuses(self):
        for words in (("--workspace", "/", "--", "true"), ("--cwd", "/etc", "--", "true"),
                      ("--timeout", "0", "--", "true"), ("-c", ""), ()):
            with self.subTest(words=words):
                answer = self.explain(*words)
                self.assertEqual(answer.code, self.pinfold("run", *words).code, answer)
                self.assertEqual(answer.out, "")
                self.assert_one_line(answer.err)

    def test_nothing_secret_of_the_caller_is_printed(self):
        for words in (("--", "true"), ("--json", "--", "true")):
            self.assertNotIn(support.SECRET, self.explain(*words).out)


if __name__ == "__main__":
    unittest.main()
