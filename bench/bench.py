#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures opscv beside PyTorch, oneDNN and memory alone, all in turns in one process.

`./dev bench` builds what is needed and runs this. Without options that choose a part, everything is
measured and written to docs. OPSCV_BENCH_LIBRARY names libopscv_bench.so; what lies in the folder
OPSCV_BENCH_MODULES can be imported.
"""

import argparse
import contextlib
import datetime
import os
import pathlib
import sys
import time

# GOMP's threads spin while they wait, which would slow down whoever runs next. Read at load time.
os.environ["OMP_WAIT_POLICY"] = "passive"

import torch  # noqa: E402

import agreement  # noqa: E402
import cases  # noqa: E402
import contestants  # noqa: E402
import library  # noqa: E402
import race  # noqa: E402
import report  # noqa: E402
import sections  # noqa: E402

SECTIONS = {"tiny": sections.tiny, "growth": sections.growth, "large": sections.large,
            "peak": sections.peak, "door": sections.door}


class Bench:

    def __init__(self, options):
        self.options = options
        self.lib = library.load(os.environ["OPSCV_BENCH_LIBRARY"])
        self.targets = self.lib.opscv_bench_targets().decode().split()
        self.pinned = race.Threads()
        self.threads = 0

    def start_threads(self, count):
        """From now on everyone computes on that many threads, pinned. Changing the number costs
        PyTorch milliseconds at its next call, so it is done once for each number."""
        self.threads = count
        self.pinned.free()
        torch.set_num_threads(count)
        self.lib.opscv_onednn_threads(count)
        case = cases.Case(cases.PAIRS["B"], (2, 16, 32, 32, 32), (64, 64, 64), "gradient", "float32",
                          "NDHWC")
        for contestant in self.field(case):
            for _ in range(3):
                contestant.run(1)
            contestant.close()
        self.pinned.pin()

    def field(self, case):
        source = contestants.normal_values(case)
        field = [contestants.Opscv(self.lib, case, source, self.threads)]
        if self.targets[0] == "AVX3" and case.gradient:
            field.append(contestants.Opscv(self.lib, case, source, self.threads, "AVX2",
                                           "opscv AVX2"))
        if not self.options.alone:
            with contextlib.suppress(contestants.Unable):
                field.append(contestants.Torch(case, source))
            with contextlib.suppress(contestants.Unable):
                field.append(contestants.OneDnn(self.lib, case, source))
        # Memory's turns overwrite our output, which nobody compares any more by then.
        return field + contestants.memory_contestants(self.lib, case, source, field[0].output,
                                                      self.threads)

    def measure(self, case):
        field = self.field(case)
        agreement.check(case, field[0], field[1:])
        times = race.race(field, self.options.budget, self.pinned)
        record = {"pair": case.pair.letter, "direction": case.direction, "dtype": case.dtype,
                  "layout": case.layout, "threads": self.threads, "before": case.before,
                  "after": case.after, "tiny": case.tiny(), "in_cache": case.in_cache(),
                  "seconds": times,
                  "roof": times["read"]["median"] + times["write"]["median"],
                  "workspace": field[0].workspace(),
                  "details": {each.name: each.description() for each in field if each.description()}}
        for contestant in field:
            contestant.close()
        return record

    def measure_cases(self):
        print(report.HEADER)
        for threads in self.options.threads:
            self.start_threads(threads)
            for case in cases.chosen(self.options):
                record = self.measure(case)
                print(report.line(case.name(), record), flush=True)
                yield record

    def measure_sections(self):
        results = {}
        for name in self.options.sections:
            results[name] = []
            for record in SECTIONS[name](self):
                print(report.section_line(name, record), flush=True)
                results[name].append(record)
        return results


def machine(bench):
    model = "unknown processor"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return {"date": datetime.date.today().isoformat(), "processor": model,
            "processors": len(bench.pinned.cpus), "targets": bench.targets,
            "opscv": bench.lib.opscv_bench_version().decode(), "PyTorch": torch.__version__,
            "oneDNN": bench.lib.opscv_onednn_version().decode()}


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    processors = min(2, len(os.sched_getaffinity(0)))
    cases.add_options(parser, list(range(1, processors + 1)))
    parser.add_argument("--sections", type=lambda text: [word for word in text.split(",") if word],
                        help=f"what follows the cases: {','.join(SECTIONS)} (default: all, or none "
                        "where a part of the cases is chosen; empty for none)")
    parser.add_argument("--alone", action="store_true", help="without PyTorch and oneDNN")
    parser.add_argument("--budget", type=float, default=0.1,
                        help="seconds for each contestant of a case (default: 0.1)")
    parser.add_argument("--write", action="store_true",
                        help="write docs/performance.* although a part only was measured")
    options = parser.parse_args(arguments)
    part = arguments != []
    if options.sections is None:
        options.sections = [] if part else list(SECTIONS)
    options.write |= not part
    return options


def main():
    if sys.argv[1:2] == [sections.PEAK_OPTION]:
        letter, index, layout, name = sys.argv[2:]
        lib = library.load(os.environ["OPSCV_BENCH_LIBRARY"])
        print(sections.peak_of(lib, cases.PAIRS[letter], int(index), layout, name))
        return
    options = parse(sys.argv[1:])
    sys.path += filter(None, [os.environ.get("OPSCV_BENCH_MODULES")])
    start = time.monotonic()
    bench = Bench(options)
    result = {"machine": machine(bench)}
    print(report.machine_lines(result["machine"]))
    with torch.inference_mode():
        result["cases"] = list(bench.measure_cases())
        result.update(bench.measure_sections())
    result["minutes"] = (time.monotonic() - start) / 60
    print(report.summary(result))
    if options.write:
        report.write(result, cases.ROOT / "docs")


if __name__ == "__main__":
    main()
