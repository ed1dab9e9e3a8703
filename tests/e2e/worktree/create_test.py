"""`pinfold worktree create`: cut from a commit, apart from the parent, or refused with nothing made."""
import os
import shutil
import subprocess
import unittest

import ground
from ground import support


@support.as_each_user
class Create(ground.Repository):
    def test_a_worktree_is_cut_from_head_on_a_branch_of_its_own_outside_the_parent(self):
        made = self.create()
        head = self.git("rev-parse", "HEAD")
        self.assertEqual(made["branch"], "pinfold/fix/work")
        self.assertEqual((made["base"], made["parent"], made["parent_branch"]),
                         (head, self.project, "refs/heads/main"))
        self.assertTrue(made["path"].startswith(self.place() + "/"), made)
        self.assertEqual(os.path.basename(made["path"]), "project")
        self.assertEqual(self.text("src/main.c", made["path"]), "int main(){}\n")
        self.assertEqual(self.git("status", "--porcelain", "-b", cwd=made["path"]),
                         "## pinfold/fix/work")
        self.assertIn(f"worktree {made['path']}\nHEAD {head}\nbranch refs/heads/pinfold/fix/work",
                      self.git("worktree", "list", "--porcelain"))
        self.assert_sound()

    def test_a_person_halfway_through_an_edit_is_never_at_risk(self):
        self.put("one", "half an edit\n")
        self.put("staged", "staged\n")
        self.git("add", "staged")
        self.put("new", "untracked\n")
        before = self.state()
        files = {name: self.text(name) for name in ("one", "staged", "new")}
        made = self.create()
        self.assertEqual(self.text("one", made["path"]), "one\n")
        for name in ("staged", "new"):
            self.assertFalse(os.path.exists(os.path.join(made["path"], name)), name)
        self.assertEqual(self.finish(made)["end"], "removed")
        self.assertEqual(self.state(), before)
        self.assertEqual({name: self.text(name) for name in files}, files)

    def test_nothing_can_be_read_by_others_on_the_way_to_it(self):
        made = self.create()
        at = os.path.dirname(made["path"])
        while at != self.path(".local/state"):
            self.assertEqual(os.stat(at).st_mode & 0o077, 0, at)
            at = os.path.dirname(at)

    def test_a_name_is_found_where_none_is_given(self):
        rows = [self.worktree("create", "--json").json for _ in range(2)]
        self.assertNotEqual(rows[0]["name"], rows[1]["name"])
        self.assertEqual(self.worktree("create", "--name", "x").out.strip(),
                         self.worktree("list", "--json").json["worktrees"][-1]["path"])

    def test_it_is_cut_from_a_folder_of_the_parent_and_from_a_worktree_too(self):
        self.assertEqual(self.create("sub", cwd=self.path("project/src"))["parent"], self.project)
        self.assertEqual(self.create("repo", "--repo", "project", cwd=self.home)["parent"],
                         self.project)
        first = self.create("first")
        self.put("one", "more\n", first["path"])
        self.git("commit", "-qam", "more", cwd=first["path"])
        second = self.create("second", cwd=first["path"])
        self.assertEqual(self.text("one", second["path"]), "more\n")
        self.assertEqual((second["parent"], second["parent_branch"]),
                         (first["path"], "refs/heads/pinfold/first/work"))

    def test_a_parent_on_no_branch_has_a_commit_all_the_same(self):
        self.git("checkout", "-q", "--detach")
        made = self.create()
        self.assertEqual((made["base"], made["parent_branch"]),
                         (self.git("rev-parse", "HEAD"), None))
        self.assertEqual(self.finish(made)["end"], "removed")

    def under_way(self, start):
        """git itself makes a worktree while a merge or a rebase waits for a person, so pinfold does."""
        self.git("checkout", "-qb", "other")
        self.put("one", "other\n")
        self.git("commit", "-qam", "other")
        self.git("checkout", "-q", "main")
        self.put("one", "main\n")
        self.git("commit", "-qam", "main")
        self.assertNotEqual(self.try_git(*start).returncode, 0)
        self.git("worktree", "add", "-q", "-b", "control", self.path("control"), "HEAD")
        self.git("worktree", "remove", self.path("control"))
        before = self.state()
        made = self.create()
        self.assertEqual(made["base"], self.git("rev-parse", "HEAD"))
        self.assertEqual(self.finish(made)["end"], "removed")
        self.assertEqual(self.state(), before)

    def test_a_merge_under_way_in_the_parent_stays_as_it_is(self):
        self.under_way(("merge", "other"))
        self.assertTrue(os.path.exists(self.path("project/.git/MERGE_HEAD")))

    def test_a_rebase_under_way_in_the_parent_stays_as_it_is(self):
        self.under_way(("rebase", "other"))
        self.assertTrue(os.path.exists(self.path("project/.git/rebase-merge")))

    def test_a_shallow_clone_and_one_with_longer_names_of_objects_have_worktrees(self):
        self.put("one", "two\n")
        self.git("commit", "-qam", "second")
        self.git("clone", "-q", "--depth", "1", f"file://{self.project}", self.path("shallow"))
        self.git("init", "-q", "--object-format=sha256", self.path("long"))
        self.put("file", "x\n", self.path("long"))
        self.git("add", ".", cwd=self.path("long"))
        self.git("commit", "-qm", "x", cwd=self.path("long"))
        for name in ("shallow", "long"):
            with self.subTest(name=name):
                made = self.create(name, cwd=self.path(name))
                self.put("new", "x\n", made["path"])
                self.git("add", ".", cwd=made["path"])
                self.git("commit", "-qm", "new", cwd=made["path"])
                done = self.finish(made)
                self.assertEqual((done["end"], done["commits"]), ("removed", 1), done)

    def test_a_sparse_parent_has_whole_worktrees(self):
        self.put("other/file", "x\n")
        self.git("add", ".")
        self.git("commit", "-qm", "other")
        self.git("sparse-checkout", "set", "src")
        self.assertFalse(os.path.exists(self.path("project/other")))
        made = self.create()
        self.assertEqual(self.text("other/file", made["path"]), "x\n")
        self.assertEqual(self.finish(made)["end"], "removed")

    def test_a_file_of_git_lfs_is_its_pointer_and_nothing_is_downloaded(self):
        pointer = ("version https://git-lfs.github.com/spec/v1\n"
                   f"oid sha256:{'0' * 64}\nsize 3\n")
        self.put("big", pointer)
        self.git("add", "big")
        self.put(".gitattributes", "big filter=lfs -text\n")
        self.git("add", ".gitattributes")
        self.git("commit", "-qm", "big")
        made = self.create()
        self.assertEqual(self.text("big", made["path"]), pointer)
        self.assertEqual(self.finish(made)["end"], "removed")


