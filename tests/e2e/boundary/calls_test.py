"""System calls: each class that the filter closes, tried by number from inside, with the errno that a
command must see; and beside each what must go on working."""
import os
import platform
import signal
import subprocess
import socket
import unittest

import ground
from ground import support

EPERM, EFAULT, ENOSYS = 1, 14, 38
HIGH = 1 << 32  # bits that the kernel cuts off and a filter must not trip over

# (what, number on x86_64, arguments, errno). A string becomes a pointer to it.
REFUSED = [
    ("TIOCSTI", 16, (0, 0x5412, "x"), EPERM),
    ("TIOCSTI with an upper bit", 16, (0, 0x5412 + HIGH, "x"), EPERM),
    ("TIOCLINUX", 16, (0, 0x541C, "x"), EPERM),
    ("TIOCLINUX with an upper bit", 16, (0, 0x541C + (HIGH << 7), "x"), EPERM),
    ("add_key", 248, ("user", "x", "y", 1, -4), EPERM),
    ("request_key", 249, ("user", "x", 0, 0), EPERM),
    ("keyctl", 250, (0, -4, 1), EPERM),
    ("bpf", 321, (0, 0, 0), EPERM),
    ("perf_event_open", 298, (0, 0, -1, -1, 0), EPERM),
    ("userfaultfd", 323, (1,), EPERM),
    ("io_uring_setup", 425, (1, 0), EPERM),
    ("io_uring_enter", 426, (-1, 0, 0, 0), EPERM),
    ("io_uring_register", 427, (-1, 0, 0, 0), EPERM),
    ("kexec_load", 246, (0, 0, 0, 0), EPERM),
    ("kexec_file_load", 320, (-1, -1, 0, 0, 0), EPERM),
    ("init_module", 175, (0, 0, ""), EPERM),
    ("finit_module", 313, (-1, "", 0), EPERM),
    ("delete_module", 176, ("x", 0), EPERM),
    ("open_by_handle_at", 304, (-1, 0, 0), EPERM),
    ("mount", 165, (0, 0, 0, 0, 0), EPERM),
    ("umount2", 166, (0, 0), EPERM),
    ("pivot_root", 155, (0, 0), EPERM),
    ("open_tree", 428, (-1, "", 0), EPERM),
    ("move_mount", 429, (-1, "", -1, "", 0), EPERM),
    ("fsopen", 430, (0, 0), EPERM),
    ("fsconfig", 431, (-1, 0, 0, 0, 0), EPERM),
    ("fsmount", 432, (-1, 0, 0), EPERM),
    ("fspick", 433, (-1, 0, 0), EPERM),
    ("mount_setattr", 442, (-1, "", 0, 0, 0), EPERM),
    ("open_tree_attr", 467, (-1, "", 0, 0, 0), EPERM),
    ("setns", 308, (-1, 0), EPERM),
    ("unshare of a user namespace", 272, (0x10000000,), EPERM),
    ("unshare of a user namespace and more", 272, (0x10020000,), EPERM),
    ("clone of a user namespace", 56, (0x10000000 | signal.SIGCHLD, 0, 0, 0, 0), EPERM),
    ("clone3", 435, (0, 0), ENOSYS),
    ("openat2", 437, (-100, "f", 0, 0), ENOSYS),
    ("a call of tomorrow", 470, (0, 0, 0), ENOSYS),
    ("a call of the year after", 999, (0, 0, 0), ENOSYS),
    ("chmod u+s", 90, ("f", 0o4755), EPERM),
    ("chmod g+s", 90, ("f", 0o2755), EPERM),
    ("chmod u+s with upper bits", 90, ("f", 0o4755 | 0x10000 | HIGH), EPERM),
    ("fchmod u+s", 91, ("FD f", 0o4755), EPERM),
    ("fchmodat u+s", 268, (-100, "f", 0o4755), EPERM),
    ("fchmodat g+s", 268, (-100, "f", 0o2755), EPERM),
    ("fchmodat2 u+s", 452, (-100, "f", 0o4755, 0), EPERM),
    ("fchmodat2 g+s", 452, (-100, "f", 0o2755, 0), EPERM),
    ("mknod of a set-id file", 133, ("new", 0o104755, 0), EPERM),
    ("mknodat of a set-id file", 259, (-100, "new", 0o102755, 0), EPERM),
    ("creat of a set-id file", 85, ("new", 0o4755), EPERM),
    ("open of a new set-id file", 2, ("new", 0o101, 0o4755), EPERM),
    ("openat of a new set-gid file", 257, (-100, "new", 0o101, 0o2755), EPERM),
    ("openat of a nameless set-id file", 257, (-100, ".", 0o20200002, 0o4755), EPERM),
    ("open of a nameless set-gid file", 2, (".", 0o20200002, 0o2755), EPERM),
    *((f"socket of family {family}", 41, (family, kind, 0), EPERM)
      for family in (0, 3, 9, 11, 15, 17, 21, 29, 31, 38, 40, 44, 45) for kind in (1, 2, 3)),
    ("socket of a family with an upper bit", 41, (40 + HIGH, 1, 0), EPERM),
    ("netlink of the firewall", 41, (16, 3, 12), EPERM),
    ("netlink of the audit log", 41, (16, 3, 9), EPERM),
    ("socketpair of another family", 53, (30, 1, 0, "12345678"), EPERM),
]

