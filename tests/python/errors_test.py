# SPDX-License-Identifier: Apache-2.0
"""Every mistake is an exception that names the argument, and leaves `out` as it was."""
import numpy as np
import pytest

import opscv

IMAGE = np.zeros((1, 2, 6, 5), np.float32)
VOLUME = np.zeros((1, 2, 4, 6, 5), np.float32)
SHRINK = opscv.upsample_bicubic2d_aa
SHRINK_GRAD = opscv.upsample_bicubic2d_aa_backward
PICK = opscv.upsample_nearest_exact3d
PICK_GRAD = opscv.upsample_nearest_exact3d_backward


def frozen():
    array = np.zeros((1, 2, 3, 3), np.float32)
    array.flags.writeable = False
    return array


MISTAKES = {
    "a list": (TypeError, "self", lambda: SHRINK([[1.0]], (3, 3))),
    "complex": (TypeError, "self", lambda: SHRINK(IMAGE.astype(complex), (3, 3))),
    "other byte order": (TypeError, "self", lambda: SHRINK(IMAGE.astype(">f4"), (3, 3))),
    "integers in bicubic": (ValueError, "self", lambda: SHRINK(IMAGE.astype(int), (3, 3))),
    "rank": (ValueError, "self", lambda: SHRINK(VOLUME, (3, 3))),
    "rank of a gradient": (ValueError, "grad_output", lambda: PICK_GRAD(IMAGE, (4, 6, 5),
                                                                       (1, 2, 8, 6, 5))),
    "odd strides": (ValueError, "self", lambda: SHRINK(
        np.zeros((1, 2, 6, 5), "f4,u1")["f0"], (3, 3))),
    "size is no list": (TypeError, "output_size", lambda: SHRINK(IMAGE, 3)),
    "size of floats": (TypeError, "output_size", lambda: SHRINK(IMAGE, (3.0, 3.0))),
    "size too short": (ValueError, "output_size", lambda: SHRINK(IMAGE, (3,))),
    "size of zero": (ValueError, "output_size", lambda: SHRINK(IMAGE, (0, 3))),
    "negative size": (ValueError, "output_size", lambda: PICK(VOLUME, (2, -3, 3))),
    "input_size too short": (ValueError, "input_size", lambda: SHRINK_GRAD(IMAGE, (6, 5), (1, 2, 3))),
    "another batch": (ValueError, "grad_output must have the shape given by N, C of input_size", lambda: SHRINK_GRAD(IMAGE, (6, 5), (2, 2, 3, 3))),
    "size that is not grad_output's": (ValueError, "grad_output",
                                       lambda: SHRINK_GRAD(IMAGE, (5, 5), (1, 2, 3, 3))),
    "absurd size": (ValueError, "input_size|grad_input|out",
                    lambda: SHRINK_GRAD(IMAGE, (6, 5), (1, 2, 2**40, 2**40))),
    "negative scale": (ValueError, "scales_h", lambda: SHRINK(IMAGE, (3, 3), scales_h=-1)),
    "scale that is no number": (TypeError, "scales_w", lambda: SHRINK(IMAGE, (3, 3), scales_w=[2])),
    "scale NaN": (ValueError, "scales_h", lambda: PICK(VOLUME, (3, 3, 3), scales_h=float("nan"))),
    "scale of other sizes": (ValueError, r"output_size\[2\] must be floor.*scales_w", lambda: PICK(VOLUME, (4, 6, 5), scales_w=3)),
    "scale with rule exact": (ValueError, "scales_d",
                              lambda: PICK(VOLUME, (8, 6, 5), scales_d=2, rule="exact")),
    "unknown rule": (ValueError, "rule", lambda: PICK(VOLUME, (3, 3, 3), rule="nearest")),
    "rule for bicubic": (ValueError, "rule", lambda: SHRINK(IMAGE, (3, 3), rule="exact")),
    "unknown layout": (ValueError, "layout", lambda: SHRINK(IMAGE, (3, 3), layout="NDHWC")),
    "no threads": (ValueError, "threads", lambda: SHRINK(IMAGE, (3, 3), threads=0)),
    "half a thread": (TypeError, "threads", lambda: SHRINK(IMAGE, (3, 3), threads=0.5)),
    "out of another type": (TypeError, "out", lambda: SHRINK(IMAGE, (3, 3),
                                                            out=np.zeros((1, 2, 3, 3)))),
    "out of another shape": (ValueError, "out", lambda: SHRINK(
        IMAGE, (3, 3), out=np.zeros((1, 2, 3, 4), np.float32))),
    "gradient's out of another shape": (ValueError, "out", lambda: PICK_GRAD(
        VOLUME, (4, 6, 5), (1, 2, 2, 2, 2), out=np.zeros((1, 2, 3, 2, 2), np.float32))),
    "out is read-only": (ValueError, "out", lambda: SHRINK(IMAGE, (3, 3), out=frozen())),
    "out is a list": (TypeError, "out", lambda: SHRINK(IMAGE, (3, 3), out=[])),
    "out is the input": (ValueError, "out", lambda: SHRINK(IMAGE, (6, 5), out=IMAGE)),
    "out overlaps itself": (ValueError, "out", lambda: SHRINK(
        IMAGE, (3, 3), out=np.lib.stride_tricks.as_strided(
            np.zeros(64, np.float32), (1, 2, 3, 3), (4, 4, 4, 4)))),
    "unknown operator": (ValueError, "op", lambda: opscv.Plan("Upsample", (1, 1, 2, 2))),
    "unknown attribute": (ValueError, ".*has no attribute 'colour", lambda: opscv.Plan(
        "UpsampleBicubic2dAA", (1, 1, 2, 2), output_size=(1, 1), colour=1)),
    "plan of another type": (TypeError, "self", lambda: opscv.Plan(
        "UpsampleBicubic2dAA", IMAGE.shape, output_size=(3, 3), dtype="float64").run(IMAGE)),
    "plan of another shape": (ValueError, "self", lambda: opscv.Plan(
        "UpsampleBicubic2dAA", (1, 2, 6, 6), output_size=(3, 3)).run(IMAGE)),
    "box of a plan": (ValueError, "box", lambda: opscv.Plan(
        "UpsampleBicubic2dAA", IMAGE.shape, output_size=(3, 3)).run(IMAGE, np.s_[0:1])),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_exception_names_the_argument(mistake):
    exception, name, call = MISTAKES[mistake]
    with pytest.raises(exception, match=rf"^({name})\b"):
        call()


def test_a_refusal_leaves_out_alone():
    out = np.full((1, 2, 3, 3), 5, np.float32)
    with pytest.raises(ValueError, match="^scales_h must be >= 0, got -1"):
        SHRINK(IMAGE, (3, 3), scales_h=-1, out=out)
    assert (out == 5).all()


def test_memory_that_cannot_be_had_is_a_memory_error():
    with pytest.raises(MemoryError):
        SHRINK(np.broadcast_to(np.float32(1), (2**20, 2**10, 4, 4)), (2**8, 2**8))
