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


def column(records, shapes, dtype, value):
    """The value for each shape, None where there is none."""
    found = {label(record): value(record) for record in records if record["dtype"] == dtype}
    return [found.get(shape) for shape in shapes]


def bars(path, title, records, series, log, line):
    shapes = list(dict.fromkeys(map(label, records)))
    columns = {name: column(records, shapes, dtype, value) for name, dtype, value in series}
    # gnuplot draws no column that is empty.
    columns = {name: values for name, values in columns.items() if any(values)}
    rows = zip(shapes, *columns.values())
    data = "\n".join(f'"{shape}" ' + " ".join("NaN" if value is None else f"{value:.4g}"
                                             for value in values) for shape, *values in rows)
    plots = ", ".join(f"$data using {i + 2}:xtic(1) title '{name}'"
                      for i, name in enumerate(columns))
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
set yrange [{'0.5:*' if log else '0:*'}]
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
    if not records:
        return
    bars(folder / "performance_speedup.svg", "Gradients: times as fast as the rival", records,
         [("PyTorch, float32", "float32", times_as_fast("PyTorch")),
          ("oneDNN, float32", "float32", times_as_fast("oneDNN")),
          ("PyTorch, bfloat16", "bfloat16", times_as_fast("PyTorch")),
          ("oneDNN, bfloat16", "bfloat16", times_as_fast("oneDNN"))], True, "1")
    bars(folder / "performance_roof.svg", "Gradients: fraction of the roof (memory alone)", records,
         [(dtype, dtype, of_roof) for dtype in ("float32", "float16", "bfloat16")], False, "1")
