"""What the escape tests share: an attempt is a few lines of Python inside, and its answer the name of
the error that stopped it. Nothing here decides a test."""
import os
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e", "boundary"))

import ground  # noqa: E402  (it lies in another folder)
from ground import support  # noqa: E402,F401

HEAD = """
import ctypes, errno, os, socket, stat, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    answer = libc.syscall(ctypes.c_long(number), *wide)
    if answer < 0:
        raise OSError(ctypes.get_errno(), "")
    return answer
def write(path, text="evil"):
    with open(path, "w") as file:
        file.write(text)
try:
"""
TAIL = """
    print("DONE")
except OSError as error:
    print(errno.errorcode.get(error.errno, error.errno))
"""


class Escape(ground.Boundary):
    def error_of(self, body, *arguments, options=(), **more):
        """The name of the error that the attempt ended with, or DONE. What it printed comes first."""
        program = HEAD + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + TAIL
        return self.python(program, *arguments, options=options, **more).strip()

    def assert_errors(self, attempts, **more):
        """The same of many attempts, pairs of expected errors and a body, in one run."""
        program = HEAD + "    pass\nexcept OSError:\n    pass\n"
        for _, body in attempts:
            program += "try:\n" + textwrap.indent(body, "    ") + TAIL
        answers = self.python(program, **more).split()
        self.assertEqual(len(answers), len(attempts), answers)
        for (expected, body), answer in zip(attempts, answers):
            with self.subTest(body=body):
                self.assertIn(answer, expected.split())

    def assert_error(self, expected, body, *arguments, **more):
        """One of the errors in `expected` ("EROFS EBUSY") has to come."""
        with self.subTest(body=body):
            self.assertIn(self.error_of(body, *arguments, **more), expected.split())
