#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The operators in exact rational arithmetic: judges the double reference. Small problems only.

As a command, reads one JSON problem from stdin and prints the values and the magnitudes
S = sum |w*x|, a line each, row-major, with 17 digits:
  {"op": "UpsampleBicubic2dAA" or "UpsampleBicubic2dAAGrad", "input_size": [h, w],
   "output_size": [h, w], "align_corners": false, "scales": [null, 1.5], "data": [...]}
  {"op": "UpsampleNearestExact3d" or "UpsampleNearestExact3dGrad", "rule": "ascend",
   "input_size": [d, h, w], "output_size": [d, h, w], "scales": [0, 0, 0], "data": [...]}
input_size and output_size are those of the forward operator, also for its gradient. A scale is
the factor out/in, taken as the exact value of its double; null or <= 0 means not given.
"""
import json
import math
import struct
import sys
from fractions import Fraction

DROP_BELOW = Fraction(1, 10**9)


def cubic(d):
    a, d = Fraction(-1, 2), abs(d)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else Fraction(0)


def cubic_rows(n_in, n_out, align_corners=False, scale=None):
    """For each output sample the list of (input sample, weight)."""
    step = Fraction(n_in, n_out)
    if align_corners:
        step = Fraction(n_in - 1, n_out - 1) if n_out > 1 else Fraction(0)
    elif scale is not None and scale > 0:
        step = 1 / Fraction(scale)
    support, inverse = 2 * max(step, 1), 1 / step if step >= 1 else 1
    rows = []
    for o in range(n_out):
        centre = step * (o + Fraction(1, 2))
        lo = max(math.trunc(centre - support + Fraction(1, 2)), 0)
        hi = min(math.trunc(centre + support + Fraction(1, 2)), n_in)
        taps = [(j, cubic((j - centre + Fraction(1, 2)) * inverse)) for j in range(lo, hi)]
        taps = [(j, k) for j, k in taps if abs(k) >= DROP_BELOW]
        total = sum(k for _, k in taps)
        rows.append([(j, k / total) for j, k in taps])
    return rows


def f32(x):
    """x rounded to float32, exactly. Quotients pass through double, which float32 cannot notice."""
    return Fraction(struct.unpack("<f", struct.pack("<f", float(x)))[0])


def ascend_bounds(n_in, n_out, scale):
    rounded = f32 if max(n_in, n_out) <= 2**21 else (lambda x: Fraction(float(x)))
    s = rounded(Fraction(scale) if scale else Fraction(n_out, n_in))
    return [min(math.ceil(rounded(rounded(i * s) - Fraction(1, 2))), n_out)
            for i in range(n_in)] + [n_out]


def nearest_sources(n_in, n_out, scale=None, rule="ascend"):
    """For each output sample the input sample that it reads."""
    scale = scale if scale is not None and scale > 0 else None
    if n_in == n_out and scale in (None, 1):
        return list(range(n_out))
    if rule == "ascend":
        bounds = ascend_bounds(n_in, n_out, scale)
        return [next(i for i in range(n_in) if bounds[i] <= o < bounds[i + 1])
                for o in range(n_out)]
    if rule == "torch_cpu":  # 1/scale is a double before it is a float
        s = f32(float(1 / Fraction(scale))) if scale else f32(Fraction(n_in, n_out))
        return [min(math.floor(f32((o + Fraction(1, 2)) * s)), n_in - 1) for o in range(n_out)]
    if rule == "exact" and scale is None:
        return [(2 * o + 1) * n_in // (2 * n_out) for o in range(n_out)]
    raise ValueError(f"index rule {rule} with scale {scale}")


def axis_rows(problem):
    """One list of rows per axis, as cubic_rows gives them."""
    sizes = list(zip(problem["input_size"], problem["output_size"]))
    scales = problem.get("scales") or [None] * len(sizes)
    if problem["op"].startswith("UpsampleBicubic2dAA"):
        align = problem.get("align_corners", False)
        return [cubic_rows(i, o, align, s) for (i, o), s in zip(sizes, scales)]
    rule = problem.get("rule", "ascend")
    if rule == "ascend" and not all(s is not None and s > 0 for s in scales):
        scales = [None] * len(sizes)
    return [[[(j, Fraction(1))] for j in nearest_sources(i, o, s, rule)]
            for (i, o), s in zip(sizes, scales)]


def apply_axis(rows, n_in, grad, data, outer, inner):
    """data, seen as [outer][extent][inner], times the matrix of rows (grad: its transpose)."""
    n_from, n_to = (len(rows), n_in) if grad else (n_in, len(rows))
    result = [Fraction(0)] * (outer * n_to * inner)
    for n in range(outer):
        for o, row in enumerate(rows):
            for i, w in row:
                source, target = (o, i) if grad else (i, o)
                for m in range(inner):
                    result[(n * n_to + target) * inner + m] += (
                        w * data[(n * n_from + source) * inner + m])
    return result


def solve(problem):
    """(values, magnitudes), lists of Fraction."""
    grad = problem["op"].endswith("Grad")
    sizes = [problem["output_size"] if grad else problem["input_size"],
             problem["input_size"] if grad else problem["output_size"]]
    values = [Fraction(x) for x in problem["data"]]
    magnitudes = [abs(x) for x in values]
    outer, inner = 1, math.prod(sizes[0])
    if len(values) != inner:
        raise ValueError(f"{len(values)} data for {inner} samples")
    for axis, rows in enumerate(axis_rows(problem)):
        inner //= sizes[0][axis]
        n_in = problem["input_size"][axis]
        absolute = [[(i, abs(w)) for i, w in row] for row in rows]
        values = apply_axis(rows, n_in, grad, values, outer, inner)
        magnitudes = apply_axis(absolute, n_in, grad, magnitudes, outer, inner)
        outer *= sizes[1][axis]
    return values, magnitudes


if __name__ == "__main__":
    for line in solve(json.load(sys.stdin)):
        print(" ".join(f"{float(x):.17g}" for x in line))
