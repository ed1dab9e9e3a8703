"""The manual: groff and man render every page without a warning, and it says what --help says."""
import glob
import os
import re
import shutil
import subprocess
import unittest

PINFOLD = os.environ["PINFOLD"]
PAGES = sorted(glob.glob(os.path.join(os.environ["PINFOLD_PAGES"], "man", "*.1")))
DEMANDED = os.environ.get("PINFOLD_TOOLS", "").split()
PLAIN = {"LC_ALL": "C.UTF-8", "PATH": os.defpath, "MANWIDTH": "200", "MAN_KEEP_FORMATTING": "",
         "GROFF_NO_SGR": "1", "MANPAGER": "cat"}


def need(test, tool):
    if shutil.which(tool) is None and tool not in DEMANDED:
        test.skipTest(f"{tool} is not here")


def output(*words, **more):
    return subprocess.run(words, env=PLAIN, capture_output=True, text=True, check=True, timeout=60,
                          **more).stdout


def subcommands():
    """The names and descriptions that `pinfold --help` lists."""
    listed = output(PINFOLD, "--help").split("\nSubcommands:\n", 1)[1]
    return dict(re.findall(r"(?m)^  (\w+) +(\S.*)$", listed))


def rendered(test, name):
    """A page as one line of plain text."""
    need(test, "groff")
    path = next(one for one in PAGES if os.path.basename(one) == name)
    text = output("groff", "-man", "-Tutf8", "-P-cbou", "-rLL=2000n", path)
    return re.sub(r"\s+", " ", text)


class Manual(unittest.TestCase):
    def test_there_is_a_page_for_the_program_and_for_each_subcommand(self):
        names = {os.path.basename(page) for page in PAGES}
        self.assertGreater(len(subcommands()), 4)
        self.assertEqual(names, {"pinfold.1"} | {f"pinfold-{one}.1" for one in subcommands()})

    def test_groff_renders_each_without_a_warning(self):
        need(self, "groff")
        for page in PAGES:
            done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-z", page], env=PLAIN,
                                  capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""), page)

    def test_man_renders_each_without_a_warning(self):
        need(self, "man")
        for page in PAGES:
            done = subprocess.run(["man", "--warnings=w", "-l", page], env=PLAIN,
                                  capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""), page)
            self.assertIn("NAME", done.stdout)

    def test_whatis_finds_a_name_and_a_description(self):
        need(self, "lexgrog")
        for page in PAGES:
            self.assertIn(os.path.basename(page)[:-2] + " - ", output("lexgrog", page))

    def test_the_page_of_the_program_names_every_subcommand(self):
        text = rendered(self, "pinfold.1")
        for name, description in subcommands().items():
            self.assertIn(f"pinfold-{name}(1)", text)
            self.assertIn(description[:40], text)

    def test_each_page_has_every_option_of_the_help(self):
        for name in subcommands():
            shown = re.sub(r"\s+", " ", output(PINFOLD, name, "--help"))
            text = rendered(self, f"pinfold-{name}.1")
            options = set(re.findall(r"(?<=[ ,])--?[a-z][-a-z]*", shown.split("Options:")[1]
                                     .split("Example:")[0]))
            self.assertTrue(options)
            for option in options:
                self.assertIn(option, text, name)
            self.assertIn("EXAMPLES", text)

    def test_the_readme_names_every_option_of_run(self):
        with open(os.environ["PINFOLD_README"], encoding="utf-8") as file:
            readme = file.read()
        shown = output(PINFOLD, "run", "--help").split("Options:")[1]
        for option in re.findall(r"(?m)^  (?:-\w,)?(--[a-z][-a-z]*)", shown):
            if option != "--help":
                self.assertIn(f"`{option}", readme)


if __name__ == "__main__":
    unittest.main()
