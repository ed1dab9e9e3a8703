"""Bad input to `pinfold run`: one clear line, the right exit code, nothing started, nothing left."""
import os
import unittest

import support


@support.as_each_user
class BadInput(support.Confined):
    """Each row would start a command that leaves a mark in the workspace."""

    MARK = ("--", "touch", "started")

    def refused(self, *words, code=125, names=(), **more):
        before = self.tree()
        answer = self.pinfold(*words, **more)
        self.assertEqual(answer.code, code, answer)
        self.assertEqual(answer.out, "")
        self.assert_one_line(answer.err)
        self.assertLess(len(answer.err), 5000)  # a path may have 4095 bytes
        for name in names:
            self.assertIn(name, answer.err)
        self.assertEqual(self.tree(), before, "something was started or left behind")
        return answer

    def test_the_mark_is_left_when_nothing_is_wrong(self):
        self.assertEqual(self.pinfold("run", *self.MARK).code, 0)
        self.assertTrue(os.path.exists(f"{self.project}/started"))

    def test_unknown_options_and_subcommands(self):
        self.refused("run", "--no-such-option", *self.MARK, names=["--no-such-option"])
        self.refused("run", "--timeout", names=["--timeout"])
        self.refused("run", "--network", "sometimes", *self.MARK, names=["--network"])
        self.refused("run", "--root", "none", *self.MARK, names=["--root"])
        self.refused("run", "stray", "--tiemout", *self.MARK, names=["not expected: stray --tiemout"])
        self.refused("walk", *self.MARK, code=2, names=['"walk"', "run, check, explain"])
        self.refused(code=2, names=["no subcommand", "run, check, explain"])
        self.refused("run", "--stdin", "--tty", *self.MARK, names=["--stdin"])

    def test_absurd_durations_name_the_value(self):
        for text in ("0", "-5s", "1e99", "nan", "inf", "", "5 s", "0x10", "1.5.2s", "31h30",
                     "99999999999999999999h", "721h", "0.1ms", "\n5s", "5s;touch x"):
            for option in ("--timeout", "--grace"):
                with self.subTest(option=option, text=text):
                    self.refused("run", f"{option}={text}", *self.MARK, names=[option])
        self.assertIn('"1e99"', self.refused("run", "--timeout", "1e99", *self.MARK).err)

    def test_absurd_sizes_name_the_value(self):
        for text in ("0", "-1", "1e99", "nan", "", "4 KiB", "4XiB", "18446744073709551617", "2GiB"):
            with self.subTest(text=text):
                self.refused("run", f"--max-output={text}", *self.MARK, names=["--max-output"])

    def test_a_workspace_that_is_none(self):
        self.refused("run", "--workspace", self.path("none"), *self.MARK, names=["NotFound"])
        self.refused("run", "--workspace", f"{self.project}/src/main.c", *self.MARK,
                     names=["NotADirectory"])
        self.refused("run", "--workspace", "", *self.MARK)
        os.symlink("loop", self.path("loop"))
        self.refused("run", "--workspace", self.path("loop"), *self.MARK, names=["SymlinkLoop"])
        self.refused("run", "--workspace", "x" * 300, *self.MARK, names=["NameTooLong"])
        self.refused("run", "--workspace", "a/" * 2100, *self.MARK, names=["NameTooLong"])

    def test_a_workspace_that_cannot_be_entered(self):
        os.mkdir(self.path("shut"))
        self.own()
        os.chmod(self.path("shut"), 0)
        answer = self.pinfold("run", "--workspace", self.path("shut"), *self.MARK)
        self.assertEqual(answer.code, 125, answer)
        self.assert_one_line(answer.err)
        os.chmod(self.path("shut"), 0o700)
        self.assertEqual(os.listdir(self.path("shut")), [])

    def test_a_workspace_that_is_too_much_of_the_machine(self):
        for place in ("/", "/tmp", "/var", "/var/tmp", "/run", "/etc", "/usr", "/opt", "/srv",
                      "/dev", "/proc", "/sys", "/boot", self.home, os.path.dirname(self.home)):
            if not os.path.isdir(place):
                continue
            with self.subTest(place=place):
                self.refused("run", "--workspace", place, *self.MARK, names=["WorkspaceTooBroad"])

    def test_a_directory_to_start_in_that_is_outside_or_none(self):
        self.refused("run", "--cwd", "..", *self.MARK, names=["OutsideWorkspace"])
        self.refused("run", "--cwd", "/etc", *self.MARK, names=["OutsideWorkspace"])
        self.refused("run", "--cwd", "none", *self.MARK, names=["NotFound"])
        self.refused("run", "--cwd", "src/main.c", *self.MARK, names=["NotADirectory"])

    def test_a_read_root_that_would_show_secrets(self):
        os.makedirs(self.path(".config/tool"))
        os.makedirs(self.path(".aws"))
        os.makedirs(self.path(".gnupg"))
        self.own()
        for place in (".ssh", ".aws", ".gnupg", ".config", ""):
            with self.subTest(place=place):
                self.refused("run", "--read", self.path(place), *self.MARK)

    def test_no_command_at_all(self):
        self.refused("run", names=["no command"])
        self.refused("run", "--", names=["no command"])
        self.refused("run", "--", "")
        self.refused("run", "-c", "", names=["-c"])
        self.refused("run", "-c", " \n", names=["-c"])
        self.refused("run", "-c", "true", *self.MARK)

    def test_a_variable_that_cannot_be_one(self):
        self.refused("run", "--env", "=x", *self.MARK)
        self.refused("run", "--env", "A B=x", *self.MARK)
        self.refused("run", "--env", "NO_SUCH_VARIABLE", *self.MARK, names=["NO_SUCH_VARIABLE"])

    def test_a_command_that_is_not_there_or_cannot_be_executed(self):
        self.write("project/plain", "text\n")
        self.own()
        before = self.tree()
        rows = [(127, "no-such-command", "CommandNotFound"), (127, "./none", "CommandNotFound"),
                (126, "./plain", "CommandNotExecutable"), (126, "./src", "CommandNotExecutable")]
        for code, word, name in rows:
            with self.subTest(word=word):
                self.refused("run", "--no-cache", "--", word, code=code, names=[name, word])
                record = self.record("--no-cache", "--", word)
                self.assertEqual(record["ended"], "refused")
                self.assertEqual(record["refusal"]["error"], name)
        self.assertEqual(self.tree(), before)

    def test_a_refusal_is_a_record_too(self):
        answer = self.pinfold("run", "--json", "--workspace", self.path("none"), *self.MARK)
        self.assertEqual(answer.code, 125)
        record = answer.json
        self.assertEqual(record["ended"], "refused")
        self.assertEqual(record["refusal"]["error"], "NotFound")
        self.assertEqual(record["exit_code"], None)

    def test_odd_names_of_a_workspace_are_ordinary(self):
        for name in ("--bind", "--", "-c", "a b", "a\nb", "$(touch x)", "'", "\\", "a:b", "\x1b[2J",
                     "~", "*"):
            with self.subTest(name=name):
                os.makedirs(self.path("odd", name))
                self.own()
                record = self.record(f"--workspace=./{name}", "--", "sh", "-c", "pwd; touch here",
                                     cwd=self.path("odd"))
                self.assertEqual(record["ended"], "exited", record)
                self.assertEqual(record["stdout"]["text"], self.path("odd", name) + "\n")
                self.assertEqual(os.listdir(self.path("odd", name)), ["here"])

    def test_a_workspace_whose_name_begins_with_dashes_is_no_option(self):
        os.makedirs(self.path("odd", "--bind"))
        self.own()
        answer = self.pinfold("run", "--workspace=--bind", "--", "pwd", cwd=self.path("odd"))
        self.assertEqual((answer.code, answer.out), (0, self.path("odd", "--bind") + "\n"), answer)

    def test_a_workspace_that_is_not_utf8_is_ordinary(self):
        name = os.fsencode(self.home) + b"/w\xff"
        os.mkdir(name)
        self.own()
        record = self.record("--workspace", name, "--", "touch", "here")
        self.assertEqual(record["ended"], "exited", record)
        self.assertIn("workspace_base64", record)
        self.assertEqual(os.listdir(name), [b"here"])


if __name__ == "__main__":
    unittest.main()
