"""Reaching out: sockets, the network, descriptors, environment, what outlives the run."""
import os
import socket
import subprocess
import tempfile
import unittest

import escape
from escape import ground, support


@support.as_each_user
class Sockets(escape.Escape):
    def listen(self, address, kind=socket.SOCK_STREAM):
        server = socket.socket(socket.AF_UNIX, kind)
        self.addCleanup(server.close)
        server.bind(address)
        if kind == socket.SOCK_STREAM:
            server.listen(4)
        return server

    def folder(self, place):
        path = tempfile.mkdtemp(prefix="pinfold-escape-", dir=place)
        self.addCleanup(support.shutil.rmtree, path, ignore_errors=True)
        os.chmod(path, 0o777)
        return path

    def test_a_socket_with_a_path_through_a_read_only_mount(self):
        places = ["/tmp", "/var/tmp"] + (["/run"] if os.geteuid() == 0 else [])
        for place in places:
            path = f"{self.folder(place)}/docker.sock"
            self.listen(path)
            os.chmod(path, 0o777)
            self.assert_error("ENOENT", f"socket.socket(socket.AF_UNIX).connect('{path}')")

    @unittest.skipUnless(os.geteuid() == 0, "a directory of another user")
    def test_a_socket_where_this_user_may_not_go_keeps_nobody_from_running(self):
        other = 12345 if self.uid == 0 else 0
        folder = self.open_directory()
        self.listen(f"{folder}/s")
        os.chown(folder, other, other)
        os.chmod(folder, 0o700)
        self.assert_error("EACCES", f"socket.socket(socket.AF_UNIX).connect('{folder}/s')")

    def test_a_pipe_with_a_name_through_a_read_only_mount(self):
        """Writing into a FIFO is no write to the file system, so no mount forbids it."""
        pipe = f"{self.open_directory()}/pipe"
        os.mkfifo(pipe)
        os.chmod(pipe, 0o666)
        end = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
        self.addCleanup(os.close, end)
        for how in ("os.O_WRONLY", "os.O_RDWR"):
            self.assert_error("EACCES ENOENT", f"os.write(os.open('{pipe}', {how} | os.O_NONBLOCK), b'evil')")
        with self.assertRaises(BlockingIOError):
            os.read(end, 1)
        self.assertEqual(self.error_of("""
            os.mkfifo('own'); end = os.open('own', os.O_RDWR); os.write(end, b'x'); os.read(end, 1)
            os.mkdir('a'); write('a/file', 'x'); os.rename('a/file', 'moved')
            write('/tmp/x'); write('/dev/shm/x'); write('/dev/null'); write('/proc/self/comm', 'x')
            write('/dev/stdout', '')
            """), "DONE")

    def test_the_buses_of_the_user_and_the_system(self):
        for path in ("/run/dbus/system_bus_socket", "/run/systemd/private",
                     f"/run/user/{self.uid}/bus", "/var/run/docker.sock"):
            self.assert_error("ENOENT", f"socket.socket(socket.AF_UNIX).connect('{path}')")

    def test_an_abstract_socket_while_the_network_is_off(self):
        name = f"pinfold-escape-{os.getpid()}-{self.uid}"
        self.listen("\0" + name)
        self.assert_error("ECONNREFUSED EPERM",
                          f"socket.socket(socket.AF_UNIX).connect('\\0{name}')")

    def test_an_abstract_socket_while_the_network_is_on(self):
        name = f"pinfold-escape-on-{os.getpid()}-{self.uid}"
        self.listen("\0" + name)
        self.assert_error("EPERM", f"socket.socket(socket.AF_UNIX).connect('\\0{name}')",
                          options=("--network", "on"))

    def test_a_datagram_pair_that_is_connected_to_a_path(self):
        path = f"{self.folder('/var/tmp')}/dgram"
        self.listen(path, socket.SOCK_DGRAM)
        os.chmod(path, 0o777)
        self.assert_error("EPERM EACCES EOPNOTSUPP ENOENT", "a, b = socket.socketpair(socket.AF_UNIX, "
                          f"socket.SOCK_DGRAM); a.connect('{path}')")

    def test_socket_families_that_reach_past_the_namespaces(self):
        for family, kind in (("AF_VSOCK", "STREAM"), ("AF_PACKET", "RAW"), ("AF_ALG", "SEQPACKET")):
            self.assert_error("EPERM EACCES EAFNOSUPPORT",
                              f"socket.socket(socket.{family}, socket.SOCK_{kind})")

    def test_io_uring_around_the_rules(self):
        self.assert_error("EPERM ENOSYS", "call(425, 1, ctypes.create_string_buffer(120))")


