"""Repositories outside that a file `.git` leads to: what is accepted, what can be read, and which of
them commits are refused in."""
import os
import shutil
import unittest

import tree
from ground import support


@support.as_each_user
class Read(tree.Worktree):
    def test_history_and_state_are_there_without_the_repository_being_writable(self):
        self.write("tree/one", "changed\n")
        out = self.inside("git status --porcelain; git diff --stat; git log --format=%s; "
                          "git show -s --format=%s main; git blame -s two", cwd=self.tree)
        for part in (" M one", "1 file changed", "two\none", "text"):
            self.assertIn(part, out)
        common = self.path("project/.git")
        before = self.files_of_repository()
        for act in ("git add one", "git commit -q --allow-empty -m x", f"touch {common}/x",
                    f"echo x >> {self.gitdir}/HEAD", f"rm {common}/config", f"touch {common}/objects/x"):
            self.assert_fails(act, cwd=self.tree, because="Read-only file system")
        self.assertEqual(self.files_of_repository(), before)

    def test_the_file_that_leads_there_is_read_only(self):
        before = self.read("tree/.git")
        for act in ("echo 'gitdir: evil' > .git", "rm -f .git", "mv .git g", "touch g && mv g .git"):
            self.assert_fails(act, cwd=self.tree)
        self.assertEqual(self.read("tree/.git"), before)

    def test_nothing_beside_the_repository_is_shown(self):
        self.assert_fails(f"ls {self.project}/one || ls {self.path('.ssh')}/id_rsa", cwd=self.tree)
        self.assertEqual(self.inside(f"ls -A {self.home} {self.project}", cwd=self.tree).split(),
                         [f"{self.home}:", "project", "tree", f"{self.project}:", ".git"])

    def test_it_is_there_with_the_minimal_root_and_in_mode_plan(self):
        for options in (("--root", "minimal"), ("--mode", "plan")):
            out = self.pinfold("run", *options, "--", "git", "log", "-1", "--format=%s", cwd=self.tree)
            self.assertEqual(out.out, "two\n", out)

    def test_a_file_that_no_repository_knows_of_is_refused_whatever_is_there(self):
        os.mkdir(self.path("forged"))
        shutil.copytree(self.path("project-old"), self.path("copied"))
        shutil.copy(self.path("tree/.git"), self.path("copied/.git"))
        os.makedirs(self.path("fake/worktrees/forged"))
        for name, text in (("commondir", "../../../project/.git\n"),
                           ("gitdir", self.path("forged/.git") + "\n"), ("HEAD", "ref: refs/heads/x\n")):
            self.write(f"fake/worktrees/forged/{name}", text)
        os.symlink(self.gitdir, self.path("way"))
        self.own()
        told = set()
        for leads_to in (self.gitdir, self.project + "/.git", "/nowhere", self.path("nowhere"),
                         self.path("fake/worktrees/forged"), self.path("way"), "../project/.git",
                         self.path(".ssh"), self.path("fake/worktrees")):
            with self.subTest(leads_to=leads_to):
                self.write("forged/.git", f"gitdir: {leads_to}\n")
                self.own()
                record = self.record("--", "touch", "started", cwd=self.path("forged"))
                self.assertEqual(record["refusal"]["error"], "GitdirOutside", record)
                told.add(record["refusal"]["message"])
        self.assertEqual(len(told), 1, told)
        self.assert_refused("GitdirOutside", "--", "true", cwd=self.path("copied"))
        self.assertFalse(os.path.exists(self.path("forged/started")))

    def test_a_worktree_that_was_moved_by_hand_is_refused_until_it_is_mended(self):
        os.rename(self.tree, self.path("moved"))
        self.assert_refused("GitdirOutside", "--", "true", cwd=self.path("moved"))
        self.host("worktree", "repair", self.path("moved"))
        self.assertEqual(self.inside("git log -1 --format=%s", cwd=self.path("moved")), "two\n")

    def test_explain_says_so(self):
        told = self.pinfold("explain", "--", "true", cwd=self.tree).out
        self.assertIn("nothing can be committed but with --git-commit", told)
        self.write("tree/.git", "gitdir: /nowhere\n")
        self.own()
        told = self.pinfold("explain", "--", "true", cwd=self.tree)
        self.assertEqual(told.code, 125)
        self.assertIn("git worktree repair", told.err)


