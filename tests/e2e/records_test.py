"""`pinfold records`: counts that are right, lines that are none named, hostile names shown as text,
and memory that does not grow with the files."""
import json
import os
import resource
import unittest

import support


class Records(support.World):
    """Reads only, so one user is enough."""

    uid, gid = os.geteuid(), os.getegid()

    def made(self, **changes):
        """A record of a real run, without a boundary so that it runs anywhere, changed."""
        if not hasattr(Records, "sample"):
            Records.sample = self.record("--no-sandbox", "--", "true")
        return {**Records.sample, **changes}

    def file(self, name, *records):
        lines = [one if isinstance(one, str) else json.dumps(one) for one in records]
        self.write(name, "".join(f"{line}\n" for line in lines))
        return self.path(name)

    def summed(self, *words, code=0, **more):
        answer = self.pinfold("records", "--json", *words, **more)
        self.assertEqual(answer.code, code, answer)
        return answer.json

    def test_what_run_and_gate_print_is_counted(self):
        lines = [self.pinfold("run", "--no-sandbox", "--json", *words).out.strip() for words in
                 (("--", "true"), ("--", "sh", "-c", "exit 3"), ("--", "sh", "-c", "kill -9 $$"),
                  ("--timeout", "100ms", "--", "sleep", "60"), ("--", "no-such-command-here"),
                  ("--mode", "plan", "--", "true"))]
        lines.append(self.pinfold("gate", "--json", "--", "printf", "12345").out.strip())
        sums = self.summed(self.file("all.jsonl", *lines))
        self.assertEqual(sums["records"], 7)
        self.assertEqual(sums["files"], 1)
        self.assertEqual(sums["ended"], {"exited": 3, "signaled": 1, "timed_out": 1, "refused": 2})
        self.assertEqual(sums["exit_codes"], {"0": 2, "3": 1})
        self.assertEqual(sums["refusals"], {"ModeForbidsWriting": 1, "CommandNotFound": 1})
        self.assertEqual(sums["limits"], {"time": 1})
        self.assertEqual(sums["output_bytes"], 5)
        self.assertEqual(sums["bad"], {"count": 0, "lines": []})
        self.assertEqual(sums["slowest"][0]["line"], 4)
        self.assertEqual(sums["most_output"][0]["line"], 7)
        self.assertEqual(sums["duration_ms"], sum(json.loads(one)["duration_ms"] for one in lines))

    def test_the_slowest_and_the_loudest_are_ranked_over_all_files(self):
        def stream(size):
            return {"text": "", "bytes": size, "dropped": 0, "clipped": False}
        one = self.file("one", *(self.made(duration_ms=n, stdout=stream(0)) for n in (5, 90, 7)))
        two = self.file("two", self.made(duration_ms=80, stdout=stream(4096)),
                        self.made(duration_ms=90, stdout=stream(1)))
        sums = self.summed("--top", "3", one, two)
        places = [(os.path.basename(best["file"]), best["line"]) for best in sums["slowest"]]
        self.assertEqual(places, [("one", 2), ("two", 2), ("two", 1)])
        self.assertEqual(sums["most_output"][0]["output_bytes"],
                         4096 + self.made()["stderr"]["bytes"])
        text = self.pinfold("records", one, two).out
        self.assertIn("records                 5 in 2 files\n", text)
        self.assertRegex(text, r"(?m)^slowest\n  0\.090 s +exited  \S+  \S*one:2$")
        self.assertIn("most output\n  4 KiB", text)

    def test_the_standard_input_is_a_file(self):
        with open(self.file("in", self.made(), self.made()), "rb") as file:
            self.assertEqual(self.summed("-", stdin=file)["records"], 2)

    def test_a_file_may_be_named_like_an_option(self):
        self.file("project/--json", self.made())
        self.assertEqual(self.summed("--", "--json")["records"], 1)

    def test_lines_that_are_no_records_are_counted_and_named(self):
        good = json.dumps(self.made())
        bad = ["{", "null", good[:-1], json.dumps(self.made(ended="flew away")),
               json.dumps({**self.made(), "refusal": {"error": "\x1b[31m"}})]
        path = self.file("mixed", good, *bad, "", good)
        sums = self.summed(path, code=1)
        self.assertEqual(sums["records"], 2)
        self.assertEqual(sums["bad"]["count"], len(bad))
        self.assertEqual([one["line"] for one in sums["bad"]["lines"]], [2, 3, 4, 5, 6])
        answer = self.pinfold("records", path)
        self.assertEqual(answer.code, 1)
        self.assertIn("not run records         5\n", answer.out)
        self.assertIn('mixed:5: field "ended" holds what no record holds\n', answer.out)

    def test_of_many_bad_lines_the_first_are_named(self):
        sums = self.summed(self.file("bad", *["x"] * 500), code=1)
        self.assertEqual(sums["bad"]["count"], 500)
        self.assertEqual(len(sums["bad"]["lines"]), 20)
        self.assertIn("and 480 more\n", self.pinfold("records", self.path("bad")).out)

    def test_a_last_line_cut_short_is_not_counted_as_a_record(self):
        self.write("cut", json.dumps(self.made()) + "\n" + json.dumps(self.made())[:-9])
        self.assertEqual(self.summed(self.path("cut"), code=1)["records"], 1)

    def test_hostile_names_are_shown_as_text(self):
        path = self.file("evil\x1b]0;x\x07\u202e", self.made(workspace="/w\x1b[2J\nfine"), "bad")
        answer = self.pinfold("records", path)
        for raw in (b"\x1b", b"\x07", "\u202e".encode()):
            self.assertNotIn(raw, answer.raw_out)
        self.assertIn("/w\\x1b[2J\\x0afine", answer.out)
        name = os.fsencode(self.home) + b"/\xff\xfe"
        os.rename(path, name)
        answer = self.pinfold("records", "--json", name)
        self.assertIn("file_base64", answer.json["slowest"][0])

    def test_a_file_that_cannot_be_read_ends_it_without_a_sum(self):
        good = self.file("good", self.made())
        for other in (self.path("absent"), self.path("project")):
            answer = self.pinfold("records", good, other)
            self.assertEqual(answer.code, 2, answer)
            self.assertEqual(answer.out, "")
            self.assert_one_line(answer.err)

    def test_no_file_and_bad_numbers_are_refused(self):
        for words in ((), ("--top", "0", "x"), ("--top", "1001", "x"), ("--top", "many", "x")):
            answer = self.pinfold("records", *words)
            self.assertEqual(answer.code, 2, answer)
            self.assert_one_line(answer.err)

    def test_memory_does_not_grow_with_the_files(self):
        record = json.dumps(self.made(stdout={"text": "@", "bytes": 1, "dropped": 0,
                                              "clipped": False})).encode()
        path = self.path("big")
        with open(path, "wb") as file:
            for _ in range(2):  # the text of one output, 64 MiB each time
                file.write(record.replace(b"@", b"x" * (64 << 20)) + b"\n")
            file.write(b"7" * (64 << 20) + b"\n")
            for number in range(20000):
                file.write(record.replace(b"@", b"%d" % number) + b"\n")
        bound = 64 << 20
        if support.is_sanitized():
            bound = resource.RLIM_INFINITY  # the sanitizer maps terabytes
        answer = self.pinfold("records", "--json", path,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS,
                                                                    (bound, bound)))
        self.assertEqual(answer.code, 1, answer)
        self.assertEqual(answer.json["records"], 20002)
        self.assertEqual(answer.json["bad"]["count"], 1)


if __name__ == "__main__":
    unittest.main()
