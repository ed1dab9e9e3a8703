"""A person at a terminal, for tests: the program as the foreground job of a session of its own."""
import errno
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

import support


class Terminal:
    """A pseudo-terminal with the program at its slave side. `shown` is all that it has shown."""

    def __init__(self, test, *words, rows=30, columns=100, stdout=None, stderr=None, **variables):
        self.test = test
        self.master, self.slave = pty.openpty()
        test.addCleanup(self.close)
        self.resize(rows, columns)
        if test.uid and os.geteuid() == 0:
            os.fchown(self.slave, test.uid, test.gid)
        self.before = termios.tcgetattr(self.slave)
        self.shown = b""
        env = test.environment(**{"TERM": "xterm", **variables})
        self.child = test.start(*words, stdin=self.slave, stdout=stdout or self.slave,
                                stderr=stderr or self.slave, env=env, start_new_session=True,
                                preexec_fn=self.take)
        test.addCleanup(self.end)

    def take(self):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def resize(self, rows, columns):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.master, text.encode())

    def read_once(self, seconds=0.1):
        """True when something came."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            piece = os.read(self.master, 65536)
        except OSError as gone:
            if gone.errno == errno.EIO:
                return False
            raise
        self.shown += piece
        return bool(piece)

    def wait_for(self, pattern, after=0):
        """Until the terminal has shown it, behind the first `after` bytes; the match."""
        end = time.monotonic() + support.HANG
        while time.monotonic() < end:
            found = re.search(pattern, self.shown[after:])
            if found:
                return found
            self.read_once()
        self.test.fail(f"never shown: {pattern}; shown: {self.shown}")

    def exit_code(self):
        """Of the program; reads on until it is over."""
        end = time.monotonic() + support.HANG
        while self.child.poll() is None and time.monotonic() < end:
            self.read_once()
        while self.read_once(0):
            pass
        self.test.assertIsNotNone(self.child.returncode, "hangs")
        return self.child.returncode

    def settings(self):
        return termios.tcgetattr(self.slave)

    def end(self):
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        for pipe in (self.child.stdout, self.child.stderr):
            if pipe:
                pipe.close()

    def close(self):
        os.close(self.master)
        os.close(self.slave)
