"""Real tools that fail without a writable cache: they work, and find it again in the next run.

With PINFOLD_TOOLS_MUST_WORK every tool has to be there (tests/tools.sh installs them); otherwise
ccache has to be, and the others are tried where they are."""
import os
import shutil
import unittest

import support

ALL_MUST_WORK = "PINFOLD_TOOLS_MUST_WORK" in os.environ

# A registry of npm's on the sandbox's own loopback, with one package in it.
REGISTRY = r'''
import base64, hashlib, http.server, io, json, tarfile, threading, subprocess, sys
content = json.dumps({"name": "dep", "version": "1.0.0", "main": "i.js"}).encode()
buffer = io.BytesIO()
with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
    for name, data in (("package/package.json", content), ("package/i.js", b"module.exports = 42\n")):
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        tar.addfile(entry, io.BytesIO(data))
tarball = buffer.getvalue()
integrity = "sha512-" + base64.b64encode(hashlib.sha512(tarball).digest()).decode()
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path.endswith(".tgz"):
            body, kind = tarball, "application/octet-stream"
        else:
            dist = {"tarball": f"http://127.0.0.1:{server.server_port}/dep-1.0.0.tgz",
                    "integrity": integrity}
            version = {"name": "dep", "version": "1.0.0", "main": "i.js", "dist": dist}
            body = json.dumps({"name": "dep", "dist-tags": {"latest": "1.0.0"},
                               "versions": {"1.0.0": version}}).encode()
            kind = "application/json"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 41873), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.exit(subprocess.call(sys.argv[1:]))
'''
NPM = "npm --no-audit --no-fund --no-update-notifier --registry http://127.0.0.1:41873/"


class Tool(support.Confined):
    tool = None
    has_to_be_there = False

    def setUp(self):
        super().setUp()
        if shutil.which(self.tool, path=os.defpath) is None:
            self.assertFalse(self.has_to_be_there or ALL_MUST_WORK, f"{self.tool} is not here")
            self.skipTest(f"{self.tool} is not here; tests/tools.sh installs it")

    def done(self, script, *words):
        record = self.record("--timeout", "110s", *words, "-c", script)
        self.assertEqual(record["exit_code"], 0, record)
        return record["stdout"]["text"]

    def fails_without_a_writable_cache(self, script, because):
        """The user's own home is closed inside: what a tool finds where no cache is bound."""
        record = self.record("--timeout", "110s", "--env", f"HOME={self.home}", "-c", script)
        self.assertNotIn(record["exit_code"], (0, None), record)
        self.assertRegex(record["stdout"]["text"] + record["stderr"]["text"], because)


@support.as_each_user
class Ccache(Tool):
    tool = "ccache"
    has_to_be_there = True

    def test_a_compilation_is_found_again_in_the_next_run(self):
        compile_it = "ccache cc -c src/main.c -o main.o"
        hits = f"{compile_it}; ccache --print-stats | grep -E '^(direct|preprocessed)_cache_hit'"
        self.fails_without_a_writable_cache(compile_it, "Read-only file system")
        self.assertFalse(os.path.exists(f"{self.project}/main.o"))
        counts = lambda text: sum(int(line.split()[1]) for line in text.splitlines())
        self.assertEqual(counts(self.done(hits)), 0)
        self.assertEqual(counts(self.done(hits)), 1)
        self.assertEqual(counts(self.done(hits, "--no-cache")), 0)


@support.as_each_user
class Go(Tool):
    tool = "go"

    def test_a_build_is_found_again_in_the_next_run(self):
        self.write("project/go.mod", "module example.test/x\n\ngo 1.19\n")
        self.write("project/main.go", "package main\n\nfunc main() { println(42) }\n")
        self.own()
        self.fails_without_a_writable_cache("go build -o x .", "build cache")
        build = "rm -f x; go build -v -o x . 2>&1 && ./x 2>/dev/null; ls x >/dev/null"
        self.assertIn("example.test/x", self.done(build))
        self.assertNotIn("example.test/x", self.done(build))
        self.assertIn("example.test/x", self.done(build, "--no-cache"))


@support.as_each_user
class Cargo(Tool):
    tool = "cargo"

    def test_a_dependency_that_was_fetched_is_there_offline_in_the_next_run(self):
        for name, manifest in (("dep", ""), ("project", "[dependencies]\ndep = { git = "
                                             f"\"file://{self.project}/dep\" }}\n")):
            folder = "project/dep" if name == "dep" else "project"
            os.makedirs(self.path(folder, "src"), exist_ok=True)
            self.write(f"{folder}/Cargo.toml", f"[package]\nname = \"{name}\"\nversion = \"0.1.0\"\n"
                       f"edition = \"2021\"\n{manifest}")
        self.write("project/dep/src/lib.rs", "pub fn value() -> i32 { 42 }\n")
        self.write("project/src/main.rs", "fn main() { println!(\"{}\", dep::value()); }\n")
        self.own()
        self.done("cd dep && git init -q && git -c user.name=a -c user.email=b add . && "
                  "git -c user.name=a -c user.email=b commit -qm one")
        cargo = f"PATH={os.defpath} cargo"
        self.fails_without_a_writable_cache(f"{cargo} fetch", "Read-only file system|os error 30")
        self.done(f"{cargo} fetch && rm -rf dep")
        offline = f"rm -rf target && {cargo} run --offline"
        self.assertEqual(self.done(offline), "42\n")
        record = self.record("--no-cache", "-c", offline)
        self.assertNotEqual(record["exit_code"], 0, record)


@support.as_each_user
class Npm(Tool):
    tool = "npm"

    def test_a_package_that_was_installed_is_there_offline_in_the_next_run(self):
        self.write("project/registry.py", REGISTRY)
        self.write("project/package.json", '{"name": "app", "version": "1.0.0"}\n')
        self.own()
        install = f"python3 registry.py {NPM} install dep"
        self.fails_without_a_writable_cache(install, r"mkdir .*\.npm|EROFS")
        self.done(f"rm -rf node_modules; {install}")
        offline = (f"rm -rf node_modules package-lock.json; {NPM} install --offline dep && "
                   "node -p 'require(\"dep\")'")
        self.assertTrue(self.done(offline).endswith("42\n"))
        record = self.record("--no-cache", "-c", offline)
        self.assertIn("ENOTCACHED", record["stderr"]["text"])
        self.assertNotEqual(record["exit_code"], 0)


if __name__ == "__main__":
    unittest.main()
