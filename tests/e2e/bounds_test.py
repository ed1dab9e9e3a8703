"""Time, output and processes of a run are bounded, whatever the command does. No absolute time is
asserted: a run that hangs fails by the limit in support.py."""
import json
import os
import signal
import subprocess
import unittest

import support

KIB = 1024


class Bounds:
    """The same promises for a confined run, an unconfined one and a gate."""

    words = ()

    def bounded(self, *words, **more):
        answer = self.pinfold(*self.words, "--json", *words, **more)
        return answer.json

    def tag(self):
        """An argument for sleep that no other process on this machine has."""
        return f"9{os.getpid()}.{abs(hash(self.id())) % 10**9}"

    def assert_none_alive(self, tag):
        self.assertEqual(support.processes_with(tag), [])

    def test_a_command_past_its_limit_is_ended_with_its_children(self):
        tag = self.tag()
        record = self.bounded("--timeout", "300ms", "--", "bash", "-c", f"sleep {tag} & sleep {tag}")
        self.assertEqual(record["ended"], "timed_out", record)
        self.assertGreaterEqual(record["duration_ms"], 300)
        self.assert_none_alive(tag)

    def test_a_command_may_end_itself_in_its_grace(self):
        record = self.bounded("--timeout", "300ms", "--grace", "60s", "--", "bash", "-c",
                              "trap 'echo saved; exit 0' TERM; while :; do sleep 0.05; done")
        self.assertEqual(record["ended"], "timed_out", record)
        self.assertEqual(record["stdout"]["text"], "saved\n")
        self.assertLess(record["duration_ms"], 60_000)

    def test_a_command_that_ignores_sigterm_is_killed_after_its_grace(self):
        tag = self.tag()
        record = self.bounded("--timeout", "200ms", "--grace", "200ms", "--", "bash", "-c",
                              f"trap '' TERM; sleep {tag} & while :; do sleep 0.05; done")
        self.assertEqual(record["ended"], "timed_out", record)
        self.assertGreaterEqual(record["duration_ms"], 400)
        self.assert_none_alive(tag)

    def test_what_is_left_behind_is_killed_and_counted(self):
        tag = self.tag()
        record = self.bounded("--", "bash", "-c",
                              f"setsid nohup sleep {tag} >/dev/null 2>&1 </dev/null & "
                              f"(setsid sleep {tag} >/dev/null 2>&1 &) ; sleep 0.2; exit 5")
        self.assertEqual((record["ended"], record["exit_code"]), ("exited", 5), record)
        self.assertEqual(record["killed"], 2)
        self.assert_none_alive(tag)

    def test_a_grandchild_that_holds_the_pipe_delays_nothing(self):
        tag = self.tag()
        record = self.bounded("--timeout", "600s", "--", "bash", "-c",
                              f"(setsid sleep {tag} &) ; echo done")
        self.assertEqual(record["ended"], "exited", record)
        self.assertEqual(record["stdout"]["text"], "done\n")
        self.assert_none_alive(tag)

    def test_daemons_that_fork_all_the_time_are_all_gone(self):
        tag = self.tag()
        record = self.bounded("--timeout", "500ms", "--grace", "100ms", "--", "bash", "-c",
                              f"trap '' TERM; f() {{ setsid sleep {tag} & }}; "
                              "for i in $(seq 200); do f; done; wait; sleep 100")
        self.assertEqual(record["ended"], "timed_out", record)
        self.assert_none_alive(tag)

    def test_a_flood_is_drained_and_its_first_and_last_part_kept(self):
        cap = 4 * KIB
        record = self.bounded("--max-output", "4KiB", "--", "bash", "-c",
                              "echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last")
        self.assertEqual((record["ended"], record["exit_code"]), ("exited", 0), record)
        out = record["stdout"]
        self.assertEqual(out["bytes"], 3_000_000 + len("first\n\nlast\n"))
        self.assertTrue(out["clipped"])
        marker = f"\n[pinfold: {out['dropped']} bytes left out]\n"
        self.assertEqual(out["text"].count(marker), 1)
        self.assertTrue(out["text"].startswith("first\nxxx"))
        self.assertTrue(out["text"].endswith("xxx\nlast\n"))
        kept = len(out["text"]) - len(marker)
        self.assertEqual(kept + out["dropped"], out["bytes"])
        self.assertLessEqual(kept, cap)
        self.assertGreater(kept, cap // 2)

    def test_each_stream_has_its_own_bound(self):
        record = self.bounded("--max-output", "1KiB", "--", "bash", "-c",
                              "head -c 100000 /dev/zero | tr '\\0' o; echo small >&2")
        self.assertTrue(record["stdout"]["clipped"])
        self.assertEqual(record["stderr"]["text"], "small\n")

    def test_a_cut_never_splits_a_character(self):
        for size in ("1001", "1002", "1003", "1004"):
            with self.subTest(size=size):
                out = self.bounded("--max-output", size, "--", "python3", "-c",
                                   "print('\\u20ac\\U0001f411' * 5000, end='')")["stdout"]
                self.assertEqual(out["bytes"], 7 * 5000)
                self.assertNotIn("\ufffd", out["text"])
                marker = f"\n[pinfold: {out['dropped']} bytes left out]\n"
                kept = out["text"].replace(marker, "").encode()
                self.assertEqual(len(kept) + out["dropped"], out["bytes"])

    def test_a_flood_without_end_does_not_grow_the_runner(self):
        self.assertLess(self.peak_kib(256, "yes"), self.peak_kib(256, "true") + 2 * 256 + 4 * KIB)

    def test_neither_does_a_record_that_is_six_times_as_long_as_the_output(self):
        if support.is_sanitized():
            return  # what was freed counts there
        nul = ("head", "-c", "4M", "/dev/zero")
        self.assertLess(self.peak_kib(KIB, *nul), self.peak_kib(KIB, "true") + 4 * KIB)

    def peak_kib(self, cap_kib, *command):
        child = self.start(*self.words, "--json", "--timeout", "2s", "--grace", "100ms",
                           "--max-output", f"{cap_kib}KiB", "--", *command,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return os.wait4(child.pid, 0)[2].ru_maxrss

    def test_a_record_goes_to_a_file_in_one_write(self):
        """Several runs may append to the same file."""
        if support.is_sanitized():
            return  # their leak check cannot be traced
        with open(f"{self.project}/records", "ab") as file:
            child = subprocess.run(
                ["strace", "-qq", "-o", f"{self.project}/calls", "-e", "trace=write",
                 support.PINFOLD, *self.words, "--json", "--", "head", "-c", "200000",
                 "/dev/zero"],
                cwd=self.project, env=self.environment(), stdin=subprocess.DEVNULL, stdout=file,
                stderr=subprocess.DEVNULL, timeout=support.HANG, check=False, **self.as_user())
        self.assertEqual(child.returncode, 0)
        with open(f"{self.project}/calls", encoding="utf-8") as calls:
            writes = [line for line in calls if line.startswith("write(1,")]
        self.assertEqual(len(writes), 1, writes)
        self.assertGreater(os.path.getsize(f"{self.project}/records"), 6 * 200000)

    def test_sigint_and_sigterm_end_the_command_and_the_record_says_so(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                tag = self.tag()
                child = self.start(*self.words, "--json", "--timeout", "600s", "--", "bash", "-c",
                                   f"sleep {tag} & touch ready; sleep {tag}")
                self.wait_for("ready", child)
                child.send_signal(number)
                out, _ = child.communicate(timeout=support.HANG)
                record = support.Answer(child.returncode, out, b"").json
                self.assertEqual(record["ended"], "cancelled", record)
                self.assertEqual(child.returncode, 128 + number)
                self.assert_none_alive(tag)
                os.unlink(f"{self.project}/ready")

    def test_a_signal_in_the_first_moments_is_told_in_the_record_too(self):
        """It comes with the first thing that pinfold asks the kernel for by itself."""
        if support.is_sanitized():
            return  # their leak check cannot be traced
        tag = self.tag()
        for name in ("INT", "TERM", "HUP"):
            with self.subTest(signal=name):
                done = subprocess.run(
                    ["strace", "-qq", "-o", "/dev/null", "-e", "trace=fcntl", "-e",
                     f"inject=fcntl:signal={name}:when=1", support.PINFOLD, *self.words, "--json",
                     "--", "sleep", tag],
                    cwd=self.project, env=self.environment(), stdin=subprocess.DEVNULL,
                    capture_output=True, timeout=support.HANG, check=False, **self.as_user())
                self.assertEqual(done.returncode, 128 + getattr(signal, f"SIG{name}"), done)
                self.assertEqual(json.loads(done.stdout)["ended"], "cancelled")
                self.assert_none_alive(tag)

    def test_a_runner_that_is_killed_hard_leaves_nothing_running(self):
        tag = self.tag()
        child = self.start(*self.words, "--timeout", "600s", "--", "bash", "-c",
                           f"setsid sleep {tag} & touch ready; sleep {tag}")
        self.wait_for("ready", child)
        child.kill()
        child.communicate(timeout=support.HANG)
        for _ in range(600):
            if not support.processes_with(tag):
                return
            self.pause()
        self.fail("still running")

    def wait_for(self, name, child):
        for _ in range(2000):
            if os.path.exists(f"{self.project}/{name}"):
                return
            self.assertIsNone(child.poll())
            self.pause()
        self.fail("the command never started")

    @staticmethod
    def pause():
        signal.sigtimedwait([], 0.05)


@support.as_each_user
class ConfinedRun(Bounds, support.Confined):
    words = ("run",)

    def test_text_mode_marks_what_was_left_out_and_shows_both_ends(self):
        answer = self.pinfold("run", "--max-output", "1KiB", "-c",
                              "echo first; head -c 100000 /dev/zero | tr '\\0' x; echo; echo last")
        self.assertTrue(answer.out.startswith("first\nxxx"))
        self.assertTrue(answer.out.endswith("xxx\nlast\n"))
        self.assertRegex(answer.out, r"\n\[pinfold: \d+ bytes left out\]\n")
        self.assertLess(len(answer.out), 2 * KIB)

    def test_a_timeout_in_text_mode_is_said_on_stderr(self):
        answer = self.pinfold("run", "--timeout", "200ms", "--", "sleep", "100")
        self.assert_one_line(answer.err)
        self.assertIn("timed out", answer.err)

    def test_many_runs_at_once_in_one_workspace_do_not_disturb_each_other(self):
        children = [self.start("run", "-c", f"echo {i} > out{i}; cat out{i}") for i in range(12)]
        for i, child in enumerate(children):
            out, err = child.communicate(timeout=support.HANG)
            self.assertEqual((child.returncode, out, err), (0, f"{i}\n".encode(), b""))
        self.assertEqual([n for n in os.listdir(self.project) if n.startswith(".")], [])


@support.as_each_user
class UnconfinedRun(Bounds, support.World):
    words = ("run", "--no-sandbox")


@support.as_each_user
class Gate(Bounds, support.World):
    words = ("gate",)


if __name__ == "__main__":
    unittest.main()
