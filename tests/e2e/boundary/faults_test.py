"""What goes wrong around a run, or is made to go wrong by it: the run ends, says what came of it, and
leaves nothing behind."""
import os
import resource
import signal
import subprocess
import time
import unittest

import ground
from ground import support


def descendants_of(pid):
    """{pid: name} of everything below a process."""
    parents, names = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                head, rest = file.read().rsplit(")", 1)
        except OSError:
            continue
        names[int(name)] = head.split("(", 1)[1]
        parents[int(name)] = int(rest.split()[1])
    below = {pid}
    while True:
        more = {child for child, parent in parents.items() if parent in below} - below
        if not more:
            return {child: names[child] for child in below - {pid}}
        below |= more


@support.as_each_user
class Command(ground.Boundary):
    """Commands that do what they can to be a nuisance."""

    def test_one_that_closes_its_output_and_goes_on(self):
        record = self.record("-c", "echo before; exec >&- 2>&-; sleep 0.5; touch after; exit 6")
        self.assertEqual((record["exit_code"], record["stdout"]["text"]), (6, "before\n"))
        self.assertTrue(os.path.exists(self.path("project/after")))

    def test_one_that_ignores_sigterm_and_closed_its_output(self):
        record = self.record("--timeout", "300ms", "--grace", "100ms", "-c",
                             "trap '' TERM HUP INT; exec >&- 2>&-; while :; do sleep 0.05; done")
        self.assertEqual((record["ended"], record["signal"]), ("timed_out", 9), record)

    def test_one_that_stops_itself(self):
        word = f"97.{os.getpid()}{self.uid}"
        record = self.record("--timeout", "500ms", "--grace", "200ms", "-c",
                             f"sleep {word} & kill -STOP $! $$")
        self.assertEqual((record["ended"], record["signal"]), ("timed_out", 15), record)
        self.assert_gone(f"sleep\0{word}")

    def test_one_that_stops_everything_it_can(self):
        record = self.record("--timeout", "500ms", "--grace", "200ms", "-c", "kill -STOP -1; kill -STOP 0")
        self.assertIn(record["ended"], ("timed_out", "exited"), record)
        self.assert_nobody_in(self.project)

    def test_one_that_forks_twice_and_leaves_its_session(self):
        word = f"98.{os.getpid()}{self.uid}"
        record = self.record("--timeout", "60s", "--", ground.PYTHON, "-c", f"""
import os
if os.fork(): os._exit(3)
os.setsid()
if os.fork(): os._exit(0)
os.execvp("sleep", ["sleep", "{word}"])""")
        self.assertEqual((record["ended"], record["exit_code"]), ("exited", 3), record)
        self.assert_gone(f"sleep\0{word}")

    def test_a_grandchild_that_holds_both_pipes_and_writes_on(self):
        record = self.record("--timeout", "60s", "-c",
                             "(setsid sh -c 'while :; do echo x; echo y >&2; done' &); sleep 0.2; exit 8")
        self.assertEqual((record["ended"], record["exit_code"]), ("exited", 8), record)

    def test_one_that_floods_both_streams_at_once(self):
        record = self.record("--max-output", "4KiB", "-c",
                             "head -c 30000000 /dev/zero | tr '\\0' o & "
                             "head -c 30000000 /dev/zero | tr '\\0' e >&2 & wait")
        for stream, letter in (("stdout", "o"), ("stderr", "e")):
            self.assertEqual(record[stream]["bytes"], 30_000_000)
            self.assertEqual(set(record[stream]["text"].split("\n[pinfold")[0]), {letter})

    def test_one_that_writes_binary_on_both_streams(self):
        data = bytes(range(256)) * 3000
        script = (f"import os; d = bytes(range(256)) * 3000\nfor fd in (1, 2):\n"
                  "    left = d\n    while left: left = left[os.write(fd, left):]")
        answer = self.pinfold("run", "--max-output", "4MiB", "--", ground.PYTHON, "-c", script)
        self.assertTrue(answer.raw_out == data and answer.raw_err == data)
        record = self.record("--max-output", "4MiB", "--", ground.PYTHON, "-c", script)
        self.assertEqual((record["stdout"]["bytes"], record["stderr"]["bytes"]), (768_000, 768_000))

    def test_ten_megabytes_on_one_line(self):
        script = "head -c 10000000 /dev/zero | tr '\\0' x; echo"
        record = self.record("--max-output", "16MiB", "-c", script)
        self.assertEqual(len(record["stdout"]["text"]), 10_000_001)
        self.assertFalse(record["stdout"]["clipped"])
        self.assertEqual(self.record("-c", script)["stdout"]["bytes"], 10_000_001)
        self.assertEqual(len(self.pinfold("run", "--max-output", "32MiB", "-c", script).out), 10_000_001)


