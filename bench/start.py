#!/usr/bin/env python3
"""What a start costs: `pinfold run -- true` against the argv that `pinfold explain` prints, run bare
and without stage two, in turns in one run, in a checkout of 2,000 files.
  python3 bench/start.py PINFOLD [--pairs 60] [--at-most RATIO]
Prints the medians and their ratio; with --at-most the exit code says whether it was kept."""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time


def checkout(files):
    """A repository of ours with this many files, where the homes do not hide it."""
    place = tempfile.mkdtemp(prefix="pinfold-start-", dir="/srv" if os.geteuid() == 0 else "/var/tmp")
    for number in range(files):
        folder = f"{place}/d{number // 50}"
        os.makedirs(folder, exist_ok=True)
        with open(f"{folder}/f{number}.c", "w", encoding="utf-8") as file:
            file.write("int x;\n")
    for words in (["init", "-q"], ["add", "-A"],
                  ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git", "-C", place, *words], check=True)
    for name in (".efferent", ".foundry"):  # there, so that the bare argv needs nobody to make them
        os.mkdir(f"{place}/{name}")
    return place


def seconds(argv):
    start = time.perf_counter()
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                   stderr=subprocess.PIPE)
    return time.perf_counter() - start


def bare_argv(pinfold, place):
    """What `explain` prints for a run of true, after one run made what it takes to be there."""
    run = [pinfold, "run", "--workspace", place, "--", "/usr/bin/true"]
    subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
    told = subprocess.run([pinfold, "explain", "--json", *run[2:]], check=True,
                          stdout=subprocess.PIPE).stdout
    return json.loads(told)["argv"]


def in_turns(ours, theirs, pairs, warm_up=5):
    """The seconds of each pair."""
    for argv in (ours, theirs) * warm_up:
        seconds(argv)
    return [(seconds(ours), seconds(theirs)) for _ in range(pairs)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pinfold")
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--at-most", type=float)
    given = parser.parse_args()
    place = checkout(2000)
    try:
        run = [given.pinfold, "run", "--workspace", place, "--", "/usr/bin/true"]
        pairs = in_turns(run, bare_argv(given.pinfold, place), given.pairs)
    finally:
        shutil.rmtree(place)
    ours, theirs = (statistics.median(side) * 1000 for side in zip(*pairs))
    print(f"pinfold run {ours:.2f} ms, bare bwrap {theirs:.2f} ms, ratio {ours / theirs:.2f} "
          f"(medians of {given.pairs} pairs)")
    return 0 if given.at_most is None or ours / theirs <= given.at_most else 1


if __name__ == "__main__":
    raise SystemExit(main())
