"""Real clients inside, servers outside: each reaches the host that is on the list, and is told no for
the other one, whatever it speaks."""
import os
import pwd
import socket
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import outside  # noqa: E402
import support  # noqa: E402
from outside import ALLOWED, DENIED, PROXY  # noqa: E402

HTTP2 = """
const [file] = process.argv.slice(2), fs = require("fs"), pem = fs.readFileSync(file);
const server = require("http2").createSecureServer({key: pem, cert: pem, allowHTTP1: true},
  (request, response) => response.end("over " + request.httpVersion + "\\n"));
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
"""


@support.as_each_user
class Clients(outside.Outside):

    def setUp(self):
        super().setUp()
        self.need_names()

    def test_curl_over_http(self):
        self.check(self.serve(), "curl -sS -w '%{{http_code}}\\n' --fail-with-body http://{host}:{port}/a",
                   "GET /a\n200\n", "http", '"error":"NetworkDenied".*"remedy":"needs_wider_grant"')

    def test_curl_over_https(self):
        self.check(self.serve(secure=True), "curl -sS --cacert ca.pem https://{host}:{port}/a",
                   "GET /a\n", "connect", "403")

    def test_curl_over_socks5(self):
        self.check(self.serve(secure=True), f"curl -sS --cacert ca.pem --noproxy '' --proxy "
                   f"socks5h://127.0.0.1:{PROXY} https://{{host}}:{{port}}/a", "GET /a\n", "socks5", r"\(2\)")

    def test_curl_over_http2(self):
        self.need_tool("node")
        server = subprocess.Popen(["node", "-e", HTTP2, "x", self.authority.server],
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.addCleanup(server.stdout.close)
        port = int(server.stdout.readline())
        self.check(port, "curl -sS --http2 --cacert ca.pem https://{host}:{port}/", "over 2.0\n",
                   "connect")

    def test_wget(self):
        self.check(self.serve(), "wget -nv -O - -t 1 http://{host}:{port}/a", "GET /a\n", "http", "403")
        self.check(self.serve(secure=True),
                   "wget -nv -O - -t 1 --ca-certificate=ca.pem https://{host}:{port}/a", "GET /a\n",
                   "connect")

    def test_a_body_reaches_the_server_whole(self):
        server = self.serve()
        for framing in ("", "-H 'Transfer-Encoding: chunked'"):
            record = self.record_with_names(
                self.listing(server), f"head -c 100000 /dev/zero | curl -sS {framing} --data-binary @- "
                f"http://{ALLOWED}:{server.server_address[1]}/up")
            self.assertEqual(record["stdout"]["text"], "100000", record)
            self.assertGreater(record["egress"]["sent"], 100000)

    def test_git_clones_over_https(self):
        folder = self.path("served")
        quiet = {"cwd": self.home, "check": True, "capture_output": True}
        subprocess.run(["git", "init", "-q", "-b", "main", "source"], **quiet)
        subprocess.run(["git", "-C", "source", "-c", "user.name=a", "-c", "user.email=a@b", "commit",
                        "-q", "--allow-empty", "-m", "the one commit"], **quiet)
        os.mkdir(folder)
        subprocess.run(["git", "clone", "-q", "--bare", "source", "served/it.git"], **quiet)
        server = self.serve(outside.GitBackend, secure=True, folder=folder)
        self.check(server, "rm -rf it && git -c http.sslCAInfo=$PWD/ca.pem clone -q "
                   "https://{host}:{port}/it.git it && git -C it log --format=%s", "the one commit\n",
                   "connect", "403")

    def test_git_over_ssh(self):
        """As far as the greeting: who is let in is the server's own matter."""
        self.need_tool("ssh")
        try:
            pwd.getpwuid(self.uid)
        except KeyError:
            self.skipTest("ssh serves nobody without a name")
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        greeted, port = [], server.getsockname()[1]

        def greet():
            client, _ = server.accept()
            with client:
                client.sendall(b"SSH-2.0-test\r\n")
                greeted.append(client.recv(100).split(b"-")[:2])
                client.sendall(b"\xff" * 64)  # no packet of ssh, which then gives up
                while client.recv(4096):
                    pass
        threading.Thread(target=greet, daemon=True).start()
        options = [*self.listing(port), "--allow-host", f"{ALLOWED}:22", "--allow-no-sni"]
        script = "echo $GIT_SSH_COMMAND; git ls-remote ssh://git@%s:%s/it"
        record = self.record_with_names(options, script % (DENIED, port))
        if record["stdout"]["text"] == "\n":
            self.assertNotIn("nc.openbsd", outside.TOOLS)
            self.skipTest("nothing that carries ssh through a proxy is here")
        self.assertEqual(self.attempts(record), [(DENIED, port, "connect", "NetworkDenied")], record)
        self.assertEqual(greeted, [])
        record = self.record_with_names(options, script % (ALLOWED, port))
        self.assertEqual(self.attempts(record), [(ALLOWED, port, "connect", None)], record)
        self.assertEqual(greeted, [[b"SSH", b"2.0"]])
        # Without --allow-no-sni ssh could not get through, and is not told of a way.
        record = self.record_with_names(options[:-1], "echo [$GIT_SSH_COMMAND]")
        self.assertEqual(record["stdout"]["text"], "[]\n")

    def test_pythons_urllib_and_requests(self):
        secure = self.serve(secure=True)
        fetch = "import {module}; print({call}, end=\"\")"
        urllib = fetch.format(module="urllib.request", call="urllib.request.urlopen(\"{scheme}://{{host}}"
                              ":{{port}}/a\").read().decode()")
        self.check(self.serve(), "python3 -c '" + urllib.format(scheme="http") + "'", "GET /a\n", "http",
                   "403")
        self.check(secure, "SSL_CERT_FILE=$PWD/ca.pem python3 -c '" + urllib.format(scheme="https") +
                   "'", "GET /a\n", "connect", "403")
        if subprocess.run([outside.PYTHON, "-c", "import requests"], capture_output=True,
                          check=False).returncode != 0:
            self.assertFalse(support.MUST_WORK, "python3-requests is in the list of packages")
            self.skipTest("requests is not here")
        requests = fetch.format(module="requests", call="requests.get(\"https://{{host}}:{{port}}/a\", "
                                "verify=\"ca.pem\").text")
        self.check(secure, "/usr/bin/python3 -c '" + requests.format() + "'", "GET /a\n", "connect")


if __name__ == "__main__":
    unittest.main()
