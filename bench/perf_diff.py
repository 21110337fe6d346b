#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures two commits of opscv in turns in one process.

`./dev perf-diff COMMIT` builds both and runs this. OPSCV_BENCH_BEFORE names the library of the
commit, OPSCV_BENCH_LIBRARY that of the working tree.
"""

import argparse
import math
import os
import sys

import cases
import contestants
import library
import race

# The medians must differ by more than this before a row is marked.
NOTABLE = 0.05


def compare(libraries, case, threads, budget, pinned):
    """Times by name, and whether the two results have the same bits."""
    source = contestants.normal_values(case)
    field = [contestants.Opscv(lib, case, source, threads, name=name)
             for name, lib in libraries.items()]
    for contestant in field:
        contestant.run(1)
    before, after = [contestant.output.reshape(-1) for contestant in field]
    same = bool((before == after).all())
    times = race.race(field, budget, pinned)
    for contestant in field:
        contestant.close()
    return times, same


def mark(before, after):
    """A word where the medians differ notably and the middle halves of the turns do not meet."""
    if before["median"] > after["median"] * (1 + NOTABLE) and before["lower"] > after["upper"]:
        return "  faster"
    if after["median"] > before["median"] * (1 + NOTABLE) and after["lower"] > before["upper"]:
        return "  SLOWER"
    return ""


def line(case, threads, times, same):
    before, after = times["before"], times["after"]
    return (f"{case.name():<66}{threads:>4}{before['median'] * 1e3:>11.4f}"
            f"{after['median'] * 1e3:>11.4f}{before['median'] / after['median']:>8.3f}"
            f"{before['best'] / after['best']:>8.3f}"
            f"{'' if same else '  OTHER BITS'}{mark(before, after)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    cases.add_options(parser, [min(2, len(os.sched_getaffinity(0)))])
    parser.add_argument("--budget", type=float, default=0.1,
                        help="seconds for each of the two in a case")
    options = parser.parse_args()

    libraries = {"before": library.load(os.environ["OPSCV_BENCH_BEFORE"]),
                 "after": library.load(os.environ["OPSCV_BENCH_LIBRARY"])}
    pinned = race.Threads()
    ratios = []
    all_same = True
    print(f"{'case':<66}{'thr':>4}{'before ms':>11}{'after ms':>11}{'x':>8}{'best x':>8}")
    for threads in options.threads:
        pinned.free()
        for case in cases.chosen(options):
            times, same = compare(libraries, case, threads, options.budget, pinned)
            print(line(case, threads, times, same), flush=True)
            ratios.append(times["before"]["median"] / times["after"]["median"])
            all_same &= same
    if not ratios:
        sys.exit("perf-diff: no such case")
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"geometric mean of {len(ratios)} cases: {mean:.3f} times as fast as before")
    if not all_same:
        print("some results have other bits than before")


if __name__ == "__main__":
    main()
