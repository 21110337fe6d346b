# SPDX-License-Identifier: Apache-2.0
"""Plans: boxes have the bits of the whole, from the whole input or from its part alone."""
import threading

import numpy as np
import pytest
from support import seeded, sizes

import opscv

PROBLEMS = ["UpsampleBicubic2dAA", "UpsampleBicubic2dAAGrad", "UpsampleNearestExact3d",
            "UpsampleNearestExact3dGrad"]


def random_plan(rng, op, dtype):
    axes = 3 if "3d" in op else 2
    last = bool(rng.integers(2))
    batch = tuple(int(n) for n in rng.integers(1, 4, 2))
    in_size, out_size = sizes(rng, axes, 40), sizes(rng, axes, 40)
    shape = (*batch, *(out_size if op.endswith("Grad") else in_size))
    attrs = {"output_size": out_size}
    if op.endswith("Grad"):
        attrs["input_size"] = (*batch, *in_size)
    if last:
        shape = (shape[0], *shape[2:], shape[1])
    layout = {(2, False): "NCHW", (2, True): "NHWC", (3, False): "NCDHW", (3, True): "NDHWC"}
    return opscv.Plan(op, shape, dtype=dtype, layout=layout[axes, last], **attrs)


def random_box(rng, shape):
    bounds = [sorted(int(n) for n in rng.integers(0, extent + 1, 2)) for extent in shape]
    return tuple(slice(begin, end) for begin, end in bounds)


@pytest.mark.parametrize("op", PROBLEMS)
def test_boxes_have_the_bits_of_the_whole(op):
    rng = seeded(f"boxes {op}")
    for _ in range(8):
        plan = random_plan(rng, op, "float32")
        data = rng.standard_normal(plan.input_shape).astype(np.float32)
        whole = plan.run(data)
        assert whole.shape == plan.output_shape
        for _ in range(6):
            box = random_box(rng, plan.output_shape)
            part = np.ascontiguousarray(data[plan.input_box(box)])
            for source in (data, part):
                got = plan.run(source, box, threads=int(rng.integers(1, 4)))
                assert got.tobytes() == whole[box].tobytes(), f"{plan.input_shape} {box}"


def test_input_box_is_all_that_is_read():
    plan = opscv.Plan("UpsampleBicubic2dAA", (1, 1, 40, 40), output_size=(10, 10))
    image = np.full((1, 1, 40, 40), np.nan, np.float32)
    box = np.s_[0:1, 0:1, 2:5, 6:10]
    image[plan.input_box(box)] = 1
    np.testing.assert_allclose(plan.run(image, box), np.ones((1, 1, 3, 4)), rtol=1e-6)


def test_out_of_a_box_may_be_part_of_a_larger_array():
    plan = opscv.Plan("UpsampleBicubic2dAA", (1, 3, 20, 30), output_size=(33, 44))
    image = seeded("part of larger").standard_normal((1, 3, 20, 30)).astype(np.float32)
    whole, pieced = plan.run(image), np.zeros((1, 3, 33, 44), np.float32)
    for top in range(0, 33, 11):
        box = np.s_[:, :, top:top + 11, :]
        assert plan.run(image, box, out=pieced[box]).base is pieced
    assert pieced.tobytes() == whole.tobytes()


def test_functions_and_plans_agree():
    grad = seeded("agree").standard_normal((1, 2, 9, 8)).astype(np.float16)
    plan = opscv.Plan("upsamplebicubic2daagrad", (1, 2, 9, 8), dtype=np.float16,
                      output_size=[9, 8], input_size=(1, 2, 5, 17), align_corners=True)
    expected = opscv.upsample_bicubic2d_aa_backward(grad, (9, 8), (1, 2, 5, 17), True)
    assert plan.run(grad).tobytes() == expected.tobytes()
    assert "pass 1" in plan.describe()


def test_eight_threads_share_a_plan():
    plan = opscv.Plan("UpsampleBicubic2dAAGrad", (2, 3, 60, 50), output_size=(60, 50),
                      input_size=(2, 3, 90, 130))
    rng = seeded("eight threads")
    data = [rng.standard_normal((2, 3, 60, 50)).astype(np.float32) for _ in range(8)]
    expected = [plan.run(grad, threads=1).tobytes() for grad in data]
    wrong = []

    def work(number):
        for _ in range(20):
            if plan.run(data[number], threads=2).tobytes() != expected[number]:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
