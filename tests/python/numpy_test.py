# SPDX-License-Identifier: Apache-2.0
"""The functions on NumPy arrays: values in every type, layout and form of memory, and `out`."""
import ml_dtypes
import numpy as np
import pytest
from support import seeded, sizes, worst_fraction

import opscv

FLOATS = [np.float64, np.float32, np.float16, ml_dtypes.bfloat16]
BICUBIC = (opscv.upsample_bicubic2d_aa, opscv.upsample_bicubic2d_aa_backward)
NEAREST = (opscv.upsample_nearest_exact3d, opscv.upsample_nearest_exact3d_backward)
NAMES = ("UpsampleBicubic2dAA", "UpsampleBicubic2dAAGrad", "UpsampleNearestExact3d",
         "UpsampleNearestExact3dGrad")


def in_memory(rng, values):
    """The same values in memory of another form: steps, reversed and permuted dimensions."""
    order = rng.permutation(values.ndim)
    steps = rng.integers(1, 3, values.ndim)
    signs = rng.choice([-1, 1], values.ndim)
    shape = [values.shape[i] * steps[i] for i in order]
    memory = np.zeros(shape, values.dtype).transpose(np.argsort(order))
    view = memory[tuple(slice(None, None, int(step * sign)) for step, sign in zip(steps, signs))]
    view[...] = values
    assert view.shape == values.shape
    return view


def call(rng, function, dtype, last):
    """One random call: what it was given, what came out, and all that a judge needs."""
    number = (*BICUBIC, *NEAREST).index(function)
    axes, backward = 2 + number // 2, number % 2 == 1
    layout = ("NCHW", "NHWC", "NCDHW", "NDHWC")[2 * (axes - 2) + last]
    batch = tuple(int(n) for n in rng.integers(1, 4, 2))
    in_size, out_size = sizes(rng, axes), sizes(rng, axes)
    shape = (*batch, *(out_size if backward else in_size))
    shape = (shape[0], *shape[2:], shape[1]) if last else shape
    data = in_memory(rng, rng.standard_normal(shape).astype(dtype))
    args = (out_size, (*batch, *in_size)) if backward else (out_size,)
    result = function(data, *args, layout=layout)
    return NAMES[number], data, result, in_size, out_size


@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("function", BICUBIC + NEAREST)
def test_results_keep_the_bound(function, dtype, last):
    rng = seeded(f"bound {function.__name__} {np.dtype(dtype)} {last}")
    for _ in range(12):
        name, data, result, in_size, out_size = call(rng, function, dtype, last)
        assert type(result) is np.ndarray and result.dtype == data.dtype
        assert result.flags.c_contiguous
        worst = worst_fraction(name, data, result, np.dtype(dtype).name, in_size, out_size,
                               layout=last)
        assert worst <= 1, f"{data.shape} {data.strides} {in_size} {out_size}: {worst}"


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
                                   "uint64", "bool"])
def test_nearest_copies_integers(dtype):
    rng = seeded(f"integers {dtype}")
    info = np.iinfo(dtype) if dtype != "bool" else None
    data = rng.integers(0, 2, (2, 1, 3, 4, 5)).astype(bool) if info is None else rng.integers(
        info.min, info.max, (2, 1, 3, 4, 5), dtype, endpoint=True)
    result = opscv.upsample_nearest_exact3d(data, (6, 8, 10))
    np.testing.assert_array_equal(result, data.repeat(2, 2).repeat(2, 3).repeat(2, 4))
    assert result.dtype == data.dtype


def test_known_values():
    grad = np.arange(8.0).reshape(1, 1, 4, 2)
    result = opscv.upsample_bicubic2d_aa_backward(grad, (4, 2), (1, 1, 8, 4), align_corners=True)
    np.testing.assert_allclose(result[0, 0, 0], [-0.037380, -0.021394, 0.076689, 0.210637],
                               atol=1e-6)
    volume = np.arange(1.0, 33.0).reshape(2, 2, 2, 2, 2)
    result = opscv.upsample_nearest_exact3d_backward(volume, (2, 2, 2), (2, 2, 1, 1, 1))
    assert result.ravel().tolist() == [36, 100, 164, 228]


def test_rule_decides_ties():
    """At 26 -> 11 sample 5 lies between two inputs: PyTorch reads 12, exact arithmetic 13."""
    volume = np.arange(26.0).reshape(1, 1, 1, 1, 26)
    read = {rule: opscv.upsample_nearest_exact3d(volume, (1, 1, 11), rule=rule)[0, 0, 0, 0, 5]
            for rule in (None, "torch_cpu", "ascend", "exact")}
    assert read == {None: 12, "torch_cpu": 12, "ascend": 13, "exact": 13}


@pytest.mark.parametrize("dtype", FLOATS)
def test_out_takes_the_result_with_any_strides(dtype):
    rng = seeded(f"out {np.dtype(dtype)}")
    image = rng.standard_normal((2, 3, 9, 7)).astype(dtype)
    expected = opscv.upsample_bicubic2d_aa(image, (5, 6))
    memory = np.full((2, 6, 5, 12), 7, dtype)
    out = memory[:, ::2, ::-1, ::2]
    assert opscv.upsample_bicubic2d_aa(image, (5, 6), out=out) is out
    np.testing.assert_array_equal(out.astype(np.float64),
                                  expected.astype(np.float64))
    assert (memory[:, 1::2].astype(np.float64) == 7).all()
    assert (memory[:, :, :, 1::2].astype(np.float64) == 7).all()


def test_inputs_may_repeat_elements():
    grad = np.broadcast_to(np.float32(1), (1, 2, 6, 6))
    result = opscv.upsample_bicubic2d_aa_backward(grad, (6, 6), (1, 2, 3, 3))
    assert result.sum() == pytest.approx(72, rel=1e-6)


def test_same_bits_for_any_number_of_threads():
    rng = seeded("threads")
    grad = rng.standard_normal((2, 3, 100, 90)).astype(np.float32)
    one, *others = [opscv.upsample_bicubic2d_aa_backward(grad, (100, 90), (2, 3, 250, 210),
                                                         threads=n) for n in (1, 2, 3, 7)]
    for other in others:
        assert one.tobytes() == other.tobytes()


def test_empty_batches_have_empty_results():
    assert opscv.upsample_bicubic2d_aa(np.zeros((0, 3, 4, 4)), (2, 2)).shape == (0, 3, 2, 2)
    grad = np.zeros((1, 0, 2, 2, 2), np.float32)
    assert opscv.upsample_nearest_exact3d_backward(grad, (2, 2, 2), (1, 0, 4, 4, 4)).shape == (
        1, 0, 4, 4, 4)


def test_nan_reaches_only_what_depends_on_it():
    """Every weight of PyTorch's window counts there, zeros too; here only those that are not 0."""
    image = np.ones((1, 1, 8, 8), np.float32)
    image[0, 0, 0, 0] = np.nan
    grown = opscv.upsample_bicubic2d_aa(image, (16, 16))
    weights = opscv.upsample_bicubic2d_aa(np.eye(64, dtype=np.float64).reshape(64, 1, 8, 8), (16, 16))
    np.testing.assert_array_equal(np.isnan(grown[0, 0]), weights[0, 0] != 0)
