"""A day in the life: a client makes a thousand mixed calls on a checkout of this project, while another
process exchanges directories with links that lead out. Nothing outside changes or is read, every call is
answered, memory stays flat, and the audit log says what happened."""
import ctypes
import json
import os
import random
import select
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import peer  # noqa: E402
import support  # noqa: E402

CALLS = int(os.environ.get("PINFOLD_DAY_CALLS", "1000"))
IN_FLIGHT = 16
MOST_MEMORY = 64 << 10  # KiB
MOST_GROWTH = 16 << 10  # KiB, from the first quarter to the end
SOURCE = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
NOT_COPIED = shutil.ignore_patterns(".git", "build", "node_modules", "__pycache__")

AT_FDCWD, RENAME_EXCHANGE = -100, 2


def swap_until_closed(project, outside, ending, told):
    """Exchanges each directory with a link that leads out, until the pipe `ending` is closed; makes anew
    what a call took away. Writes to `told` how often it swapped."""
    libc = ctypes.CDLL(None, use_errno=True)
    os.chdir(project)
    count = 0
    while not select.select([ending], [], [], 0)[0]:
        for number in range(4):
            real, link = f"swap{number}", f".swapped{number}"
            if libc.renameat2(AT_FDCWD, real.encode(), AT_FDCWD, link.encode(), RENAME_EXCHANGE) == 0:
                count += 1
                continue
            for make in (lambda: os.symlink(outside, link), lambda: os.mkdir(real)):
                try:
                    make()
                except OSError:
                    pass
    os.write(told, str(count).encode())


def state_of(*places):
    """Everything below these places: what it is, what is in it, and when it last changed."""
    seen = {}
    for place in places:
        for root, folders, files in os.walk(place):
            for name in [".", *folders, *files]:
                path = os.path.join(root, name)
                about = os.lstat(path)
                content = b""
                if os.path.isfile(path) and not os.path.islink(path):
                    with open(path, "rb") as file:
                        content = file.read()
                seen[path] = (about.st_mode, about.st_uid, about.st_nlink, about.st_mtime_ns,
                              about.st_ino, content)
    return seen


