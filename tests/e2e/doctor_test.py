"""`pinfold doctor` and `run` on a machine whose bwrap cannot be trusted or does not work. Another
bwrap is put in its place in a mount namespace of the test's own, so the machine stays as it is."""
import os
import shutil
import subprocess
import signal
import sys
import tempfile
import time
import unittest

import support

BWRAP = "/usr/bin/bwrap"
HANGING = "#!/bin/sh\nexec sleep 77777.25\n"
PLAYED = """#!/bin/sh
case "$*" in
  *--version*) echo "bubblewrap 0.8.0"; exit 0;;
  *{broken}*) echo "bwrap: it said no" >&2; exit 1;;
esac
exit 0
"""
# Binds argv[1] over argv[2] in a mount namespace of its own, becomes uid argv[3] and gid argv[4], and
# executes the rest.
LAUNCHER = """
import ctypes, os, sys
source, target, uid, gid, *command = sys.argv[1:]
libc = ctypes.CDLL(None)
new_mounts, private, bind = 0x20000, 0x44000, 0x1000
if (libc.unshare(new_mounts) or libc.mount(b"none", b"/", None, private, None) or
        libc.mount(source.encode(), target.encode(), None, bind, None)):
    sys.exit(99)
os.setgroups([])
os.setgid(int(gid))
os.setuid(int(uid))
os.execv(command[0], command)
"""


@support.as_each_user
class Doctor(support.Confined):
    def test_where_run_works_it_says_so(self):
        answer = self.pinfold("doctor")
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("works here", answer.out)
        self.assertIn("\npromised\n", answer.out)
        self.assertIn("\nnot promised\n", answer.out)
        self.assertNotIn("FAILED", answer.out)
        self.assertEqual(self.pinfold("run", "--", "true").code, 0)

    def test_the_json_form_names_every_probe(self):
        report = self.pinfold("doctor", "--json").json
        self.assertTrue(report["usable"])
        self.assertEqual(report["bwrap"], BWRAP)
        probes = {probe["id"]: probe for probe in report["probes"]}
        for name in ("bwrap-found", "bwrap-file", "bwrap-owner", "bwrap-directories",
                     "bwrap-privileges", "bwrap-version", "sandbox-user", "sandbox-pid",
                     "sandbox-network", "sandbox-proc", "sandbox-whole"):
            self.assertEqual(probes[name]["status"], "ok", probes[name])
        for name in ("bwrap-mount-points", "bwrap-arguments", "kernel", "landlock", "seccomp", "apparmor", "user-namespaces", "container", "cgroup"):
            self.assertEqual(probes[name]["status"], "info")
        self.assertEqual(probes["kernel"]["found"], os.uname().release)
        self.assertTrue(report["promised"] and report["not_promised"])

    def test_it_leaves_nothing_behind(self):
        def folders():
            return {name for name in os.listdir("/tmp") if name.startswith("pinfold-doctor-")}
        before = self.tree(), folders()
        self.pinfold("doctor")
        self.assertEqual(self.tree(), before[0])
        left = folders() - before[1]
        for _ in range(600):  # another test's folder goes away with that test
            left &= folders()
            if not left:
                return
            time.sleep(0.1)
        self.fail(f"left behind: {left}")

    def test_it_needs_no_environment(self):
        self.assertEqual(self.pinfold("doctor", env={"X": "y"}).code, 0)

    def test_bad_usage_is_one_line(self):
        for words in (("doctor", "--no-such-option"), ("doctor", "stray")):
            answer = self.pinfold(*words)
            self.assertEqual(answer.code, 2, answer)
            self.assert_one_line(answer.err)


