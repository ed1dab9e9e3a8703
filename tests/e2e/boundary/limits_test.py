"""Limits: a fork bomb, a memory hog, a busy loop and a disk filler end with a typed result, and what
stays below its limits is left alone. Every hog here stops by itself, far below what could harm the
machine."""
import os
import unittest

import ground
from ground import support

MIB = 1 << 20

FORKS = """
import os, sys, threading, time
how, most = sys.argv[1], int(sys.argv[2])
end = time.monotonic() + 60
def stay():
    time.sleep(max(0, end - time.monotonic()))
for _ in range(most):
    try:
        if how == "threads":
            threading.Thread(target=stay, daemon=True).start()
        elif os.fork() == 0:
            if how == "sessions":
                os.setsid()
            stay()
            os._exit(0)
    except (OSError, RuntimeError) as error:
        print(error, flush=True)
        break
stay()
"""

MEMORY = """
import mmap, os, sys, time
how, mib = sys.argv[1], int(sys.argv[2])
held = []
def fill(count):
    for _ in range(count):
        held.append(bytearray(b"x" * (1 << 20)))
        time.sleep(0.001)
if how == "one":
    fill(mib)
elif how == "many":
    for _ in range(4):
        if os.fork() == 0:
            fill(mib // 4)
            time.sleep(60)
            os._exit(0)
elif how == "shared":
    area = mmap.mmap(-1, mib << 20)
    for at in range(0, mib << 20, 4096):
        area[at] = 1
elif how == "tmp":
    with open("/tmp/x", "wb") as file:
        for _ in range(mib):
            file.write(b"x" * (1 << 20))
            time.sleep(0.001)
elif how == "forked":  # the same pages in many processes are there once
    fill(mib)
    for _ in range(8):
        if os.fork() == 0:
            time.sleep(1)
            os._exit(0)
    time.sleep(1)
    print("done", flush=True)
    os._exit(0)
time.sleep(60)
"""

BUSY = """
import os, sys, time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
if sys.argv[1] == "one":
    burn(60)
for _ in range(40):  # none of them for long
    if os.fork() == 0:
        burn(0.1)
        os._exit(0)
    os.wait()
"""


# Every control file of the first levels of every cgroup file system that is seen.
CGROUPS = """
import os
seen = written = 0
for line in open("/proc/self/mountinfo"):
    if " - cgroup" not in line:
        continue
    place = line.split()[4]
    for directory, below, files in os.walk(place):
        if directory.count("/") - place.count("/") > 1:
            below.clear()
        for name in files:
            if name not in ("cgroup.procs", "tasks", "cgroup.subtree_control", "memory.max", "pids.max",
                            "cgroup.kill", "cgroup.threads", "memory.limit_in_bytes", "release_agent"):
                continue
            seen += 1
            try:
                os.close(os.open(f"{directory}/{name}", os.O_WRONLY))
                written += 1
            except OSError:
                pass
        try:
            os.mkdir(f"{directory}/mine")
            written += 1
        except OSError:
            pass
print(seen, written)
"""