@support.as_each_user
class Refused(tree.Worktree):
    """Where a command may not commit, it is said before anything starts, and nothing is made."""

    def assert_no_commits(self, error, *words, at=None, reads=True):
        before = self.files_of_repository()
        self.assert_refused(error, "--git-commit", *words, "--", "true", cwd=at or self.tree)
        self.assertEqual((self.files_of_repository(), self.kept()), (before, []))
        if reads:
            self.assertIn("two", self.inside("git log --format=%s", cwd=at or self.tree))

    def test_outside_of_a_linked_worktree(self):
        self.assert_no_commits("InvalidArgument", at=self.project)
        self.assert_no_commits("InvalidArgument", at=self.path("project-old"), reads=False)

    def test_on_another_branch_or_on_none(self):
        for words in (("-b", "feature"), ("-b", "pinfold/work"), ("-b", "pinfold/a/b/work"),
                      ("-b", "pinfold/n/other"), ("--detach",)):
            self.host("checkout", "-q", *words, at=self.tree)
            self.assert_no_commits("InvalidArgument")

    def test_while_something_is_under_way(self):
        self.host("-c", "sequence.editor=sed -i 1ibreak", "rebase", "-i", "HEAD~1", at=self.tree)
        self.assert_no_commits("InvalidArgument", reads=False)  # HEAD is on no branch
        self.host("rebase", "--abort", at=self.tree)
        self.commit_on_host("three")
        self.host("merge", "--no-commit", "--no-ff", "main", at=self.tree)
        self.assert_no_commits("NotEnforceable")

    def test_where_nothing_may_be_written_or_nothing_is_held(self):
        self.assert_no_commits("ModeForbidsWriting", "--mode", "plan")
        self.assert_no_commits("NotEnforceable", "--no-sandbox")

    def test_in_a_repository_that_stores_things_otherwise(self):
        for key, value in (("refStorage", "reftable"), ("partialClone", "origin"), ("other", "x")):
            self.host("config", "core.repositoryFormatVersion", "1")
            self.host("config", f"extensions.{key}", value)
            self.assert_no_commits("NotEnforceable", reads=key == "partialClone")
            with open(self.path("project/.git/config"), encoding="utf-8") as file:
                lines = [line for line in file if key.lower() not in line.lower()]
            self.write("project/.git/config", "".join(lines))
            self.own()

    def test_in_one_that_borrows_objects(self):
        self.write("project/.git/objects/info/alternates", self.path("project/.git/objects") + "\n")
        self.own()
        self.assert_no_commits("NotEnforceable")

    def test_in_a_sparse_checkout_which_can_be_read(self):
        self.host("sparse-checkout", "set", "--no-cone", "/one", at=self.tree)
        self.assertEqual(self.inside("git status --porcelain; ls", cwd=self.tree), "one\n")
        self.assert_no_commits("NotEnforceable")

    def test_with_files_in_lfs_but_pointers_are_files_like_others(self):
        self.write("project/.gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
        self.write("project/big.bin", "version https://git-lfs.github.com/spec/v1\n"
                   f"oid sha256:{'a' * 64}\nsize 12345\n")
        self.commit_on_host("attributes")
        self.host("merge", "-q", "main", at=self.tree)
        self.assertEqual(self.inside("git status --porcelain", cwd=self.tree), "")
        self.assert_imported(self.commits("echo x > new && git add . && git commit -q -m x"))
        self.assertEqual(self.host("diff", "--name-only", "main", tree.BRANCH), "new")
        os.makedirs(self.path("project/.git/lfs/objects"))
        self.own()
        self.assert_no_commits("NotEnforceable")

    def test_with_submodules_that_are_checked_out(self):
        self.host("init", "-q", "-b", "main", at=self.path("project-old"))
        self.commit_on_host("two", at=self.path("project-old"))
        self.host("-c", "protocol.file.allow=always", "submodule", "--quiet", "add",
                  self.path("project-old"), "sub")
        self.host("commit", "-q", "-m", "sub")
        self.host("merge", "-q", "main", at=self.tree)
        self.assert_imported(self.commits("git status --porcelain; echo x > new; git add new; "
                                          "git commit -q -m x"))
        self.host("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init",
                  at=self.tree)
        self.assert_no_commits("NotEnforceable")
        self.assertIn("two", self.inside("git -C sub log --format=%s", cwd=self.tree))
        # A submodule as the workspace: its repository names it as its tree.
        sub = self.path("project/sub")
        self.assertIn("two", self.inside("git log --format=%s; git status --porcelain", cwd=sub))
        self.assert_no_commits("InvalidArgument", at=sub)


@support.as_each_user
class Kinds(tree.Worktree):
    """Kinds of repositories in which commits work."""

    def make_repository(self):
        self.host("init", "-q", "-b", "main", *self.words_of_init())
        for name in ("one", "two"):
            self.commit_on_host(name)

    def words_of_init(self):
        return ("--object-format=sha256",) if "sha256" in self.id() else ()

    def test_names_of_sha256(self):
        self.assert_imported(self.commits("echo x > new && git add new && git commit -q -m new"))
        self.assertEqual(len(self.host("rev-parse", tree.BRANCH)), 64)

    def test_a_branch_that_is_packed(self):
        self.host("pack-refs", "--all")
        self.host("gc", "-q", "--prune=now")
        self.assertFalse(os.path.exists(self.path("project/.git/refs/heads/pinfold/n/work")))
        shutil.rmtree(self.path("project/.git/refs/heads/pinfold"), ignore_errors=True)
        self.assert_imported(self.commits("echo x > new && git add new && git commit -q -m new"))

    def test_a_shallow_clone(self):
        clone = self.path("clone")
        self.host("clone", "-q", "--depth", "1", "file://" + self.project, clone)
        self.host("worktree", "add", "-q", "-b", tree.BRANCH, self.path("shallow"), at=clone)
        came = self.commits("git log --oneline && echo x > new && git add new && git commit -q -m new",
                            at=self.path("shallow"))
        self.assertEqual((came["ended"], came["count"]), ("imported", 1), came)
        self.assertEqual(self.host("fsck", "--full", at=clone), "")
        self.assertEqual(self.host("log", "--format=%s", tree.BRANCH, at=clone), "new\ntwo")

    def test_a_bare_repository(self):
        bare = self.path("bare.git")
        self.host("clone", "-q", "--bare", self.project, bare)
        self.host("branch", "-D", tree.BRANCH, at=bare)
        self.host("worktree", "add", "-q", "-b", tree.BRANCH, self.path("of-bare"), "main", at=bare)
        came = self.commits("echo x > new && git add new && git commit -q -m new",
                            at=self.path("of-bare"))
        self.assertEqual(came["ended"], "imported", came)
        self.assertEqual(self.host("fsck", "--full", at=bare), "")

    def test_another_users_repository_can_be_read_by_root_and_not_committed_to(self):
        if os.geteuid() != 0 or self.uid != 0:
            self.skipTest("only root can run in somebody else's folder")
        uid, gid = support.ordinary_user()
        for root, folders, files in os.walk(self.home):
            for name in (root, *(os.path.join(root, one) for one in folders + files)):
                os.lchown(name, uid, gid)
        os.chmod(self.home, 0o755)
        for root, folders, _ in os.walk(self.tree):
            os.chmod(root, 0o777)
        self.assertEqual(self.inside("git log -1 --format=%s", "--no-cache", cwd=self.tree), "two\n")
        state = self.open_directory()
        os.chmod(state, 0o700)
        record = self.record("--git-commit", "--no-cache", "--", "true", cwd=self.tree,
                             env=self.environment(XDG_STATE_HOME=state))
        self.assertEqual(record["refusal"]["error"], "PermissionDenied", record)
        self.assertIn("another user owns the repository", record["refusal"]["message"])


if __name__ == "__main__":
    unittest.main()
