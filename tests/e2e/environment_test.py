"""What a command finds in its environment, its descriptors and its process list, and what it does
not: nothing of the caller's that was not named."""
import json
import os
import subprocess
import unittest

import support

PASSED = {"PATH", "HOME", "LANG", "TERM", "TZ", "USER", "LOGNAME", "SHELL"}
OF_THE_SHELL = {"PWD", "OLDPWD", "SHLVL", "_"}
TRAPS = {"BASH_ENV": "trap.sh", "ENV": "trap.sh", "LD_PRELOAD": "/nonexistent.so",
         "LD_LIBRARY_PATH": "/nonexistent", "NODE_OPTIONS": "--require ./trap",
         "GIT_SSH_COMMAND": "false", "PERL5OPT": "-Mtrap", "PYTHONSTARTUP": "trap.py",
         "PYTHONPATH": "/nonexistent", "RUBYOPT": "-rtrap", "SSH_AUTH_SOCK": "/nonexistent.sock",
         "DATABASE_URL": support.SECRET, "GIT_CONFIG_GLOBAL": "/etc/passwd", "XDG_CONFIG_HOME": "/x",
         "http_proxy": "http://x", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/x", "PAGER": "trap",
         "EDITOR": "trap", "IFS": "x", "CDPATH": "/", "PS4": "$(touch started)",
         "BASH_FUNC_ls%%": "() { echo trap; }"}


class Environment:
    words = ("run",)
    first = "{project}/.local/bin:"  # in PATH

    def variables(self, *words, env=None):
        answer = self.pinfold(*self.words, *words, "--", "env", "-0", env=env)
        self.assertEqual(answer.code, 0, answer)
        entries = [entry for entry in answer.out.split("\0") if entry]
        return dict(entry.split("=", 1) for entry in entries)

    def test_only_the_listed_variables_are_there(self):
        env = self.environment(LC_ALL="C.UTF-8", LC_TIME="C", TZ="UTC", TERM="dumb", SHELL="/bin/sh",
                               LOGNAME="somebody", **TRAPS)
        found = self.variables(env=env)
        self.assertEqual(set(found), PASSED | {"LC_ALL", "LC_TIME"})
        self.assertNotIn(support.SECRET, str(found))
        for name in ("LANG", "LC_ALL", "LC_TIME", "TZ", "TERM", "SHELL", "USER", "LOGNAME"):
            self.assertEqual(found[name], env[name])

    def plant(self, name):
        """A tool of the workspace that says "mine"."""
        os.makedirs(f"{self.project}/.local/bin", exist_ok=True)
        self.write(f"project/.local/bin/{name}", "#!/bin/sh\necho mine\n", 0o755)
        self.own()

    def test_an_entry_of_path_that_depends_on_the_directory_is_left_out(self):
        found = self.variables(env=self.environment(PATH=":.:bin:/usr/bin::/bin:"))
        self.assertEqual(found["PATH"], self.first.format(project=self.project) + "/usr/bin:/bin")

    def test_a_caller_without_any_environment_is_served(self):
        self.assertEqual(self.pinfold(*self.words, "--", "true", env={"X": "y"}).code, 0)

    def test_named_variables_are_passed_and_given_ones_set(self):
        env = self.environment(PASS_ME="as it is", EMPTY="")
        found = self.variables("--env", "PASS_ME", "--env", "EMPTY", "--env", "GIVEN=a=b c",
                               "--env", "NOTHING=", env=env)
        self.assertEqual(found["PASS_ME"], "as it is")
        self.assertEqual(found["EMPTY"], "")
        self.assertEqual(found["GIVEN"], "a=b c")
        self.assertEqual(found["NOTHING"], "")
        self.assertNotIn("GITHUB_TOKEN", found)

    def test_a_token_gets_in_only_by_its_name(self):
        self.assertEqual(self.variables("--env", "GITHUB_TOKEN")["GITHUB_TOKEN"], support.SECRET)

    def test_the_last_of_two_values_counts_and_each_name_is_there_once(self):
        answer = self.pinfold(*self.words, "--env", "A=1", "--env", "A=2", "--env", "LANG=C", "--",
                              "env", "-0")
        entries = [entry for entry in answer.out.split("\0") if entry]
        names = [entry.split("=", 1)[0] for entry in entries]
        self.assertEqual(len(names), len(set(names)))
        self.assertIn("A=2", entries)
        self.assertIn("LANG=C", entries)

    def test_no_descriptor_of_the_caller_is_there(self):
        with open(self.path(".ssh/id_rsa"), encoding="utf-8") as secret:
            os.set_inheritable(secret.fileno(), True)
            child = self.start(*self.words, "--", "ls", "/proc/self/fd", pass_fds=[secret.fileno()])
            out, err = child.communicate(timeout=support.HANG)
        self.assertEqual(child.returncode, 0, err)
        self.assertEqual(out.split(), [b"0", b"1", b"2", b"3"])  # 3 is ls's own

    def test_signals_are_as_a_fresh_program_finds_them(self):
        # posix_spawn(3) of glibc leaves its own two, 32 and 33, ignored
        command = ["python3", "-c",
                   "import re; text = open('/proc/self/status').read()\n"
                   "for name in ('SigBlk', 'SigIgn'):\n"
                   "    mask = int(re.search(name + r':\\s(\\w+)', text)[1], 16)\n"
                   "    print([n for n in range(1, 65) if mask >> (n - 1) & 1 and n not in (32, 33)])"]
        trapped = ("import os,signal,sys\n"
                   "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGUSR1])\n"
                   "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
                   "os.execv(sys.argv[1], sys.argv[1:])\n")
        done = subprocess.run(["python3", "-c", trapped, support.PINFOLD, *self.words, "--", *command],
                              cwd=self.project, env=self.environment(), stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=support.HANG, check=True,
                              **self.as_user())
        # what Python itself ignores in any program: SIGPIPE, SIGXFSZ
        self.assertEqual(done.stdout, b"[]\n[13, 25]\n")


