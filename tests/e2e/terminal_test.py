"""`--tty`: a usable shell for a person, and the terminal as it was afterwards; `--stdin`."""
import hashlib
import os
import signal
import subprocess
import termios
import unittest

import support
from terminals import Terminal


class AtATerminal(support.Confined):
    words = ("run",)

    def shell(self, *options, command=("bash", "--norc", "--noediting", "-i"), **more):
        shell = Terminal(self, *self.words, "--tty", *options, "--env", "PS1=ready> ", "--", *command,
                         **more)
        shell.wait_for(rb"ready> ")
        return shell

    def ask(self, shell, line, answer):
        """Types a line and waits for its answer and the next prompt."""
        at = len(shell.shown)
        shell.type(line + "\n")
        found = shell.wait_for(answer + rb"[\s\S]*?ready> ", after=at)
        return found


class Shell(AtATerminal):
    def test_a_shell_with_job_control_is_usable(self):
        shell = self.shell()
        self.ask(shell, "echo $((6*7))", rb"\n42\r\n")
        self.ask(shell, "tty", rb"\n/dev/pts/\d+\r\n")
        self.ask(shell, "echo $-", rb"\n\w*m\w*\r\n")  # m: job control
        at = len(shell.shown)
        shell.type("sleep 300\n")
        shell.wait_for(rb"sleep 300\r\n", after=at)
        self.wait_until_in_front(shell, "sleep")
        shell.type("\x1a")
        shell.wait_for(rb"Stopped[\s\S]*ready> ", after=at)
        self.ask(shell, "jobs", rb"Stopped +sleep 300\r\n")
        self.ask(shell, "bg; sleep 0.1; jobs", rb"Running +sleep 300 &\r\n")
        at = len(shell.shown)
        shell.type("fg\n")
        shell.wait_for(rb"\nsleep 300\r\n", after=at)
        self.wait_until_in_front(shell, "sleep")
        shell.type("\x03")
        shell.wait_for(rb"\^C\r\nready> ", after=at)
        self.ask(shell, "echo $?", rb"\n130\r\n")
        self.assertNotIn(b"no job control", shell.shown)
        shell.type("exit 7\n")
        self.assertEqual(shell.exit_code(), 7)
        self.assertEqual(shell.settings(), shell.before)

    def wait_until_in_front(self, shell, name):
        """Typed too early, a control character reaches the shell instead of the command."""
        for _ in range(600):
            if support.processes_with(f"{name}\x00300"):
                break
            shell.read_once(0.05)
        for _ in range(5):
            shell.read_once(0.05)

    def test_the_window_has_the_size_of_the_persons_and_follows_it(self):
        shell = self.shell(rows=33, columns=111)
        self.ask(shell, "stty size", rb"\n33 111\r\n")
        self.ask(shell, "trap 'echo resized' WINCH", rb"")
        shell.resize(44, 122)
        for _ in range(100):
            at = len(shell.shown)
            shell.type("stty size\n")
            if b"44 122" in shell.wait_for(rb"\d+ \d+\r\n[\s\S]*?ready> ", after=at).group():
                break
        self.ask(shell, "stty size", rb"44 122\r\n")
        self.assertIn(b"resized", shell.shown)

    def test_more_than_the_cap_is_shown_to_a_person(self):
        shell = self.shell("--max-output", "4KiB")
        self.ask(shell, "seq 5000; echo the end", rb"\r\n4999\r\n5000\r\nthe end\r\n")

    def test_characters_cannot_be_pushed_into_a_terminal(self):
        program = ("import fcntl, termios\nfor call in (termios.TIOCSTI, 0x541c):\n"
                   "    try: fcntl.ioctl(0, call, b'x'); print('pushed')\n"
                   "    except OSError as why: print('errno', why.errno)")
        shown = Terminal(self, *self.words, "--tty", "--", "/usr/bin/python3", "-I", "-c", program)
        self.assertEqual(shown.exit_code(), 0, shown.shown)
        if self.words == ("run",):
            self.assertEqual(shown.shown, b"errno 1\r\nerrno 1\r\n")

    def test_the_persons_own_terminal_is_not_there(self):
        program = ("import os\nfor fd in (0, 1, 2): print(os.major(os.fstat(fd).st_rdev), "
                   "os.ttyname(fd), os.fstat(fd).st_dev)\nprint(os.listdir('/proc/self/fd'))")
        shown = Terminal(self, *self.words, "--tty", "--", "/usr/bin/python3", "-I", "-c", program)
        self.assertEqual(shown.exit_code(), 0, shown.shown)
        host = os.fstat(shown.slave).st_dev
        lines = [line for line in shown.shown.decode().splitlines() if not line.startswith("pinfold")]
        self.assertEqual(len(set(lines[:3])), 1)
        self.assertRegex(lines[0], rf"\A136 /dev/pts/\d+ \d+\Z")
        if self.words == ("run",):
            self.assertNotEqual(int(lines[0].split()[2]), host)
        self.assertEqual(lines[3], "['0', '1', '2', '3']")

    def test_the_terminal_is_as_it_was_after_each_end(self):
        for command, code in ((("no-such-command",), 127), (("sh", "-c", "stty raw -echo; exit 4"), 4),
                              (("sh", "-c", "kill -9 $$"), 137), (("true",), 0)):
            with self.subTest(command=command):
                shown = Terminal(self, *self.words, "--tty", "--", *command)
                self.assertEqual(shown.exit_code(), code, shown.shown)
                self.assertEqual(shown.settings(), shown.before)

    def test_the_terminal_is_as_it_was_after_a_signal_and_after_a_fault(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV, signal.SIGABRT, signal.SIGQUIT,
                       signal.SIGUSR1, signal.SIGBUS):
            with self.subTest(signal=number):
                shell = self.shell("--grace", "100ms")
                self.assertNotEqual(shell.settings(), shell.before)
                self.assertFalse(shell.settings()[3] & termios.ICANON)
                shell.child.send_signal(number)
                code = shell.exit_code()
                self.assertIn(code, (128 + number, -number), shell.shown)
                self.assertEqual(shell.settings(), shell.before)

    def test_a_hard_kill_leaves_the_terminal_raw_and_stty_sane_mends_it(self):
        """Nothing of a run outlives pinfold, so nobody is there to give the settings back."""
        shell = self.shell()
        shell.child.kill()
        shell.exit_code()
        self.assertFalse(shell.settings()[3] & termios.ICANON)
        subprocess.run(["stty", "sane"], stdin=shell.slave, check=True)
        for flag in (termios.ICANON, termios.ECHO, termios.ISIG):
            self.assertTrue(shell.settings()[3] & flag)
        self.assertTrue(shell.settings()[0] & termios.ICRNL)
        self.assertTrue(shell.settings()[1] & termios.OPOST)

    def test_a_time_limit_ends_a_shell(self):
        shell = self.shell("--timeout", "2s", "--grace", "60s")
        self.assertEqual(shell.exit_code(), 124, shell.shown)
        self.assertIn(b"timed out", shell.shown)

    def test_a_window_that_is_closed_ends_the_shell(self):
        word = f"97{os.getpid()}{self.uid}"
        shell = self.shell("--grace", "100ms")
        shell.type(f"sleep {word}\n")
        self.wait_for_process(word)
        shell.child.send_signal(signal.SIGHUP)
        shell.exit_code()
        self.assertEqual(support.processes_with(f"sleep\0{word}"), [])

    def wait_for_process(self, word):
        for _ in range(2000):
            if support.processes_with(f"sleep\0{word}"):
                return
            signal.sigtimedwait([], 0.02)
        self.fail("never started")

    def test_without_a_terminal_it_is_refused(self):
        for more in ({"stdin": subprocess.DEVNULL}, {"stdin": subprocess.PIPE}):
            answer = self.pinfold(*self.words, "--tty", "--", "touch", "started", **more)
            self.assertEqual(answer.code, 125)
            self.assert_one_line(answer.err)
            self.assertFalse(os.path.exists(f"{self.project}/started"))
        for other in ("--json", "--events"):
            self.assertEqual(self.pinfold(*self.words, "--tty", other, "--", "true").code, 125)


