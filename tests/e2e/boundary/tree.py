"""A linked worktree of a repository in a hidden home, for the tests of git inside. Nothing here decides
a test."""
import hashlib
import os
import subprocess

import git_test
import ground

BRANCH = "pinfold/n/work"


class Worktree(ground.Boundary):
    """`project` with two commits on main, and `tree` beside it on the branch pinfold/n/work."""

    def setUp(self):
        super().setUp()
        self.write(".gitconfig", "[user]\n\tname = n\n\temail = e@x\n")
        self.own()
        self.make_repository()
        self.tree = self.path("tree")
        self.host("worktree", "add", "-q", "-b", BRANCH, self.tree)
        self.gitdir = self.path("project/.git/worktrees/tree")

    def make_repository(self):
        self.host("init", "-q", "-b", "main")
        for name in ("one", "two"):
            self.commit_on_host(name)

    def commit_on_host(self, name, at=None, text="text\n"):
        at = at or self.project
        with open(os.path.join(at, name), "w", encoding="utf-8") as file:
            file.write(text)
        self.own()
        self.host("add", ".", at=at)
        self.host("commit", "-q", "-m", name, at=at)

    def host(self, *words, at=None, ok=True):
        done = subprocess.run(["git", *words], cwd=at or self.project, env=self.environment(),
                              capture_output=True, check=False, **self.as_user())
        if ok:
            self.assertEqual(done.returncode, 0, done)
        return done.stdout.decode().strip()

    def run_git(self, script, *options, at=None, ended="exited", **more):
        """The record of a script inside that may commit."""
        record = self.record("--git-commit", *options, "-c", script, cwd=at or self.tree, **more)
        self.assertEqual(record["ended"], ended, record)
        return record

    def commits(self, script, *options, **more):
        """What came of the commits of a script that must succeed."""
        record = self.run_git(script, *options, **more)
        self.assertEqual(record["exit_code"], 0, record)
        return record["commits"]

    def assert_imported(self, came, count=1, rewritten=False):
        seen = (came["ended"], came["count"], came["rewritten"], came["reason"], came["kept"])
        self.assertEqual(seen, ("imported", count, rewritten, None, None), came)
        self.assertEqual(self.host("rev-parse", BRANCH), came["after"])
        self.assert_clean()

    def assert_not_imported(self, came, *reasons, ended="refused"):
        """Nothing of the repository changed, and what was made is kept."""
        self.assertEqual(came["ended"], ended, came)
        for reason in reasons:
            self.assertRegex(came["reason"], reason)
        self.assertTrue(os.path.isdir(came["kept"] + "/private/objects"), came)
        self.assertFalse(os.path.exists(came["kept"] + "/import"), came)
        self.assert_clean()

    def assert_clean(self):
        """git fsck of the parent, and no leftovers of an import."""
        said = subprocess.run(["git", "fsck", "--full", "--strict", "--no-dangling"],
                              cwd=self.project, env=self.environment(), check=False,
                              capture_output=True, **self.as_user())
        self.assertEqual((said.returncode, said.stdout), (0, b""), said)
        packs = os.listdir(self.path("project/.git/objects/pack"))
        self.assertEqual([name for name in packs if name.endswith(".keep") or "tmp" in name], [])

    def refs(self):
        """Every ref but the branch, and HEAD of the main tree."""
        lines = self.host("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return [line for line in lines if BRANCH not in line] + [self.read("project/.git/HEAD")]

    def files_of_repository(self):
        """Name and content of every file of the repository, as digests."""
        seen = {}
        for root, _, files in os.walk(self.path("project/.git")):
            for name in files:
                at = os.path.join(root, name)
                with open(at, "rb") as file:
                    seen[at] = hashlib.sha256(file.read()).hexdigest()
        return seen

    def kept(self):
        root = self.path(".local/state/pinfold/commits")
        return sorted(os.listdir(root)) if os.path.isdir(root) else []


__all__ = ["Worktree", "BRANCH", "git_test"]
