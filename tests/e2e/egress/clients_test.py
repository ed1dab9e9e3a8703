"""Real clients inside, servers outside: each reaches the host that is on the list, and is told no for
the other one, whatever it speaks."""
import json
import os
import subprocess
import sys
import tarfile
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

    def test_curl_over_http(self):
        self.check(self.serve(), "curl -sS -w '%{{http_code}}\\n' --fail-with-body http://{host}:{port}/a",
                   "GET /a\n200\n", "http", '"error":"NetworkDenied".*"remedy":"needs_wider_grant"')

    def test_curl_over_https(self):
        self.check(self.serve(secure=True), "curl -sS --cacert ca.pem https://{host}:{port}/a",
                   "GET /a\n", "connect", "403")

    def test_curl_over_socks5(self):
        self.check(self.serve(secure=True), f"curl -sS --cacert ca.pem --noproxy '' --proxy "
                   f"socks5h://127.0.0.1:{PROXY} https://{{host}}:{{port}}/a", "GET /a\n", "socks5")

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

    def test_npm_installs_from_a_registry_folder(self):
        self.need_tool("npm")
        folder = self.path("registry")
        os.makedirs(f"{folder}/tarballs")
        os.makedirs(self.path("package"))
        self.write("package/package.json", json.dumps({"name": "little", "version": "1.0.0",
                                                       "main": "index.js"}))
        self.write("package/index.js", "module.exports = 'from the registry';\n")
        with tarfile.open(f"{folder}/tarballs/little-1.0.0.tgz", "w:gz") as archive:
            archive.add(self.path("package"), arcname="package")
        server = self.serve(lambda *given: outside.Folder(*given, directory=folder))
        port = server.server_address[1]
        for host in (ALLOWED, DENIED):
            self.write("registry/little", json.dumps({
                "name": "little", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {
                    "name": "little", "version": "1.0.0", "dist": {
                        "tarball": f"http://{host}:{port}/tarballs/little-1.0.0.tgz"}}}}))
        self.write("registry/little", self.read("registry/little").replace(DENIED, ALLOWED))
        command = ("rm -rf n && mkdir n && cd n && npm install --no-audit --no-fund --no-update-notifier "
                   "--fetch-retries=0 --registry http://{host}:{port}/ little >&2 && "
                   "node -p 'require(\"little\")'")
        self.check(server, command, "from the registry\n", "http")

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

    def test_nodes_fetch(self):
        self.need_tool("node")
        has_switch = subprocess.run(
            ["node", "-p", "process.allowedNodeEnvironmentFlags.has('--use-env-proxy')"],
            capture_output=True, text=True, check=True).stdout == "true\n"
        server = self.serve()
        port = server.server_address[1]
        fetch = "node -e 'fetch(\"http://{host}:{port}/a\").then(r => r.status == 200 ? r.text() : " \
                "Promise.reject(r.status)).then(t => process.stdout.write(t))'"
        if has_switch:
            return self.check(server, fetch, "GET /a\n", "connect", options=["--allow-no-sni"])
        # This one knows no proxies: it fails at once, and the host's loopback it reaches by its port.
        record = self.record_with_names(self.listing(server), fetch.format(host=ALLOWED, port=port))
        self.assertNotEqual(record["exit_code"], 0)
        self.assertEqual(record["egress"]["attempts"], [])
        record = self.record_with_names(["--allow-loopback", str(port)],
                                        fetch.format(host="localhost", port=port))
        self.assertEqual(record["stdout"]["text"], "GET /a\n", record)
        return None


if __name__ == "__main__":
    unittest.main()
