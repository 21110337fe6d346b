#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures opscv beside PyTorch, oneDNN and memory alone, all in turns in one process.

`./dev bench` builds what is needed and runs this; without options everything is measured and
written to docs. OPSCV_BENCH_LIBRARY names libopscv_bench.so.
"""

import argparse
import os
import sys

# GOMP's threads spin while they wait, which would slow down whoever runs next. Read at load time.
os.environ["OMP_WAIT_POLICY"] = "passive"

import torch  # noqa: E402

import agreement  # noqa: E402
import cases  # noqa: E402
import contestants  # noqa: E402
import library  # noqa: E402
import race  # noqa: E402


class Bench:

    def __init__(self, options):
        self.options = options
        self.lib = library.load(os.environ["OPSCV_BENCH_LIBRARY"])
        self.pinned = race.Threads()
        self.records = []

    def start_threads(self, count):
        """From now on everyone computes on that many threads, pinned. Changing the number costs
        PyTorch milliseconds at its next call, so it is done once for each number."""
        self.pinned.free()
        torch.set_num_threads(count)
        self.lib.opscv_onednn_threads(count)
        case = cases.Case(cases.PAIRS["B"], (2, 16, 32, 32, 32), (64, 64, 64), "gradient", "float32",
                          "NDHWC")
        for contestant in self.field(case, count):
            for _ in range(3):
                contestant.run(1)
            contestant.close()
        self.pinned.pin()

    def field(self, case, threads):
        source = contestants.normal_values(case)
        field = [contestants.Opscv(self.lib, case, source, threads)]
        for make in () if self.options.alone else (lambda: contestants.Torch(case, source),
                     lambda: contestants.OneDnn(self.lib, case, source)):
            try:
                field.append(make())
            except contestants.Unable:
                pass
        return field + contestants.memory_contestants(self.lib, case, source, threads)

    def measure(self, case, threads):
        field = self.field(case, threads)
        ours, others = field[0], field[1:]
        for contestant in field:
            contestant.run(1)
        agreement.check(case, ours, others)
        times = race.race(field, self.options.budget, self.pinned)
        record = {"pair": case.pair.letter, "direction": case.direction, "dtype": case.dtype,
                  "layout": case.layout, "threads": threads, "before": case.before,
                  "after": case.after, "tiny": case.tiny(), "in_cache": case.in_cache(),
                  "seconds": times,
                  "roof": times["read"]["median"] + times["write"]["median"],
                  "details": {each.name: each.description() for each in field}}
        for contestant in field:
            contestant.close()
        return record


HEADER = (f"{'case':<62}{'thr':>4}{'opscv ms':>10}{'PyTorch':>10}{'x':>7}{'oneDNN':>10}{'x':>7}"
          f"{'roof':>9}{'fraction':>9}")


def line(case, record):
    seconds = {name: times["median"] for name, times in record["seconds"].items()}
    ours = seconds["opscv"]
    text = f"{case.name():<62}{record['threads']:>4}{ours * 1e3:>10.4f}"
    for rival in ("PyTorch", "oneDNN"):
        if rival in seconds:
            text += f"{seconds[rival] * 1e3:>10.3f}{seconds[rival] / ours:>7.2f}"
        else:
            text += f"{'-':>10}{'':>7}"
    return text + f"{record['roof'] * 1e3:>9.4f}{record['roof'] / ours:>9.2f}"


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    cases.add_options(parser, [1, 2])
    parser.add_argument("--alone", action="store_true", help="without PyTorch and oneDNN")
    parser.add_argument("--budget", type=float, default=0.15,
                        help="seconds for each contestant of a case")
    return parser.parse_args(arguments)


def main():
    options = parse(sys.argv[1:])
    bench = Bench(options)
    print(HEADER)
    for threads in options.threads:
        bench.start_threads(threads)
        for case in cases.chosen(options):
            print(line(case, bench.measure(case, threads)), flush=True)


if __name__ == "__main__":
    main()
