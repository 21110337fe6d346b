# SPDX-License-Identifier: Apache-2.0
"""Draws the two pictures of docs/performance.md with gnuplot."""

import subprocess

LAYOUTS = ("NCHW", "NCDHW")


def chosen(records):
    """The gradients of the first layout on the most threads, without the tiny ones."""
    most = max((record["threads"] for record in records), default=0)
    return [record for record in records
            if record["direction"] == "gradient" and record["layout"] in LAYOUTS
            and record["threads"] == most and not record["tiny"]]


def label(record):
    return (f"{record['pair']} ({','.join(map(str, record['before']))})/"
            f"({','.join(map(str, record['after']))})")


def values(records, series):
    """Lines of gnuplot data: a label, and one column for each (name, dtype, value of a record)."""
    shapes = dict.fromkeys(label(record) for record in records)
    for shape in shapes:
        columns = []
        for _, dtype, value in series:
            found = [value(record) for record in records
                     if label(record) == shape and record["dtype"] == dtype]
            columns.append(f"{found[0]:.4g}" if found and found[0] is not None else "NaN")
        yield f'"{shape}" {" ".join(columns)}'


def bars(path, title, records, series, log, line):
    data = "\n".join(values(records, series))
    plots = ", ".join(f"$data using {i + 2}:xtic(1) title '{name}'"
                      for i, (name, _, _) in enumerate(series))
    script = f"""
set terminal svg size 1000,520 font 'sans,12' background rgb 'white'
set output '{path}'
set title '{title}'
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.9 border -1
set xtics rotate by -35 scale 0 noenhanced
set grid ytics
set key top left
set yrange [{'1:*' if log else '0:*'}]
{'set logscale y' if log else ''}
$data << END
{data}
END
plot {plots}, {line} with lines dashtype 2 linecolor rgb 'black' notitle
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def draw(records, folder):
    def times_as_fast(rival):
        def value(record):
            if rival not in record["seconds"]:
                return None
            return record["seconds"][rival]["median"] / record["seconds"]["opscv"]["median"]
        return value

    def of_roof(record):
        return record["roof"] / record["seconds"]["opscv"]["median"]

    records = chosen(records)
    bars(folder / "performance_speedup.svg", "Gradients: times as fast as the rival", records,
         [("PyTorch, float32", "float32", times_as_fast("PyTorch")),
          ("oneDNN, float32", "float32", times_as_fast("oneDNN")),
          ("PyTorch, bfloat16", "bfloat16", times_as_fast("PyTorch")),
          ("oneDNN, bfloat16", "bfloat16", times_as_fast("oneDNN"))], True, "1")
    bars(folder / "performance_roof.svg", "Gradients: fraction of the roof (memory alone)", records,
         [(dtype, dtype, of_roof) for dtype in ("float32", "float16", "bfloat16")], False, "1")
