"""`pinfold worktree finish NAME`, and the cache that goes with a worktree."""
import os
import unittest

import ground
from ground import support


@support.as_each_user
class Names(ground.Repository):
    def test_a_name_that_only_one_worktree_has_is_enough(self):
        path = self.create()["path"]
        answer = self.worktree("finish", "fix", "--json")
        self.assertEqual((answer.code, answer.json["path"], answer.json["end"]), (0, path, "removed"))

    def test_a_name_that_none_has_is_refused(self):
        self.create()
        self.assertIn("no worktree has this name", self.refused("NotFound", "finish", "fox")["message"])

    def test_a_name_that_worktrees_of_two_repositories_have_is_refused(self):
        made = [self.create()["path"]]
        other = self.path("other")
        self.git("clone", "-q", self.project, other)
        made.append(self.create("fix", "--repo", other)["path"])
        self.assertIn("give the path", self.refused("InvalidArgument", "finish", "fix")["message"])
        self.assertEqual([os.path.isdir(path) for path in made], [True, True])


@support.as_each_user
class Caches(ground.Repository):
    def caches(self):
        place = self.path(".cache/pinfold")
        return os.listdir(place) if os.path.isdir(place) else []

    def filled(self, path):
        """A run in the worktree leaves something in its cache, hard to remove."""
        answer = self.pinfold("run", "--workspace", path, "-c",
                              "mkdir -p ~/.cache/a/b && echo x >~/.cache/a/b/c && chmod 555 ~/.cache/a/b "
                              "&& ln -s / ~/.cache/root")
        self.assertEqual(answer.code, 0, answer)

    def test_the_cache_of_a_worktree_that_is_removed_goes_with_it(self):
        made = self.create()
        before = self.caches()
        self.filled(made["path"])
        self.assertEqual(len(self.caches()), len(before) + 1)
        self.assertEqual(self.finish(made)["end"], "removed")
        self.assertEqual(self.caches(), before)

    def test_that_of_one_that_is_kept_stays_and_so_do_others(self):
        self.filled(self.project)
        made = self.create()
        self.filled(made["path"])
        self.put("new", "x\n", made["path"])
        before = self.caches()
        self.assertEqual((len(before), self.finish(made)["end"]), (2, "kept"))
        self.assertEqual(self.caches(), before)

    def test_a_cache_that_cannot_be_removed_is_told_of(self):
        made = self.create()
        self.filled(made["path"])
        os.chmod(self.path(".cache/pinfold"), 0o755)
        done = self.finish(made)
        self.assertEqual(done["end"], "removed")
        self.assertIn("its cache is left in", done["summary"])


if __name__ == "__main__":
    unittest.main()
