"""What the end-to-end tests share: a world with a home, secrets and a checkout, as root and as an
ordinary user; the program under test; and its answers. Nothing here decides a test."""
import atexit
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import unittest



def program_for_everybody(path):
    """The program where an ordinary user can start it too: a checkout may lie in a folder that only
    root can enter."""
    if os.geteuid() != 0 or not os.path.isfile(path):
        return path
    place = tempfile.mkdtemp(prefix="pinfold-program-", dir="/srv")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    os.chmod(place, 0o755)
    return shutil.copy(path, place)


PINFOLD = program_for_everybody(os.environ.get("PINFOLD", ""))
MUST_WORK = "PINFOLD_BWRAP_MUST_WORK" in os.environ
SECRET = "S3CR3T-VALUE"
doctors = {}  # what doctor said to each user, asked once
HANG = 120  # a run that takes longer hangs; no test asserts a time below it


def ordinary_user():
    """(uid, gid) of an ordinary user: ourselves, the first one there is, or one without a name."""
    if os.geteuid() != 0:
        return os.geteuid(), os.getegid()
    for entry in sorted(pwd.getpwall(), key=lambda one: one.pw_uid):
        if 1000 <= entry.pw_uid < 60000:
            return entry.pw_uid, entry.pw_gid
    return 12345, 12345


def is_sanitized():
    """Whether the program was built with the sanitizers, which need room and descriptors themselves."""
    with open(PINFOLD, "rb") as file:
        return b"__ubsan_handle" in file.read()


class Answer:
    """What came of one start of the program."""

    def __init__(self, code, out, err):
        self.code, self.raw_out, self.raw_err = code, out, err
        self.out, self.err = out.decode("utf-8", "replace"), err.decode("utf-8", "replace")

    @property
    def json(self):
        return json.loads(self.raw_out.decode("utf-8"))

    @property
    def json_lines(self):
        return [json.loads(line) for line in self.raw_out.decode("utf-8").splitlines()]

    def __repr__(self):
        return f"code {self.code}\nstdout: {self.out}\nstderr: {self.err}"


class World(unittest.TestCase):
    """A fresh home with a key, a checkout `project` in it, and a sibling `project-old`. Subclasses
    are made by `as_each_user`; `uid` says who runs the program and owns the tree."""

    uid = gid = None

    def setUp(self):
        self.assertTrue(os.path.isabs(PINFOLD), "PINFOLD must name the program")
        base = "/srv" if os.geteuid() == 0 else None
        self.home = os.path.realpath(tempfile.mkdtemp(prefix="pinfold-e2e-", dir=base))
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        self.project = self.path("project")
        for name in (".ssh", "project/src", "project-old"):
            os.makedirs(self.path(name))
        self.write(".ssh/id_rsa", SECRET)
        self.write("project/src/main.c", "int main(){}\n")
        self.write("project-old/file", "clean\n")
        self.own()

    def path(self, *parts):
        return os.path.join(self.home, *parts)

    def write(self, name, text, mode=0o644):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), mode)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def own(self):
        """Gives the whole tree to the user of this test."""
        if os.geteuid() != 0:
            return
        for root, folders, files in os.walk(self.home):
            os.lchown(root, self.uid, self.gid)
            for name in folders + files:
                os.lchown(os.path.join(root, name), self.uid, self.gid)

    def as_user(self):
        """Arguments for subprocess that drop to the user of this test."""
        if os.geteuid() != 0 or self.uid == 0:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def environment(self, **more):
        known = {"HOME": self.home, "PATH": os.defpath, "USER": "somebody", "LANG": "C.UTF-8",
                 "GITHUB_TOKEN": SECRET, "AWS_SECRET_ACCESS_KEY": SECRET}
        if "ASAN_OPTIONS" in os.environ:
            known["ASAN_OPTIONS"] = os.environ["ASAN_OPTIONS"]
        known.update(more)
        return known

    def start(self, *words, cwd=None, env=None, **more):
        """The program, started and left running; output in pipes."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                   "stderr": subprocess.PIPE, **self.as_user(), **more}
        return subprocess.Popen([PINFOLD, *words], cwd=cwd or self.project,
                                env=env or self.environment(), **options)

    def pinfold(self, *words, **more):
        """The program, run to its end."""
        child = self.start(*words, **more)
        try:
            out, err = child.communicate(timeout=HANG)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            self.fail(f"hangs: {words}")
        return Answer(child.returncode, out, err)

    def record(self, *words, **more):
        """The run record of `run --json` with these words."""
        answer = self.pinfold("run", "--json", *words, **more)
        try:
            return answer.json
        except ValueError:
            self.fail(f"no record: {answer}")

    def tree(self):
        """Every path below the home with its type and size: what a refused run must not change."""
        seen = {}
        for root, folders, files in os.walk(self.home):
            for name in folders + files:
                about = os.lstat(os.path.join(root, name))
                seen[os.path.join(root, name)] = (about.st_mode, about.st_size)
        return seen

    def tree_without_caches(self):
        """The same, but for the caches that a run makes."""
        cache = self.path(".cache")
        return {path: seen for path, seen in self.tree().items() if not path.startswith(cache)}

    def assert_one_line(self, text):
        self.assertRegex(text, r"\Apinfold: [^\n]+\n\Z")

    def need_sandbox(self):
        """Where bubblewrap is said to work it must; elsewhere the test says that it was skipped."""
        if self.uid not in doctors:
            doctors[self.uid] = self.pinfold("doctor")
        answer = doctors[self.uid]
        if answer.code != 0 and not MUST_WORK:
            self.skipTest("the sandbox cannot be made here; see pinfold doctor")
        self.assertEqual(answer.code, 0, answer)


class Confined(World):
    """A world in which the sandbox works."""

    def setUp(self):
        super().setUp()
        self.need_sandbox()


def as_each_user(base):
    """Puts `base` into its module twice: as root (when we are) and as an ordinary user."""
    module = sys.modules[base.__module__]
    users = {"User": ordinary_user()}
    if os.geteuid() == 0:
        users["Root"] = (0, 0)
    for name, (uid, gid) in users.items():
        title = f"{base.__name__}As{name}"
        setattr(module, title, type(title, (base,), {"uid": uid, "gid": gid,
                                                     "__module__": base.__module__}))
    return None  # the base itself is no test


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def processes_with(word):
    """The PIDs of processes whose command line holds `word`."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                if word.encode() in file.read() and is_alive(name):
                    found.append(int(name))
        except OSError:
            pass
    return found
