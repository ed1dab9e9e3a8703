"""A table of what was measured, with limits: on standard output as it comes, and as JSON in the end."""

import json
import os
import platform


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


class Report:
    def __init__(self, **about):
        """Says on which machine, in what state; `about` is what else the figures depend on."""
        self.rows = []
        self.machine = {"processor": processor(), "processors": os.cpu_count(),
                        "kernel": platform.release(), **about, "load": os.getloadavg()[0]}
        more = "".join(f", {value}" if isinstance(value, str) else f", {value} {name}"
                       for name, value in about.items())
        print(f"{self.machine['processor']}, {self.machine['processors']} processors, "
              f"Linux {self.machine['kernel']}{more}, load {self.machine['load']:.1f} at the start\n")
        print("| measured | value | limit | met | medians |\n| --- | --- | --- | --- | --- |", flush=True)

    def add(self, what, value, limit, detail, at_least=False):
        """`value` has to be at most the limit, or at least it; no limit: shown only."""
        is_met = limit is None or (value >= limit if at_least else value <= limit)
        self.rows.append({"what": what, "value": round(value, 3), "limit": limit,
                          "at_least": at_least, "met": is_met, "detail": detail})
        bound = "" if limit is None else f"{'at least' if at_least else 'at most'} {limit:g}"
        print(f"| {what} | {value:.2f} | {bound} | {'yes' if is_met else 'NO'} | {detail} |",
              flush=True)

    def end(self, path):
        """Writes it down; the exit code."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"machine": self.machine, "rows": self.rows}, file, indent=1)
        return 0 if all(row["met"] for row in self.rows) else 1
