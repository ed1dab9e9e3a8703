"""`pinfold check`: the canonical path, or the structured refusal."""
import base64
import os
import unittest

import support


@support.as_each_user
class Check(support.World):
    def check(self, operation, *paths, **more):
        return self.pinfold("check", operation, *paths, **more)

    def test_a_path_inside_is_answered_with_its_canonical_form(self):
        answer = self.check("read", "src/../src/./main.c", f"{self.project}/src")
        self.assertEqual(answer.code, 0, answer)
        self.assertEqual(answer.out, f"{self.project}/src/main.c\n{self.project}/src\n")
        self.assertEqual(answer.err, "")

    def test_a_path_outside_is_refused_and_the_boundary_named(self):
        for path in ("../project-old/file", "/etc/passwd", "../project-old/new", "/", ".."):
            answer = self.check("read", path)
            self.assertEqual(answer.code, 1, answer)
            self.assertEqual(answer.out, "")
            self.assert_one_line(answer.err)
            self.assertIn("OutsideWorkspace", answer.err)
            self.assertIn(self.project, answer.err)

    def test_one_path_outside_among_many_fails_the_call(self):
        answer = self.check("read", "src/main.c", "/etc/passwd", "src", "--json")
        self.assertEqual(answer.code, 1, answer)
        lines = answer.json_lines
        self.assertEqual([line["canonical"] is None for line in lines], [False, True, False])
        self.assertEqual([line["refusal"] is None for line in lines], [True, False, True])

    def test_each_json_line_has_the_names_of_the_interface(self):
        lines = self.check("write", "new/file", "../x", "--json").json_lines
        self.assertEqual(lines[0], {"path": "new/file", "operation": "write",
                                    "canonical": f"{self.project}/new/file", "refusal": None})
        self.assertEqual(list(lines[1]), ["path", "operation", "canonical", "refusal"])
        refusal = lines[1]["refusal"]
        for name in ("error", "message", "operation", "path", "resolved", "boundary"):
            self.assertIn(name, refusal)
        self.assertEqual(refusal["error"], "OutsideWorkspace")
        self.assertEqual(refusal["operation"], "write")
        self.assertEqual(refusal["path"], "../x")
        self.assertEqual(refusal["boundary"], self.project)

    def test_links_that_lead_out_are_refused_and_links_that_lead_back_are_not(self):
        os.symlink("../project-old", f"{self.project}/out")
        os.symlink("../project/src", f"{self.project}/back")
        self.assertEqual(self.check("read", "out/file").code, 1)
        self.assertEqual(self.check("write", "out/new").code, 1)
        self.assertEqual(self.check("read", "back/main.c").out, f"{self.project}/src/main.c\n")

    def test_harness_state_and_host_run_files_have_their_own_codes(self):
        os.makedirs(f"{self.project}/.efferent")
        os.makedirs(f"{self.project}/.git/hooks")
        self.own()
        rows = [("read", ".efferent/config", "HarnessState"),
                ("write", ".foundry/x", "HarnessState"),
                ("read", ".efferent/none", "HarnessState"),
                ("write", ".git/hooks/pre-commit", "HostRunFile"),
                ("mkdir", ".git/hooks/d", "HostRunFile")]
        for operation, path, code in rows:
            with self.subTest(path=path, operation=operation):
                line = self.check(operation, path, "--json").json
                self.assertIsNone(line["canonical"])
                self.assertEqual(line["refusal"]["error"], code)
        self.assertEqual(self.check("read", ".git/hooks").code, 0)
        self.assertEqual(self.check("write", ".efferent-old").code, 0)

    def test_a_read_of_nothing_is_not_found_and_a_write_of_it_is_not(self):
        self.assertEqual(self.check("read", "none", "--json").json["refusal"]["error"], "NotFound")
        self.assertEqual(self.check("write", "none").code, 0)
        self.assertEqual(self.check("write", "none/../x", "--json").json["refusal"]["error"],
                         "NotFound")
        self.assertEqual(self.check("mkdir", "a/b/c/").code, 0)
        self.assertFalse(os.path.exists(f"{self.project}/a"))

    def test_relative_paths_start_at_cwd(self):
        answer = self.check("read", "main.c", "../src", "--cwd", "src")
        self.assertEqual(answer.out, f"{self.project}/src/main.c\n{self.project}/src\n")
        self.assertEqual(self.check("read", "main.c").code, 1)
        outside = self.check("read", "file", "--cwd", "../project-old")
        self.assertNotEqual(outside.code, 0)
        self.assertIn("OutsideWorkspace", outside.err)

    def test_the_workspace_may_be_named(self):
        answer = self.check("read", "file", "--workspace", self.path("project-old"), cwd="/")
        self.assertEqual(answer.out, self.path("project-old/file") + "\n")

    def test_bytes_that_are_not_utf8_are_inside_and_have_a_twin(self):
        name = b"a\xff"
        with open(os.fsencode(self.project) + b"/" + name, "w", encoding="utf-8"):
            pass
        self.own()
        answer = self.check("read", name, "--json")
        self.assertEqual(answer.code, 0, answer)
        line = answer.json
        self.assertEqual(line["path"], "a\ufffd")
        self.assertEqual(base64.b64decode(line["path_base64"]), name)
        self.assertEqual(base64.b64decode(line["canonical_base64"]),
                         os.fsencode(self.project) + b"/" + name)

    def test_tildes_variables_and_globs_are_ordinary_characters(self):
        for path in ("~/x", "$HOME/x", "*/x", "~root/x"):
            answer = self.check("write", path)
            self.assertEqual(answer.out, f"{self.project}/{path}\n", answer)

    def test_a_path_of_control_characters_stays_one_line(self):
        answer = self.check("write", "a\nb\x1b[31m")
        self.assertEqual(answer.code, 0, answer)
        self.assertEqual(answer.out, f"{self.project}/a\\x0ab\\x1b[31m\n")
        refused = self.check("read", "../\n\x1b[2J")
        self.assert_one_line(refused.err)
        self.assertNotIn("\x1b", refused.err)

    def test_a_path_that_looks_like_an_option_comes_after_dashes(self):
        answer = self.check("write", "--", "--json", "-x")
        self.assertEqual(answer.out, f"{self.project}/--json\n{self.project}/-x\n", answer)

    def test_misspelled_paths_have_their_own_codes(self):
        rows = [("", "InvalidPath"), ("x" * 256, "NameTooLong"), ("a/" * 2100, "NameTooLong"),
                ("new/", "InvalidPath"), ("src/main.c/x", "NotADirectory"),
                ("/proc/self/root/etc", "MagicLink")]
        for path, code in rows:
            with self.subTest(code=code, path=path[:20]):
                answer = self.check("write", "--json", "--", path)
                self.assertEqual(answer.code, 1, answer)
                self.assertEqual(answer.json["refusal"]["error"], code)

    def test_bad_usage_is_one_line_and_its_own_exit_code(self):
        rows = [("check",), ("check", "read"), ("check", "burn", "x"),
                ("check", "read", "x", "--no-such-option"),
                ("check", "read", "x", "--workspace", self.path("none")),
                ("check", "read", "x", "--workspace", self.path("project/src/main.c")),
                ("check", "read", "x", "--workspace", "")]
        for words in rows:
            with self.subTest(words=words):
                answer = self.pinfold(*words)
                self.assertEqual(answer.code, 2, answer)
                self.assertEqual(answer.out, "")
                self.assert_one_line(answer.err)


if __name__ == "__main__":
    unittest.main()
