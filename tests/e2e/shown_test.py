"""What is shown while a command runs: `--events`, and the status line of a person's terminal."""
import json
import os
import re
import unittest

import support
from terminals import Terminal

ERASE = rb"\r\x1b\[K"
STATUS = ERASE + rb"pinfold: (\d+)s, ([\d.]+ \S+) of output"


def texts(lines, stream):
    return "".join(line["text"] for line in lines
                   if line["event"] == "output" and line["stream"] == stream)


class EventLines:
    words = ()
    is_counted = True

    def lines(self, *words, **more):
        answer = self.pinfold(*self.words, "--events", *words, **more)
        self.code = answer.code
        return answer.json_lines

    def test_a_run_is_told_from_its_start_to_its_record(self):
        lines = self.lines("--timeout", "60s", "--", "sh", "-c", "echo out; echo err >&2; exit 3")
        self.assertEqual(self.code, 3)
        self.assertEqual(list(lines[0]), ["event", "backend", "network", "workspace", "setup_ms"])
        self.assertEqual((lines[0]["event"], lines[0]["workspace"]), ("started", self.project))
        self.assertEqual((texts(lines, "stdout"), texts(lines, "stderr")), ("out\n", "err\n"))
        self.assertEqual(list(lines[-1]), ["event", "record"])
        self.assertEqual(lines[-1]["event"], "ended")
        record = lines[-1]["record"]
        self.assertEqual((record["ended"], record["exit_code"]), ("exited", 3))
        plain = self.pinfold(*self.words, "--json", "--", "true").json
        self.assertEqual(list(record), list(plain))

    def test_lines_come_while_the_command_runs_with_a_heartbeat_each_second(self):
        child = self.start(*self.words, "--events", "--timeout", "600s", "--", "sh", "-c",
                           "echo begun; sleep 300 & while [ ! -e go ]; do sleep 0.05; done")
        seen = []
        while len([line for line in seen if line["event"] == "heartbeat"]) < 3:
            seen.append(json.loads(child.stdout.readline()))
        self.write("project/go", "")
        out, _ = child.communicate(timeout=support.HANG)
        self.assertEqual([line["event"] for line in seen[:2]], ["started", "output"])
        beats = [line for line in seen if line["event"] == "heartbeat"]
        self.assertEqual(list(beats[0]), ["event", "elapsed_ms", "left_ms", "stdout_bytes",
                                          "stderr_bytes", "processes", "memory"])
        for number, beat in enumerate(beats, 1):
            self.assertGreaterEqual(beat["elapsed_ms"], 1000 * number)
            self.assertAlmostEqual(beat["elapsed_ms"] + beat["left_ms"], 600_000, delta=1)
            self.assertEqual((beat["stdout_bytes"], beat["stderr_bytes"]), (6, 0))
            if self.is_counted:
                self.assertGreaterEqual(beat["processes"], 2)
                self.assertGreater(beat["memory"], 100_000)
            else:
                self.assertEqual((beat["processes"], beat["memory"]), (None, None))
        self.assertEqual(json.loads(out.splitlines()[-1])["record"]["ended"], "exited")
        os.unlink(self.path("project/go"))

    def test_characters_are_never_split_between_lines(self):
        program = ("import os, time\nfor byte in '\\u20ac\\U0001f411\\xe4'.encode() + b'\\xff\\xe2': "
                   "os.write(1, bytes([byte])); time.sleep(0.02)")
        lines = self.lines("--", "python3", "-c", program)
        self.assertEqual(texts(lines, "stdout"), "\u20ac\U0001f411\xe4\ufffd\ufffd")

    def test_a_flood_is_told_up_to_the_cap_and_counted(self):
        lines = self.lines("--max-output", "4KiB", "--", "sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x")
        self.assertEqual(texts(lines, "stdout"), "x" * 2048)
        self.assertEqual(lines[-1]["record"]["stdout"]["bytes"], 3_000_000)

    def test_a_refusal_is_the_only_line(self):
        lines = self.lines("--", "no-such-command")
        self.assertEqual(self.code, 127)
        self.assertEqual([line["event"] for line in lines], ["ended"])
        self.assertEqual(lines[0]["record"]["refusal"]["error"], "CommandNotFound")
        lines = self.lines("--workspace", "/nonexistent", "--", "true")
        self.assertEqual([line["event"] for line in lines], ["ended"])

    def test_nobody_reading_ends_the_command(self):
        child = self.start(*self.words, "--events", "--timeout", "60s", "--", "sh", "-c",
                           "while :; do echo x; sleep 0.01; done # told")
        child.stdout.readline()
        child.stdout.close()
        child.stdout = None
        child.communicate(timeout=support.HANG)
        self.assertNotEqual(child.returncode, 0)

    def test_with_json_it_is_refused(self):
        answer = self.pinfold(*self.words, "--events", "--json", "--", "true")
        self.assertEqual((answer.code, answer.out), (125, ""))


