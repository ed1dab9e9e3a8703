"""What git on the host runs or obeys later cannot be changed from inside; daily git work goes on."""
import os
import subprocess
import unittest

import ground
from ground import support

DOORS = ("hooks", "config", "info", "worktrees", "commondir")


class Checkout(ground.Boundary):
    """A checkout with two commits, made by the user of the test."""

    def setUp(self):
        super().setUp()
        self.write(".gitconfig", '[user]\n\tname = Ada \\"L\\" Lovelace\n\temail = ada@example.org\n')
        self.own()
        self.host_git("init", "-q", "-b", "main")
        for name in ("one", "two"):
            self.write(f"project/{name}", f"{name}\n")
            self.own()
            self.host_git("add", ".")
            self.host_git("commit", "-q", "-m", name)

    def host_git(self, *words):
        done = subprocess.run(["git", *words], cwd=self.project, env=self.environment(),
                              capture_output=True, check=False, **self.as_user())
        self.assertEqual(done.returncode, 0, done)
        return done.stdout.decode().strip()

    def git_files(self):
        """What the doors hold, as the host sees it."""
        seen = {}
        for door in DOORS:
            at = self.path("project/.git", door)
            for root, _, files in os.walk(at):
                seen.update({os.path.join(root, f): self.read(os.path.join(root, f))
                             for f in files})
            if os.path.isfile(at):
                seen[at] = self.read(at)
        return seen


@support.as_each_user
class Doors(Checkout):
    def test_hooks_and_config_and_their_like_are_read_only(self):
        self.inside("true")
        before = self.git_files()
        for act in ("echo x > .git/hooks/pre-commit", "echo x >> .git/config",
                    "git config core.fsmonitor 'touch pwned'", "echo '* filter=x' > .git/info/attributes",
                    "echo ../x > .git/commondir", "mkdir -p .git/worktrees/x",
                    "rm -rf .git/hooks", "rm -f .git/config", "rm -f .git/commondir",
                    "echo x > t && mv t .git/config", "mkdir h && mv -T h .git/hooks",
                    "mv .git/hooks .git/old", "mv .git/config .git/old", "mv .git/info .git/old",
                    "ln -sfn /tmp .git/hooks", "ln -sf /tmp/x .git/config",
                    "chmod 777 .git/hooks", "chmod 666 .git/config",
                    "git worktree add ../project/linked", "git remote add evil https://example.org"):
            self.assert_fails(act)
        self.assertEqual(self.git_files(), before)

    def test_git_itself_cannot_be_moved_or_replaced(self):
        for act in ("mv .git g", "rm -rf .git", "mkdir g && mv -T g .git", "ln -sfnT src .git",
                    "python3 -c 'import os; os.rename(\".git\", \"g\")'"):
            self.assert_fails(act)
        self.assertTrue(os.path.isfile(self.path("project/.git/config")))

    def test_state_that_is_absent_at_the_start_cannot_be_made(self):
        for name in ("hooks", "info"):
            subprocess.run(["rm", "-rf", self.path("project/.git", name)], check=True)
        self.assert_fails("mkdir -p .git/hooks && echo x > .git/hooks/pre-commit",
                          because="Read-only file system")
        self.assert_fails("mkdir -p .git/info && echo x > .git/info/attributes",
                          because="Read-only file system")
        self.host_git("status")

    def test_a_git_file_of_a_linked_worktree_is_read_only(self):
        linked = self.path("project/linked")
        self.host_git("worktree", "add", "-q", linked)
        for act in ("echo 'gitdir: evil' > .git", "mv .git g", "rm -f .git",
                    "echo x > g && mv g .git"):
            self.assert_fails(act, cwd=linked)
        self.assertIn("worktrees/linked", self.read("project/linked/.git"))

    def test_doors_that_are_links_or_of_the_wrong_kind_are_refused_before_the_start(self):
        for door in DOORS:
            at, kept = self.path("project/.git", door), self.path("kept")
            self.inside("true")
            os.rename(at, kept)
            for make in (lambda: os.symlink("nowhere", at), lambda: os.symlink(kept, at),
                         lambda: os.mkfifo(at)):
                with self.subTest(door=door):
                    make()
                    self.own()
                    self.assert_refused("CarveOutUnusable", "-c", "touch started")
                    self.assertFalse(os.path.exists(self.path("project/started")))
                    os.unlink(at)
            os.rename(kept, at)
        os.rename(self.path("project/.git"), self.path("kept"))
        os.symlink("../kept", self.path("project/.git"))
        self.own()
        self.assert_refused("CarveOutUnusable", "--", "true")

    def test_two_runs_leave_the_repository_as_git_knows_it(self):
        self.inside("true")
        self.inside("git status")
        self.assertEqual(self.host_git("status", "--porcelain"), "")
        self.host_git("fsck", "--strict")
        self.assertEqual(self.read("project/.git/commondir"), ".\n")


