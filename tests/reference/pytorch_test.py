#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The double reference against PyTorch's CPU operators in float64."""
import unittest

import numpy as np
import torch

import driver

aten = torch.ops.aten

# Both compute scale, centre and distance with the same roundings. PyTorch evaluates the cubic
# polynomials unfactored, with up to 10 units of rounding error in each weight (the terms reach 10),
# and sums in another order. The largest error seen in 8400 problems is 12 units.
TOLERANCE = 32 * driver.UNIT

# Each kernel value that is left out is below this, and the rest is divided by a sum that lacks it.
DROPPED = 4e-9


def torch_cubic(p):
    x = torch.from_numpy(p.data.reshape(1, *p.shape))
    if p.grad:
        return aten._upsample_bicubic2d_aa_backward(
            x, p.size_out, [1, p.batch, *p.size_in], p.align_corners, *p.scales).numpy().ravel()
    return aten._upsample_bicubic2d_aa(x, p.size_out, p.align_corners, *p.scales).numpy().ravel()


def torch_windows(size_in, size_out, scale=None):
    """How many output samples PyTorch's gradient adds up in each input sample."""
    ones = torch.ones(1, 1, 1, 1, size_out, dtype=torch.float64)
    sums = aten._upsample_nearest_exact3d_backward(
        ones, [1, 1, size_out], [1, 1, 1, 1, size_in], None, None, scale)
    return sums.numpy().ravel().astype(np.int64)


def torch_sources(size_in, size_out, scale=None):
    """The input sample that PyTorch's forward operator copies to each output sample."""
    x = torch.arange(size_in, dtype=torch.float64).reshape(1, 1, 1, 1, size_in)
    y = aten._upsample_nearest_exact3d(x, [1, 1, size_out], None, None, scale)
    return y.numpy().ravel().astype(np.int64)


class Bicubic(unittest.TestCase):

    def check(self, problems, tolerance):
        answers = driver.run_tool([p.text() for p in problems])
        for k, (p, tables) in enumerate(zip(problems, driver.dense_tables(problems))):
            value, magnitude = answers[2 * k], answers[2 * k + 1]
            error = np.abs(value - torch_cubic(p))
            allowed = tolerance * (magnitude + driver.sensitivity(p, tables))
            worst = np.argmax(error - allowed)
            self.assertLessEqual(error[worst], allowed[worst],
                                 f"problem {k}, element {worst}: {p}")
            if tolerance == TOLERANCE:
                self.assertLessEqual(error.max(), 3e-14 * magnitude.max(), f"problem {k}: {p}")

    def random_problems(self, rng, count, scale_of):
        problems = []
        for k in range(count):
            largest = rng.choice([3, 12, 40, 120])
            size_in = [rng.randint(1, largest) for _ in range(2)]
            size_out = [rng.randint(1, largest) for _ in range(2)]
            if k % 5 == 0:  # strong shrink of one axis, strong enlargement of the other
                size_in, size_out = [rng.randint(60, 160), rng.randint(1, 4)], [
                    rng.randint(1, 4), rng.randint(60, 160)]
            scales = [scale_of(i, o) for i, o in zip(size_in, size_out)]
            problems.append(driver.Cubic(rng, rng.randint(1, 3), size_in, size_out,
                                         rng.random() < 0.3, scales, grad=k % 2 == 1))
        return problems

    def test_random_problems(self):
        """Scales are multiples of 1/64 and sizes small: then distances lie on a grid so coarse
        that only true zeros of the kernel are dropped."""
        rng = driver.seeded("pytorch bicubic")
        self.check(self.random_problems(
            rng, 400, lambda i, o: rng.choice([None, max(1, round(64 * o / i)) / 64])), TOLERANCE)

    def test_any_scale(self):
        """Arbitrary scales, also well above out/in: kernel values next to zero are dropped. Scales
        well below would leave rows without any tap, for which PyTorch reads memory it does not
        own; every door refuses them."""
        rng = driver.seeded("pytorch bicubic, any scale")
        self.check(self.random_problems(
            rng, 100, lambda i, o: (o + rng.random()) / i * rng.choice([1, 1, 2])), DROPPED)

    def test_align_corners_to_one_sample(self):
        rng = driver.seeded("pytorch bicubic, one sample")
        self.check([driver.Cubic(rng, 1, [i, 7], [1, 3], True, [None, None], grad)
                    for i in (1, 2, 3, 50) for grad in (False, True)], TOLERANCE)


