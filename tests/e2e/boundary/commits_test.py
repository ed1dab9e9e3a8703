"""Commits in a linked worktree (--git-commit): what is made inside comes into the repository when it
is sound, and nothing else of the repository moves."""
import os
import signal
import subprocess
import unittest

import ground
import tree
from ground import support

COMMIT = "echo x > new && git add new && git commit -q -m new"
# A commit with this tree and these parents, put on the branch by hand.
PUT = 'printf "%s\\n" "$c" > "$(git rev-parse --git-common-dir)/refs/heads/pinfold/n/work"'

FORGE = """
import os, subprocess, zlib
def git(*words, text=b""):
    done = subprocess.run(["git", *words], input=text, check=True, stdout=subprocess.PIPE)
    return done.stdout.decode().strip()
common = git("rev-parse", "--git-common-dir")
def put(name, kind, body):
    os.makedirs(f"{common}/objects/{name[:2]}", exist_ok=True)
    with open(f"{common}/objects/{name[:2]}/{name[2:]}", "wb") as file:
        file.write(zlib.compress(f"{kind} {len(body)}\\0".encode() + body))
head, tree, who = git("rev-parse", "HEAD"), git("rev-parse", "HEAD^{tree}"), "n <e@x> 1 +0000"
def commit(parent, of=tree):
    return f"tree {of}\\nparent {parent}\\nauthor {who}\\ncommitter {who}\\n\\nx\\n".encode()
def made(body):
    return git("hash-object", "-t", "commit", "-w", "--stdin", text=body)
"""
FORGERIES = {
    "a commit whose name is made up": 'tip = "ab" * 20; put(tip, "commit", commit(head))',
    "a parent whose name is made up": 'put("cd" * 20, "commit", commit(head)); tip = made(commit("cd" * 20))',
    "a file whose name is made up":
        'put("ef" * 20, "blob", b"evil"); '
        'tip = made(commit(head, git("mktree", "--missing", text=b"100644 blob " + b"ef" * 20 + b"\\tf\\n")))',
    "a tree that is not there": 'tip = made(commit(head, "12" * 20))',
    "what is no commit": 'tip = git("hash-object", "-w", "--stdin", text=b"x")',
    "damaged": 'tip = "ab" * 20; put(tip, "commit", b""); open(f"{common}/objects/ab/" + "ab" * 19, "wb").write(b"no zlib")',
    "a kind that is none": 'tip = "ab" * 20; put(tip, "evil", b"x")',
    "a size that is none": 'tip = "ab" * 20; put(tip, "commit", commit(head)); '
        'open(f"{common}/objects/ab/" + "ab" * 19, "wb").write(zlib.compress(b"blob 99999999999999999\\0x"))',
    "a tree with a name that leads out":
        'tip = made(commit(head, git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", text='
        'b"100644 ../x\\0" + bytes.fromhex(git("rev-parse", "HEAD:one")))))',
    "a tree with .git":
        'tip = made(commit(head, git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", text='
        'b"100644 .git\\0" + bytes.fromhex(git("rev-parse", "HEAD:one")))))',
}
PUT_TIP = '\nopen(f"{common}/refs/heads/pinfold/n/work", "w").write(tip + "\\n")\n'


