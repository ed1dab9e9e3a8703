"""`pinfold run`: exit codes, the fields of the run record, text mode, and what the command finds."""
import os
import subprocess
import unittest

import support

FIELDS = ["ended", "exit_code", "signal", "limit", "duration_ms", "setup_ms", "stdout", "stderr",
          "backend", "reason", "network", "workspace", "enforced", "killed", "host_run", "refusal",
          "mode", "gate", "taint", "network_decision", "cache", "cache_directory", "egress",
          "taint_after", "blobs", "worktree", "commits"]


@support.as_each_user
class ExitCode(support.Confined):
    def test_the_exit_code_is_the_commands_own(self):
        for code in (0, 1, 2, 42, 124, 125, 126, 127, 128, 137, 255):
            with self.subTest(code=code):
                self.assertEqual(self.pinfold("run", "-c", f"exit {code}").code, code)
                record = self.record("-c", f"exit {code}")
                self.assertEqual((record["ended"], record["exit_code"], record["signal"]),
                                 ("exited", code, None))

    def test_a_signal_is_told_apart_from_a_code_of_the_same_number(self):
        for signal in (1, 6, 9, 11, 15):
            with self.subTest(signal=signal):
                answer = self.pinfold("run", "--json", "-c", f"kill -{signal} $$")
                self.assertEqual(answer.code, 128 + signal, answer)
                record = answer.json
                self.assertEqual((record["ended"], record["exit_code"], record["signal"]),
                                 ("signaled", None, signal))

    def test_the_time_limit_is_124(self):
        self.assertEqual(self.pinfold("run", "--timeout", "200ms", "--", "sleep", "100").code, 124)

    def test_json_and_text_exit_alike(self):
        for words in (("-c", "exit 3"), ("--", "no-such-command"), ("--cwd", "/etc", "--", "true")):
            with self.subTest(words=words):
                self.assertEqual(self.pinfold("run", *words).code,
                                 self.pinfold("run", "--json", *words).code)


@support.as_each_user
class Record(support.Confined):
    def test_it_has_exactly_the_names_of_the_interface(self):
        record = self.record("-c", "echo out; echo err >&2")
        self.assertEqual(list(record), FIELDS)
        self.assertEqual(record["stdout"], {"text": "out\n", "bytes": 4, "dropped": 0,
                                            "clipped": False})
        self.assertEqual(record["stderr"]["text"], "err\n")
        self.assertEqual(record["backend"], "bubblewrap")
        self.assertIsNone(record["reason"])
        self.assertEqual(record["network"], "off")
        self.assertEqual(record["workspace"], self.project)
        self.assertEqual(record["killed"], 0)
        self.assertIsNone(record["refusal"])
        self.assertIsInstance(record["duration_ms"], int)
        self.assertIsInstance(record["setup_ms"], int)

    def test_it_is_one_line_and_nothing_else_is_printed(self):
        answer = self.pinfold("run", "--json", "-c", "echo out; echo err >&2")
        self.assertEqual(answer.out.count("\n"), 1)
        self.assertEqual(answer.err, "")

    def test_the_network_that_was_given_is_recorded(self):
        self.assertEqual(self.record("--network", "on", "--", "true")["network"], "on")
        self.assertEqual(self.record("--network", "off", "--", "true")["network"], "off")

    def test_a_workspace_that_is_a_link_shows_where_it_led(self):
        os.symlink("project", self.path("link"))
        record = self.record("--workspace", self.path("link"), "--", "pwd", cwd="/")
        self.assertEqual(record["workspace"], self.project)
        self.assertEqual(record["stdout"]["text"], self.project + "\n")

    def test_the_current_directory_is_the_workspace_and_cwd_the_start(self):
        self.assertEqual(self.record("--", "pwd")["stdout"]["text"], self.project + "\n")
        self.assertEqual(self.record("--cwd", "src", "--", "pwd")["stdout"]["text"],
                         self.project + "/src\n")

    def test_output_that_is_not_utf8_keeps_its_count_of_bytes(self):
        out = self.record("-c", r"printf 'a\377\303\244b'")["stdout"]
        self.assertEqual(out, {"text": "a\ufffd\u00e4b", "bytes": 5, "dropped": 0, "clipped": False})

    def test_the_words_of_the_command_arrive_byte_for_byte(self):
        words = ["a b", "", "'", '"', "$HOME", "`id`", "\\", "\n", "-c", "--", "--json", b"\xff\xfe",
                 "*", "~", "\x01\x1b"]
        record = self.record("--", "python3", "-c",
                             "import os,sys; print([os.fsencode(a) for a in sys.argv[1:]])", *words)
        expected = [os.fsencode(word) for word in words]
        self.assertEqual(record["stdout"]["text"], f"{expected}\n", record)

    def test_an_argument_of_a_hundred_kilobytes_arrives(self):
        record = self.record("--", "printf", "%s", "x" * 100_000)
        self.assertEqual(record["stdout"]["bytes"], 100_000, record)

    def test_running_without_a_sandbox_is_said_aloud(self):
        answer = self.pinfold("run", "--no-sandbox", "--json", "--", "true")
        self.assertEqual(answer.json["backend"], "none")
        self.assertEqual(answer.json["network"], "on")
        self.assert_one_line(answer.err)
        self.assertIn("--no-sandbox", answer.err)