# What must go on working, in the same words; 0 is success.
ALLOWED = [
    ("a new file", 2, ("plain", 0o101, 0o755), 0),
    ("an old file, with a mode that nobody reads", 2, ("f", 0o2, 0o7777), 0),
    ("a nameless file", 257, (-100, ".", 0o20200002, 0o600), 0),
    ("chmod with the sticky bit", 90, ("f", 0o1755), 0),
    ("a fifo", 133, ("fifo", 0o010644, 0), 0),
    ("unix", 41, (1, 1, 0), 0),
    ("inet", 41, (2, 1, 0), 0),
    ("inet6", 41, (10, 2, 0), 0),
    ("netlink of addresses", 41, (16, 3, 0), 0),
    ("socketpair", 53, (1, 1, 0, "12345678"), 0),
    ("a read of a size", 16, (0, 0x541B, "12345678"), 25),  # FIONREAD on /dev/null: ENOTTY
    ("ptrace of nobody", 101, (0x4206, 1 << 22, 0, 0), 3),  # ESRCH
]

PROGRAM = """
import ctypes, json, os, sys
libc = ctypes.CDLL(None, use_errno=True)
open("f", "w").close()
for what, number, arguments, wanted in json.load(open("calls.json")):
    values = []
    for one in arguments:
        if isinstance(one, str) and one.startswith("FD "):
            values.append(ctypes.c_long(os.open(one[3:], os.O_RDWR)))
        elif isinstance(one, str):
            values.append(ctypes.create_string_buffer(one.encode()))
        else:
            values.append(ctypes.c_ulong(one & (1 << 64) - 1))
    ctypes.set_errno(0)
    got = libc.syscall(ctypes.c_long(number), *values)
    if number == 56 and got == 0:
        os._exit(0)
    said = ctypes.get_errno() if got == -1 else 0
    print(json.dumps([what, wanted, said]))
for root, folders, files in os.walk("."):
    for name in folders + files:
        if os.lstat(os.path.join(root, name)).st_mode & 0o6000:
            print(json.dumps([f"set-id bit on {name}", 0, 1]))
"""

MACHINE_CODE = """
import ctypes, mmap
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, 20 (getpid); int 0x80; ret
run = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
print("alive", flush=True)
print(run(), flush=True)
"""

X32 = """
import ctypes
print("alive", flush=True)
print(ctypes.CDLL(None).syscall(0x40000000 | 39), flush=True)
"""

DATAGRAM_PAIR = """
import ctypes, os, socket, sys
for address in sys.argv[1:]:
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        a.connect("\\0" + address[1:] if address.startswith("@") else address)
        a.send(b"out")
        print("SENT")
    except OSError as error:
        print(error.errno)
"""


