# SPDX-License-Identifier: Apache-2.0
"""Problems for the reference, its answers, and the yardstick they are measured with."""
import os
import pathlib
import random
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

SEED = int(os.environ.get("OPSCV_TEST_SEED", "20240611"))
UNIT = 2.0**-52


def seeded(name):
    """A random source of its own for each test; OPSCV_TEST_SEED gives other problems."""
    print(f"{name}: OPSCV_TEST_SEED={SEED}", flush=True)
    return random.Random(f"{name} {SEED}")


def run_tool(problems):
    """One array per line that reference_tool prints for the list of problem texts."""
    build = pathlib.Path(os.environ["OPSCV_BUILD_DIR"])
    places = [build / "reference_tool", build / "tests" / "reference" / "reference_tool"]
    tool = next((p for p in places if p.exists()), None)
    if tool is None:
        raise FileNotFoundError(f"reference_tool is in none of {[str(p) for p in places]}")
    done = subprocess.run([tool], input="\n".join(problems), capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return [np.array(line.split(), dtype=np.float64) for line in done.stdout.splitlines()]


class Cubic:
    """A problem of UpsampleBicubic2dAA or its gradient; scales are numbers or None."""

    def __init__(self, rng, batch, size_in, size_out, align_corners, scales, grad):
        self.batch, self.size_in, self.size_out = batch, size_in, size_out
        self.align_corners, self.scales, self.grad = align_corners, scales, grad
        self.shape = (batch, *(size_out if grad else size_in))
        self.data = np.array([rng.gauss(0, 1) for _ in range(int(np.prod(self.shape)))])

    def text(self):
        name = "bicubic2d_aa_grad" if self.grad else "bicubic2d_aa"
        head = [name, self.batch, *self.size_in, *self.size_out, int(self.align_corners),
                *(s or 0 for s in self.scales), *self.data.tolist()]
        return " ".join(map(repr, head)).replace("'", "")

    def __str__(self):
        return (f"{'grad' if self.grad else 'forward'} batch {self.batch} {self.size_in} -> "
                f"{self.size_out} align_corners {self.align_corners} scales {self.scales}")

    def scale_used(self, axis):
        """Input samples per output sample."""
        i, o = self.size_in[axis], self.size_out[axis]
        if self.align_corners:
            return (i - 1) / (o - 1) if o > 1 else 0.0
        return 1 / self.scales[axis] if self.scales[axis] else i / o

    def window(self, axis):
        """Matrix out x in: an error of 1 in each K of a row, normalised, window edges included."""
        i, o = self.size_in[axis], self.size_out[axis]
        step = self.scale_used(axis)
        centre = step * (np.arange(o)[:, None] + 0.5)
        distance = np.abs(np.arange(i)[None, :] + 0.5 - centre)
        return (distance <= 2 * max(step, 1) + 1) / max(step, 1)


def sensitivity(problem, tables):
    """T = sum |x| * (|w_h| * d_w + d_h * |w_w|): what an absolute error of 1 in every value of the
    kernel does to an element. Weights next to a zero of the kernel are small against their own
    rounding errors, so S = sum |w*x| alone does not measure what two right programs differ by."""
    (h, w), (dh, dw) = [np.abs(t) for t in tables], (problem.window(0), problem.window(1))
    x = np.abs(problem.data.reshape(problem.shape))
    if problem.grad:
        h, w, dh, dw = h.T, w.T, dh.T, dw.T
    return (h @ x @ dw.T + dh @ x @ w.T).ravel()


def dense_tables(problems):
    """For each problem its two weight matrices, out x in, as reference_tool prints them."""
    keys = [(p.size_in[a], p.size_out[a], int(p.align_corners), p.scales[a] or 0)
            for p in problems for a in range(2)]
    text = [" ".join(map(repr, ("taps", *k))).replace("'", "") for k in keys]
    tables = []
    for (i, o, _, _), flat in zip(keys, run_tool(text)):
        table = np.zeros((o, i))
        for row, column, weight in flat.reshape(-1, 3):
            table[int(row), int(column)] = weight
        tables.append(table)
    return list(zip(tables[::2], tables[1::2]))
