"""`pinfold audit`: the answer on a terminal and for programs, hostile logs, and its exit codes."""
import json
import os
import resource
import unittest

import support

SESSION = {"event": "session", "session": "s", "at": "2026-12-01T12:00:00.000Z", "format": 1,
           "workspace": "/w", "mode": "autonomous", "gate": "untainted", "commands": "confined"}
BEGINS = {"event": "begins", "session": "s", "at": "2026-12-01T12:00:01.000Z", "call": 1,
          "tool": "write_file", "arguments": {"path": "a"}}
ENDED = {"event": "ended", "session": "s", "at": "2026-12-01T12:00:02.000Z", "call": 1,
         "tool": "write_file", "how": "done", "more_effects": 0, "refusal": None, "record": None,
         "effects": [{"operation": "write", "verdict": "allow", "why": None, "asked": "a",
                      "canonical": "/w/a"}]}
END = {"event": "end", "session": "s", "at": "2026-12-01T12:00:03.000Z", "calls": 1}


class Audit(support.World):
    """Reads only, so one user is enough."""

    uid, gid = os.geteuid(), os.getegid()

    def file(self, name, *lines):
        texts = [one if isinstance(one, str) else json.dumps(one) for one in lines]
        self.write(name, "".join(f"{text}\n" for text in texts))
        return self.path(name)

    def test_a_whole_session_is_told(self):
        answer = self.pinfold("audit", self.file("log", SESSION, BEGINS, ENDED, END))
        self.assertEqual(answer.code, 0, answer)
        self.assertRegex(answer.out, r"\Arefused +0\nwritten +1\n  write +/w/a\nmoved +0\n")
        self.assertRegex(answer.out, r"(?m)^calls +1\n  write_file +1\nsessions +1\n"
                                     r"  2026-12-01T12:00:00.000Z +/w  mode autonomous")
        self.assertNotIn("without its end", answer.out)

    def test_a_session_that_was_killed_is_told_with_what_had_begun(self):
        path = self.file("log", SESSION, BEGINS, json.dumps(ENDED)[:50])
        answer = self.pinfold("audit", path)
        self.assertEqual(answer.code, 1, answer)
        self.assertRegex(answer.out, r"begun, end not known +1\n  write_file +a  it has no end\n")
        self.assertIn("without its end", answer.out)
        self.assertRegex(answer.out, r"not entries +1\n  \S*log:3: not JSON, or cut short\n")
        self.assertEqual(self.pinfold("audit", "--json", path).json["bad"]["count"], 1)

    def test_another_format_is_refused(self):
        path = self.file("log", SESSION, {**SESSION, "format": 2})
        answer = self.pinfold("audit", path)
        self.assertEqual((answer.code, answer.out), (2, ""))
        self.assert_one_line(answer.err)
        self.assertIn("line 2: format 2, and this pinfold reads format 1 alone", answer.err)

    def test_hostile_names_are_shown_as_text(self):
        evil = "/w/\x1b]0;x\x07\u202eexe.txt\n"
        ended = json.loads(json.dumps(ENDED))
        ended["effects"][0]["canonical"] = evil
        ended["tool"] = "\x1b[31m"
        answer = self.pinfold("audit", self.file("evil\x1b[2J", SESSION, ended, '"\x1b"', "bad"))
        self.assertEqual(answer.code, 1)
        for raw in (b"\x1b", b"\x07", "\u202e".encode()):
            self.assertNotIn(raw, answer.raw_out)
        self.assertIn("/w/\\x1b]0;x\\x07\\u{202e}exe.txt\\x0a\n", answer.out)

    def test_several_files_the_standard_input_and_names_like_options(self):
        one = self.file("one", SESSION, ENDED)
        self.file("project/--json", {**SESSION, "session": "t"}, {**ENDED, "session": "t"})
        with open(one, "rb") as file:
            answer = self.pinfold("audit", "--json", "-", "--", "--json", stdin=file)
        self.assertEqual(answer.json["written"]["total"], 2)
        self.assertEqual(len(answer.json["sessions"]), 2)

    def test_what_cannot_be_read_and_bad_usage_are_refused(self):
        good = self.file("good", SESSION)
        for words in ((), (good, self.path("absent")), (self.path("project"),), ("--top", "0", good)):
            answer = self.pinfold("audit", *words)
            self.assertEqual((answer.code, answer.out), (2, ""), answer)
            self.assert_one_line(answer.err)

    def test_memory_does_not_grow_with_the_files(self):
        path = self.path("big")
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(SESSION) + "\n")
            for number in range(11000):
                file.write(json.dumps({**BEGINS, "call": number,
                                       "arguments": {"path": f"{number}"}}) + "\n")
                file.write(json.dumps({**ENDED, "call": number}).replace("/w/a", f"/w/{number}") + "\n")
            file.write("[" * (16 << 20) + "\n")
        bound = 64 << 20
        if support.is_sanitized():
            bound = resource.RLIM_INFINITY  # the sanitizer maps terabytes
        answer = self.pinfold("audit", "--json", path,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS,
                                                                    (bound, bound)))
        self.assertEqual(answer.code, 1, answer.err)
        self.assertEqual(answer.json["written"]["total"], 11000)
        self.assertEqual(answer.json["written"]["more"], 1000)
        self.assertEqual(answer.json["bad"]["count"], 1)


if __name__ == "__main__":
    unittest.main()