@support.as_each_user
class Around(ground.Boundary):
    """Faults of the machine and of those who stand around."""

    def test_a_reader_that_goes_away_ends_the_command_in_every_form(self):
        for form in ((), ("--events",)):
            word = f"9{len(form)}.{os.getpid()}{self.uid}"
            child = self.start("run", *form, "--timeout", "60s", "-c",
                               f"while :; do echo x; echo y >&2; sleep 0.01; done & sleep {word}")
            child.stdout.readline()
            for pipe in (child.stdout, child.stderr):
                pipe.close()
            self.assertNotEqual(child.wait(timeout=support.HANG), 0)
            self.assert_gone(f"sleep\0{word}")
        child = self.start("run", "--json", "-c", "echo x")
        child.stdout.close()
        self.assertEqual(child.wait(timeout=support.HANG), 0)  # the run was over before
        child.stderr.close()

    @unittest.skipIf(support.is_sanitized(), "the check of a vptr opens a pipe of its own")
    def test_descriptors_that_run_out_at_any_point_are_a_refusal(self):
        refused = ran = 0
        before = self.tree_without_caches()
        for most in (*range(4, 40), 60, 64, 66, 70, 72, 74, 76, 80, 128):
            def bound(most=most):
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
            child = self.start("run", "--json", "--no-cache", "--", "true", preexec_fn=bound)
            out, err = child.communicate(timeout=support.HANG)
            if child.returncode == 0:
                ran += 1
                continue
            refused += 1
            self.assertEqual(child.returncode, 125, (most, out, err))
            record = support.Answer(125, out, err).json
            self.assertEqual((record["ended"], record["refusal"] is not None), ("refused", True), most)
        self.assertGreater(refused, 5)
        self.assertGreater(ran, 0)
        self.assert_nobody_in(self.project)
        self.inside("true")
        self.assertEqual(self.tree_without_caches(), before)

    def on_a_small_disk(self):
        if os.geteuid() != 0:
            self.skipTest("needs a file system of its own")
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size=64k,mode=755,uid={self.uid},gid={self.gid}",
                        "none", self.project], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", self.project], check=True)

    def test_a_workspace_on_a_full_disk(self):
        self.on_a_small_disk()
        record = self.record("-c", "head -c 10000000 /dev/zero > big || exit 9")
        self.assertEqual((record["ended"], record["exit_code"]), ("exited", 9), record)
        self.assertIn("No space left", record["stderr"]["text"])
        self.assertEqual(sorted(os.listdir(self.project)), ["big"])
        again = self.record("-c", "rm big && echo fine > small && cat small")
        self.assertEqual(again["stdout"]["text"], "fine\n", again)

    def test_a_workspace_without_room_for_a_directory(self):
        self.on_a_small_disk()
        subprocess.run(["mount", "-o", "remount,nr_inodes=3", self.project], check=True)
        for name in ("a", "b"):
            with open(f"{self.project}/{name}", "w", encoding="utf-8"):
                pass
        answer = self.pinfold("run", "--json", "-c", "touch ran")
        record = answer.json
        self.assertEqual((record["ended"], answer.code), ("refused", 125), record)
        self.assertEqual(sorted(os.listdir(self.project)), ["a", "b"])
        self.assert_nobody_in(self.project)

    def started(self, *words):
        child = self.start("run", "--json", "--timeout", "60s", *words)
        ground.wait_for(self.path("project/started"))
        return child

    def ended(self, child):
        out, err = child.communicate(timeout=support.HANG)
        os.unlink(self.path("project/started"))
        return support.Answer(child.returncode, out, err)

    def test_a_bwrap_that_is_killed_from_outside(self):
        word = f"96.{os.getpid()}{self.uid}"
        for which in ("first", "last", "all"):
            with self.subTest(which=which):
                child = self.started("-c", f"setsid sleep {word} & touch started; sleep {word}")
                of_bwrap = sorted(pid for pid, name in descendants_of(child.pid).items()
                                  if name == "bwrap")
                self.assertTrue(of_bwrap)
                chosen = {"first": of_bwrap[:1], "last": of_bwrap[-1:], "all": of_bwrap}[which]
                for pid in chosen:
                    os.kill(pid, signal.SIGKILL)
                answer = self.ended(child)
                self.assertEqual(answer.code, 125, answer)
                self.assertEqual((answer.json["ended"], answer.json["refusal"]["error"]),
                                 ("failed", "RunLost"))
                self.assert_gone(f"sleep\0{word}")
                self.inside("true")

    def test_a_pid_one_inside_that_is_killed_from_outside(self):
        word = f"95.{os.getpid()}{self.uid}"
        child = self.started("-c", f"setsid sleep {word} & touch started; sleep {word}")
        below = descendants_of(child.pid)
        inside = [pid for pid in below if support.is_alive(pid) and self.is_pid_one(pid)]
        self.assertEqual(len(inside), 1, below)
        os.kill(inside[0], signal.SIGKILL)
        answer = self.ended(child)
        self.assertEqual((answer.json["ended"], answer.code), ("failed", 125), answer)
        self.assert_gone(f"sleep\0{word}")

    @staticmethod
    def is_pid_one(pid):
        """No, where it has gone meanwhile: bwrap starts and ends processes of its own."""
        try:
            with open(f"/proc/{pid}/status", encoding="utf-8") as file:
                return any(line.startswith("NSpid:") and line.split()[2:] == ["1"] for line in file)
        except (FileNotFoundError, ProcessLookupError):
            return False

    def test_a_bwrap_that_stands_still_ends_with_the_time_limit(self):
        word = f"94.{os.getpid()}{self.uid}"
        child = self.start("run", "--json", "--timeout", "3s", "--grace", "100ms", "-c",
                           f"touch started; sleep {word}")
        ground.wait_for(self.path("project/started"))
        standing = [pid for pid, name in descendants_of(child.pid).items()
                    if name in ("bwrap", "pinfold-stage") or self.is_pid_one(pid)]
        self.assertGreaterEqual(len(standing), 2)
        for pid in standing:
            os.kill(pid, signal.SIGSTOP)
        answer = self.ended(child)
        self.assertEqual(answer.json["ended"], "timed_out", answer)
        self.assert_gone(f"sleep\0{word}")

    def test_a_runner_that_stands_still_for_a_while_loses_nothing(self):
        child = self.started("-c", "touch started; seq 20000; while [ ! -e go ]; do sleep 0.02; done; exit 5")
        os.kill(child.pid, signal.SIGSTOP)
        self.write("project/go", "")
        time.sleep(0.3)
        os.kill(child.pid, signal.SIGCONT)
        answer = self.ended(child)
        self.assertEqual((answer.json["exit_code"], answer.json["stdout"]["bytes"]), (5, 108894))


if __name__ == "__main__":
    unittest.main()
