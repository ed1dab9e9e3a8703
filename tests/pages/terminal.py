"""An interactive shell on a pseudo-terminal, asked what its completion makes of a line. Nothing here
decides a test."""
import os
import pty
import re
import select
import signal
import time

HANG = 60
INSERT, SHOW, CLEAR = "\x14", "\x07", "\x15"  # Control-T, Control-G, Control-U


class Shell:
    """`words` start it, `setup` are lines it reads first. They bind Control-T to inserting all
    completions, and Control-G to printing the line as <<line>>."""

    def __init__(self, words, setup, directory, **environment):
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.chdir(directory)
            os.execvpe(words[0], words, {"PATH": os.defpath, "TERM": "dumb", "LC_ALL": "C.UTF-8",
                                         "HOME": directory, **environment})
        self.seen = b""
        self.type(f"{setup}\necho be''gun\n")
        self.wait_for(rb"begun\r?\n")

    def type(self, text):
        os.write(self.terminal, text.encode())

    def wait_for(self, pattern):
        """What the groups of the pattern hold, once the shell has printed it."""
        deadline = time.monotonic() + HANG
        while not (found := re.search(pattern, self.seen)):
            ready, _, _ = select.select([self.terminal], [], [], deadline - time.monotonic())
            if not ready:
                raise TimeoutError(f"no {pattern} in {self.seen!r}")
            self.seen += os.read(self.terminal, 65536)
        self.seen = self.seen[found.end():]
        return found

    def completed(self, line):
        """The words of the line, with the last one replaced by all of its completions."""
        self.type(CLEAR + line + INSERT + SHOW)
        return self.wait_for(rb"<<([^>]*)>>").group(1).decode().split()

    def close(self):
        os.close(self.terminal)
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
