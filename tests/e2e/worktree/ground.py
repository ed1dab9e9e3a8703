"""What the worktree tests share: a repository with a commit, git as a person on the host uses it, and
worktrees made by the program. Nothing here decides a test."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import support  # noqa: E402  (it lies one directory up)

IDENTITY = "[user]\n\tname = Ada Lovelace\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"


class Repository(support.World):
    """A parent in `project` with two files committed, made by the user of the test."""

    def setUp(self):
        super().setUp()
        self.write(".gitconfig", IDENTITY)
        self.own()
        self.git("init", "-q", "-b", "main")
        self.put("one", "one\n")
        self.put("src/main.c", "int main(){}\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "first")

    def git(self, *words, cwd=None, **more):
        """Standard output of git, as a person on the host runs it; it must succeed."""
        done = self.try_git(*words, cwd=cwd, **more)
        self.assertEqual(done.returncode, 0, (words, done.stdout, done.stderr))
        return done.stdout.decode().strip()

    def try_git(self, *words, cwd=None, **more):
        return subprocess.run(["git", *words], cwd=cwd or self.project, env=self.environment(),
                              capture_output=True, check=False, stdin=subprocess.DEVNULL,
                              timeout=support.HANG, **self.as_user(), **more)

    def put(self, name, text, below=None, mode=0o644):
        """A file of the user's, in the parent or in another tree."""
        path = os.path.join(below or self.project, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        if os.geteuid() == 0:
            at = path
            while len(at) > len(self.home):
                os.lchown(at, self.uid, self.gid)
                at = os.path.dirname(at)
        return path

    def text(self, name, below=None):
        with open(os.path.join(below or self.project, name), encoding="utf-8") as file:
            return file.read()

    def worktree(self, *words, **more):
        return self.pinfold("worktree", *words, **more)

    def create(self, name="fix", *words, **more):
        """The answer of a create that must succeed."""
        answer = self.worktree("create", "--name", name, "--json", *words, **more)
        self.assertEqual((answer.code, answer.err), (0, ""), answer)
        return answer.json

    def finish(self, made, **more):
        """The answer of a finish that must succeed; `made` is what create said."""
        answer = self.worktree("finish", made["path"], "--json", **more)
        self.assertEqual((answer.code, answer.err), (0, ""), answer)
        return answer.json

    def refused(self, error, *words, **more):
        """The refusal of a subcommand that must be refused."""
        answer = self.worktree(*words, "--json", **more)
        self.assertEqual(answer.code, 1, answer)
        self.assert_one_line(answer.err)
        self.assertEqual(answer.json["refusal"]["error"], error, answer)
        return answer.json["refusal"]

    def place(self):
        return self.path(".local/state/pinfold/worktrees")

    def left(self):
        """The names that lie in the folders of all repositories of the place."""
        if not os.path.isdir(self.place()):
            return []
        return sorted(name for folder in os.listdir(self.place())
                      for name in os.listdir(os.path.join(self.place(), folder)))

    def state(self):
        """All that git says of the parent: branches, worktrees, files, what is under way."""
        return (self.git("for-each-ref"), self.git("worktree", "list", "--porcelain"),
                self.git("status", "--porcelain", "--ignored"), self.git("diff"),
                self.git("diff", "--cached"), self.git("rev-parse", "HEAD"))

    def assert_sound(self):
        """The parent is whole, and git finds nothing to take away."""
        done = self.try_git("fsck", "--strict", "--no-dangling")
        self.assertEqual((done.returncode, done.stdout), (0, b""), done)
        done = self.try_git("worktree", "prune", "--dry-run", "--verbose")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""), done)


class Confined(Repository):
    """One in which the sandbox works; asked once for each user."""

    known = set()

    def setUp(self):
        super().setUp()
        if self.uid not in Confined.known:
            self.need_sandbox()
            Confined.known.add(self.uid)
