#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The double reference against exact rational arithmetic."""
import json
import math
import subprocess
import sys
import unittest
from fractions import Fraction

import numpy as np

import driver
import exact_oracle

# Extents up to 24: the rounding of scale and centre moves a distance by at most 3 * 24 * 2^-53, the
# slope of the kernel is at most 1.05, and its evaluation, the normalisation and the sums add a few
# units more.
TOLERANCE = 32 * driver.UNIT


def errors(got, exact):
    return np.array([abs(float(Fraction(float(g)) - e)) for g, e in zip(got, exact)])


def random_scale(rng, size_in, size_out):
    """Not given, or any double with size_out == floor(size_in * scale)."""
    scale = (size_out + rng.random()) / size_in
    return scale if rng.random() < 0.5 and math.floor(size_in * scale) == size_out else None


class ExactOracle(unittest.TestCase):

    def test_bicubic(self):
        rng = driver.seeded("exact_oracle bicubic")
        problems = []
        for k in range(160):
            size_in = [rng.randint(1, 24) for _ in range(2)]
            size_out = [rng.choice([rng.randint(1, 24), rng.randint(1, 3)]) for _ in range(2)]
            scales = [random_scale(rng, i, o) for i, o in zip(size_in, size_out)]
            problems.append(driver.Cubic(rng, 1, size_in, size_out, rng.random() < 0.3, scales,
                                         grad=k % 2 == 1))
        answers = driver.run_tool([p.text() for p in problems])
        for k, (p, tables) in enumerate(zip(problems, driver.dense_tables(problems))):
            value, magnitude = exact_oracle.solve({
                "op": "UpsampleBicubic2dAA" + ("Grad" if p.grad else ""),
                "input_size": p.size_in, "output_size": p.size_out,
                "align_corners": p.align_corners, "scales": p.scales,
                "data": p.data.tolist()})
            allowed = TOLERANCE * (answers[2 * k + 1] + driver.sensitivity(p, tables))
            for name, got, exact in (("value", answers[2 * k], value),
                                     ("magnitude", answers[2 * k + 1], magnitude)):
                self.assertEqual(len(got), len(exact), str(p))
                excess = errors(got, exact) - allowed
                self.assertLessEqual(excess.max(), 0, f"{name}, problem {k}: {p}")

    def test_nearest(self):
        """Data are small whole numbers, so every sum is exact and answers must be equal."""
        rng = driver.seeded("exact_oracle nearest")
        texts, problems = [], []
        for k in range(120):
            grad, rule = k % 2 == 1, ("ascend", "torch_cpu", "exact")[k % 3]
            size_in = [rng.randint(1, 9), rng.randint(1, 9), rng.randint(1, 60)]
            size_out = [rng.randint(1, 9), rng.randint(1, 9), rng.randint(1, 60)]
            scales = [None if rule == "exact" else random_scale(rng, i, o)
                      for i, o in zip(size_in, size_out)]
            if k % 4 == 0 and rule != "exact":
                scales = [(o + 0.25) / i for i, o in zip(size_in, size_out)]
            data = [rng.randint(-99, 99) for _ in range(math.prod(size_out if grad else size_in))]
            problems.append({"op": "UpsampleNearestExact3d" + ("Grad" if grad else ""),
                             "rule": rule, "input_size": size_in, "output_size": size_out,
                             "scales": scales, "data": data})
            texts.append(" ".join(map(str, [
                "nearest_exact3d_grad" if grad else "nearest_exact3d", rule, 1, *size_in,
                *size_out, *(repr(s or 0) for s in scales), *data])))
        answers = driver.run_tool(texts)
        for k, problem in enumerate(problems):
            value, magnitude = exact_oracle.solve(problem)
            summary = f"problem {k}: {dict(problem, data='...')}"
            self.assertEqual(answers[2 * k].tolist(), [float(v) for v in value], summary)
            self.assertEqual(answers[2 * k + 1].tolist(), [float(m) for m in magnitude], summary)

    def test_index_maps(self):
        rng = driver.seeded("exact_oracle index maps")
        keys = [("ascend", 2, 41, 0), ("torch_cpu", 2, 41, 0), ("exact", 2, 41, 0)]
        for _ in range(200):
            i, o = rng.randint(1, 300), rng.randint(1, 300)
            rule = rng.choice(["ascend", "torch_cpu", "exact"])
            scale = 0 if rule == "exact" else random_scale(rng, i, o) or 0
            keys.append((rule, i, o, scale))
        texts = [f"sources {rule} {i} {o} {scale!r} 0 {o}" for rule, i, o, scale in keys]
        for (rule, i, o, scale), got in zip(keys, driver.run_tool(texts)):
            expected = exact_oracle.nearest_sources(i, o, scale, rule)
            self.assertEqual(got.tolist(), expected, f"{rule} in {i} out {o} scale {scale!r}")

    def test_command_prints_the_worked_example(self):
        problem = {"op": "UpsampleBicubic2dAAGrad", "input_size": [8, 4], "output_size": [4, 2],
                   "align_corners": False, "scales": [0.5, 0.5], "data": list(range(8))}
        done = subprocess.run([sys.executable, exact_oracle.__file__], input=json.dumps(problem),
                              capture_output=True, text=True, check=True)
        values, magnitudes = [[float(v) for v in line.split()] for line in
                              done.stdout.splitlines()]
        self.assertEqual([round(v, 6) for v in values[:4]],
                         [-0.045273, 0.011286, 0.156882, 0.167795])
        self.assertEqual([round(v, 6) for v in values[28:]],
                         [1.099957, 1.583169, 1.728765, 1.313024])
        self.assertEqual(len(magnitudes), 32)


if __name__ == "__main__":
    unittest.main(verbosity=2)
