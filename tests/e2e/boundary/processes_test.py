"""Processes, their environment and their descriptors: nothing of the host's comes in, nobody
outside is harmed, and nothing goes on when the run is over."""
import os
import signal
import subprocess
import tempfile
import unittest

import ground
from ground import support

ALLOWED = {"PATH", "HOME", "LANG", "TERM", "TZ", "USER", "LOGNAME", "SHELL",
           "PWD", "SHLVL", "_", "OLDPWD"}  # the last four are bash's own

DAEMONS = """
import os, signal, sys, time
word = sys.argv[1]
def daemon(how):
    if os.fork():
        return
    os.setsid()
    if how == "double" and os.fork():
        os._exit(0)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if how == "closed":
        for fd in range(3):
            os.close(fd)
    time.sleep(300)
    os._exit(0)
for how in ("single", "double", "closed"):
    daemon(how)
time.sleep(0.3)
"""

GIVE = """
import os, sys
for number in range(3, 21):
    os.dup2(number + 27, number, inheritable=True)
os.execv(sys.argv[1], sys.argv[1:])
"""

LOOK = """
import os
for name in os.listdir("/proc"):
    if not name.isdigit():
        continue
    for part in ("environ", "cmdline"):
        try:
            with open(f"/proc/{name}/{part}", "rb") as file:
                os.write(1, file.read() + b"\\n")
        except OSError:
            pass
"""


@support.as_each_user
class Environment(ground.Boundary):
    def test_no_variable_of_the_caller_comes_in_but_the_short_list(self):
        loaders = {name: "/tmp/x" for name in ("BASH_ENV", "NODE_OPTIONS", "GIT_SSH_COMMAND",
                                               "PERL5OPT", "PYTHONSTARTUP", "RUBYOPT", "ENV",
                                               "SSH_AUTH_SOCK", "GIT_ASKPASS", "DATABASE_URL")}
        out = self.inside("env -0 | tr '\\0' '\\n'", env=self.environment(**loaders))
        names = {line.split("=", 1)[0] for line in out.splitlines()}
        self.assertLessEqual({n for n in names if not n.startswith("LC_")}, ALLOWED)
        self.assertNotIn(support.SECRET, out)

    def test_no_secret_is_in_any_process_that_can_be_seen(self):
        out = self.python(LOOK, env=self.environment(PINFOLD_TEST=support.SECRET))
        self.assertIn("listdir", out)
        self.assertNotIn(support.SECRET, out)

    def test_process_one_shows_nothing(self):
        for name in ("environ", "mem", "maps", "auxv"):
            self.assert_fails(f"head -c 1 /proc/1/{name} | grep -q ^")
        for name in ("root", "cwd", "exe", *(f"fd/{n}" for n in range(12))):
            self.assert_fails(f"readlink /proc/1/{name}")
            self.assert_fails(f"exec 9< /proc/1/{name}")
            self.assert_fails(f"ls /proc/1/{name}/")


@support.as_each_user
class Descriptors(ground.Boundary):
    def test_inherited_descriptors_are_not_there(self):
        with tempfile.TemporaryFile() as file:
            file.write(support.SECRET.encode())
            file.flush()
            numbers = list(range(30, 48))
            for number in numbers:
                os.dup2(file.fileno(), number)
            wrapper = [ground.PYTHON, "-I", "-c", GIVE, support.PINFOLD]
            for options in ((), ("--no-sandbox",)):
                done = subprocess.run(
                    [*wrapper, "run", *options, "--", ground.PYTHON, "-I", "-c",
                     "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd')))"],
                    cwd=self.project, env=self.environment(), pass_fds=numbers,
                    capture_output=True, text=True, check=False, timeout=support.HANG,
                    stdin=subprocess.DEVNULL, **self.as_user())
                self.assertEqual(done.stdout, "[0, 1, 2, 3]\n", "3 is the listing itself")
            for number in numbers:
                os.close(number)

    def test_standard_input_is_empty(self):
        answer = self.pinfold("run", "-c", "wc -c", stdin=subprocess.PIPE)
        self.assertEqual(answer.out, "0\n")