@support.as_each_user
class Limits(ground.Boundary):
    def limited(self, *options, program, arguments=()):
        return self.record("--timeout", "60s", "--grace", "1s", *options, "--", ground.PYTHON, "-I",
                           "-c", program, *arguments)

    def assert_limited(self, record, name):
        self.assertEqual((record["ended"], record["limit"]), ("limited", name), record)
        self.assert_nobody_in(self.project)

    def test_too_many_processes_end_the_run(self):
        for how in ("children", "sessions", "threads"):
            with self.subTest(how=how):
                record = self.limited("--processes", "60", program=FORKS, arguments=(how, "1000"))
                self.assert_limited(record, "processes")

    def test_a_fork_bomb_ends_the_run(self):
        if self.uid == 0:
            return  # no wall of the kernel's binds uid 0: such a test would put the machine at risk
        record = self.record("--timeout", "60s", "--processes", "100", "-c",
                             "b() { [ $SECONDS -gt 10 ] && exit; b | b & }; b; sleep 20")
        self.assert_limited(record, "processes")

    def test_too_much_memory_ends_the_run(self):
        for how in ("one", "many", "shared", "tmp"):
            with self.subTest(how=how):
                record = self.limited("--memory", "96MiB", program=MEMORY, arguments=(how, "240"))
                self.assert_limited(record, "memory")

    def test_pages_that_are_shared_count_once(self):
        record = self.limited("--memory", "160MiB", program=MEMORY, arguments=("forked", "60"))
        self.assertEqual((record["ended"], record["limit"], record["stdout"]["text"]),
                         ("exited", None, "done\n"), record)

    def test_too_much_processor_time_ends_the_run(self):
        for how in ("one", "many"):
            with self.subTest(how=how):
                record = self.limited("--cpu-time", "600ms", program=BUSY, arguments=(how,))
                self.assert_limited(record, "cpu_time")

    def test_a_file_that_grows_too_large_ends_its_writer(self):
        record = self.record("--file-size", "1MiB", "--", "dd", "if=/dev/zero", "of=big", "bs=64K",
                             "count=64")
        self.assert_limited(record, "file_size")
        self.assertEqual(os.path.getsize(f"{self.project}/big"), MIB)
        self.assert_fails("python3 -I -c 'import os; os.truncate(\"big\", 1 << 21)'",
                          "--file-size", "1MiB", because="File too large")

    def test_a_scratch_place_has_its_size(self):
        for place in ("/tmp", "/var/tmp", "/dev/shm"):
            with self.subTest(place=place):
                record = self.record("--tmp-size", "1MiB", "--", "dd", "if=/dev/zero",
                                     f"of={place}/x", "bs=64K", "count=64")
                self.assertEqual((record["ended"], record["exit_code"], record["limit"]),
                                 ("exited", 1, "tmp_size"), record)
                self.assertIn("No space left", record["stderr"]["text"])

    def test_limits_cannot_be_lifted_from_inside(self):
        self.assert_fails("ulimit -f unlimited", "--file-size", "1MiB")
        record = self.limited("--cpu-time", "500ms", program="import resource, signal\n"
                              "signal.signal(signal.SIGXCPU, signal.SIG_IGN)\n"
                              "resource.setrlimit(resource.RLIMIT_CPU, (-1, -1))\nwhile True: pass")
        self.assert_limited(record, "cpu_time")
        self.assert_fails("kill -STOP 1; kill -KILL 1; sleep 0.1; grep -q 'State:.S' /proc/1/status "
                          "&& false")

    def test_no_cgroup_that_is_seen_can_be_written_to(self):
        record = self.limited(program=CGROUPS)
        self.assertEqual((record["exit_code"], record["stderr"]["text"]), (0, ""), record)
        seen, written = record["stdout"]["text"].split()
        self.assertEqual(written, "0")
        with open("/proc/self/mountinfo", encoding="utf-8") as table:
            if " - cgroup" in table.read():
                self.assertGreater(int(seen), 0)

    def test_what_stays_below_is_left_alone(self):
        record = self.record("--memory", "1GiB", "--processes", "100", "--cpu-time", "60s",
                             "--file-size", "10MiB", "--tmp-size", "10MiB", "-c",
                             "for i in 1 2 3 4 5 6 7 8; do (sleep 0.1; echo x > f$i) & done; wait; "
                             "head -c 5M /dev/zero > /tmp/x; echo done")
        self.assertEqual((record["exit_code"], record["limit"], record["stdout"]["text"]),
                         (0, None, "done\n"), record)

    def test_a_time_limit_has_a_name_too(self):
        record = self.record("--timeout", "200ms", "--", "sleep", "60")
        self.assertEqual((record["ended"], record["limit"]), ("timed_out", "time"))

    def test_without_limits_a_default_stands_against_a_fork_bomb(self):
        self.assertRegex(self.pinfold("explain", "--", "true").out, r"(?m)^process limit +4096$")

    def test_the_record_says_how_a_limit_is_held(self):
        record = self.record("--memory", "1GiB", "--file-size", "1GiB", "--", "true")
        held = {name: one["held"] for name, one in record["enforced"].items()}
        self.assertEqual(held["memory"], "partial")
        self.assertEqual(held["processes"], "partial" if self.uid == 0 else "full")
        self.assertEqual((held["cpu_time"], held["file_size"], held["tmp_size"]),
                         ("none", "full", "full"))

    def test_in_text_one_line_names_the_limit(self):
        answer = self.pinfold("run", "--processes", "5", "--", ground.PYTHON, "-I", "-c", FORKS,
                              "children", "50")
        self.assertEqual(answer.code, 124, answer)
        self.assertIn("pinfold: run: ended at its limit: processes", answer.err)

    def test_bad_values_and_limits_without_a_sandbox_are_refused(self):
        for words in (("--memory", "0"), ("--memory", "1k"), ("--memory", "lots"),
                      ("--processes", "0"), ("--processes", "-1"), ("--processes", "many"),
                      ("--processes", "99999999999999999999"), ("--cpu-time", "0"),
                      ("--cpu-time", "1 s"), ("--file-size", "-1"), ("--tmp-size", "1"),
                      *(("--no-sandbox", option, value) for option, value in
                        (("--memory", "1GiB"), ("--processes", "9"), ("--cpu-time", "9s"),
                         ("--file-size", "1GiB"), ("--tmp-size", "1GiB")))):
            with self.subTest(words=words):
                answer = self.pinfold("run", *words, "--", "touch", "ran")
                self.assertEqual(answer.code, 125)
                self.assert_one_line(answer.err)
                self.assertFalse(os.path.exists(f"{self.project}/ran"))


if __name__ == "__main__":
    unittest.main()