@support.as_each_user
class Calls(ground.Boundary):
    def setUp(self):
        super().setUp()
        if platform.machine() != "x86_64":
            self.skipTest("the numbers are those of x86_64")

    def said(self, calls, *options):
        self.write("project/calls.json", support.json.dumps(calls))
        self.own()
        out = self.python(PROGRAM, options=options)
        answers = [support.json.loads(line) for line in out.splitlines()]
        self.assertGreaterEqual(len(answers), len(calls), out)
        return answers

    def test_each_class_is_refused_with_its_errno(self):
        for what, wanted, got in self.said(REFUSED):
            with self.subTest(call=what):
                self.assertEqual(got, wanted)

    def test_what_development_needs_goes_on(self):
        for what, wanted, got in self.said(ALLOWED):
            with self.subTest(call=what):
                self.assertEqual(got, wanted)

    def test_without_the_filter_the_kernel_answers_otherwise(self):
        """The control: an errno above comes from the filter, not from the kernel."""
        self_evident = {"add_key", "request_key", "keyctl", "clone3", "openat2", "fchmod u+s",
                        "chmod u+s", "fchmodat2 u+s", "netlink of the audit log",
                        "open of a new set-id file", "socket of a family with an upper bit"}
        calls = [call for call in REFUSED if call[0] in self_evident]
        self.assertEqual(len(calls), len(self_evident))
        answers = self.said(calls, "--no-sandbox")
        for what, wanted, got in answers[:len(calls)]:
            with self.subTest(call=what):
                self.assertNotEqual(got, wanted)

    def test_a_32_bit_call_and_an_x32_call_are_killed(self):
        for program in (MACHINE_CODE, X32):
            # A kernel that was started without 32-bit calls answers them with SIGSEGV, to everybody.
            bare = subprocess.run([ground.PYTHON, "-I", "-c", program], stdout=subprocess.DEVNULL)
            ends = {signal.SIGSYS} | ({signal.SIGSEGV} & {-bare.returncode})
            record = self.record("--", ground.PYTHON, "-I", "-c", program)
            self.assertEqual(record["stdout"]["text"], "alive\n", record)
            self.assertEqual(record["ended"], "signaled", record)
            self.assertIn(record["signal"], ends, record)

    def test_a_tracer_cannot_change_a_call_behind_the_filters_back(self):
        """The filter looks again after a tracer has changed the registers (Linux 4.8)."""
        out = self.python(TRACER)
        self.assertEqual(out, "traced 1\n")

    def test_a_pair_of_datagram_sockets_leads_nowhere_that_a_socket_does_not(self):
        """The pair can be connected again to a name; no name of the host's is there."""
        place = support.tempfile.mkdtemp(prefix="pinfold-e2e-", dir="/tmp")
        self.addCleanup(support.shutil.rmtree, place, ignore_errors=True)
        os.chmod(place, 0o777)
        abstract = f"pinfold-datagram-{os.getpid()}-{self.uid}"
        for address in (f"{place}/socket", "\0" + abstract):
            server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self.addCleanup(server.close)
            server.bind(address)
        os.chmod(f"{place}/socket", 0o777)
        out = self.python(DATAGRAM_PAIR, f"{place}/socket", "@" + abstract)
        self.assertEqual(out, "2\n111\n")  # ENOENT, ECONNREFUSED


TRACER = r"""
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
TRACEME, CONT, KILL, SYSCALL, PEEKUSER, POKEUSER = 0, 7, 8, 24, 3, 6
ORIG_RAX, RAX = 15 * 8, 10 * 8
child = os.fork()
if child == 0:
    libc.ptrace(TRACEME, 0, None, None)
    os.kill(os.getpid(), signal.SIGSTOP)
    libc.syscall(102)  # getuid, which the tracer turns into keyctl
    os._exit(0)
os.waitpid(child, 0)
entering = True
while True:
    libc.ptrace(SYSCALL, child, None, None)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) or os.WIFSIGNALED(status):
        break
    number = libc.ptrace(PEEKUSER, child, ORIG_RAX, None)
    if entering and number == 102:
        libc.ptrace(POKEUSER, child, ORIG_RAX, 250)
    if not entering and number == 250:
        answer = ctypes.c_long(libc.ptrace(PEEKUSER, child, RAX, None)).value
        print("traced", -answer)
        os.kill(child, signal.SIGKILL)
    entering = not entering
"""


if __name__ == "__main__":
    unittest.main()
