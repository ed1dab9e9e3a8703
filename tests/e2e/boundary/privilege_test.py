"""Privilege: none is there and none can be gained, for root neither."""
import os
import unittest

import ground
from ground import support

ZERO = "0" * 16

SYSCTLS = """
import os
opened = []
for root, _, files in os.walk("/proc/sys"):
    for name in files:
        try:
            os.close(os.open(os.path.join(root, name), os.O_WRONLY))
            opened.append(os.path.join(root, name))
        except OSError:
            pass
print(len(opened), opened[:3])
"""

DEVICES = """
import os, stat
for root, _, files in os.walk("/dev"):
    for name in files:
        mode = os.lstat(os.path.join(root, name)).st_mode
        if stat.S_ISBLK(mode) or stat.S_ISCHR(mode):
            print(os.path.join(root, name))
"""


@support.as_each_user
class Privilege(ground.Boundary):
    def status(self, *options):
        return dict(line.split(":\t", 1) for line in
                    self.inside("cat /proc/self/status", *options).splitlines() if ":\t" in line)

    def test_every_capability_set_is_empty_and_no_new_privileges_are_gained(self):
        status = self.status()
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertEqual(status[name], ZERO, name)
        self.assertEqual(status["NoNewPrivs"], "1")

    def test_no_user_namespace_can_be_made_inside(self):
        for act in ("unshare -U true", "unshare -Ur true", "unshare -Urm true",
                    "unshare -Urn true", "bwrap --ro-bind / / true"):
            self.assert_fails(act)

    def test_no_mount_no_device_no_root_change(self):
        for act in ("mount -t tmpfs none src", "mount --bind src .", "umount .foundry",
                    "mount -o remount,rw /", "mount -o remount,bind,rw .foundry",
                    "umount /proc/sys", "mknod disk b 8 0", "chroot . true",
                    "hostname other", "chown 1:1 src", "setpriv --reuid 1 true",
                    "nsenter -t 1 -m true"):
            self.assert_fails(act)

    def test_no_sysctl_can_be_written(self):
        self.assertEqual(self.python(SYSCTLS), "0 []\n")
        self.assert_fails("echo x > /proc/sys/kernel/core_pattern")
        self.assert_fails("echo x > /proc/sys/kernel/hostname")

    def test_core_dumps_are_off_and_cannot_be_turned_on(self):
        self.assertEqual(self.inside("ulimit -Hc; ulimit -Sc"), "0\n0\n")
        self.assert_fails("ulimit -c 1000")

    def test_dev_is_closed_and_short(self):
        self.assert_fails("touch /dev/new", because="Read-only file system")
        self.assert_fails("rm /dev/null")
        known = {f"/dev/{n}" for n in ("null", "zero", "full", "random", "urandom", "tty",
                                       "console")} | {"/dev/pts/ptmx"}
        self.assertLessEqual(set(self.python(DEVICES).split()), known)
        self.inside("echo x > /dev/null; head -c 4 /dev/urandom | wc -c")

    def test_there_is_no_terminal(self):
        self.assert_fails("echo x > /dev/tty")
        primary, secondary = os.openpty()
        self.addCleanup(os.close, primary)
        self.addCleanup(os.close, secondary)
        answer = self.pinfold("run", "-c", "for i in 0 1 2; do test -t $i && echo TTY; done; echo x",
                              stdin=secondary)
        self.assertEqual(answer.out, "x\n")

    def test_namespaces_are_all_the_runs_own(self):
        kinds = ["user", "ipc", "pid", "uts", "cgroup", "net", "mnt"]
        outside = {kind: os.readlink(f"/proc/self/ns/{kind}") for kind in kinds}
        inside = dict(line.split("=", 1) for line in self.inside(
            "for k in " + " ".join(kinds) + "; do echo $k=$(readlink /proc/self/ns/$k); done")
            .splitlines())
        for kind in kinds:
            self.assertNotEqual(inside[kind], outside[kind], kind)

    def test_the_record_and_the_text_say_what_was_held(self):
        record = self.record("--", "true")
        self.assertEqual({one["held"] for one in record["enforced"].values()} -
                         {"full", "partial", "none"}, set())
        for name in ("writes_outside", "privileges", "namespaces", "system_calls", "network"):
            self.assertEqual(record["enforced"][name]["held"], "full", name)
        told = self.pinfold("run", "--enforced", "--", "true")
        self.assertEqual((told.code, told.out), (0, ""))
        for name, one in record["enforced"].items():
            self.assertRegex(told.err, rf"(?m)^pinfold: run: {name} +{one['held']} +\S")
        self.assertEqual(self.pinfold("run", "--", "true").err, "")

    def test_without_a_sandbox_and_after_a_refusal_nothing_is_said_to_be_held(self):
        record = self.record("--no-sandbox", "--", "true")
        for name in ("writes_outside", "privileges", "namespaces", "system_calls", "network"):
            self.assertEqual(record["enforced"][name]["held"], "none", name)
        self.assertEqual(self.record("--workspace", "/", "--", "true")["enforced"], {})


if __name__ == "__main__":
    unittest.main()
