# SPDX-License-Identifier: Apache-2.0
"""What the library must reach, judged by the records of a run.

A row is (what, goal, measured, whether it is kept); rows without records are left out."""

import math

import cases


def mean(values):
    """Geometric."""
    return math.exp(sum(map(math.log, values)) / len(values))


class Records:
    """The records of cases, and what most questions about them need."""

    def __init__(self, records):
        self.records = records

    def where(self, **wanted):
        return Records([record for record in self.records
                        if all(record[key] == value or
                               (isinstance(value, tuple) and record[key] in value)
                               for key, value in wanted.items())])

    def most_threads(self):
        most = max((record["threads"] for record in self.records), default=0)
        return self.where(threads=most)

    def times_as_fast(self, rival):
        """How many times the rival's time is ours, for the records that it is in."""
        return [record["seconds"][rival]["median"] / record["seconds"]["opscv"]["median"]
                for record in self.records if rival in record["seconds"]]

    def roof_fractions(self):
        return [record["roof"] / record["seconds"]["opscv"]["median"] for record in self.records]

    def against(self, others):
        """Our time over that of the record in `others` for the same shape, layout and threads."""
        found = {key(record): record for record in others.records}
        return [record["seconds"]["opscv"]["median"] /
                found[key(record)]["seconds"]["opscv"]["median"]
                for record in self.records if key(record) in found]


def key(record):
    return tuple(record[name] for name in ("pair", "direction", "layout", "before", "after",
                                           "threads"))


def at_least(what, values, goal, least=None):
    if not values:
        return []
    kept = mean(values) >= goal and (least is None or min(values) >= least)
    text = f"at least {goal:g}" + ("" if least is None else f", none under {least:g}")
    return [(what, text, f"{mean(values):.2f} ({min(values):.2f} to {max(values):.2f})", kept)]


def at_most(what, values, goal):
    if not values:
        return []
    return [(what, f"at most {goal:g}",
             f"{mean(values):.2f} ({min(values):.2f} to {max(values):.2f})",
             mean(values) <= goal)]


def of_a(gradients):
    a = gradients.where(pair="A", layout="NCHW", tiny=False)
    single = a.where(dtype="float32")
    halves = a.where(dtype=("float16", "bfloat16"))
    yield from at_least("A float32, times as fast as PyTorch", single.times_as_fast("PyTorch"), 40, 20)
    yield from at_least("A float32, fraction of the roof, beyond L2",
                        single.where(in_cache=False).roof_fractions(), 0.65, 0.33)
    yield from at_most("A half types, time over float32's", halves.against(single), 1.0)


def of_b(gradients):
    b = gradients.where(pair="B", tiny=False)
    single, halves = b.where(dtype="float32"), b.where(dtype=("float16", "bfloat16"))
    for layout, goal in (("NCDHW", 9), ("NDHWC", 20)):
        yield from at_least(f"B float32 {layout}, times as fast as PyTorch",
                            single.where(layout=layout).times_as_fast("PyTorch"), goal)
    jit = Records([record for record in b.where(layout="NDHWC").records if record["before"][1] > 1])
    yield from at_least("B NDHWC, C > 1, times as fast as oneDNN's compiled kernel",
                        jit.times_as_fast("oneDNN"), 3, 1.2)
    for what, records, goal in (("float32", single, 0.85), ("half types", halves, 0.60)):
        for layout in ("NCDHW", "NDHWC"):
            yield from at_least(f"B {what} {layout}, fraction of the roof",
                                records.where(layout=layout, in_cache=False).roof_fractions(), goal)


def of_calls(tiny):
    for record in tiny:
        seconds = {name: times["median"] for name, times in record["seconds"].items()}
        staged = seconds["opscv, C call, both stages"]
        python = min(value for name, value in seconds.items() if name.startswith("PyTorch from Py"))
        compiled = [value for name, value in seconds.items() if name.startswith("PyTorch from C++")]
        yield (f"{record['pair']} tiny, two-stage C call, microseconds",
               f"at most PyTorch's call from Python, {python * 1e6:.2f}", f"{staged * 1e6:.2f}",
               staged <= python)
        if record["pair"] == "A" and compiled:
            ratio = min(compiled) / seconds["opscv, plan kept"]
            yield ("A tiny, times as fast as PyTorch's call from C++", "at least 6", f"{ratio:.2f}",
                   ratio >= 6)


def of_everything(records):
    gradients = records.where(direction="gradient")
    most = records.most_threads()
    for letter in cases.PAIRS:
        forward = most.where(direction="forward", pair=letter, dtype="float32", tiny=False)
        yield from at_least(f"{letter} forward float32, times as fast as PyTorch",
                            forward.times_as_fast("PyTorch"), 3, 1)
    pinned = [record["seconds"]["opscv AVX2"]["median"] / record["seconds"]["opscv"]["median"]
              for record in most.records if "opscv AVX2" in record["seconds"] and not record["tiny"]]
    yield from at_most("AVX2, time over AVX-512's", pinned, 1.5)
    beyond = gradients.where(in_cache=False, dtype="float32")
    for letter in cases.PAIRS:
        layout = cases.PAIRS[letter].layouts()[0]
        chosen = beyond.where(pair=letter, layout=layout)
        one = Records([dict(record, threads=2) for record in chosen.where(threads=1).records])
        yield from at_least(f"{letter} float32 {layout}, one core to two, beyond L2",
                            one.against(chosen.where(threads=2)), 1.6)


def extra_memory(record):
    """The workspace as a fraction of 4 MiB, or of 64 rows of intermediate a thread where those are
    more."""
    row = 4 * max(record["before"][-1], record["after"][-1])
    return record["workspace"] / max(4 << 20, record["threads"] * 64 * row)


def of_memory(records):
    if records.records:
        most = max(map(extra_memory, records.records))
        yield ("Workspace over 4 MiB, or over 64 rows a thread where those are more", "at most 1",
               f"{most:.2f} at most", most <= 1)


def of_sections(result):
    for record in result.get("large", []):
        low, high = (record["gigabytes_per_second"][power] for power in (26, 31))
        yield (f"{record['pair']} float16, GB/s at 2^31 elements over that at 2^26", "at least 0.8",
               f"{high / low:.2f} ({high:.1f} over {low:.1f})", high / low >= 0.8)
    for letter, goal in (("A", 10), ("B", 4)):
        ratios = [record["seconds"]["PyTorch"]["median"] / record["seconds"]["with opscv"]["median"]
                  for record in result.get("door", []) if record["pair"] == letter]
        yield from at_least(f"{letter}, backward through F.interpolate, times as fast as PyTorch alone",
                            ratios, goal)


def judge(result):
    records = Records(result["cases"])
    gradients = records.where(direction="gradient").most_threads()
    return [*of_a(gradients), *of_b(gradients), *of_calls(result.get("tiny", [])),
            *of_everything(records), *of_memory(records), *of_sections(result)]