@support.as_each_user
class Confined(Environment, support.Confined):
    def test_the_workspaces_own_tools_come_first_in_path(self):
        found = self.variables(env=self.environment(PATH="/usr/bin:/bin"))
        self.assertEqual(found["PATH"], f"{self.project}/.local/bin:/usr/bin:/bin")
        self.plant("mytool")
        self.assertEqual(self.pinfold(*self.words, "--", "mytool").out, "mine\n")

    def test_home_is_a_place_of_the_sandbox_with_nothing_of_the_callers(self):
        self.assertEqual(self.variables()["HOME"], "/tmp/home")
        self.assertEqual(self.pinfold("run", "--no-cache", "-c", "ls -A ~").out, ".gitconfig\n")
        self.assertEqual(self.pinfold("run", "-c", "ls -A ~; ls -A ~/.[cln]*").out.split(),
                         [".cache", ".cargo", ".gitconfig", ".local", ".npm",
                          "/tmp/home/.cache:", "/tmp/home/.cargo:", "/tmp/home/.local:", "share",
                          "state", "/tmp/home/.npm:"])

    def test_a_caller_whose_files_may_not_be_that_large_gets_a_refusal_and_no_half_of_a_start(self):
        limited = ("import os,resource,signal,sys\n"
                   "resource.setrlimit(resource.RLIMIT_FSIZE, (40000, 40000))\n"
                   "os.execv(sys.argv[1], sys.argv[1:])\n")  # Python ignores SIGXFSZ
        done = subprocess.run(["python3", "-c", limited, support.PINFOLD, "run", "--json", "--",
                               "touch", "ran"],
                              cwd=self.project, env=self.environment(), stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=support.HANG, check=False,
                              **self.as_user())
        self.assertEqual(done.returncode, 125, done)
        refusal = json.loads(done.stdout)["refusal"]
        self.assertEqual(refusal["error"], "SandboxUnavailable")
        self.assertIn("stage two: File too large", refusal["message"])
        self.assertFalse(os.path.exists(os.path.join(self.project, "ran")))

    def test_no_process_inside_shows_the_callers_environment_or_the_plan(self):
        out = self.pinfold("run", "-c", "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline").out
        self.assertNotIn(support.SECRET, out)
        self.assertNotIn("GITHUB_TOKEN", out)
        self.assertNotIn("--ro-bind", out)
        self.assertIn("/proc/", out)

    def test_the_first_process_inside_has_an_empty_environment(self):
        out = self.pinfold("run", "-c", "cat /proc/1/environ 2>&1").out
        self.assertNotIn("=", out)

    def test_no_process_of_the_host_is_seen(self):
        out = self.pinfold("run", "-c", "ls -d /proc/[0-9]* | wc -l").out
        self.assertLess(int(out), 8)

    def test_no_terminal_of_the_caller_is_there(self):
        self.assertNotEqual(self.pinfold("run", "-c", ": < /dev/tty").code, 0)


@support.as_each_user
class Unconfined(Environment, support.World):
    """`--no-sandbox` keeps the clean environment."""

    words = ("run", "--no-sandbox")
    first = ""

    def test_nothing_of_the_workspace_runs_in_place_of_a_program_of_the_host(self):
        for name in ("bash", "env", "mytool"):
            self.plant(name)
        os.symlink(f"{self.project}/.local/bin", self.path("tools"))
        path = f"{self.project}/.local/bin:{self.path('tools')}:/usr/bin:/bin"
        env = self.environment(PATH=path)
        self.assertEqual(self.variables(env=env)["PATH"], "/usr/bin:/bin")
        self.assertEqual(self.pinfold(*self.words, "-c", "echo host", env=env).out, "host\n")
        self.assertEqual(self.pinfold(*self.words, "--", "mytool", env=env).code, 127)
        for nothing in ("", ".", f"{self.project}/.local/bin"):
            answer = self.pinfold(*self.words, "--cwd", ".local/bin", "--", "mytool",
                                  env=self.environment(PATH=nothing))
            self.assertEqual((answer.code, answer.out), (127, ""), answer)

    def test_a_bash_of_the_workspace_is_started_where_it_is_asked_for(self):
        self.plant("bash")
        path = f"PATH={self.project}/.local/bin:/usr/bin:/bin"
        self.assertEqual(self.pinfold(*self.words, "-c", "echo host", "--env", path).out, "host\n")
        self.assertEqual(self.pinfold(*self.words, "--", ".local/bin/bash").out, "mine\n")
        self.plant("mytool")
        self.assertEqual(self.pinfold(*self.words, "--env", path, "--", "mytool").out, "mine\n")

    def test_home_is_private_and_removed(self):
        home = self.variables()["HOME"]
        self.assertNotEqual(home, self.home)
        self.assertFalse(os.path.exists(home))


if __name__ == "__main__":
    unittest.main()
