"""Living on, and taking the machine along."""
import os
import signal
import threading
import time
import unittest

import escape
from escape import ground, support


@support.as_each_user
class Life(escape.Escape):
    def test_an_orphan_after_the_exit(self):
        mark = f"97.{os.getpid()}{self.uid}"
        self.inside(f"setsid sh -c 'sleep {mark}; echo x > late' & exit 0")
        self.assert_gone(f"sleep\0{mark}")
        self.assertFalse(os.path.exists(self.path("project/late")))

    def test_a_pipe_held_by_a_grandchild(self):
        began = time.monotonic()
        record = self.record("--timeout", "100s", "-c", "(sleep 300 &); exit 0")
        self.assertEqual((record["ended"], record["killed"] > 0), ("exited", True))
        self.assertLess(time.monotonic() - began, 90)

    def test_a_flood_of_output(self):
        record = self.record("--max-output", "4KiB", "-c", "head -c 50000000 /dev/zero")
        self.assertEqual((record["stdout"]["bytes"], record["stdout"]["clipped"]), (50_000_000, True))

    def test_a_command_that_ignores_sigterm(self):
        record = self.record("--timeout", "300ms", "--grace", "100ms", "-c", "trap '' TERM; sleep 97")
        self.assertEqual(record["ended"], "timed_out")

    def test_a_fork_bomb(self):
        """As root nothing but the watch stands against one that doubles itself: there it is bounded."""
        bomb = ":(){ :|:& };: ; sleep 50" if self.uid else "for i in $(seq 300); do sleep 50 & done; wait"
        record = self.record("--processes", "60", "--timeout", "60s", "-c", bomb)
        self.assertEqual((record["ended"], record["limit"]), ("limited", "processes"), record)
        self.assert_nobody_in(self.project)

    def test_memory_without_end(self):
        record = self.record("--memory", "256MiB", "--timeout", "60s", "--", ground.PYTHON, "-c",
                             "a = []\nwhile True: a.append(bytearray(1 << 24))")
        self.assertEqual((record["ended"], record["limit"]), ("limited", "memory"), record)

    def test_a_disk_filled_by_one_file(self):
        record = self.record("--file-size", "1MiB", "-c", "head -c 8000000 /dev/zero > big")
        self.assertLessEqual(os.path.getsize(self.path("project/big")), 1 << 20)
        self.assertNotEqual(record["exit_code"], 0)

    def test_a_runner_killed_in_its_first_milliseconds(self):
        for wait in range(20):
            child = self.start("run", "-c", "touch late; sleep 97")
            threading.Event().wait(wait * 0.0002)
            child.kill()
            child.communicate()
        self.assert_nobody_in(self.project)

    def test_processes_of_the_host(self):
        mine = self.start("run", "-c", "sleep 30")
        self.addCleanup(mine.communicate)
        self.addCleanup(mine.kill)
        self.assert_error("ESRCH EPERM", f"os.kill({mine.pid}, {int(signal.SIGKILL)})")


if __name__ == "__main__":
    unittest.main()
