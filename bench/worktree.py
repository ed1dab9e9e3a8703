#!/usr/bin/env python3
"""What a worktree costs beside git alone, in turns (A B A B) in one run on one repository.
  python3 bench/worktree.py PINFOLD DIRECTORY OUT [--files N] [--rounds N]
DIRECTORY is where the repository and the worktrees are made (a tmpfs). Writes worktree.json and, for a
plot, worktree.create and worktree.finish (round, ours, git's, in milliseconds) to OUT, prints a table,
and exits with 1 when a limit is not met."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

from report import Report


class Ground:
    def __init__(self, given):
        self.pinfold = given.pinfold
        self.parent = os.path.join(given.directory, "parent")
        self.env = {"PATH": "/usr/bin:/bin", "HOME": given.directory, "LANG": "C.UTF-8",
                    "GIT_CONFIG_NOSYSTEM": "1", "XDG_STATE_HOME": os.path.join(given.directory, "state")}
        self.theirs = os.path.join(given.directory, "theirs")

    def call(self, *words, cwd=None):
        return subprocess.run(words, cwd=cwd or self.parent, env=self.env, check=True,
                              stdout=subprocess.PIPE, text=True).stdout

    def timed(self, *words, cwd=None):
        begun = time.perf_counter()
        out = self.call(*words, cwd=cwd)
        return (time.perf_counter() - begun) * 1000, out

    def make(self, files):
        os.makedirs(self.parent)
        self.call("git", "init", "-q", "-b", "main")
        self.call("git", "config", "gc.auto", "0")
        for number in range(files):
            folder = os.path.join(self.parent, f"d{number // 100:03}")
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, f"f{number:05}"), "w", encoding="utf-8") as file:
                file.write(f"{number}\n" * 40)
        self.call("git", "add", ".")
        self.call("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "files")
        self.call("git", "gc", "-q")

    def ours(self, number):
        """Milliseconds of create and of finish."""
        created, out = self.timed(self.pinfold, "worktree", "create", "--name", f"w{number}")
        self.settle(out.strip())
        finished, out = self.timed(self.pinfold, "worktree", "finish", out.strip(), "--json")
        if json.loads(out)["end"] != "removed":
            raise SystemExit(f"it was kept: {out}")
        return created, finished

    def gits(self, number):
        """The same of `git worktree add`, and of `git status` and `git worktree remove`."""
        branch = f"b{number}"
        created, _ = self.timed("git", "worktree", "add", "-q", "-b", branch, self.theirs, "HEAD")
        self.settle(self.theirs)
        looked, out = self.timed("git", "status", "--porcelain", "--ignored=no", cwd=self.theirs)
        if out:
            raise SystemExit(f"git shows something: {out}")
        removed, _ = self.timed("git", "worktree", "remove", self.theirs)
        self.call("git", "branch", "-q", "-D", branch)
        return created, looked + removed

    @staticmethod
    def settle(tree):
        """A command has been at work there: the index is older than the second in which the files were
        written no more, and their names are known to the kernel."""
        subprocess.run(["find", tree, "-type", "f", "-newermt", "2100-01-01"], check=True)
        time.sleep(1.1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pinfold")
    parser.add_argument("directory")
    parser.add_argument("out")
    parser.add_argument("--files", type=int, default=20000)
    parser.add_argument("--rounds", type=int, default=11)
    given = parser.parse_args()
    ground = Ground(given)
    ground.make(given.files)
    git = subprocess.run(["git", "--version"], check=True, stdout=subprocess.PIPE, text=True)
    report = Report(git=git.stdout.strip(), files=given.files, rounds=given.rounds)
    ground.ours("warm"), ground.gits("warm")
    pairs = [(ground.ours(number), ground.gits(number)) for number in range(given.rounds)]
    for what, beside, at in (("create", "git worktree add", 0),
                             ("finish", "git status and git worktree remove", 1)):
        ratio = statistics.median(ours[at] / theirs[at] for ours, theirs in pairs)
        mine, gits = (statistics.median(side[at] for side in sides) for sides in zip(*pairs))
        report.add(f"worktree {what}, beside {beside}", ratio, 1.3,
                   f"{mine:.0f} ms beside {gits:.0f} ms")
        with open(f"{given.out}/worktree.{what}", "w", encoding="utf-8") as file:
            file.writelines(f"{number} {ours[at]:.1f} {theirs[at]:.1f}\n"
                            for number, (ours, theirs) in enumerate(pairs, 1))
    return report.end(f"{given.out}/worktree.json")


if __name__ == "__main__":
    sys.exit(main())