class Nearest(unittest.TestCase):
    """Data are whole numbers, so sums are exact and answers must be equal."""

    def test_random_problems(self):
        rng = driver.seeded("pytorch nearest")
        texts, expected = [], []
        for k in range(300):
            largest = rng.choice([3, 9, 20])
            size_in = [rng.randint(1, largest) for _ in range(3)]
            size_out = [rng.randint(1, largest) for _ in range(3)]
            scales = [rng.choice([None, (o + rng.random()) / i, o / i])
                      for i, o in zip(size_in, size_out)]
            batch, grad = rng.randint(1, 2), k % 2 == 1
            shape = [1, batch, *(size_out if grad else size_in)]
            data = np.array([rng.randint(-99, 99) for _ in range(int(np.prod(shape)))])
            x = torch.from_numpy(data.reshape(shape).astype(np.float64))
            if grad:
                y = aten._upsample_nearest_exact3d_backward(
                    x, size_out, [1, batch, *size_in], *scales)
            else:
                y = aten._upsample_nearest_exact3d(x, size_out, *scales)
            expected.append(y.numpy().ravel())
            texts.append(" ".join(map(str, [
                "nearest_exact3d_grad" if grad else "nearest_exact3d", "torch_cpu", batch,
                *size_in, *size_out, *(repr(s or 0) for s in scales), *data.tolist()])))
        for k, got in enumerate(driver.run_tool(texts)[::2]):
            self.assertEqual(got.tolist(), expected[k].tolist(), texts[k][:120])

    def test_index_maps(self):
        """All pairs of a spread of sizes, both from the forward operator and from the gradient."""
        rng = driver.seeded("pytorch index maps")
        keys = [(i, o, None) for i in range(1, 130, 4) for o in range(1, 130, 3)]
        for _ in range(500):
            i, o = rng.randint(1, 5000), rng.randint(1, 5000)
            keys.append((i, o, rng.choice([None, (o + rng.random()) / i])))
        texts = [f"sources torch_cpu {i} {o} {s or 0!r} 0 {o}" for i, o, s in keys]
        for (i, o, s), got in zip(keys, driver.run_tool(texts)):
            self.assertTrue(np.array_equal(got, torch_sources(i, o, s)), f"{i} -> {o} scale {s}")
            self.assertTrue(np.array_equal(np.bincount(got.astype(int), minlength=i),
                                           torch_windows(i, o, s)), f"{i} <- {o} scale {s}")

    def test_long_axes(self):
        """From 2^23 on, o + 0.5 is no float; from 2^24 on, o is none. The tables still agree."""
        keys = [(2**20, 2**20 - 7, None), (2**20, 2**20 // 3, None), (999983, 2**20, None),
                (2**20, 1782579, 1.7), (6000000, 10200000, 1.7), (2**24 + 9, 2**24 + 5, None),
                (2**22 + 3, 2**24 + 5, None), (1000, 2**24 + 100, None), (2**24 + 9, 1000, None)]
        texts, pieces = [], []
        for key in keys:
            i, o, s = key
            for first in (0, o // 3, o // 2, max(o - 3000, 0)):
                count = min(3000, o - first)
                texts.append(f"sources torch_cpu {i} {o} {s or 0!r} {first} {count}")
                pieces.append((key, first, count))
        expected = {key: torch_sources(*key) for key in keys}
        for (key, first, count), got in zip(pieces, driver.run_tool(texts)):
            self.assertEqual(len(got), count)
            self.assertTrue(np.array_equal(got, expected[key][first:first + count]),
                            f"{key} from output {first}")
        for key in keys:
            windows = np.bincount(expected[key], minlength=key[0])
            self.assertTrue(np.array_equal(windows, torch_windows(*key)),
                            f"PyTorch's gradient and forward operator disagree: {key}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main(verbosity=2)
