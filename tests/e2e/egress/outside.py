"""What lies outside in the egress tests: servers on this machine's loopback, names that lead to them,
a certificate authority of the test's own, and what every client has to show."""
import http.server
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import support  # noqa: E402  (it lies one directory up)

PYTHON = "/usr/bin/python3"
ALLOWED, DENIED = "allowed.example", "denied.example"
TOOLS = os.environ.get("PINFOLD_TOOLS", "").split()
PROXY = 27080  # inside


class Quiet(http.server.BaseHTTPRequestHandler):
    """Answers GET and POST with what was asked for; tells the test what it saw."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.seen.append((self.command, self.path, self.headers.get("Host")))
        self.answer(f"{self.command} {self.path}\n".encode())

    def do_POST(self):
        size = len(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        if self.headers.get("Transfer-Encoding") == "chunked":
            while chunk := int(self.rfile.readline(), 16):
                size += len(self.rfile.read(chunk + 2)) - 2
            self.rfile.readline()
        self.server.seen.append((self.command, self.path, size))
        self.answer(str(size).encode())

    def answer(self, body, kind="text/plain"):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(http.server.ThreadingHTTPServer):
    """A client that is cut off is what some tests are about."""

    daemon_threads = True

    def handle_error(self, *_):
        pass


class Folder(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class GitBackend(Quiet):
    """git's own server program, as a web server would call it."""

    def do_GET(self):
        self.serve()

    def do_POST(self):
        self.serve()

    def serve(self):
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        known = {"GIT_PROJECT_ROOT": self.server.folder, "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path,
                 "QUERY_STRING": query, "REQUEST_METHOD": self.command, "PATH": os.defpath,
                 "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                 "CONTENT_LENGTH": str(len(body)), "HTTP_CONTENT_ENCODING":
                 self.headers.get("Content-Encoding", ""), "GIT_CONFIG_COUNT": "1",
                 "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
                 "GIT_PROTOCOL": self.headers.get("Git-Protocol", "")}
        done = subprocess.run(["git", "http-backend"], input=body, env=known, capture_output=True,
                              check=False)
        head, _, text = done.stdout.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line]
        status = next((value for name, value in fields if name == "Status"), "200 OK")
        self.send_response(int(status.split()[0]))
        for name, value in fields:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


class Authority:
    """A certificate authority, and a certificate for both names."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="pinfold-ca-")
        self.certificate, self.server = f"{self.folder}/ca.pem", f"{self.folder}/server.pem"
        names = f"subjectAltName=DNS:{ALLOWED},DNS:{DENIED}"
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        self.openssl("req", "-x509", *key, "-subj", "/CN=pinfold test", "-days", "2", "-keyout",
                     f"{self.folder}/ca.key", "-out", self.certificate)
        self.openssl("req", *key, "-subj", f"/CN={ALLOWED}", "-keyout", self.server, "-out",
                     f"{self.folder}/request")
        with open(f"{self.folder}/names", "w", encoding="utf-8") as file:
            file.write(names)
        self.openssl("x509", "-req", "-in", f"{self.folder}/request", "-CA", self.certificate, "-CAkey",
                     f"{self.folder}/ca.key", "-CAcreateserial", "-days", "2", "-extfile",
                     f"{self.folder}/names", "-out", f"{self.folder}/server.crt")
        with open(self.server, "a", encoding="utf-8") as file, \
                open(f"{self.folder}/server.crt", encoding="utf-8") as certificate:
            file.write(certificate.read())

    @staticmethod
    def openssl(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True)


class Outside(support.Confined):
    """A world with servers outside of it. Names need an /etc/hosts of the run's own, which only root
    can give it: as anybody else the tests that need names do nothing."""

    authority = None

    def setUp(self):
        super().setUp()
        if Outside.authority is None:
            Outside.authority = Authority()
            self.addClassCleanup(shutil.rmtree, Outside.authority.folder, ignore_errors=True)
            self.addClassCleanup(setattr, Outside, "authority", None)
        shutil.copy(Outside.authority.certificate, self.path("project/ca.pem"))
        os.chmod(self.path("project/ca.pem"), 0o644)
        self.hosts = tempfile.NamedTemporaryFile("w", suffix="-hosts")
        self.addCleanup(self.hosts.close)
        self.hosts.write(f"127.0.0.1 localhost {ALLOWED} {DENIED}\n")
        self.hosts.flush()
        os.chmod(self.hosts.name, 0o644)

    def need_names(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give a run an /etc/hosts of its own")

    def need_tool(self, name):
        if name in TOOLS:
            self.assertTrue(shutil.which(name), f"{name} is said to be here")
        elif not shutil.which(name):
            self.skipTest(f"{name} is not here")

    def serve(self, handler=Quiet, secure=False, **about):
        """A server on the loopback, on a thread; `seen` tells what it was asked for."""
        server = Server(("127.0.0.1", 0), handler)
        server.seen = []
        for name, value in about.items():
            setattr(server, name, value)
        if secure:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(Outside.authority.server)
            server.socket = context.wrap_socket(server.socket, server_side=True,
                                                do_handshake_on_connect=False)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    @staticmethod
    def listing(server, name=ALLOWED):
        """The options that allow a name on this server's port; its address is one of this machine."""
        port = server if isinstance(server, int) else server.server_address[1]
        return ["--allow-host", f"{name}:{port}", "--allow-host", f"127.0.0.1:{port}"]

    def run_with_names(self, *words, env=None):
        """pinfold with the names of this test; the answer."""
        user = [] if self.uid == 0 else ["setpriv", f"--reuid={self.uid}", f"--regid={self.gid}",
                                         "--clear-groups"]
        script = f"mount --bind {self.hosts.name} /etc/hosts && exec \"$@\""
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", *user, support.PINFOLD,
                               *words], cwd=self.project, env=env or self.environment(),
                              capture_output=True, timeout=support.HANG, check=False,
                              stdin=subprocess.DEVNULL)
        return support.Answer(done.returncode, done.stdout, done.stderr)

    def record_with_names(self, options, script):
        """The record of a shell script inside."""
        return self.run_with_names("run", "--json", *options, "-c", script).json

    def check(self, server, command, expected, protocol, denied_with=None, options=()):
        """`command` has {host} in it. It works for the one name, fails for the other, and the record
        says both."""
        port = server if isinstance(server, int) else server.server_address[1]
        options = [*self.listing(port), *options]
        record = self.record_with_names(options, command.format(host=ALLOWED, port=port))
        self.assertEqual(record["exit_code"], 0, record)
        self.assertIn(expected, record["stdout"]["text"])
        self.assertEqual(record["network"], "list")
        self.assertEqual(set(self.attempts(record)), {(ALLOWED, port, protocol, None)})
        self.assertGreater(record["egress"]["received"], 0)
        record = self.record_with_names(options, command.format(host=DENIED, port=port))
        self.assertNotEqual(record["exit_code"], 0, record)
        self.assertEqual(set(self.attempts(record)), {(DENIED, port, protocol, "NetworkDenied")})
        if denied_with:
            self.assertRegex(record["stdout"]["text"] + record["stderr"]["text"], denied_with)

    def attempts(self, record):
        return [(one["host"], one["port"], one["protocol"], (one["refusal"] or {}).get("error"))
                for one in record["egress"]["attempts"]]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


main = unittest.main
