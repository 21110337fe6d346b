# SPDX-License-Identifier: Apache-2.0
"""Lines for the terminal, tables for docs/performance.md, numbers for docs/performance.json."""

import json

import cases
import goals
import plots

HEADER = (f"{'case':<66}{'thr':>4}{'opscv ms':>11}{'PyTorch':>10}{'x':>7}{'oneDNN':>10}{'x':>7}"
          f"{'roof':>9}{'of roof':>8}")
RIVALS = ("PyTorch", "oneDNN")

BEGIN = "<!-- measured: what `make bench` writes begins here -->"
END = "<!-- measured: what `make bench` writes ends here -->"


def median(record, name):
    return record["seconds"][name]["median"]


def ratio(record, rival):
    """How many times the rival's time is ours; None where the rival has not run."""
    if rival not in record["seconds"]:
        return None
    return median(record, rival) / median(record, "opscv")


def line(name, record):
    text = f"{name:<66}{record['threads']:>4}{median(record, 'opscv') * 1e3:>11.4f}"
    for rival in RIVALS:
        if rival in record["seconds"]:
            text += f"{median(record, rival) * 1e3:>10.3f}{ratio(record, rival):>7.2f}"
        else:
            text += f"{'-':>10}{'':>7}"
    if record["tiny"]:
        return text
    return text + f"{record['roof'] * 1e3:>9.4f}{record['roof'] / median(record, 'opscv'):>8.2f}"


def shape(record):
    return f"({','.join(map(str, record['before']))}) / ({','.join(map(str, record['after']))})"


def times_text(record, unit=1e3, suffix="ms"):
    return "; ".join(f"{name} {times['median'] * unit:.4g} {suffix}"
                     for name, times in record["seconds"].items())


def section_line(section, record):
    title = f"{section}: {record['pair']}"
    if section == "large":
        rates = ", ".join(f"2^{power} elements {rate:.2f} GB/s"
                          for power, rate in record["gigabytes_per_second"].items())
        return f"{title} float16: {rates}"
    title += f" {shape(record)}: "
    if section == "peak":
        sizes = (f"{name} {extra(size)}" for name, size in record["bytes"].items())
        return title + f"{record['layout']}: " + "; ".join(sizes)
    return title + (times_text(record, 1e6, "us") if section == "tiny" else times_text(record))


def mebibytes(size):
    return f"{size / 2**20:.1f} MiB"


def extra(size):
    """The kernel counts pages by thread and adds them up now and then, so little is not exact."""
    return "below 0.5 MiB" if size < 1 << 19 else mebibytes(size)


def machine_lines(machine):
    lines = [f"{machine['date']}, {machine['processor']}, {machine['processors']} processors, best "
             f"SIMD target {machine['targets'][0]}.",
             f"opscv {machine['opscv']}, PyTorch {machine['PyTorch']}, oneDNN {machine['oneDNN']}."]
    if machine["targets"][0] != "AVX3":
        lines.append("This machine has no AVX-512, so there is no AVX2 to compare with it.")
    return "\n".join(lines)


def summary(result):
    rows = goals.judge(result)
    lines = [f"{'kept' if kept else 'MISSED':<8}{what}: {measured} (goal: {goal})"
             for what, goal, measured, kept in rows]
    return "\n".join([*lines, f"measured in {result['minutes']:.1f} minutes"])


# --- markdown -------------------------------------------------------------------------------------

def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def number(value):
    """As many digits as mean something; nothing for None."""
    if value is None:
        return ""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}" if value >= 1 else f"{value:.2g}"


def by_threads(records, value):
    """The value for each number of threads, with slashes between; empty where there is none."""
    values = [value(record) for record in records]
    return "" if all(each is None for each in values) else " / ".join(map(number, values))


def grouped(records, *names):
    """Lists of the records that agree in those entries, in the order of their first."""
    groups = {}
    for record in records:
        groups.setdefault(tuple(record[name] for name in names), []).append(record)
    return groups


def fraction(record):
    return None if record["tiny"] else record["roof"] / median(record, "opscv")


def table_of_cases(records):
    rows = []
    for (_, _, layout, dtype), group in grouped(records, "before", "after", "layout", "dtype").items():
        rows.append([shape(group[0]), layout, dtype,
                     by_threads(group, lambda record: median(record, "opscv") * 1e3),
                     *(by_threads(group, lambda record, rival=rival: ratio(record, rival))
                       for rival in RIVALS),
                     by_threads(group, fraction)])
    return table(["before / after", "layout", "type", "opscv, ms", "PyTorch's time / ours",
                  "oneDNN's / ours", "fraction of the roof"], rows)