@support.as_each_user
class Day(peer.Served):

    def setUp(self):
        super().setUp()
        self.need_sandbox()
        shutil.rmtree(self.project)
        shutil.copytree(SOURCE, self.project, ignore=NOT_COPIED, symlinks=True)
        self.secret = os.urandom(16).hex()  # this project's tests hold the usual one
        for name in ("outside/file", "outside/deep/file", ".ssh/id_rsa"):
            self.write(name, self.secret)
        os.makedirs(self.path("logs"), mode=0o755)
        self.own()
        git = ["git", "-c", "init.defaultBranch=main", "-c", "user.name=a", "-c", "user.email=a@b"]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
            subprocess.run([*git, *words], cwd=self.project, check=True,
                           env=self.environment(), **self.as_user())
        self.files = [os.path.relpath(os.path.join(root, name), self.project)
                      for root, _, names in os.walk(self.project) for name in names
                      if "/.git" not in root]

    def swap(self):
        """The other process, until the returned function ends it; that says how often it swapped."""
        (ending, keep), (read, told) = os.pipe(), os.pipe()
        child = os.fork()  # an ordinary user may not be able to start this interpreter
        if child == 0:
            try:
                os.close(keep)
                if os.geteuid() == 0:
                    os.setgroups([])
                    os.setgid(self.gid)
                    os.setuid(self.uid)
                swap_until_closed(self.project, self.path("outside"), ending, told)
            finally:
                os._exit(0)
        os.close(ending)
        os.close(told)

        def end():
            os.close(keep)
            with os.fdopen(read, "rb") as count:
                swapped = count.read()
            os.waitpid(child, 0)
            return int(swapped)
        return end

    def one_call(self, dice):
        """The name and the arguments of one call."""
        swapped = f"swap{dice.randrange(4)}"
        path = dice.choice([dice.choice(self.files), dice.choice(self.files), f"{swapped}/file",
                            f".swapped{dice.randrange(4)}/file", f"{swapped}/deep/file"])
        made = f"{dice.choice(['made', 'src', swapped])}{dice.randrange(30)}"
        outside = dice.choice(["../outside/file", self.path("outside/file"), "../.ssh/id_rsa",
                               ".git/config", ".git/hooks/x", ".efferent/x"])
        calls = [
            (35, "read_file", {"path": path}),
            (14, "write_file", {"path": dice.choice([made, f"{swapped}/file", f"{swapped}/{made}"]),
                                "content": "written " * dice.randrange(2000)}),
            (6, "edit_file", {"path": dice.choice([made, f"{swapped}/file"]), "old_text": "written ",
                              "new_text": "edited ", "replace_all": True}),
            (9, "list_directory", {"path": dice.choice([".", swapped, "include/pinfold", f"{swapped}/deep"])}),
            (4, "find_files", {"pattern": dice.choice(["*.hpp", "file", "**/main.cpp"])}),
            (3, "search_text", {"pattern": dice.choice(["namespace \\w+", "^[0-9a-f]{32}$"])}),
            (6, "move", {"from": dice.choice([made, f"{swapped}/file"]),
                         "to": dice.choice([f"made{dice.randrange(30)}", f"{swapped}/moved"]),
                         "overwrite": True}),
            (5, "remove", {"path": dice.choice([made, f"{swapped}/file", swapped, f"{swapped}/deep"]),
                           "recursive": True}),
            (4, "write_file", {"path": outside, "content": "escaped"}),
            (4, "read_file", {"path": outside}),
            (2, "move", {"from": made, "to": outside}),
            (1, "add_taint", {"label": "private_data"}),
            (2, "bash", {"command": dice.choice(["ls | head", "cat swap*/file .swapped*/file; true",
                                                 "echo escaped | tee swap*/file", "git status | head -3",
                                                 "rm -rf swap1/* .swapped2"])}),
        ]
        return dice.choices(calls, [weight for weight, *_ in calls])[0][1:]

    def memory(self, pid):
        """(resident now, at its highest), in KiB."""
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            told = dict(line.split(":", 1) for line in file)
        return int(told["VmRSS"].split()[0]), int(told["VmHWM"].split()[0])

    def test_a_thousand_mixed_calls_while_links_are_swapped(self):
        dice = random.Random(20261201)
        log = self.path("logs/audit")
        before = state_of(self.path("outside"), self.path("project-old"), self.path(".ssh"))
        swapped = self.swap()
        on = self.session("--audit", log)
        pending, answers, resident, slowest = {}, [], [], 0
        for number in range(CALLS):
            name, arguments = self.one_call(dice)
            pending[on.start_call(name, **arguments)] = (name, time.monotonic())
            while len(pending) >= IN_FLIGHT or (number == CALLS - 1 and pending):
                message = on.next()  # raises when none comes in time: a call hangs
                self.assertIsNotNone(message, "the server is gone")
                if "method" in message:
                    continue
                name, begun = pending.pop(message["id"])
                slowest = max(slowest, time.monotonic() - begun)
                answers.append((name, message))
            if number % 50 == 49:
                resident.append(self.memory(on.process.pid))
        times = swapped()
        self.assertEqual(on.end(), 0)
        self.check_answers(answers)
        self.assertEqual(state_of(self.path("outside"), self.path("project-old"), self.path(".ssh")),
                         before)
        self.assertGreater(times, CALLS / 10, "the links were hardly swapped")
        print(f"\n{len(answers)} calls, {times} swaps, slowest {slowest:.2f} s, "
              f"resident {resident[-1][0]} KiB, at most {resident[-1][1]} KiB", file=sys.stderr)
        if not support.is_sanitized():
            self.assertLess(resident[-1][1], MOST_MEMORY)
            quarter = resident[len(resident) // 4][0]
            self.assertLess(resident[-1][0] - quarter, MOST_GROWTH, resident)
        self.check_log(log, answers)

    def check_answers(self, answers):
        self.assertEqual(len(answers), CALLS)
        for name, message in answers:
            self.assertIn("result", message, (name, message))
            self.assertNotIn(self.secret, json.dumps(message), name)
        done = {name for name, message in answers if not message["result"].get("isError")}
        self.assertEqual(done, {"read_file", "write_file", "edit_file", "list_directory", "find_files",
                                "search_text", "move", "remove", "add_taint", "bash"})
        refused = sum(bool(message["result"].get("isError")) for _, message in answers)
        self.assertGreater(refused, CALLS / 20)

    def check_log(self, log, answers):
        told = self.pinfold("audit", "--json", log)
        self.assertEqual(told.code, 0, told.err)
        self.assertEqual(sum(told.json["calls"].values()), len(answers))
        self.assertEqual(told.json["unfinished"]["total"], 0)
        for part in ("written", "moved", "removed"):
            self.assertGreater(told.json[part]["total"], 0, part)
            for row in told.json[part]["rows"]:
                self.assertTrue(row["path"].startswith(self.project + "/"), row)
        self.assertGreater(told.json["refused"]["total"], CALLS / 20)
        with open(log, encoding="utf-8") as file:
            self.assertNotIn("escaped", file.read().replace("echo escaped", ""))


if __name__ == "__main__":
    unittest.main()