@unittest.skipUnless(os.geteuid() == 0, "only root can put another bwrap in its place")
class AnotherBwrap(support.Confined):
    """Doctor fails with a line for the cause and its fix, and run starts nothing; for both users."""

    uid, gid = 0, 0
    users = ((0, 0), support.ordinary_user())

    def setUp(self):
        super().setUp()
        os.chmod(self.home, 0o777)
        os.chmod(self.project, 0o777)
        self.stage = f"/run/{os.path.basename(self.home)}"  # root's alone, like /usr/bin
        self.caches = tempfile.mkdtemp(prefix="pinfold-caches-", dir="/srv")
        self.addCleanup(shutil.rmtree, self.caches)
        os.chmod(self.caches, 0o755)
        for uid, gid in self.users:  # the home is everybody's here, so no place for a cache
            os.mkdir(f"{self.caches}/{uid}", 0o700)
            os.chown(f"{self.caches}/{uid}", uid, gid)
        os.mkdir(self.stage)
        self.addCleanup(shutil.rmtree, self.stage)
        os.chmod(self.stage, 0o755)
        self.fake = f"{self.stage}/bwrap"

    def put(self, text=None, mode=0o755):
        """A bwrap for the stage: the real one, or a script."""
        if text is None:
            shutil.copyfile(BWRAP, self.fake)
        else:
            with open(self.fake, "w", encoding="utf-8") as file:
                file.write(text)
        os.chmod(self.fake, mode)

    def inside(self, user, *words, source=None, target=BWRAP):
        """The program where the stage's bwrap lies in the place of the machine's."""
        child = self.start_inside(user, *words, source=source, target=target)
        out, err = child.communicate(timeout=support.HANG)
        self.assertNotEqual(child.returncode, 99, "the test itself cannot mount")
        return support.Answer(child.returncode, out, err)

    def start_inside(self, user, *words, source=None, target=BWRAP):
        uid, gid = user
        return subprocess.Popen([sys.executable, "-c", LAUNCHER, source or self.fake, target,
                                 str(uid), str(gid), support.PINFOLD, *words], cwd=self.project,
                                env=self.environment(XDG_CACHE_HOME=f"{self.caches}/{uid}"),
                                stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def assert_doctor_says(self, probe, fix, **where):
        for user in self.users:
            answer = self.inside(user, "doctor", "--json", **where)
            self.assertEqual(answer.code, 1, answer)
            report = answer.json
            self.assertFalse(report["usable"])
            failed = {one["id"]: one for one in report["probes"] if one["status"] == "failed"}
            self.assertIn(probe, failed)
            self.assertIn(fix, failed[probe]["fix"])
            for one in failed.values():
                self.assertTrue(one["fix"], one)
                self.assertNotIn("sysctl", one["fix"])

    def assert_run_refuses(self, *named, **where):
        before = self.tree()
        for user in self.users:
            answer = self.inside(user, "run", "--", "touch", "started", **where)
            self.assertEqual(answer.code, 125, answer)
            self.assert_one_line(answer.err)
            for name in ("SandboxUnavailable", *named):
                self.assertIn(name, answer.err)
            record = self.inside(user, "run", "--json", "--", "touch", "started", **where).json
            self.assertEqual(record["ended"], "refused")
            self.assertEqual(record["refusal"]["error"], "SandboxUnavailable")
        self.assertEqual(self.tree(), before)

    def test_a_plain_copy_of_the_real_one_works(self):
        self.put()
        for user in self.users:
            self.assertEqual(self.inside(user, "doctor").code, 0)
            answer = self.inside(user, "run", "--", "touch", f"started-{user[0]}")
            self.assertEqual(answer.code, 0, answer)

    def test_what_cannot_be_trusted_is_named_with_its_fix_and_never_started(self):
        script = f"#!/bin/sh\ntouch {self.project}/started\n"
        rows = [("bwrap-privileges", f"chmod ug-s {BWRAP}", 0o4755, None),
                ("bwrap-privileges", f"chmod ug-s {BWRAP}", 0o2755, None),
                ("bwrap-owner", f"chmod 0755 {BWRAP}", 0o777, None),
                ("bwrap-owner", f"chmod 0755 {BWRAP}", 0o775, None),
                ("bwrap-owner", "--reinstall", 0o755, 12345),
                ("bwrap-file", f"chmod 0755 {BWRAP}", 0o644, None)]
        for probe, fix, mode, owner in rows:
            with self.subTest(probe=probe, mode=oct(mode), owner=owner):
                self.put(script)
                os.chown(self.fake, owner or 0, 0)
                os.chmod(self.fake, mode)
                self.assert_doctor_says(probe, fix)
                self.assert_run_refuses(probe)

    def test_the_table_shows_the_fix_below_what_failed(self):
        self.put(mode=0o4755)
        answer = self.inside((0, 0), "doctor")
        self.assertEqual(answer.code, 1, answer)
        self.assertIn("does not work here", answer.out)
        self.assertRegex(answer.out, r"(?m)^  FAILED  bwrap-privileges .*\n +fix: .*chmod ug-s")

    def test_one_with_file_capabilities_is_refused(self):
        self.put()
        os.setxattr(self.fake, "security.capability", bytes([1, 0, 0, 2, 0, 0x20] + [0] * 14))
        self.assert_doctor_says("bwrap-privileges", f"setcap -r {BWRAP}")
        self.assert_run_refuses("bwrap-privileges")

    def test_none_at_all_is_refused_with_what_to_install(self):
        where = {"source": self.stage, "target": "/usr/bin"}
        self.assert_doctor_says("bwrap-found", "apt-get install bubblewrap", **where)
        self.assert_run_refuses("bwrap-found", "apt-get install bubblewrap", **where)

    def test_a_directory_that_others_may_write_is_refused(self):
        self.put()
        os.chmod(self.stage, 0o777)
        where = {"source": self.stage, "target": "/usr/bin"}
        self.assert_doctor_says("bwrap-directories", "chmod go-w /usr/bin", **where)
        self.assert_run_refuses("bwrap-directories", **where)

    def test_a_version_that_is_too_old_is_named(self):
        self.put("#!/bin/sh\necho bubblewrap 0.6.2\n")
        self.assert_doctor_says("bwrap-version", "0.8")
        self.assert_run_refuses()

    def test_each_layer_that_fails_is_named(self):
        rows = {"--unshare-user": "sandbox-user", "--unshare-pid": "sandbox-pid",
                "--unshare-net": "sandbox-network", "--proc": "sandbox-proc"}
        for option, probe in rows.items():
            with self.subTest(option=option):
                self.put(PLAYED.format(broken=option))
                self.assert_doctor_says(probe, "")
                self.assert_run_refuses()

    def test_one_that_only_pretends_is_found_out_by_the_whole_sandbox(self):
        self.put(PLAYED.format(broken="no-such-option"))
        self.assert_doctor_says("sandbox-whole", "")
        self.assert_run_refuses()

    def test_a_run_that_waits_for_it_can_be_ended(self):
        self.put(HANGING)
        child = self.start_inside((0, 0), "run", "--", "touch", "started")
        for _ in range(1200):
            if support.processes_with("77777.25"):
                break
            time.sleep(0.05)
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=support.HANG)
        self.assertEqual(child.returncode, 143)
        self.assertEqual(support.processes_with("77777.25"), [])
        self.assertFalse(os.path.exists(f"{self.project}/started"))

    def test_one_that_hangs_is_ended(self):
        self.put(HANGING)
        self.users = ((0, 0),)
        self.assert_doctor_says("bwrap-version", "did not end in time")