@support.as_each_user
class Committed(tree.Worktree):
    def test_a_commit_comes_into_the_repository_and_nothing_else_moves(self):
        refs = self.refs()
        self.assert_imported(self.commits(COMMIT))
        self.assertEqual(self.host("show", f"{tree.BRANCH}:new"), "x")
        self.assertEqual(self.host("status", "--porcelain", at=self.tree), "")
        self.assertEqual(self.refs(), refs)
        self.assertEqual(self.kept(), [])
        self.assertEqual(self.read("project/.git/worktrees/tree/HEAD"),
                         f"ref: refs/heads/{tree.BRANCH}\n")

    def test_an_amend_replaces_a_commit_of_an_earlier_run(self):
        self.assert_imported(self.commits(COMMIT))
        came = self.commits("echo y > new && git commit -q -a --amend -m again")
        self.assert_imported(came, rewritten=True)
        self.assertEqual(self.host("log", "--format=%s", tree.BRANCH), "again\ntwo\none")

    def test_a_rebase_moves_the_branch_onto_a_newer_main(self):
        self.assert_imported(self.commits(COMMIT))
        self.commit_on_host("three")
        self.assert_imported(self.commits("git rebase -q main"), rewritten=True, count=2)
        self.assertEqual(self.host("log", "--format=%s", tree.BRANCH), "new\nthree\ntwo\none")

    def test_a_merge_joins_main(self):
        self.assert_imported(self.commits(COMMIT))
        self.commit_on_host("three")
        self.assert_imported(self.commits("git merge -q -m joined main"), count=2)
        self.assertEqual(self.host("log", "-1", "--format=%s %p", tree.BRANCH).split()[0], "joined")
        self.assertEqual(self.host("status", "--porcelain", at=self.tree), "")

    def test_without_a_commit_nothing_of_the_repository_changes(self):
        self.commits("true")
        before = self.files_of_repository()
        came = self.commits("git status && echo y > untracked && git add untracked")
        self.assertEqual((came["ended"], came["reason"]), ("nothing_new", None))
        self.assertEqual(self.files_of_repository(), before)
        self.assertEqual(self.host("status", "--porcelain", at=self.tree), "?? untracked")

    def test_no_other_ref_can_be_moved_made_or_removed(self):
        refs = self.refs()
        common = self.path("project/.git")
        self.host("pack-refs", "--all")
        self.host("branch", "loose")
        refs = self.refs()
        acts = ["git branch other", "git tag t", "git branch -f main HEAD~1", "git branch -D main",
                "git update-ref refs/heads/main HEAD~1", "git stash -q", "git push -f . HEAD~1:main",
                "git update-ref refs/heads/pinfold/other/work HEAD", "git pack-refs --all",
                f"rm {common}/refs/heads/loose", f"echo x >> {common}/packed-refs",
                f"mv {common}/refs/heads/pinfold {common}/refs/heads/x", f"echo x > {common}/HEAD",
                f"rm -rf {common}/refs/heads/pinfold/n"]
        for act in acts:
            self.assert_fails("echo z > one; " + act, "--git-commit", cwd=self.tree)
        self.assertEqual(self.refs(), refs)
        self.assertEqual(self.host("rev-parse", tree.BRANCH), self.host("rev-parse", "main"))

    def test_no_object_of_the_repository_can_be_changed(self):
        before = self.files_of_repository()
        objects = self.path("project/.git/objects")
        self.run_git(f"chmod -R u+w {objects}; find {objects} -type f -exec sh -c 'echo evil > $1' x {{}} \\;;"
                     f"rm -rf {objects}/*; for d in /proc/self/mountinfo; do "
                     f"grep -o '[^ ]*/parent' $d | while read p; do echo evil > $p/x; rm -rf $p/*; "
                     f"done; done; ls {objects}; true")
        after = self.files_of_repository()
        self.assertEqual({name: after[name] for name in before}, before)
        self.assert_clean()

    def test_housekeeping_inside_harms_nothing(self):
        before = self.files_of_repository()
        came = self.commits(COMMIT + "; git gc -q --prune=now; git repack -q -a -d -l; git prune; "
                            "git reflog expire --expire=now --all; true")
        self.assert_imported(came)
        after = self.files_of_repository()
        objects = [name for name in before if "/objects/" in name]
        self.assertEqual([after[name] for name in objects], [before[name] for name in objects])

    def test_a_stash_fails_and_leaves_the_files_as_they_are(self):
        code, text = self.attempt("echo changed > one; git stash", "--git-commit", cwd=self.tree)
        self.assertNotEqual(code, 0, text)
        self.assertEqual(self.read("tree/one"), "changed\n")
        told = self.pinfold("explain", "--git-commit", "--", "true", cwd=self.tree).out
        self.assertIn("git stash, fetch, tag, branch and gc fail", told)

    def test_what_says_where_the_repository_lies_is_read_only(self):
        for name in ("commondir", "gitdir"):
            for act in (f"echo evil > {self.gitdir}/{name}", f"rm -f {self.gitdir}/{name}",
                        f"echo x > {self.gitdir}/t && mv {self.gitdir}/t {self.gitdir}/{name}"):
                self.assert_fails(act, "--git-commit", cwd=self.tree)
        self.assert_fails(f"mv {self.gitdir} {self.gitdir}x", "--git-commit", cwd=self.tree)
        self.assert_fails("echo 'gitdir: evil' > .git", "--git-commit", cwd=self.tree)

    def test_the_private_copies_are_seen_in_one_place_alone(self):
        found = self.inside("d=$(awk '$5 ~ /private$/ {print $5}' /proc/self/mountinfo); test -d $d && "
                            "ls -A $d; touch $d/x || touch $d/../x || ls -A $d/..", "--git-commit",
                            cwd=self.tree)
        self.assertEqual(found, "parent\nprivate\n")

    def test_hooks_of_the_repository_run_inside_alone(self):
        marker = self.path("marker")
        for hook in ("pre-commit", "post-commit", "reference-transaction", "post-index-change"):
            self.write(f"project/.git/hooks/{hook}", f"#!/bin/sh\necho {hook} >> {marker}\n"
                       f"echo {hook} >> {self.tree}/ran\nexit 0\n", 0o755)
        self.own()
        self.assert_imported(self.commits(COMMIT))
        self.assertIn("pre-commit", self.read("tree/ran"))
        self.assertFalse(os.path.exists(marker), "a hook ran outside")

    def test_repositories_that_are_made_inside_keep_their_objects(self):
        self.assert_imported(self.commits(
            "git clone -q --no-local . clone; git init -q made; cd made; git commit -q --allow-empty "
            "-m inner; cd ..; " + COMMIT))
        self.assertIn("two", self.host("log", "--format=%s", at=self.path("tree/clone")))
        self.assertEqual(self.host("log", "--format=%s", at=self.path("tree/made")), "inner")


