"""Runtimes that bring a client of their own: node, with npm, and Java."""
import json
import os
import subprocess
import sys
import tarfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import outside  # noqa: E402
import support  # noqa: E402
from outside import ALLOWED, PROXY  # noqa: E402

# A node before 22.21 looks at no variable: whoever wants its fetch to take the proxy says so like this.
BY_HAND = """
const http = require("http"), tls = require("tls");
const ready = fetch("data:,").then(() => {
  const key = Symbol.for("undici.globalDispatcher.1"), Agent = globalThis[key].constructor;
  const connect = ({hostname, port}, done) => http.request(
    {host: "127.0.0.1", port: %d, method: "CONNECT", path: hostname + ":" + port}).on(
    "connect", (answer, socket) => answer.statusCode == 200 ?
      done(null, tls.connect({socket, servername: hostname})) : done(new Error(answer.statusCode))).on(
    "error", done).end();
  globalThis[key] = new Agent({connect});
});
""" % PROXY
FETCH = """
ready.then(() => fetch(process.argv[2])).then(answer => answer.ok ? answer.text() :
  Promise.reject(answer.status)).then(text => process.stdout.write(text), why => {
    console.error(why, why.cause); process.exit(1); });
"""

JAVA = """
public class Fetch {
  public static void main(String[] words) throws Exception {
    var in = new java.net.URL(words[0]).openStream();
    System.out.write(in.readAllBytes());
    System.out.flush();
  }
}
"""


@support.as_each_user
class Runtimes(outside.Outside):

    def setUp(self):
        super().setUp()
        self.need_names()

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
        self.write("registry/little", json.dumps({
            "name": "little", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {
                "name": "little", "version": "1.0.0", "dist": {
                    "tarball": f"http://{ALLOWED}:{port}/tarballs/little-1.0.0.tgz"}}}}))
        command = ("rm -rf n && mkdir n && cd n && npm install --no-audit --no-fund --no-update-notifier "
                   "--fetch-retries=0 --registry http://{host}:{port}/ little >&2 && "
                   "node -p 'require(\"little\")'")
        self.check(server, command, "from the registry\n", "http", "403")

    def test_nodes_fetch(self):
        self.need_tool("node")
        has_switch = subprocess.run(
            ["node", "-p", "process.allowedNodeEnvironmentFlags.has('--use-env-proxy')"],
            capture_output=True, text=True, check=True).stdout == "true\n"
        self.write("project/fetch.js", ("const ready = Promise.resolve();" if has_switch else BY_HAND) +
                   FETCH)
        command = "NODE_EXTRA_CA_CERTS=$PWD/ca.pem node fetch.js https://{host}:{port}/a"
        server = self.serve(secure=True)
        self.check(server, command, "GET /a\n", "connect", "403")
        # One that is not told fails at once; the host's loopback it reaches by its port.
        if not has_switch:
            self.write("project/fetch.js", "const ready = Promise.resolve();" + FETCH)
            port = server.server_address[1]
            record = self.record_with_names(self.listing(server), command.format(host=ALLOWED, port=port))
            self.assertEqual((record["exit_code"], record["egress"]["attempts"]), (1, []), record)
        plain = self.serve().server_address[1]
        record = self.record_with_names(["--allow-loopback", str(plain)],
                                        f"node fetch.js http://localhost:{plain}/a")
        self.assertEqual(record["stdout"]["text"], "GET /a\n", record)

    def test_javas_own_client(self):
        self.need_tool("javac")
        self.write("Fetch.java", JAVA)
        subprocess.run(["javac", "-d", self.project, self.path("Fetch.java")], check=True,
                       capture_output=True)
        os.chmod(self.path("project/Fetch.class"), 0o644)
        server = self.serve()
        self.check(server, "java Fetch http://{host}:{port}/a", "GET /a\n", "http", "403")
        # Its own servers it reaches without the proxy.
        port = server.server_address[1]
        record = self.record_with_names(["--allow-loopback", str(port)],
                                        f"java Fetch http://localhost:{port}/a")
        self.assertEqual(self.attempts(record), [("127.0.0.1", port, "loopback", None)], record)


if __name__ == "__main__":
    unittest.main()
