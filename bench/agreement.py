# SPDX-License-Identifier: Apache-2.0
"""Results of the contestants compared before any time is taken."""

# Largest difference over the largest element. PyTorch computes its bicubic weights in float, which
# costs up to 1e-4 on the widest of our shapes.
FLOAT32 = {"A": 5e-4, "B": 1e-5}
# Half a unit in the last place of the result, twice: once for each of the two.
HALF = {"float16": 2.0**-10, "bfloat16": 2.0**-7}
# PyTorch adds up a gradient in the tensor's own type, one rounding for each of up to 80 addends.
PYTORCH_HALF_SUM = {"float16": 80 * 2.0**-11, "bfloat16": 80 * 2.0**-8}


def tolerance(case, rival):
    if case.dtype == "float32":
        return FLOAT32[case.pair.letter]
    if rival == "PyTorch" and case.gradient:
        return PYTORCH_HALF_SUM[case.dtype]
    return HALF[case.dtype] + FLOAT32[case.pair.letter]


def check(case, ours, others):
    """Ends the program where a result is not ours."""
    mine = ours.output.float()
    size = max(mine.abs().max().item(), 1e-30)
    for other in others:
        if other.output is None:
            continue
        error = (mine - other.output.float()).abs_().max().item() / size
        if not error <= tolerance(case, other.name):
            raise SystemExit(f"bench: {case.name()}: {other.name} and opscv differ by {error:.2e} of "
                             f"the largest element, more than {tolerance(case, other.name):.2e}")