@support.as_each_user
class NotImported(tree.Worktree):
    """What must not come in."""

    def test_a_branch_without_its_beginning(self):
        before = self.host("rev-parse", tree.BRANCH)
        came = self.commits(f'c=$(git commit-tree -m x "HEAD^{{tree}}"); {PUT}')
        self.assert_not_imported(came, "does not contain")
        self.assertEqual(self.host("rev-parse", tree.BRANCH), before)
        self.assertEqual(self.host("cat-file", "-t", came["after"], ok=False), "")

    def test_a_branch_set_back_before_its_beginning(self):
        self.assert_not_imported(self.commits("git reset -q --hard HEAD~1"), "does not contain")

    def test_a_branch_that_the_host_moved_meanwhile_stays_where_it_is(self):
        child = self.start("run", "--json", "--git-commit", "-c",
                           COMMIT + "; touch ready; while [ ! -e go ]; do sleep 0.02; done",
                           cwd=self.tree)
        ground.wait_for(self.path("tree/ready"))
        self.commit_on_host("three")
        moved = self.host("rev-parse", "main")
        self.host("update-ref", f"refs/heads/{tree.BRANCH}", moved)
        self.write("tree/go", "")
        out, _ = child.communicate(timeout=support.HANG)
        came = support.Answer(child.returncode, out, b"").json["commits"]
        self.assert_not_imported(came, "moving the branch", ended="failed")
        self.assertEqual(self.host("rev-parse", tree.BRANCH), moved)

    def test_a_second_run_at_the_same_time_does_not_undo_the_first(self):
        children = [self.start("run", "--json", "--git-commit", "-c",
                               f"touch ready{n}; while [ ! -e go ]; do sleep 0.02; done; "
                               f"echo {n} > f{n}; git add f{n}; git commit -q -m {n}", cwd=self.tree)
                    for n in (1, 2)]
        for n in (1, 2):
            ground.wait_for(self.path(f"tree/ready{n}"))
        self.write("tree/go", "")
        ends = []
        for child in children:
            out, _ = child.communicate(timeout=support.HANG)
            ends.append(support.Answer(child.returncode, out, b"").json["commits"]["ended"])
        self.assertEqual(sorted(ends), ["failed", "imported"])
        self.assertEqual(self.host("rev-list", "--count", tree.BRANCH), "3")
        self.assert_clean()

    def test_a_full_disk_is_said_and_what_was_committed_is_kept(self):
        if os.geteuid() != 0:
            self.skipTest("only root can mount a small file system")
        state = self.path(".local/state")
        os.makedirs(state)
        self.own()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size=3m,mode=700,uid={self.uid},gid={self.gid}",
                        "none", state], check=True)
        self.addCleanup(subprocess.run, ["umount", state], check=True)
        came = self.commits("head -c 1600000 /dev/urandom > new && git add new && git commit -q -m new")
        self.assert_not_imported(came, "No space left", ended="failed")

    def test_many_objects_that_are_none_are_refused_at_the_first(self):
        came = self.commits(
            COMMIT + """ && python3 -c '
import os, subprocess
at = subprocess.check_output(["git", "rev-parse", "--git-common-dir"], text=True).strip() + "/objects/ef"
os.makedirs(at, exist_ok=True)
for i in range(30000):
    with open(f"{at}/{i:038x}", "w") as file:
        file.write("x" * (i % 2))
'""")
        self.assertEqual(came["ended"], "refused", came)
        self.assertRegex(came["reason"], "is empty$")

    def test_copies_that_are_deeper_than_a_path_can_say_do_not_stay(self):
        came = self.commits("""cd "$(git rev-parse --git-dir)" && python3 -c '
import os
for _ in range(1500):
    os.mkdir("d")
    os.chdir("d")
'""")
        self.assertEqual((came["ended"], came["kept"], self.kept()), ("nothing_new", None, []))

    def test_a_runner_that_is_killed_loses_no_commit_and_harms_nothing(self):
        child = self.start("run", "--git-commit", "-c", COMMIT + "; git rev-parse HEAD > head; "
                           "touch ready; sleep 60", cwd=self.tree)
        ground.wait_for(self.path("tree/ready"))
        child.send_signal(signal.SIGKILL)
        child.communicate(timeout=support.HANG)
        self.assert_clean()
        self.assertEqual(self.host("rev-parse", tree.BRANCH), self.host("rev-parse", "main"))
        (kept,) = self.kept()
        objects = self.path(".local/state/pinfold/commits", kept, "private/objects")
        done = subprocess.run(["git", "cat-file", "-t", self.read("tree/head").strip()],
                              cwd=self.project, capture_output=True, check=False,
                              env=self.environment(GIT_ALTERNATE_OBJECT_DIRECTORIES=objects),
                              **self.as_user())
        self.assertEqual(done.stdout, b"commit\n", done)
        self.assert_imported(self.commits(COMMIT))