@support.as_each_user
class ConfinedEvents(EventLines, support.Confined):
    words = ("run",)


@support.as_each_user
class GateEvents(EventLines, support.World):
    words = ("gate",)
    is_counted = False


@support.as_each_user
class StatusLine(support.Confined):
    SCRIPT = "echo first; while [ ! -e go ]; do sleep 0.05; done; echo last"

    def watched(self, *words, **more):
        return Terminal(self, "run", "--timeout", "600s", *words, **more)

    def test_it_comes_after_two_seconds_moves_on_and_vanishes(self):
        at = self.watched("-c", self.SCRIPT)
        first = at.wait_for(STATUS + rb", 9m 5\ds left")
        self.assertGreaterEqual(int(first.group(1)), 2)
        self.assertEqual(first.group(2), b"6 B")
        at.wait_for(STATUS.replace(rb"(\d+)", b"%d" % (int(first.group(1)) + 2)))
        self.write("project/go", "")
        self.assertEqual(at.exit_code(), 0)
        self.assertTrue(at.shown.startswith(b"first\r\n"), at.shown)
        self.assertTrue(re.search(STATUS + rb"[^\r\n]*" + ERASE + rb"last\r\n\Z", at.shown), at.shown)

    def test_a_line_that_is_begun_is_left_alone(self):
        at = self.watched("-c", self.SCRIPT.replace("echo first", "printf prompt"))
        at.wait_for(rb"prompt")
        end = 40
        while end and at.child.poll() is None:
            at.read_once(0.1)
            end -= 1
        self.write("project/go", "")
        self.assertEqual(at.exit_code(), 0)
        self.assertEqual(at.shown, b"promptlast\r\n")

    def quiet(self, **more):
        """What is shown of three and a half seconds."""
        at = self.watched("-c", "sleep 3.5; echo over", **more)
        self.assertEqual(at.exit_code(), 0)
        return at.shown

    def test_no_color_a_dumb_terminal_and_a_pipe_turn_it_off(self):
        self.assertEqual(self.quiet(NO_COLOR="1"), b"over\r\n")
        self.assertEqual(self.quiet(TERM="dumb"), b"over\r\n")
        with open(os.devnull, "wb") as null:
            self.assertEqual(self.quiet(stderr=null), b"over\r\n")
        answer = self.pinfold("run", "-c", "sleep 3.5; echo over")
        self.assertEqual((answer.out, answer.err), ("over\n", ""))

    def test_an_empty_no_color_does_not(self):
        self.assertRegex(self.quiet(NO_COLOR=""), STATUS)

    def test_a_run_that_is_over_sooner_shows_none(self):
        at = self.watched("-c", "sleep 1.2; echo over")
        self.assertEqual(at.exit_code(), 0)
        self.assertNotRegex(at.shown, STATUS)


if __name__ == "__main__":
    unittest.main()