@support.as_each_user
class ConfinedShell(Shell):
    pass


@support.as_each_user
class UnconfinedShell(Shell):
    words = ("run", "--no-sandbox")


del Shell, AtATerminal


@support.as_each_user
class Input(support.Confined):
    def test_it_is_carried_to_the_command_and_ends(self):
        data = os.urandom(1 << 20)
        for options in ((), ("--no-sandbox",)):
            child = self.start("run", *options, "--stdin", "--", "sha256sum", stdin=subprocess.PIPE)
            out, err = child.communicate(data, timeout=support.HANG)
            self.assertEqual(out.split()[0].decode(), hashlib.sha256(data).hexdigest(), err)

    def test_a_file_of_the_host_that_is_the_input_cannot_be_written_through_it(self):
        for mode in ("rb", "r+b"):
            for script in ("echo x > /proc/self/fd/0", "echo x >> /dev/stdin", "echo x >&0",
                           "exec 3<> /proc/self/fd/0; echo x >&3",
                           "python3 -c 'import os; os.ftruncate(0, 0)'"):
                with self.subTest(mode=mode, script=script), open(self.path(".ssh/id_rsa"), mode) as key:
                    answer = self.pinfold("run", "--stdin", "-c", f"cat; {script}", stdin=key)
                    self.assertIn(support.SECRET, answer.out)
                    self.assertEqual(self.read(".ssh/id_rsa"), support.SECRET)

    def test_a_directory_is_refused(self):
        fd = os.open(self.home, os.O_RDONLY)
        self.addCleanup(os.close, fd)
        answer = self.pinfold("run", "--stdin", "-c", "ls /proc/self/fd/0/", stdin=fd)
        self.assertEqual(answer.code, 125)
        self.assert_one_line(answer.err)
        self.assertEqual(answer.out, "")

    def test_without_it_the_input_is_empty_and_nothing_is_taken(self):
        read, write = os.pipe()
        os.write(write, b"mine\n")
        self.assertEqual(self.pinfold("run", "--", "cat", stdin=read).out, "")
        self.assertEqual(os.read(read, 100), b"mine\n")
        os.close(read)
        os.close(write)

    def test_no_input_at_all_is_an_empty_one(self):
        child = subprocess.run(["sh", "-c", f"exec {support.PINFOLD} run --stdin -- cat <&-"],
                               cwd=self.project, env=self.environment(), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, timeout=support.HANG, **self.as_user())
        self.assertEqual((child.returncode, child.stdout), (0, b""), child.stderr)

    def test_lines_that_are_typed_at_a_terminal_arrive(self):
        at = Terminal(self, "run", "--stdin", "-c", "read a; echo got $a; test -t 0 || echo no terminal")
        at.type("typed\n")
        self.assertEqual(at.exit_code(), 0, at.shown)
        self.assertIn(b"got typed\r\nno terminal\r\n", at.shown)


if __name__ == "__main__":
    unittest.main()