class Forged(tree.Worktree):
    """What a command puts in its copies by hand. Who runs it makes no difference here."""

    uid, gid = support.ordinary_user()

    def test_an_object_under_the_name_of_another(self):
        for name, way in FORGERIES.items():
            with self.subTest(way=name):
                before = self.files_of_repository()
                record = self.record("--git-commit", "--", ground.PYTHON, "-c", FORGE + way + PUT_TIP,
                                     cwd=self.tree)
                self.assertEqual(record["exit_code"], 0, record)
                self.assert_not_imported(record["commits"])
                self.assertEqual(self.files_of_repository(), before)

    def test_an_object_that_only_another_repository_of_the_host_has(self):
        other = self.path("project-old")
        self.host("init", "-q", at=other)
        self.commit_on_host("secret", at=other, text=support.SECRET)
        blob = self.host("rev-parse", "HEAD:secret", at=other)
        objects = self.path("project/.git/objects")
        came = self.commits(f'echo {other}/.git/objects > {objects}/info/alternates; '
                            f'printf "100644 blob {blob}\\tf\\n" | git mktree --missing > t; '
                            f'echo {self.path("project-old/.git/objects")} >> {objects}/info/alternates; '
                            f'c=$(git commit-tree -p main -m x $(cat t)); {PUT}')
        self.assert_not_imported(came)
        self.assertEqual(self.host("cat-file", "-t", blob, ok=False), "")

    def test_links_and_special_files(self):
        objects = self.path("project/.git/objects")
        secret = self.path("project-old/file")
        for act, reason in (
                (f"d={objects}/ab; mkdir -p $d; ln -s {secret} $d/{'c' * 38}", "a link or a special"),
                (f"d={objects}/ab; mkdir -p $d; mkfifo $d/{'c' * 38}", "a link or a special"),
                (f"rm -rf {objects}/pack; ln -s /etc {objects}/pack", "a link or no directory"),
                (f"ln -s {secret} {objects}/pack/pack-{'a' * 40}.pack", "a link or a special"),
                (f"ln -sf {secret} {self.gitdir}/HEAD", "HEAD"),
                (f"rm {self.gitdir}/HEAD; mkfifo {self.gitdir}/HEAD", "HEAD"),
                (f"truncate -s 9M {self.gitdir}/HEAD", "HEAD"),
                (f"cd {objects}/../refs/heads/pinfold/n; rm work; ln -s {secret} work", "no plain file"),
                (f"cd {objects}/../refs/heads/pinfold/n; rm work; mkfifo work", "no plain file"),
                (f"cd {objects}/../refs/heads/pinfold/n; rm work", "removed"),
                (f"cd {objects}/../refs/heads/pinfold/n; echo 'ref: refs/heads/main' > work", "no object"),
                (f"cd {objects}/../refs/heads/pinfold/n; echo main > work", "no object"),
                (f"cd {objects}/../refs/heads/pinfold/n; cp work two", "other refs"),
                ("git checkout -q --detach", "HEAD is not the branch"),
                ("GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase -q -i HEAD~1", "HEAD is not the branch")):
            with self.subTest(act=act):
                came = self.commits(f"{COMMIT} --allow-empty; ( {act} )")
                self.assert_not_imported(came, reason)

    def test_configurations_and_what_else_git_obeys_are_left_behind(self):
        """Whatever a command leaves in its copies, git of the runner and of the host read none of it."""
        objects = self.path("project/.git/objects")
        came = self.commits(
            f"{COMMIT}; for f in config config.worktree; do "
            f"printf '[core]\\n fsmonitor = touch {self.home}/pwned\\n hooksPath = {self.tree}/h\\n"
            f"[extensions]\\n objectFormat = x\\n' > {self.gitdir}/$f; done; mkdir {self.gitdir}/info; "
            f"echo x > {self.gitdir}/shallow; echo x > {self.gitdir}/info/grafts; "
            f"mkdir -p {objects}/info; echo x > {objects}/info/commit-graph; echo x > "
            f"{objects}/pack/multi-pack-index; echo x > {objects}/pack/pack-x.idx; rm -f {self.gitdir}/index;"
            f"echo evil > {self.gitdir}/index")
        self.assert_imported(came)
        self.assertFalse(os.path.exists(self.path("pwned")))
        self.assertEqual(sorted(set(os.listdir(self.gitdir)) &
                                {"config", "config.worktree", "shallow", "info"}), [])
        self.assertEqual(self.host("status", "--porcelain", at=self.tree), "")


if __name__ == "__main__":
    unittest.main()