@support.as_each_user
class HostProcesses(ground.Boundary):
    def sleeper(self, **more):
        child = subprocess.Popen(["sleep", "300"], **{**self.as_user(), **more})
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def test_they_are_invisible(self):
        word = f"pinfold-host-{os.getpid()}-{self.uid}"
        child = subprocess.Popen([ground.PYTHON, "-I", "-c", "import time; time.sleep(300)", word],
                                 **self.as_user())
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        self.assertNotIn(word, self.python(LOOK))
        self.assertEqual(self.inside("ls -d /proc/[0-9]* | wc -l").strip() in ("3", "4", "5"), True)

    def test_they_cannot_be_killed_by_number(self):
        child = self.sleeper()
        self.assertIn("no", self.inside(f"kill -9 {child.pid} 2>/dev/null || echo no; "
                                        f"kill -9 -{child.pid} 2>/dev/null || echo no"))
        self.assertIsNone(child.poll())

    def test_kill_of_the_whole_group_or_of_everything_harms_nobody_outside(self):
        for options in ((), ("--no-sandbox",)):
            for target in ("0", "-1") if not options else ("0",):
                script = (f"sleep 300 & s=$!; '{support.PINFOLD}' run --json {' '.join(options)} -c "
                          f"'kill -9 {target}; echo survived'; kill -0 $s && echo unharmed; kill $s")
                done = subprocess.run(["sh", "-c", script], cwd=self.project,
                                      env=self.environment(), capture_output=True, text=True,
                                      check=False, timeout=support.HANG, start_new_session=True,
                                      stdin=subprocess.DEVNULL, **self.as_user())
                with self.subTest(options=options, target=target):
                    self.assertIn("unharmed", done.stdout, done)
                    self.assertRegex(done.stdout, '"ended": ?"(signaled|exited)"')


@support.as_each_user
class Afterwards(ground.Boundary):
    def word(self):
        return f"pinfold-daemon-{os.getpid()}-{self.uid}-{self.id()}"

    def test_daemons_are_gone_and_counted_when_the_run_returns(self):
        for options in ((), ("--no-sandbox",)):
            with self.subTest(options=options):
                record = self.record(*options, "--", ground.PYTHON, "-I", "-c", DAEMONS, self.word())
                self.assertEqual(support.processes_with(self.word()), [])
                self.assertEqual((record["ended"], record["exit_code"], record["killed"]),
                                 ("exited", 0, 3), record)

    def test_daemons_are_gone_after_a_time_limit(self):
        for options in ((), ("--no-sandbox",)):
            with self.subTest(options=options):
                record = self.record(*options, "--timeout", "1500ms", "--grace", "100ms", "--",
                                     ground.PYTHON, "-I", "-c", DAEMONS + "time.sleep(300)",
                                     self.word())
                self.assertEqual(support.processes_with(self.word()), [])
                self.assertEqual(record["ended"], "timed_out")

    def test_a_signal_to_the_runner_ends_the_command(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            for options in ((), ("--no-sandbox",)):
                with self.subTest(number=number, options=options):
                    started = self.path("project/started")
                    child = self.start("run", "--json", *options, "-c",
                                       f"trap 'echo ended; exit 9' TERM; setsid sleep 300 & "
                                       f"touch started; while :; do sleep 0.02; done # {self.word()}")
                    ground.wait_for(started)
                    child.send_signal(number)
                    out, err = child.communicate(timeout=support.HANG)
                    answer = support.Answer(child.returncode, out, err)
                    self.assertEqual(answer.code, code, answer)
                    self.assertEqual(answer.json["ended"], "cancelled")
                    self.assertEqual(answer.json["stdout"]["text"], "ended\n")
                    self.assertEqual(support.processes_with(self.word()), [])
                    os.unlink(started)

    def test_umask_and_exit_code_pass_through(self):
        for mask, mode in ((0o022, 0o644), (0o077, 0o600), (0, 0o666)):
            answer = self.pinfold("run", "-c", "umask; : > made; exit 7", umask=mask)
            self.assertEqual(answer.code, 7)
            self.assertEqual(os.stat(self.path("project/made")).st_mode & 0o777, mode)
            os.unlink(self.path("project/made"))


if __name__ == "__main__":
    unittest.main()
