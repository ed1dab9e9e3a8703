"""What README's "Many machines" says of containers: each row is made here, in namespaces and behind
system call filters of our own, and doctor and run are asked there."""
import ctypes
import json
import os
import platform
import signal
import struct
import subprocess
import time
import unittest

import support

NUMBERS = {  # x86-64, arm64
    "add_key": (248, 217), "bpf": (321, 280), "clone": (56, 220), "clone3": (435, 435),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fsopen": (430, 430), "fspick": (433, 433),
    "keyctl": (250, 219), "landlock_create_ruleset": (444, 444), "mount": (165, 40),
    "mount_setattr": (442, 442), "move_mount": (429, 429), "open_by_handle_at": (304, 265),
    "open_tree": (428, 428), "perf_event_open": (298, 241), "pivot_root": (155, 41),
    "quotactl": (179, 60), "reboot": (169, 142), "request_key": (249, 218),
    "sethostname": (170, 161), "setdomainname": (171, 162), "setns": (308, 268),
    "syslog": (103, 116), "umount2": (166, 39), "unshare": (272, 97), "userfaultfd": (323, 282),
}
COLUMN = {"x86_64": 0, "aarch64": 1}.get(platform.machine())
NEW_USER = 0x10000000
# What the usual profile of container engines forbids without CAP_SYS_ADMIN and pinfold can do
# without. clone3 is answered with ENOSYS there, the others with EPERM.
NOT_NEEDED = ("add_key", "bpf", "clone3", "fspick", "keyctl", "open_by_handle_at",
              "perf_event_open", "quotactl", "reboot", "request_key", "sethostname",
              "setdomainname", "syslog", "userfaultfd")


def forbid(*names):
    """Refuses these system calls from here on, in this process and all that it starts. "userns" is
    a user namespace by unshare or clone."""
    load, equal, any_bit, answer = 0x20, 0x15, 0x45, 0x06
    allow, forbidden, missing = 0x7FFF0000, 0x50001, 0x50026

    def step(code, yes, no, value):
        return struct.pack("HBBI", code, yes, no, value)

    program = [step(load, 0, 0, 0)]
    for name in names:
        if name == "userns":
            for call in ("unshare", "clone"):
                program += [step(load, 0, 0, 0), step(equal, 0, 3, NUMBERS[call][COLUMN]),
                            step(load, 0, 0, 16), step(any_bit, 0, 1, NEW_USER),
                            step(answer, 0, 0, forbidden)]
            program += [step(load, 0, 0, 0), step(equal, 0, 1, NUMBERS["clone3"][COLUMN]),
                        step(answer, 0, 0, missing)]
        else:
            program += [step(load, 0, 0, 0), step(equal, 0, 1, NUMBERS[name][COLUMN]),
                        step(answer, 0, 0, missing if name == "clone3" else forbidden)]
    program.append(step(answer, 0, 0, allow))
    text = ctypes.create_string_buffer(b"".join(program))
    libc = ctypes.CDLL(None, use_errno=True)
    whole = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(program),
                                                    ctypes.addressof(text)))
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    assert libc.prctl(22, 2, whole, 0, 0) == 0, ctypes.get_errno()


@unittest.skipUnless(os.geteuid() == 0, "only root can make a container for another user")
class InContainer(support.Confined):
    """Both questions, asked inside of what `engine` makes: the words before are run as root, as a
    container engine is; then the user of the test takes over."""

    def container(self, script='exec "$@"'):
        """Namespaces of its own. Root's are in a user namespace, as with a rootless engine; in an
        ordinary user's nobody is root but the engine."""
        kind = "-Urmpf" if self.uid == 0 else "-mpf"
        return ("unshare", kind, "--mount-proc", "sh", "-c", script, "sh", *self.dropped())

    def dropped(self):
        if self.uid == 0:
            return ()
        return ("setpriv", f"--reuid={self.uid}", f"--regid={self.gid}", "--clear-groups",
                "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all")

    def asked(self, engine, *words, **more):
        done = subprocess.run([*engine, support.PINFOLD, *words], cwd=self.project,
                              env=self.environment(), capture_output=True, check=False,
                              timeout=support.HANG, stdin=subprocess.DEVNULL, **more)
        return support.Answer(done.returncode, done.stdout, done.stderr)

    def assert_works(self, engine, **more):
        doctor = self.asked(engine, "doctor", **more)
        self.assertEqual(doctor.code, 0, doctor)
        run = self.asked(engine, "run", "--json", "--", "sh", "-c", "touch made; touch /etc/made",
                         **more)
        self.assertEqual(run.json["ended"], "exited", run)
        self.assertIn("Read-only file system", run.json["stderr"]["text"])
        self.assertTrue(os.path.exists(self.path("project/made")))

    def assert_refused(self, probe, fix, engine, **more):
        report = self.asked(engine, "doctor", "--json", **more)
        self.assertEqual(report.code, 1, report)
        failed = {one["id"]: one["fix"] for one in report.json["probes"]
                  if one["status"] == "failed"}
        self.assertIn(probe, failed)
        self.assertIn(fix, failed[probe])
        run = self.asked(engine, "run", "--json", "--", "touch", "started", **more)
        self.assertEqual(run.code, 125, run)
        self.assertEqual(run.json["refusal"]["error"], "SandboxUnavailable")
        self.assertFalse(os.path.exists(self.path("project/started")))


