#!/usr/bin/env python3
"""What the egress proxy costs: a stream through CONNECT beside one over the loopback, and small requests,
each on a connection of its own. The two are measured in turns in one run, by one program: inside the
sandbox through the proxy, and outside.
  python3 bench/egress.py PINFOLD STREAM DIRECTORY [--quick]
STREAM is bench/stream.c, built statically. Writes egress.json and what is plotted (stream.rates: GiB/s
of each round, direct and through CONNECT; small.direct, small.connect: milliseconds, sorted) to
DIRECTORY, prints a table, and exits with 1 when a limit is not met. --quick: a tenth of it, for trying
the script."""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from report import Report
from runner import GIB

PROXY = 27080  # inside


class Fetching:
    """A `stream fetch` that does as it is told."""

    def __init__(self, command):
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                      bufsize=1)

    def seconds(self, size, count):
        self.child.stdin.write(f"{size} {count}\n")
        told = iter(self.child.stdout.readline, "done\n")
        times = [int(line) / 1e9 for line in told if line]
        if len(times) != count:
            raise SystemExit(f"{len(times)} answers to {count} requests")
        return times

    def end(self):
        self.child.stdin.close()
        if self.child.wait() != 0:
            raise SystemExit("a client failed")


def in_turns(direct, tunnel, size, count, rounds):
    """The seconds of each request in each round, of both; who goes first changes."""
    pairs = []
    for number in range(rounds):
        order = (direct, tunnel) if number % 2 else (tunnel, direct)
        took = {one: one.seconds(size, count) for one in order}
        pairs.append((took[direct], took[tunnel]))
    return pairs


def stream_costs(report, direct, tunnel, directory, size, rounds):
    in_turns(direct, tunnel, size, 1, 1)
    rates = [(size / GIB / before[0], size / GIB / after[0])
             for before, after in in_turns(direct, tunnel, size, 1, rounds)]
    with open(f"{directory}/stream.rates", "w", encoding="utf-8") as file:
        file.writelines(f"{number} {before:.4f} {after:.4f}\n"
                        for number, (before, after) in enumerate(rates, 1))
    middle = [statistics.median(side) for side in zip(*rates)]
    report.add(f"throughput of {size / GIB:g} GiB through CONNECT, beside a direct connection",
               statistics.median(after / before for before, after in rates), 0.7,
               f"{middle[1]:.2f} GiB/s beside {middle[0]:.2f} GiB/s", at_least=True)


def small_costs(report, direct, tunnel, directory, size, total):
    in_turns(direct, tunnel, size, 20, 1)
    pairs = in_turns(direct, tunnel, size, total // 20, 20)
    before, after = (sorted(one * 1000 for times in side for one in times) for side in zip(*pairs))
    for name, times in (("direct", before), ("connect", after)):
        with open(f"{directory}/small.{name}", "w", encoding="utf-8") as file:
            file.writelines(f"{number / len(times):.5f} {one:.4f}\n"
                            for number, one in enumerate(times, 1))
    middle = statistics.median(before), statistics.median(after)
    report.add(f"median of {len(after):,} small requests through CONNECT, a connection each, beside direct "
               "ones", middle[1] / middle[0], 4, f"{middle[1]:.3f} ms beside {middle[0]:.3f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pinfold")
    parser.add_argument("stream")
    parser.add_argument("directory")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    few = 10 if given.quick else 1
    report = Report()
    place = tempfile.mkdtemp(prefix="pinfold-egress-", dir="/srv" if os.geteuid() == 0 else "/var/tmp")
    with subprocess.Popen([given.stream, "serve"], stdout=subprocess.PIPE, text=True) as server:
        try:
            port = int(server.stdout.readline())
            shutil.copy(given.stream, f"{place}/stream")
            listed = [word for host in ("localhost", "127.0.0.1")
                      for word in ("--allow-host", f"{host}:{port}")]
            direct = Fetching([given.stream, "fetch", str(port)])
            tunnel = Fetching([given.pinfold, "run", "--stdin", "--no-cache", "--workspace", place,
                               "--timeout", "1h", *listed, "--", f"{place}/stream", "fetch", str(port),
                               str(PROXY)])
            stream_costs(report, direct, tunnel, given.directory, GIB // few, max(3, 21 // few))
            small_costs(report, direct, tunnel, given.directory, 100, 1000 // few)
            direct.end()
            tunnel.end()
        finally:
            server.kill()
            shutil.rmtree(place)
    return report.end(f"{given.directory}/egress.json")


if __name__ == "__main__":
    sys.exit(main())
