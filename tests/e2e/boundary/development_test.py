"""Ordinary development goes on inside the boundary: each tool that this machine has builds and runs
something small of its own. Which ones ran is printed. A tool named in PINFOLD_TOOLS must be there."""
import glob
import os
import shutil
import sys
import unittest

import ground
from ground import support

PATH = ":".join(["/usr/local/bin", "/usr/bin", "/bin", *sorted(glob.glob("/usr/lib/go-*/bin")),
                 *sorted(glob.glob("/usr/lib/postgresql/*/bin"))])
DEMANDED = set(os.environ.get("PINFOLD_TOOLS", "").split())
ran, missing = set(), set()

C = "#include <stdio.h>\nint main(void) { puts(\"built\"); return 0; }\n"
CXX = ("#include <iostream>\n#include <thread>\n"
       "int main() { std::thread t{[] { std::cout << \"built\\n\"; }}; t.join(); }\n")
CMAKE = ("cmake_minimum_required(VERSION 3.16)\nproject(p CXX)\nfind_package(Threads REQUIRED)\n"
         "add_executable(p main.cpp)\ntarget_link_libraries(p Threads::Threads)\n"
         "enable_testing()\nadd_test(NAME t COMMAND p)\n")
POOL = ("import concurrent.futures, multiprocessing, os, tempfile\n"
        "def f(x):\n    return x * x\n"
        "if __name__ == '__main__':\n"
        "    for way in ('fork', 'spawn', 'forkserver'):\n"
        "        multiprocessing.set_start_method(way, force=True)\n"
        "        with multiprocessing.Pool(2) as pool:\n"
        "            assert pool.map(f, range(4)) == [0, 1, 4, 9]\n"
        "    q = multiprocessing.Queue(); q.put('built'); print(q.get())\n")
SERVER = ("import http.server, threading, urllib.request\n"
          "s = http.server.ThreadingHTTPServer(('127.0.0.1', 0),"
          " http.server.SimpleHTTPRequestHandler)\n"
          "threading.Thread(target=s.serve_forever, daemon=True).start()\n"
          "port = s.server_address[1]\n"
          "print(urllib.request.urlopen(f'http://127.0.0.1:{port}/hello.txt').read().decode())\n"
          "import subprocess, shutil\n"
          "if shutil.which('curl'):\n"
          "    print(subprocess.check_output(['curl', '-s', f'http://127.0.0.1:{port}/hello.txt'],"
          " text=True))\nelse:\n    print('built')\n")
NODE = ("const {Worker, isMainThread, parentPort} = require('worker_threads');\n"
        "const {execFileSync} = require('child_process');\nconst http = require('http');\n"
        "if (!isMainThread) { parentPort.postMessage('built'); } else {\n"
        "  require('fs').writeFileSync('out.txt', execFileSync('echo', ['child']));\n"
        "  new Worker(__filename).on('message', m => {\n"
        "    const s = http.createServer((q, r) => r.end(m)).listen(0, '127.0.0.1', () =>\n"
        "      http.get({port: s.address().port, host: '127.0.0.1'}, r =>\n"
        "        r.on('data', d => { console.log(String(d)); s.close(); process.exit(0); })));\n"
        "  });\n}\n")
GO = ("package main\nimport (\"fmt\"; \"net\"; \"os/exec\")\nfunc main() {\n"
      "  l, err := net.Listen(\"tcp\", \"127.0.0.1:0\"); if err != nil { panic(err) }\n"
      "  go func() { c, _ := l.Accept(); fmt.Fprint(c, \"built\\n\"); c.Close() }()\n"
      "  c, err := net.Dial(\"tcp\", l.Addr().String()); if err != nil { panic(err) }\n"
      "  var s string; fmt.Fscan(c, &s); fmt.Println(s)\n"
      "  if exec.Command(\"true\").Run() != nil { panic(\"exec\") }\n"
      "  if _, err := net.Interfaces(); err != nil { panic(err) }\n}\n")
JAVA = ("import java.util.stream.*;\npublic class P { public static void main(String[] a) throws Exception {\n"
        "  int s = IntStream.range(0, 1000).parallel().sum();\n"
        "  Process p = new ProcessBuilder(\"true\").start();\n"
        "  if (s == 499500 && p.waitFor() == 0) System.out.println(\"built\");\n} }\n")
RUST = ("use std::process::Command;\nfn main() {\n"
        "    std::thread::spawn(|| assert!(Command::new(\"true\").status().unwrap().success()))"
        ".join().unwrap();\n    println!(\"built\");\n}\n"
        "#[test]\nfn works() { assert_eq!(1 + 1, 2); }\n")