def tables_of_cases(result):
    threads = sorted({record["threads"] for record in result["cases"]})
    yield ("Medians; where a cell has several figures, they are for " +
           ", ".join(map(str, threads)) + " threads. *Before* and *after* are shapes as the forward "
           "operator sees them. The *roof* is to read the input once and to write the output once.\n")
    for (letter, direction), records in grouped(result["cases"], "pair", "direction").items():
        operator = cases.PAIRS[letter].operator + ("Grad" if direction == "gradient" else "")
        yield f"### {operator}\n"
        yield table_of_cases(records)


def table_of_tiny(records):
    yield "### Tiny calls\n"
    rows = [[record["pair"], shape(record), name, f"{times['median'] * 1e6:.3f}"]
            for record in records for name, times in record["seconds"].items()]
    yield table(["pair", "before / after", "call", "microseconds"], rows)


def table_of_growth(records):
    yield "### Growth\n"
    yield "Gradients in float32; *elements* are those of the larger tensor.\n"
    rows = [[record["pair"], f"{record['elements']:.1e}", number(median(record, "opscv") * 1e3),
             f"{median(record, 'opscv') / record['elements'] * 1e9:.3f}",
             number(median(record, "PyTorch") * 1e3) if "PyTorch" in record["seconds"] else ""]
            for record in records]
    yield table(["pair", "elements", "opscv, ms", "opscv, ns an element", "PyTorch, ms"], rows)


def table_of_large(records):
    yield table(["pair, float16", "GB/s at 2^26 elements", "GB/s at 2^31 elements"],
                [[record["pair"], *(f"{rate:.2f}" for rate in record["gigabytes_per_second"].values())]
                 for record in records])


def table_of_peak(records):
    yield "### Peak memory\n"
    yield ("What one call takes beyond its input and, but for the allocating form, its output; "
           "float32 gradients, each in a process of its own.\n")
    names = list(dict.fromkeys(name for record in records for name in record["bytes"]))
    rows = [[record["pair"], shape(record), record["layout"], mebibytes(record["output_bytes"]),
             *(extra(record["bytes"][name]) if name in record["bytes"] else "" for name in names)]
            for record in records]
    yield table(["pair", "before / after", "layout", "output", *names], rows)


def table_of_door(records):
    yield "### Backward through F.interpolate\n"
    yield ("With `opscv.torch.enabled()` and without, from Python, allocation included. No call can be "
           "faster than what touching its fresh output costs.\n")
    rows = [[record["pair"], shape(record),
             *(number(median(record, name) * 1e3)
               for name in ("with opscv", "PyTorch", "touching a fresh output")),
             number(median(record, "PyTorch") / median(record, "with opscv"))] for record in records]
    yield table(["pair", "before / after", "with opscv, ms", "PyTorch, ms", "fresh output, ms",
                 "PyTorch's time / ours"], rows)


TABLES = {"tiny": table_of_tiny, "growth": table_of_growth, "large": table_of_large,
          "peak": table_of_peak, "door": table_of_door}


def markdown(result):
    yield (f"{machine_lines(result['machine'])} Measured by `make bench`; "
           "all numbers are in [performance.json](performance.json).\n")
    yield "### What must be reached\n"
    rows = [[what, goal, measured, "yes" if kept else "**no**"]
            for what, goal, measured, kept in goals.judge(result)]
    yield "Geometric means, least and largest; at the largest number of threads.\n"
    yield table(["", "goal", "measured", "kept"], rows)
    yield "![Times as fast as the rivals](performance_speedup.svg)\n"
    yield "![Fraction of the roof](performance_roof.svg)\n"
    yield from tables_of_cases(result)
    for name, make in TABLES.items():
        if result.get(name):
            yield from make(result[name])


SKELETON = f"# Performance\n\n{BEGIN}\n{END}\n"


def write(result, folder):
    """Writes the numbers and the plots, and replaces what is between the page's marks."""
    page = folder / "performance.md"
    text = page.read_text() if page.exists() else SKELETON
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"bench: {page} lacks the marks that the tables go between")
    page.write_text(f"{head}{begin}\n\n" + "\n".join(markdown(result)) + f"\n{end}{tail}")
    (folder / "performance.json").write_text(json_text(result))
    plots.draw(result["cases"], folder)


def json_text(result):
    """A line for each record."""
    parts = []
    for name, value in rounded(result).items():
        if isinstance(value, list):
            lines = ",\n".join("  " + json.dumps(record) for record in value)
            parts.append(f' "{name}": [\n{lines}\n ]')
        else:
            parts.append(f' "{name}": {json.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def rounded(value):
    """Numbers with as many digits as mean something."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, (list, tuple)) else value
