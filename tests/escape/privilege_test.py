"""Gaining privilege, inside and by what is left for the host."""
import os
import platform
import stat
import unittest

import escape
from escape import support


@support.as_each_user
class Privilege(escape.Escape):
    def test_capabilities_of_a_run_by_root(self):
        self.assert_error("EPERM", "if libc.mount(None, b'/', None, 4096 | 32, None) < 0: "
                          "raise OSError(ctypes.get_errno(), '')")
        self.assertEqual(self.inside("grep -c '^Cap.*0000000000000000$' /proc/self/status"), "5\n")

    def test_a_nested_user_namespace(self):
        self.assert_error("EPERM ENOSPC", "call(272, 0x10000000)")  # unshare(CLONE_NEWUSER)
        self.assert_error("EPERM ENOSYS ENOSPC",
                          "call(435, ctypes.create_string_buffer(struct.pack('11Q', 0x10000000, "
                          "*[0] * 10), 88), 88)")  # clone3(CLONE_NEWUSER)
        self.assert_fails("unshare -Urm sh -c 'umount .foundry; mount -o remount,rw /'")

    @unittest.skipUnless(platform.machine() == "x86_64", "a 32-bit call exists on x86-64 only")
    def test_a_call_of_another_architecture(self):
        """x32: the same numbers with bit 30 set. Whoever makes one is killed (SIGSYS)."""
        record = self.record("--", "/usr/bin/python3", "-I", "-c", "import ctypes; print('alive', "
                             "flush=True); ctypes.CDLL(None).syscall(0x40000000 + 272, 0x10000000); "
                             "print('DONE')")
        self.assertEqual((record["ended"], record["signal"], record["stdout"]["text"]),
                         ("signaled", 31, "alive\n"))

    def test_characters_pushed_into_the_terminal(self):
        primary, secondary = os.openpty()
        self.addCleanup(os.close, primary)
        self.addCleanup(os.close, secondary)
        for request in (0x5412, 0x5412 + (1 << 32), 0x541C):  # TIOCSTI, its 64-bit twin, TIOCLINUX
            self.assert_error("EPERM ENOTTY", f"""
                p, s = os.openpty()
                if libc.ioctl(s, ctypes.c_ulong({request}), ctypes.create_string_buffer(b'i')) < 0:
                    raise OSError(ctypes.get_errno(), '')
            """, stdin=secondary)

    def test_a_sysctl_as_root(self):
        for name in ("kernel/core_pattern", "kernel/printk", "vm/overcommit_memory"):
            self.assert_error("EROFS EACCES", f"open('/proc/sys/{name}', 'w')")

    def test_the_first_process_made_blind(self):
        """PID 1 counts memory and tasks: its limits and its turn are not the command's to set."""
        for body in ("resource.prlimit(1, resource.RLIMIT_NOFILE, (6, 6))",
                     "call(302, (1 << 32) + 1, 7, ctypes.create_string_buffer(struct.pack('2Q', 6, 6)), "
                     "None)",  # prlimit64, the upper bits set
                     "os.sched_setaffinity(1, {0})",
                     "os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))",
                     "os.setpriority(os.PRIO_PROCESS, 1, 19)",
                     "os.setpriority(os.PRIO_USER, 0, 19)",
                     "call(251, 1, 1, 3 << 13)"):  # ioprio_set: idle
            self.assert_error("EPERM", "import resource\n" + body)
        record = self.record("--memory", "64MiB", "--", "/usr/bin/python3", "-I", "-c",
                             "import resource, time\n"
                             "try: resource.prlimit(1, resource.RLIMIT_NOFILE, (6, 6))\n"
                             "except PermissionError: pass\n"
                             "held = bytearray(300 << 20); time.sleep(20)")
        self.assertEqual((record["ended"], record["limit"]), ("limited", "memory"), record)

    def test_kernel_keyrings(self):
        self.assert_error("EPERM", "call(248, b'user', b'pinfold', b'x', 1, -4)")  # add_key
        self.assert_error("EPERM", "call(250, 0, -4, 0)")  # keyctl
        self.assert_error("EPERM", "call(249, b'user', b'x', None, 0)")  # request_key

    def test_a_set_id_file_left_on_the_host(self):
        for body in ("write('s'); os.chmod('s', 0o4755)",
                     "write('s'); os.chmod('s', 0o2755)",
                     "write('s'); f = os.open('s', os.O_RDONLY); os.fchmod(f, 0o4755)",
                     "os.open('t', os.O_CREAT | os.O_WRONLY, 0o4755)",
                     "os.mknod('u', stat.S_IFREG | 0o4755)",
                     "write('s'); call(452, -100, b's', 0o4755, 0)",  # fchmodat2
                     "call(437, -100, b'v', ctypes.create_string_buffer(struct.pack('3Q', 0o101, "
                     "0o4755, 0), 24), 24)"):  # openat2
            self.assert_error("EPERM ENOSYS", body)
        for name in os.listdir(self.project):
            mode = os.lstat(self.path("project", name)).st_mode
            self.assertEqual(mode & (stat.S_ISUID | stat.S_ISGID), 0, name)

    def test_password_hashes(self):
        self.assertEqual(self.inside("cat /etc/shadow /etc/gshadow 2>/dev/null | wc -c"), "0\n")

    def test_the_process_group_of_the_host(self):
        """The runner is in our process group: had the signal left the sandbox, no record would come."""
        self.assertEqual(self.record("-c", "kill -9 0")["ended"], "signaled")

    def test_a_set_uid_program_gains_nothing(self):
        out = self.python("import os, subprocess; print(subprocess.run(['/usr/bin/su', '-c', 'id -u'], "
                          "stdin=subprocess.DEVNULL, capture_output=True).returncode, os.geteuid())")
        code, uid = out.split()
        self.assertEqual(uid, str(self.uid))
        self.assertNotEqual(code, "0")


if __name__ == "__main__":
    unittest.main()
