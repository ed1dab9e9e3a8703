"""What the boundary tests share: an attempt made inside counts only where the run did something
useful too. Nothing here decides a test."""
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import support  # noqa: E402  (it lies one directory up)

PYTHON = "/usr/bin/python3"


class Boundary(support.World):
    """A world in which the sandbox works; asked once for each user."""

    known = set()

    def setUp(self):
        super().setUp()
        if self.uid not in Boundary.known:
            self.need_sandbox()
            Boundary.known.add(self.uid)

    def inside(self, script, *options, **more):
        """The standard output of a shell script that must succeed inside."""
        answer = self.pinfold("run", *options, "-c", script, **more)
        self.assertEqual(answer.code, 0, answer)
        return answer.out

    def python(self, program, *arguments, options=(), **more):
        """The standard output of a Python program that must succeed inside."""
        answer = self.pinfold("run", *options, "--", PYTHON, "-I", "-c", program, *arguments, **more)
        self.assertEqual(answer.code, 0, answer)
        return answer.out

    def attempt(self, script, *options, **more):
        """(exit code, output) of a script inside, in a run whose useful write landed."""
        alive = os.path.join(more.get("cwd", self.project), "alive")
        out = self.inside(f"touch alive; ( {script}\n) 2>&1; echo \"[$?]\"", *options, **more)
        self.assertTrue(os.path.exists(alive), "the run did nothing useful")
        os.unlink(alive)
        text, code = out.rstrip("\n").rsplit("[", 1)
        return int(code.rstrip("]")), text

    def assert_fails(self, script, *options, because=None, **more):
        with self.subTest(script=script):
            code, text = self.attempt(script, *options, **more)
            self.assertNotEqual(code, 0, text)
            if because:
                self.assertRegex(text, because)

    def assert_refused(self, error, *words, **more):
        """Refused before anything was started, with this code on the wire."""
        record = self.record(*words, **more)
        self.assertEqual((record["ended"], (record["refusal"] or {}).get("error")),
                         ("refused", error), record)

    def open_directory(self):
        """A directory outside every home that everybody may write: only a mount can refuse it."""
        base = "/srv" if os.geteuid() == 0 else "/var/tmp"
        path = tempfile.mkdtemp(prefix="pinfold-open-", dir=base)
        self.addCleanup(support.shutil.rmtree, path, ignore_errors=True)
        os.chmod(path, 0o777)
        with open(f"{path}/file", "w", encoding="utf-8") as file:
            file.write("clean\n")
        os.chmod(f"{path}/file", 0o666)
        return path

    def assert_gone(self, word):
        """No process with this word is left; the kernel gets a moment to bury the dead."""
        for _ in range(200):
            left = support.processes_with(word)
            if not left:
                return
            time.sleep(0.05)
        self.fail(f"still there: {left}")

    def assert_nobody_in(self, directory):
        """No process starts there or holds anything open there, as far as this user can see."""
        for _ in range(200):
            left = holders_of(directory)
            if not left:
                return
            time.sleep(0.05)
        self.fail(f"still there: {left}")


def holders_of(directory):
    """PID and place of processes whose working directory or descriptors lie in a directory."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            links = [f"/proc/{name}/cwd", *(f"/proc/{name}/fd/{fd}"
                                            for fd in os.listdir(f"/proc/{name}/fd"))]
        except OSError:
            continue
        for link in links:
            try:
                if os.readlink(link).startswith(directory):
                    found.append((int(name), link))
            except OSError:
                pass
    return found


def wait_for(path):
    """Until a file is there; a run that never makes it hangs."""
    for _ in range(int(support.HANG / 0.01)):
        if os.path.exists(path):
            return
        time.sleep(0.01)
    raise AssertionError(f"{path} never came")
