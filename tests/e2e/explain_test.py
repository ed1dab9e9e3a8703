"""`pinfold explain`: what `run` would do, as a plan that can be started and in words."""
import os
import re
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

    def test_it_says_what_git_can_do_inside(self):
        def told(*words, at=self.project, env=None):
            words = (*words, "--workspace", at, "--", "true")
            lines = self.explain(*words, env=env).out.splitlines()
            found = [line[24:] for line in lines if line.startswith("git ")]
            as_json = self.explain("--json", *words, env=env).json["git"]
            self.assertEqual(found, [as_json] if as_json else [])
            return as_json
        self.assertEqual(told(), "")
        os.makedirs(f"{self.project}/.git")
        os.makedirs(f"{self.project}/sub/linked")
        self.write("project/sub/linked/.git", f"gitdir: {self.home}/of-linked\n")
        self.write("of-linked/config", f"[core]\n\tworktree = {self.project}/sub/linked\n")
        self.own()
        self.assertIn("what writes them (git config, branch -m", told())
        self.assertIn("nothing can be written", told("--mode", "plan"))
        self.assertIn(f"a folder of the repository at {self.project}, which is hidden",
                      told(at=f"{self.project}/sub"))  # in the home of the tests
        self.assertIn(f"a folder of the repository at {self.project}, which can be read",
                      told(at=f"{self.project}/sub", env=self.environment(HOME="/home")))
        self.assertIn("git finds no repository", told("--root", "minimal", at=f"{self.project}/sub"))
        self.assertIn("leads to a repository elsewhere", told(at=f"{self.project}/sub/linked"))
        os.makedirs(f"{self.project}/apart/store")
        self.write("project/apart/.git", "gitdir: store\n")
        for name in ("HEAD", "objects/x", "refs/x"):
            self.write(f"project/bare/{name}", "")
        self.own()
        for name in ("apart", "bare"):
            self.assertIn("what writes them (git config, branch -m", told(at=f"{self.project}/{name}"))

    def test_the_first_lines_are_the_plan_and_a_shell_can_start_it(self):
        os.makedirs(f"{self.project}/.efferent")
        os.makedirs(f"{self.project}/.foundry")
        self.own()
        self.assertEqual(self.pinfold("run", "--", "true").code, 0)  # makes the cache
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
        self.assertEqual(plan["limits"]["processes"], 4096)
        self.assertIsNone(plan["limits"]["memory_bytes"])
        targets = [mount["target"] for mount in plan["mounts"]]
        self.assertLess(targets.index(self.home), targets.index(self.project))

    def test_what_holds_the_limits_is_named(self):
        limits = self.explain("--json", "--memory", "1GiB", "--", "true").json["limits"]
        table = self.explain("--memory", "1GiB", "--", "true").out
        self.assertEqual(limits["cgroup"] is None, limits["no_cgroup"] is not None)
        held_by = limits["cgroup"] or limits["no_cgroup"]
        self.assertRegex(table, r"(?m)^held by +.*" + re.escape(held_by) + "$")
        record = self.pinfold("run", "--json", "--memory", "1GiB", "--", "true").json
        self.assertIn(held_by, record["enforced"]["memory"]["reason"])

    def test_mode_gate_taint_and_the_network_verdict_are_named(self):
        words = ("--mode", "ask", "--gate", "guarded", "--taint", "private_data", "--taint",
                 "untrusted_content", "--", "true")
        table = self.explain(*words).out
        self.assertRegex(table, r"(?m)^mode +ask$")
        self.assertRegex(table, r"(?m)^gate +guarded$")
        self.assertRegex(table, r"(?m)^taint +untrusted_content, private_data$")
        self.assertRegex(table, r"(?m)^network +off.*ask counts as no$")
        plan = self.explain("--json", *words).json
        self.assertEqual((plan["mode"], plan["gate"], plan["network_decision"], plan["network"]),
                         ("ask", "guarded", "ask", "off"))
        self.assertEqual(plan["taint"], ["untrusted_content", "private_data"])
        plain = self.explain("--", "true").out
        self.assertRegex(plain, r"(?m)^mode +autonomous$")
        self.assertRegex(plain, r"(?m)^taint +none$")
        self.assertNotIn("ask counts", plain)

    def test_what_is_promised_and_what_is_not_goes_with_the_options(self):
        def said(*words):
            plan = self.explain("--json", *words, "--", "true").json
            return ({one["id"] for one in plan["promised"]},
                    {one["id"] for one in plan["not_promised"]})

        promised, open_ends = said()
        self.assertLessEqual({"writes-stay-inside", "no-route-out", "caches-apart"}, promised)
        self.assertIn("machine-readable", open_ends)
        self.assertNotIn("machine-readable", said("--root", "minimal")[1])
        promised, open_ends = said("--network", "on")
        self.assertNotIn("no-route-out", promised)
        self.assertIn("open-network-leaks", open_ends)
        promised, open_ends = said("--share-caches")
        self.assertNotIn("caches-apart", promised)
        self.assertIn("shared-caches", open_ends)
        promised, open_ends = said("--no-sandbox")
        self.assertNotIn("writes-stay-inside", promised)
        self.assertIn("no-boundary", open_ends)

    def test_explain_and_doctor_use_the_same_sentences(self):
        doctor = self.pinfold("doctor", "--json").json
        plan = self.explain("--json", "--", "true").json
        self.assertEqual(plan["promised"], doctor["promised"])
        known = {one["id"]: one["sentence"] for one in doctor["not_promised"]}
        for one in plan["not_promised"]:
            self.assertEqual(known[one["id"]], one["sentence"])
        text = self.explain("--", "true").out
        for one in plan["promised"] + plan["not_promised"]:
            self.assertIn(f"\n  - {one['sentence']}\n", text)

    def test_a_shared_cache_is_said_to_be_a_way_from_one_workspace_to_the_next(self):
        text = self.explain("--share-caches", "--", "true").out
        self.assertRegex(text, r"(?m)^cache +shared.*a way from one workspace to the next$")
        self.assertRegex(text, r"(?m)^  - a shared cache is a way from one workspace to the next")

    def test_what_run_refuses_explain_refuses(self):
        for words in (("--workspace", "/", "--", "true"), ("--cwd", "/etc", "--", "true"),
                      ("--gate", "on", "--network", "off", "--", "true"),
                      ("--share-caches", "--no-cache", "--", "true"),
                      ("--blob-dir", ".", "--", "true"), ("--blob-max", "1K", "--", "true"),
                      ("--mode", "plan", "--no-sandbox", "--", "true"),
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
