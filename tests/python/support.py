# SPDX-License-Identifier: Apache-2.0
"""Random problems for the tests of the Python package, and the yardstick for their results."""
import math
import os
import random

import numpy as np

from opscv import _native
from opscv._types import DTYPE_NAMES, OPERATORS, RULES, channels_first

SEED = int(os.environ.get("OPSCV_TEST_SEED", random.SystemRandom().randrange(2**31)))


def seeded(name):
    """A random source of its own for each test; OPSCV_TEST_SEED repeats it."""
    print(f"{name}: OPSCV_TEST_SEED={SEED}", flush=True)
    return np.random.default_rng([SEED, *name.encode()])


def to_float64(array):
    """Values of any array of ours; exact for every floating type."""
    if hasattr(array, "detach"):
        return array.detach().double().numpy()
    return array.astype(np.float64)


def worst_fraction(op_name, data, result, dtype, in_size, out_size, *, align_corners=False,
                   scales=None, rule="torch_cpu", layout=0):
    """The largest error as a fraction of the bound: at most 1 where the promise is kept."""
    op = OPERATORS[op_name]
    shape = channels_first(data.shape, layout)
    order = (0, data.ndim - 1, *range(1, data.ndim - 1)) if layout else range(data.ndim)
    dense, actual = [np.ascontiguousarray(np.transpose(to_float64(a), tuple(order))).ravel()
                     for a in (data, result)]
    fractions, _ = _native.judge(
        op.name, math.prod(shape[:2]), list(in_size), list(out_size),
        align_corners, [float(s or 0) for s in scales or [0] * op.axes], RULES.index(rule),
        DTYPE_NAMES.index(dtype), dense, actual)
    return fractions.max(initial=0.0)


def sizes(rng, axes, largest=24):
    return tuple(int(n) for n in rng.integers(1, largest + 1, axes))


def agree_with_each_other(x, forward, backward, grad):
    """Whether a linear function and what is given as its gradient are one: <f(x), g> = <x, f'(g)>.
    In float64."""
    left, right = (forward * grad).sum().item(), (x * backward).sum().item()
    return abs(left - right) <= 1e-9 * (1 + (forward * grad).abs().sum().item())