@support.as_each_user
class Container(InContainer):
    def test_namespaces_of_its_own_are_enough(self):
        self.assert_works(self.container())

    def test_no_capability_and_no_new_privileges_are_enough_for_who_is_not_root(self):
        if self.uid != 0:
            self.assert_works(self.dropped())
            return
        keep = "-all", "-all,+setfcap"
        drop = [("setpriv", "--no-new-privs", f"--inh-caps={one}", f"--bounding-set={one}")
                for one in keep]
        self.assert_refused("sandbox-user", "SETFCAP", drop[0])
        self.assert_works(drop[1])

    def test_the_runner_may_be_the_first_process(self):
        answer = self.asked(self.container(), "run", "--json", "--", "sh", "-c",
                            "setsid sleep 77777.75 & exit 3")
        self.assertEqual((answer.code, answer.json["killed"]), (3, 1), answer)

    def test_a_read_only_root_is_enough_where_workspace_cache_and_tmp_are_writable(self):
        read_only = ('mount --bind "{0}" "{0}" && mount -o remount,bind,ro / && cd "$PWD" && '
                     'mount -t tmpfs -o mode=1777 none /tmp && ! touch /srv/x 2>/dev/null && '
                     'exec "$@"')
        self.assert_works(self.container(read_only.format("$HOME")))
        without_cache = self.asked(self.container(read_only.format("$PWD")), "doctor")
        self.assertEqual(without_cache.code, 1, without_cache)
        self.assertIn("XDG_CACHE_HOME", without_cache.out)

    def test_a_proc_with_masked_parts_is_named(self):
        self.assert_refused("sandbox-proc", "container", self.container(
            'mount --bind /dev/null /proc/keys && exec "$@"'))

    def test_a_proc_with_read_only_parts_is_named(self):
        self.assert_refused("sandbox-proc", "container", self.container(
            'mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys && exec "$@"'))

    def test_a_root_that_is_nobody_there_is_named(self):
        self.assert_refused("bwrap-owner", "", (*self.dropped(), "unshare", "-U", "--map-user=7"))

    @unittest.skipIf(COLUMN is None, "the filter's numbers")
    def test_of_the_usual_profile_most_may_stay_forbidden(self):
        self.assert_works(self.dropped(), preexec_fn=lambda: forbid(*NOT_NEEDED))

    @unittest.skipIf(COLUMN is None, "the filter's numbers")
    def test_what_may_not_be_forbidden_is_named(self):
        for name in ("userns", "mount", "umount2", "pivot_root"):
            with self.subTest(name):
                self.assert_refused("sandbox-user", "", self.dropped(),
                                    preexec_fn=lambda: forbid(name))
        self.assert_refused("sandbox-user", "seccomp", self.dropped(),
                            preexec_fn=lambda: forbid("userns"))
        os.mkdir(self.path("project/.git"))  # or some of them have nothing to do
        self.own()
        for name in ("setns", "open_tree", "move_mount", "mount_setattr", "fsopen", "fsconfig",
                     "fsmount"):
            with self.subTest(name):
                self.assert_refused("sandbox-whole", "seccomp", self.dropped(),
                                    preexec_fn=lambda: forbid(name))

    @unittest.skipIf(COLUMN is None, "the filter's numbers")
    def test_without_landlock_it_works_and_says_partial(self):
        answer = self.asked(self.dropped(), "run", "--json", "--network", "on", "--", "true",
                            preexec_fn=lambda: forbid("landlock_create_ruleset"))
        self.assertEqual(answer.code, 0, answer)
        held = {name: one["held"] for name, one in answer.json["enforced"].items()}
        self.assertIn("partial", held.values(), held)

    def test_a_job_that_is_ended_leaves_its_record_and_nothing_else(self):
        child = self.start("run", "--json", "--", "sh", "-c", "touch on; exec sleep 77777.5")
        for _ in range(1200):
            if os.path.exists(self.path("project/on")):
                break
            time.sleep(0.05)
        child.send_signal(signal.SIGTERM)
        out, _ = child.communicate(timeout=support.HANG)
        self.assertEqual(json.loads(out)["ended"], "cancelled")
        self.assertEqual(child.returncode, 143)
        self.assertEqual(support.processes_with("77777.5"), [])


class MadeByRootAlone(InContainer):
    uid, gid = 0, 0

    def test_no_user_namespaces_left_is_named(self):
        self.assert_refused("sandbox-user", "user.max_user_namespaces", self.container(
            'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'))

    def test_a_changed_root_directory_is_named(self):
        script = ('mount --rbind / "$1" && root=$1 at=$2 && shift 2 && '
                  'exec /usr/sbin/chroot "$root" env -C "$at" "$@"')
        self.assert_refused("sandbox-user", "chroot", ("unshare", "-m", "sh", "-c", script, "sh", "/mnt",
                                                 self.project))


if __name__ == "__main__":
    unittest.main()