WORK = """
set -e
git checkout -q -b work
echo a > a; git add a; git commit -q -m a
git commit -q --amend -m amended
echo b >> one; git stash -q; test "$(cat one)" = one; git stash pop -q; git commit -q -a -m b
git tag -a v1 -m v1
git checkout -q main; echo c > c; git add c; git commit -q -m c
git merge -q --no-edit work
git checkout -q work; git rebase -q main
git checkout -q -b again HEAD~1; echo d > d; git add d; git commit -q -m d; git rebase -q work
git cherry-pick --allow-empty -x main >/dev/null 2>&1 || git cherry-pick --skip 2>/dev/null || true
git reset -q --hard HEAD
touch junk; git clean -fq
git gc -q
git worktree list | grep -q main || git worktree list | grep -q again
git log --format='%an <%ae>' -1
git status --porcelain
git branch -D work >/dev/null
git branch gone; git branch -d gone >/dev/null
git notes add -m noted; git notes show >/dev/null
git bisect start HEAD HEAD~1 >/dev/null 2>&1; git bisect reset >/dev/null 2>&1
git show HEAD >/dev/null; git blame one >/dev/null; git describe --all >/dev/null
git reflog | head -1 >/dev/null
git diff HEAD~1 >/dev/null
"""


@support.as_each_user
class Work(Checkout):
    def test_daily_git_work_goes_on_inside_under_the_callers_name(self):
        out = self.inside(WORK)
        self.assertEqual(out.splitlines()[0], 'Ada "L" Lovelace <ada@example.org>')
        self.host_git("fsck", "--strict")
        self.assertEqual(self.host_git("log", "-1", "--format=%s"), "d")
        self.assertEqual(self.host_git("rev-parse", "--abbrev-ref", "HEAD"), "again")

    def test_what_has_to_write_the_configuration_fails_with_gits_own_words(self):
        for act in ("git branch -m main other", "git remote add origin https://example.org/x",
                    "git sparse-checkout init", "git config user.name evil", "git init -q ."):
            self.assert_fails(act, because="(?i)config|read-only")
        self.host_git("fsck", "--strict")

    def test_the_callers_own_configuration_does_not_come_along(self):
        with open(self.path(".gitconfig"), "a", encoding="utf-8") as file:
            file.write(f"[alias]\n\tsecret = !echo {support.SECRET}\n[credential]\n\thelper = store\n")
        out = self.inside("git config --global --list")
        self.assertEqual(sorted(out.splitlines()),
                         sorted(['user.name=Ada "L" Lovelace', "user.email=ada@example.org",
                                 f"safe.directory={self.project}"]))

    def test_a_new_repository_in_a_plain_folder_can_be_made_and_used(self):
        os.makedirs(self.path("project/fresh"))
        self.own()
        self.inside("git init -q && echo x > f && git add f && git commit -q -m x && git log",
                    cwd=self.path("project/fresh"))


if __name__ == "__main__":
    unittest.main()