@support.as_each_user
class Network(escape.Escape):
    def test_the_proxy_variables_do_not_matter_without_a_route(self):
        for address in ("('192.0.2.1', 443)", "('169.254.169.254', 80)"):
            self.assert_error("ENETUNREACH", f"socket.create_connection({address}, 5)")
        self.assert_error("ENETUNREACH EADDRNOTAVAIL",
                          "s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); "
                          "s.sendto(b'x', ('2001:db8::1', 53))")

    def test_names_as_a_channel(self):
        self.assert_fails("getent ahosts c2VjcmV0.example.org")
        self.assert_error("ENETUNREACH", "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
                          "s.sendto(b'x', ('8.8.8.8', 53))")


@support.as_each_user
class Inherited(escape.Escape):
    def test_an_open_descriptor(self):
        with open(self.path(".ssh/id_rsa"), "rb") as key:
            os.set_inheritable(key.fileno(), True)
            child = self.start("run", "-c", f"cat <&{key.fileno()}", pass_fds=[key.fileno()])
            out, err = child.communicate(timeout=support.HANG)
        self.assertEqual(out, b"")
        self.assertIn(b"Bad file descriptor", err)

    def test_secrets_in_the_environment(self):
        names = ("AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "GIT_ASKPASS",
                 "SSH_ASKPASS", "DATABASE_URL", "NPM_TOKEN")
        out = self.inside("env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null; true",
                          env=self.environment(**dict.fromkeys(names, support.SECRET)))
        self.assertNotIn(support.SECRET, out)

    def test_variables_that_load_or_start_something(self):
        names = ("LD_PRELOAD", "LD_LIBRARY_PATH", "NODE_OPTIONS", "BASH_ENV", "ENV", "GIT_SSH_COMMAND",
                 "PERL5OPT", "PYTHONSTARTUP", "PYTHONPATH", "RUBYOPT", "JAVA_TOOL_OPTIONS")
        out = self.inside("env", env=self.environment(**dict.fromkeys(names, "/tmp/evil")))
        for name in names:
            self.assertNotIn(f"{name}=", out)

    def test_the_environment_of_the_harness_in_proc(self):
        self.assert_error("ENOENT EACCES", f"open('/proc/{os.getpid()}/environ').read()")
        self.assert_error("EACCES EPERM", "print(open('/proc/1/environ').read())")


@support.as_each_user
class Outlives(escape.Escape):
    def test_files_in_scratch_places(self):
        name = os.path.basename(self.home)
        for place in ("/tmp", "/var/tmp", "/dev/shm"):
            self.inside(f"echo x > {place}/{name}")
            self.assertFalse(os.path.exists(f"{place}/{name}"))

    def test_memory_filled_through_a_mount(self):
        for place in ("/run", "/root", "/home", self.home, "/dev"):
            if os.path.isdir(place):
                self.assert_error("EROFS EACCES", f"write('{place}/fill', 'x')")
        sizes = self.inside("df -B1 --output=size /tmp /var/tmp /dev/shm | tail -n +2").split()
        self.assertTrue(all(int(size) <= 1 << 30 for size in sizes), sizes)

    def test_a_core_dump(self):
        out = self.inside("ulimit -c; (kill -SEGV $BASHPID); ls; true")
        self.assertEqual(out.split(), ["0", "src"])


if __name__ == "__main__":
    unittest.main()
