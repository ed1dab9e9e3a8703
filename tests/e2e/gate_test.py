"""`pinfold gate`: the repository's own checks, unconfined on purpose, bounded and recorded."""
import os
import unittest

import support


@support.as_each_user
class Gate(support.World):
    def gate(self, *words, **more):
        return self.pinfold("gate", *words, **more)

    def test_it_says_what_it_is_in_the_record(self):
        record = self.gate("--json", "--", "true").json
        self.assertEqual((record["backend"], record["role"]), ("none", "gate"))
        self.assertEqual(record["network"], "on")
        self.assertEqual(record["ended"], "exited")
        self.assertNotIn("role", self.pinfold("run", "--no-sandbox", "--json", "--", "true").json)

    def test_the_users_real_environment_and_home_are_there(self):
        answer = self.gate("--", "sh", "-c", "echo $HOME $GITHUB_TOKEN; cat ~/.ssh/id_rsa")
        self.assertEqual(answer.out, f"{self.home} {support.SECRET}\n{support.SECRET}")
        self.assertEqual(answer.err, "")

    def test_it_starts_in_the_current_directory_and_may_write_outside(self):
        answer = self.gate("--", "sh", "-c", "pwd; echo x > ../project-old/new")
        self.assertEqual(answer.out, self.project + "\n")
        self.assertEqual(self.read("project-old/new"), "x\n")

    def test_the_workspaces_own_tools_count_only_when_asked_for(self):
        os.makedirs(f"{self.project}/.local/bin")
        self.write("project/.local/bin/cat", "#!/bin/sh\necho trap\n", 0o755)
        self.own()
        self.assertEqual(self.gate("--", "cat", "src/main.c").out, "int main(){}\n")
        self.assertEqual(self.gate("--workspace-bin", "--", "cat", "src/main.c").out, "trap\n")
        path = self.gate("--", "sh", "-c", "echo $PATH", env=self.environment(PATH="/usr/bin:/bin"))
        self.assertEqual(path.out, "/usr/bin:/bin\n")

    def test_the_first_words_of_a_command_are_never_lost(self):
        """They can be read before the report that the command runs."""
        for _ in range(10):
            children = [self.start("gate", "--", "echo", "x") for _ in range(10)]
            said = [child.communicate(timeout=support.HANG) for child in children]
            self.assertEqual(said, [(b"x\n", b"")] * 10)

    def test_its_exit_codes_are_those_of_run(self):
        rows = [(0, ("sh", "-c", "exit 0")), (3, ("sh", "-c", "exit 3")),
                (137, ("sh", "-c", "kill -9 $$")), (127, ("no-such-command",)), (126, ("./src",))]
        for code, command in rows:
            with self.subTest(code=code):
                self.assertEqual(self.gate("--", *command).code, code)
        self.assertEqual(self.gate("--timeout", "200ms", "--", "sleep", "100").code, 124)

    def test_bad_input_is_one_line_and_starts_nothing(self):
        before = self.tree()
        rows = [("--no-such-option", "--", "touch", "started"), (), ("--",), ("--", ""),
                ("--timeout", "0", "--", "touch", "started"),
                ("--max-output", "1e9", "--", "touch", "started"),
                ("stray", "--", "touch", "started")]
        for words in rows:
            with self.subTest(words=words):
                answer = self.gate(*words)
                self.assertEqual(answer.code, 125, answer)
                self.assert_one_line(answer.err)
        self.assertEqual(self.tree(), before)


if __name__ == "__main__":
    unittest.main()
