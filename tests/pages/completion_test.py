"""Completion that really completes: in bash and zsh on a terminal, in fish by its own question."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import terminal

PINFOLD = os.environ["PINFOLD"]
PAGES = os.environ["PINFOLD_PAGES"]
DEMANDED = os.environ.get("PINFOLD_TOOLS", "").split()
BASH = r"""
PS1='> '
bind 'set enable-bracketed-paste off'
bind 'set bell-style none'
bind '"\C-t": insert-completions'
bind -x '"\C-g": printf "\n<<%s>>\n" "$READLINE_LINE"'
source {pages}/bash/pinfold
"""
ZSH = r"""
PS1='> '
unsetopt beep zle_bracketed_paste list_beep
bindkey -e
fpath=({pages}/zsh $fpath)
autoload -Uz compinit && compinit -u -D
show() {{ print -r -- "
<<$BUFFER>>" }}
zle -N show
bindkey '^G' show
zle -C all-matches complete-word _generic
zstyle ':completion:all-matches:*' completer _all_matches _complete
zstyle ':completion:all-matches:*' insert true
bindkey '^T' all-matches
"""


def options_of(*words):
    shown = subprocess.run([PINFOLD, *words, "--help"], capture_output=True, text=True, check=True)
    return set(re.findall(r"(?m)^  (?:-\w,)?(--[a-z][-a-z]*)", shown.stdout.split("Options:")[1]))


class Completing:
    """What each shell must do; a subclass answers `completions` of a line for its last word."""

    tool = None

    def setUp(self):
        if shutil.which(self.tool) is None and self.tool not in DEMANDED:
            self.skipTest(f"{self.tool} is not here")
        self.directory = tempfile.mkdtemp(prefix="pinfold-completion-")
        self.addCleanup(shutil.rmtree, self.directory)
        os.makedirs(f"{self.directory}/folder-a/inner")
        os.makedirs(f"{self.directory}/folder-b")
        with open(f"{self.directory}/folder-c-file", "w", encoding="utf-8"):
            pass
        os.makedirs(f"{self.directory}/bin")
        for name in ("pinfold", "quitelongname-one", "quitelongname-two"):
            with open(f"{self.directory}/bin/{name}", "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n")
            os.chmod(f"{self.directory}/bin/{name}", 0o755)
        self.path = f"{self.directory}/bin:{os.defpath}"

    def check(self, line, *expected):
        self.assertEqual(sorted(self.completions(line)), sorted(expected), line)

    def test_every_subcommand_is_offered(self):
        listed = subprocess.run([PINFOLD, "--help"], capture_output=True, text=True, check=True)
        names = re.findall(r"(?m)^  (\w+) ", listed.stdout.split("\nSubcommands:\n")[1])
        self.assertGreater(len(names), 4)
        self.assertLessEqual(set(names), set(self.completions("pinfold ")))

    def test_a_subcommand_begun_is_finished(self):
        self.check("pinfold expl", "explain")

    def test_every_option_of_a_subcommand_is_offered_and_no_other(self):
        for name in ("run", "check", "doctor", "gate", "records", "audit", "worktree"):
            offered = {one for one in self.completions(f"pinfold {name} --") if one != "--"}
            self.assertEqual(offered, options_of(name), name)

    def test_the_words_of_a_closed_list_are_offered(self):
        self.check("pinfold run --root ", "host", "minimal")
        self.check("pinfold run --json --mode a", "ask", "autonomous")
        self.check("pinfold check ", "read", "write", "mkdir")

    def test_a_directory_is_completed_where_one_is_meant(self):
        found = {one.rstrip("/") for one in self.completions("pinfold run --workspace fold")}
        self.assertEqual(found, {"folder-a", "folder-b"})

    def test_a_path_is_completed_where_one_is_meant(self):
        found = {one.rstrip("/") for one in self.completions("pinfold check write fold")}
        self.assertEqual(found, {"folder-a", "folder-b", "folder-c-file"})

    def test_a_command_is_completed_after_the_dashes(self):
        self.check("pinfold run --json -- quitelong", "quitelongname-one", "quitelongname-two")

    def test_no_option_is_offered_after_the_dashes(self):
        self.assertFalse({"--json", "--root"} & set(self.completions("pinfold run -- ls --")))

    def test_a_flag_takes_no_word(self):
        self.check("pinfold check --json wri", "write")


class OnTerminal(Completing):
    setup, words = "", ()

    def setUp(self):
        super().setUp()
        self.shell = terminal.Shell(self.words, self.setup.format(pages=PAGES), self.directory,
                                    PATH=self.path)
        self.addCleanup(self.shell.close)

    def completions(self, line):
        """The completions of the last word; none where it stays as it is."""
        before, _, last = line.rpartition(" ")
        words = self.shell.completed(line)
        kept = before.split()
        self.assertEqual(words[:len(kept)], kept)
        return [word for word in words[len(kept):] if word != last]


class Bash(OnTerminal, unittest.TestCase):
    tool, words, setup = "bash", ("bash", "--norc", "--noprofile", "-i"), BASH

    def test_a_value_after_an_equals_sign_is_completed(self):
        self.assertEqual(self.shell.completed("pinfold run --root=mi"),
                         ["pinfold", "run", "--root=minimal"])


class Zsh(OnTerminal, unittest.TestCase):
    tool, words, setup = "zsh", ("zsh", "-f", "-i"), ZSH

    def test_its_syntax_is_sound(self):
        subprocess.run(["zsh", "-n", f"{PAGES}/zsh/_pinfold"], check=True)


class Fish(Completing, unittest.TestCase):
    tool = "fish"

    def completions(self, line):
        done = subprocess.run(["fish", "-N", "-c", f"source {PAGES}/fish/pinfold.fish; "
                               f"complete -C {line!r}"], cwd=self.directory, capture_output=True,
                              text=True, check=True, timeout=60,
                              env={"PATH": self.path, "HOME": self.directory, "LC_ALL": "C.UTF-8"})
        self.assertEqual(done.stderr, "")
        return [one.split("\t")[0] for one in done.stdout.splitlines()]

    def test_its_syntax_is_sound(self):
        subprocess.run(["fish", "-N", "-n", f"{PAGES}/fish/pinfold.fish"], check=True)


if __name__ == "__main__":
    unittest.main()