@support.as_each_user
class Development(ground.Boundary):
    def build(self, tools, script, files=None, expect="built"):
        """Runs a script inside, in a workspace with these files, if all the tools are there."""
        lacking = {tool for tool in tools if not shutil.which(tool, path=PATH)}
        self.assertFalse(lacking & DEMANDED, "said to be here")
        if lacking:
            missing.update(lacking)
            self.skipTest(f"not here: {' '.join(sorted(lacking))}")
        for name, text in (files or {}).items():
            os.makedirs(os.path.dirname(self.path("project", name)), exist_ok=True)
            self.write(f"project/{name}", text, 0o755 if name.endswith(".sh") else 0o644)
        self.own()
        out = self.inside("set -e; exec 2>&1\n" + script, "--timeout", "110s",
                          env=self.environment(PATH=PATH))
        self.assertIn(expect, out)
        ran.update(tools)
        return out

    def test_gcc(self):
        self.build(["gcc"], "gcc -O2 -g main.c -o p; ./p; gcc -shared -fPIC main.c -o libp.so",
                   {"main.c": C})

    def test_gxx_with_sanitizers(self):
        self.build(["g++"], "g++ -pthread -fsanitize=address,undefined main.cpp -o p; ./p",
                   {"main.cpp": CXX})

    def test_clang(self):
        self.build(["clang"], "clang -O2 main.c -o p; ./p", {"main.c": C})

    def test_make(self):
        self.build(["make", "gcc"], "make -s -j2 p; ./p; make -s clean",
                   {"main.c": C, "Makefile": "p: main.c\n\tgcc $< -o $@\nclean:\n\trm p\n"})

    def test_cmake_and_ninja(self):
        self.build(["cmake", "ninja", "g++"], "cmake -S . -B b -G Ninja; cmake --build b -j2; "
                   "ctest --test-dir b --output-on-failure; b/p; cmake --install b --prefix i || true",
                   {"CMakeLists.txt": CMAKE, "main.cpp": CXX})

    def test_git(self):
        self.build(["git"], "git init -q r; cd r; git config user.email a@b; git config user.name a;"
                   "echo x > f; git add f; git commit -q -m built; git checkout -q -b t; echo y >> f;"
                   "git commit -qam t; git gc -q; git clone -q . ../c; git -C ../c log -2 --oneline")

    def test_python_with_processes(self):
        self.build(["python3"], "/usr/bin/python3 -I pool.py", {"pool.py": POOL})

    def test_a_local_server_and_its_client(self):
        self.build(["python3"], "/usr/bin/python3 server.py",
                   {"server.py": SERVER, "hello.txt": "built"}, expect="built\nbuilt")

    def test_node(self):
        self.build(["node"], "node main.js; cat out.txt", {"main.js": NODE}, expect="built\nchild")

    def test_npm_from_a_local_folder(self):
        self.build(["npm", "node"], "npm install --no-audit --no-fund --offline ./dep; npm run -s go",
                   {"package.json": '{"name":"p","version":"1.0.0","scripts":{"go":"node i.js"}}',
                    "i.js": "console.log(require('dep'));\n",
                    "dep/package.json": '{"name":"dep","version":"1.0.0","main":"m.js"}',
                    "dep/m.js": "module.exports = 'built';\n"})

    def test_cargo(self):
        self.build(["cargo"], "cargo run -q --offline; cargo test -q --offline",
                   {"Cargo.toml": '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n',
                    "src/main.rs": RUST})

    def test_go(self):
        self.build(["go"], "export GOFLAGS=-mod=mod GOTOOLCHAIN=local; go run .; go vet .",
                   {"go.mod": "module p\n\ngo 1.19\n", "main.go": GO})

    def test_java(self):
        self.build(["java", "javac"], "javac P.java; java -Xmx256m P", {"P.java": JAVA})

    def test_gdb_on_a_child(self):
        self.build(["gdb", "gcc"], "gcc -g main.c -o p; gdb -q -batch -ex 'break main' -ex run -ex bt "
                   "-ex continue ./p", {"main.c": C}, expect="main () at main.c")

    def test_strace_on_a_child(self):
        self.build(["strace"], "strace -f -o t sh -c 'echo built | cat'; grep -q 'write(1' t; "
                   "strace --seccomp-bpf -f -e trace=openat -o u true; cat u; echo built",
                   expect="built\n")

    def test_valgrind(self):
        self.build(["valgrind", "gcc"], "gcc -g main.c -o p; valgrind -q --error-exitcode=9 ./p",
                   {"main.c": C})

    def test_postgresql(self):
        if self.uid == 0:
            self.skipTest("it refuses to run as root")
        self.build(["initdb", "pg_ctl", "psql"], "initdb -D db -A trust -U me >/dev/null; "
                   "pg_ctl -D db -w -o '-k /tmp -h 127.0.0.1' -l log start >/dev/null || { cat log; "
                   "false; }; psql -h /tmp -U me -d postgres -Atc \"select 'bui' || 'lt'\"; "
                   "psql -h 127.0.0.1 -U me -d postgres -Atc 'create table t(i int); "
                   "insert into t select generate_series(1, 9); select count(*) from t'; "
                   "pg_ctl -D db -m fast stop >/dev/null")


def tearDownModule():
    print(f"development tools that ran inside: {' '.join(sorted(ran))}", file=sys.stderr)
    print(f"not on this machine: {' '.join(sorted(missing)) or '-'}", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