# Forbids unshare and clone with CLONE_NEWUSER, as the profile of a container does, then becomes the
# words. x86-64 and arm64 have their numbers here.
FORBID = """
import ctypes, os, platform, struct, sys
unshare, clone, clone3 = {"x86_64": (272, 56, 435), "aarch64": (97, 220, 435)}[platform.machine()]
def step(code, yes, no, value):
    return struct.pack("HBBI", code, yes, no, value)
load, equal, any_bit, answer = 0x20, 0x15, 0x45, 0x06
allow, forbid, missing = 0x7fff0000, 0x50001, 0x50026
program = [step(load, 0, 0, 0),                  # 0: the number
           step(equal, 4, 0, unshare),           # 1: to 6
           step(equal, 3, 0, clone),             # 2: to 6
           step(equal, 1, 0, clone3),            # 3: to 5
           step(answer, 0, 0, allow),            # 4
           step(answer, 0, 0, missing),          # 5
           step(load, 0, 0, 16),                 # 6: the first argument
           step(any_bit, 0, 1, 0x10000000),      # 7: CLONE_NEWUSER, or on to 9
           step(answer, 0, 0, forbid),           # 8
           step(answer, 0, 0, allow)]            # 9
text = ctypes.create_string_buffer(b"".join(program))
libc = ctypes.CDLL(None, use_errno=True)
filter = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(program), ctypes.addressof(text)))
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, filter, 0, 0) == 0, ctypes.get_errno()
os.execv(sys.argv[1], sys.argv[1:])
"""


class RealObstacle(support.Confined):
    """What stands in the way on real machines, made in namespaces of our own."""

    uid, gid = 0, 0

    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make these obstacles around the machine's own bwrap")
        super().setUp()

    def failed(self, *wrapper):
        done = subprocess.run([*wrapper, support.PINFOLD, "doctor", "--json"], cwd=self.project,
                              env=self.environment(), capture_output=True, check=False,
                              timeout=support.HANG, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 1, done)
        report = support.json.loads(done.stdout)
        return {one["id"]: one for one in report["probes"] if one["status"] == "failed"}

    def assert_refused_there(self, *wrapper):
        done = subprocess.run([*wrapper, support.PINFOLD, "run", "--json", "--", "touch", "started"],
                              cwd=self.project, env=self.environment(), capture_output=True,
                              check=False, timeout=support.HANG, stdin=subprocess.DEVNULL)
        self.assertEqual(support.json.loads(done.stdout)["refusal"]["error"], "SandboxUnavailable")
        self.assertFalse(os.path.exists(f"{self.project}/started"))

    def test_user_namespaces_that_are_used_up(self):
        wrapper = ("unshare", "-Ur", "sh", "-c",
                   'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', "sh")
        failed = self.failed(*wrapper)
        self.assertIn("max_user_namespaces", failed["sandbox-user"]["fix"])
        self.assertNotIn("echo", failed["sandbox-user"]["fix"])
        self.assert_refused_there(*wrapper)

    def test_a_proc_that_is_covered_in_part(self):
        wrapper = ("unshare", "-Urmpf", "--mount-proc", "sh", "-c",
                   'mount -t tmpfs none /proc/irq && exec "$@"', "sh")
        failed = self.failed(*wrapper)
        self.assertEqual(sorted(failed), ["sandbox-proc", "sandbox-whole"])
        self.assertIn("container", failed["sandbox-proc"]["fix"])
        self.assert_refused_there(*wrapper)

    @unittest.skipUnless(os.uname().machine in ("x86_64", "aarch64"), "the filter's numbers")
    def test_a_filter_that_forbids_namespaces(self):
        wrapper = (sys.executable, "-I", "-c", FORBID)
        failed = self.failed(*wrapper)
        self.assertIn("seccomp", failed["sandbox-user"]["fix"])
        self.assert_refused_there(*wrapper)


if __name__ == "__main__":
    unittest.main()