@support.as_each_user
class Refused(ground.Repository):
    def assert_nothing_made(self, error, *words, **more):
        before, refs = self.tree(), self.git("for-each-ref")
        why = self.refused(error, "create", *words, **more)
        made = {path for path in self.tree() if path not in before}
        self.assertEqual([path for path in made if not os.path.isdir(path)], [])
        self.assertEqual(self.left(), [name for name in self.left() if name in ("fix",)])
        self.assertEqual(self.git("for-each-ref"), refs)
        self.assert_sound()
        return why

    def test_where_there_is_no_commit_of_a_repository_with_a_work_tree(self):
        self.git("init", "-q", self.path("empty"))
        self.git("clone", "-q", "--bare", ".", self.path("bare.git"))
        self.git("init", "-q", "--bare", self.path("bare.empty"))
        rows = {"outside of any": self.path("project-old"), "bare": self.path("bare.git"),
                "bare and empty": self.path("bare.empty"), "no commit yet": self.path("empty"),
                ".git itself": self.path("project/.git"), "not there": self.path("nothing"),
                "a file": self.path("project/one")}
        for what, where in rows.items():
            with self.subTest(what=what):
                error = "GitFailed" if what in ("not there", "a file") else "NoRepository"
                self.assert_nothing_made(error, "--name", "fix", "--repo", where)

    def test_a_name_that_exists(self):
        self.git("branch", "pinfold/branch/work")
        self.git("branch", "pinfold/folder/work/deeper")
        self.create()
        for name in ("fix", "branch", "folder"):
            with self.subTest(name=name):
                self.assert_nothing_made("AlreadyExists", "--name", name)

    def test_a_name_that_cannot_be_one(self):
        for name in ("a/b", "..", ".x", "-x", "a..b", "a.lock", "a.", "a b", "ä", "x" * 65, "a\nb"):
            with self.subTest(name=name):
                self.assert_nothing_made("InvalidArgument", f"--name={name}")

    def test_a_place_in_the_parents_own_tree(self):
        for where in (self.path("project/state"), self.path("project/.git/state")):
            with self.subTest(where=where):
                self.assert_nothing_made("InvalidArgument", "--name", "fix",
                                         env=self.environment(XDG_STATE_HOME=where))

    def test_a_place_that_others_may_write_to_or_enter(self):
        os.makedirs(self.path("state/pinfold/worktrees"))
        self.own()
        for mode in (0o777, 0o755):
            os.chmod(self.path("state/pinfold/worktrees"), mode)
            self.assert_nothing_made("PermissionDenied", "--name", "fix",
                                     env=self.environment(XDG_STATE_HOME=self.path("state")))

    def test_a_caller_without_a_home(self):
        env = self.environment()
        del env["HOME"]
        self.assert_nothing_made("InvalidArgument", "--name", "fix", env=env)

    def test_a_repository_whose_branches_are_no_files(self):
        self.git("config", "extensions.refStorage", "reftable")
        why = self.refused("NotEnforceable", "create", "--name", "fix")
        self.assertIn("reftable", why["message"])
        self.git("config", "--unset", "extensions.refStorage")
        self.assertEqual(self.left(), [])

    def test_a_link_where_git_would_write_is_not_written_through(self):
        os.makedirs(self.path("elsewhere"))
        os.symlink(self.path("elsewhere"), self.path("project/.git/refs/heads/pinfold"))
        self.own()
        self.assert_nothing_made("NoRepository", "--name", "fix")
        self.assertEqual(os.listdir(self.path("elsewhere")), [])

    def test_a_partial_clone_that_lacks_a_file_of_the_commit(self):
        self.git("config", "uploadpack.allowFilter", "true")
        self.git("clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{self.project}",
                 self.path("partial"))
        why = self.assert_nothing_made("GitFailed", "--name", "fix", "--repo", self.path("partial"))
        self.assertIn("writing the files of its commit", why["message"])

    def test_a_repository_of_somebody_else(self):
        if os.geteuid() != 0 or self.uid != 0:
            self.skipTest("only root can give one away")
        shutil.copytree(self.project, self.path("theirs"), symlinks=True)
        subprocess.run(["chown", "-R", "12345", self.path("theirs")], check=True)
        why = self.assert_nothing_made("NoRepository", "--name", "fix", "--repo",
                                       self.path("theirs"))
        self.assertIn("ownership", why["message"])

    def test_bad_usage_is_one_line(self):
        rows = [(), ("mend",), ("create", "path"), ("finish",), ("list", "path"),
                ("list", "--name", "x"), ("finish", "x", "--repo", "y"), ("create", "--name", ""),
                ("create", "--no-such-option")]
        before = self.tree()
        for words in rows:
            with self.subTest(words=words):
                answer = self.worktree(*words)
                self.assertEqual(answer.code, 2, answer)
                self.assert_one_line(answer.err)
        self.assertEqual(self.tree(), before)


if __name__ == "__main__":
    unittest.main()
