"""The clients from npm, installed once into the build directory, at the versions that package.json
pins."""
import fcntl
import os
import shutil
import subprocess
import unittest

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clients")
PLACE = os.environ.get("PINFOLD_NPM", "")
MUST_WORK = "PINFOLD_BWRAP_MUST_WORK" in os.environ


def clients():
    """The folder with the clients and their packages; skips where there is no node, which is a failure
    where everything is said to be there."""
    if not (shutil.which("node") and shutil.which("npm")):
        if MUST_WORK:
            raise AssertionError("node and npm are not here: see need_node in runner/setup.sh")
        raise unittest.SkipTest("node and npm are not here")
    assert os.path.isabs(PLACE), "PINFOLD_NPM must name a folder of the build"
    os.makedirs(PLACE, exist_ok=True)
    with open(os.path.join(PLACE, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _installed()


def _installed():
    with open(os.path.join(HERE, "package.json"), encoding="utf-8") as file:
        wanted = file.read()
    stamp = os.path.join(PLACE, "installed.json")
    for name in os.listdir(HERE):
        shutil.copy(os.path.join(HERE, name), PLACE)
    if os.path.exists(stamp):
        with open(stamp, encoding="utf-8") as file:
            if file.read() == wanted:
                return PLACE
    done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts",
                           "--no-package-lock"], cwd=PLACE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=600, check=False)
    if done.returncode != 0:
        if MUST_WORK:
            raise AssertionError(f"npm install failed:\n{done.stdout.decode(errors='replace')[-3000:]}")
        raise unittest.SkipTest("npm install failed")
    with open(stamp, "w", encoding="utf-8") as file:
        file.write(wanted)
    return PLACE