@support.as_each_user
class Text(support.Confined):
    def test_output_passes_through_byte_for_byte_and_apart(self):
        answer = self.pinfold("run", "-c", r"printf 'out\377\0\n'; printf 'err\033\n' >&2")
        self.assertEqual(answer.raw_out, b"out\xff\0\n")
        self.assertEqual(answer.raw_err, b"err\x1b\n")

    def test_output_comes_while_the_command_runs(self):
        child = self.start("run", "-c", "echo first; while [ ! -e go ]; do sleep 0.05; done; echo z")
        self.assertEqual(child.stdout.readline(), b"first\n")
        self.assertIsNone(child.poll())
        self.write("project/go", "")
        self.assertEqual(child.communicate(timeout=support.HANG)[0], b"z\n")
        self.assertEqual(child.returncode, 0)

    def test_the_command_gets_no_input(self):
        answer = self.pinfold("run", "--", "cat", stdin=subprocess.PIPE)
        self.assertEqual((answer.code, answer.out), (0, ""))

    def test_nobody_reading_ends_the_command(self):
        child = self.start("run", "--timeout", "60s", "-c", "yes; touch late")
        self.assertEqual(child.stdout.readline(), b"y\n")
        child.stdout.close()
        child.stdout = None
        child.communicate(timeout=support.HANG)
        self.assertNotEqual(child.returncode, 0)
        self.assertEqual(support.processes_with("touch late"), [])


@support.as_each_user
class Ordinary(support.Confined):
    """What has to keep working inside."""

    def test_files_are_made_moved_and_removed_in_the_workspace(self):
        self.assertEqual(self.pinfold("run", "-c", "mkdir d && echo x > d/a && mv d/a src/b && "
                                      "ln -s b src/c && rm src/main.c && cat src/c").out, "x\n")
        self.assertEqual(self.read("project/src/b"), "x\n")
        self.assertFalse(os.path.exists(f"{self.project}/src/main.c"))

    def test_a_commit_carries_the_callers_name_and_nothing_else_of_its_settings(self):
        self.write(".gitconfig", "[user]\n\tname = Somebody\n\temail = some@body.example\n"
                   "[credential]\n\thelper = store\n[alias]\n\tx = !echo pwned\n"
                   f"[http]\n\textraHeader = {support.SECRET}\n")
        self.own()
        git = {"cwd": self.project, "env": self.environment(), "check": True, **self.as_user()}
        subprocess.run(["git", "init", "-q"], **git)
        record = self.record("-c", "git add src && git commit -q -m one && "
                             "git log --format='%an %ae' && git config --global --list")
        self.assertEqual(record["exit_code"], 0, record)
        lines = record["stdout"]["text"].splitlines()
        self.assertEqual(lines[0], "Somebody some@body.example")
        self.assertEqual(sorted(lines[1:]),
                         sorted(["user.name=Somebody", "user.email=some@body.example",
                                 f"safe.directory={self.project}"]))

    def test_scratch_places_are_writable_and_gone_afterwards(self):
        for place in ("/tmp", "/var/tmp", "/dev/shm"):
            name = f"{place}/pinfold-{os.path.basename(self.home)}"
            with self.subTest(place=place):
                self.assertEqual(self.pinfold("run", "-c", f"echo x > {name} && cat {name}").out,
                                 "x\n")
                self.assertFalse(os.path.exists(name))

    def test_nothing_is_left_in_the_workspace_by_a_run_nor_in_the_home_without_a_cache(self):
        before = self.tree()
        self.assertEqual(self.pinfold("run", "--no-cache", "--", "true").code, 0)
        self.assertEqual(self.tree(), before)
        self.assertEqual(self.pinfold("run", "--", "true").code, 0)
        self.assertEqual(self.tree_without_caches(), before)

    def test_the_minimal_root_still_runs_tools(self):
        record = self.record("--root", "minimal", "-c",
                             "python3 -c 'print(1)' && bash -c 'echo 2' && ls /srv /opt 2>&1")
        self.assertTrue(record["stdout"]["text"].startswith("1\n2\n"), record)
        self.assertNotEqual(record["exit_code"], 0)

    def test_a_toolchain_in_the_home_is_shown_read_only(self):
        os.makedirs(self.path(".tool/bin"))
        self.write(".tool/bin/t", "#!/bin/sh\necho tool\n", 0o755)
        self.own()
        tool = self.path(".tool")
        record = self.record("--read", tool, "-c", f"{tool}/bin/t && echo x > {tool}/new")
        self.assertEqual(record["stdout"]["text"], "tool\n", record)
        self.assertNotEqual(record["exit_code"], 0)
        self.assertFalse(os.path.exists(f"{tool}/new"))
        self.assertEqual(self.record("--read", "~/.tool", "--", f"{tool}/bin/t")["exit_code"], 0)
        self.assertNotEqual(self.record("--", f"{tool}/bin/t")["exit_code"], 0)


class Help(support.World):
    uid, gid = support.ordinary_user()

    def test_each_subcommand_has_help_with_an_example(self):
        for name in ("run", "check", "explain", "doctor", "gate"):
            answer = self.pinfold(name, "--help")
            self.assertEqual(answer.code, 0)
            self.assertIn("Example:\n  pinfold " + name, answer.out)
            self.assertEqual(answer.err, "")
        self.assertIn("doctor", self.pinfold("--help").out)

    def test_the_version_is_told(self):
        self.assertRegex(self.pinfold("--version").out, r"\Apinfold \d+\.\d+\.\d+\n\Z")


if __name__ == "__main__":
    unittest.main()
