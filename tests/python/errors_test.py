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


def plan(**changes):
    return opscv.Plan("UpsampleBicubic2dAA", IMAGE.shape, **{"output_size": (3, 3), **changes})


def volume_plan(**changes):
    return opscv.Plan("UpsampleNearestExact3d", VOLUME.shape, **{"output_size": (4, 6, 5), **changes})


WORDS = np.array(["NCHW", "exact"])

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
    "size of bools": (TypeError, "output_size", lambda: SHRINK(IMAGE, (True, 3))),
    "size of text": (TypeError, "output_size", lambda: SHRINK(IMAGE, "33")),
    "size of bytes": (TypeError, "output_size", lambda: SHRINK(IMAGE, b"33")),
    "size without an order": (TypeError, "output_size", lambda: SHRINK(IMAGE, {3, 4})),
    "input_size of floats": (TypeError, "input_size",
                             lambda: SHRINK_GRAD(IMAGE, (6, 5), (1, 2, 3.0, 3))),
    "corners of text": (TypeError, "align_corners", lambda: SHRINK(IMAGE, (3, 3), "yes")),
    "corners of a number": (TypeError, "align_corners", lambda: SHRINK(IMAGE, (3, 3), 1)),
    "corners of None": (TypeError, "align_corners", lambda: SHRINK(IMAGE, (3, 3), None)),
    "corners of an array": (TypeError, "align_corners", lambda: SHRINK_GRAD(
        IMAGE, (6, 5), (1, 2, 3, 3), WORDS)),
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
    "scale of text": (TypeError, "scales_h", lambda: SHRINK(IMAGE, (3, 3), scales_h="0.5")),
    "scale of bool": (TypeError, "scales_d", lambda: PICK(VOLUME, (3, 3, 3), scales_d=True)),
    "scale of an array": (TypeError, "scales_w", lambda: SHRINK(IMAGE, (3, 3), scales_w=np.ones(1))),
    "scale infinite": (ValueError, "scales_w", lambda: SHRINK(IMAGE, (3, 3), scales_w=np.inf)),
    "scale beyond floats": (ValueError, "scales_w", lambda: SHRINK(IMAGE, (3, 3), scales_w=10**400)),
    "scale of other sizes": (ValueError, r"output_size\[2\] must be floor.*scales_w", lambda: PICK(VOLUME, (4, 6, 5), scales_w=3)),
    "scale with rule exact": (ValueError, "scales_d",
                              lambda: PICK(VOLUME, (8, 6, 5), scales_d=2, rule="exact")),
    "unknown rule": (ValueError, "rule", lambda: PICK(VOLUME, (3, 3, 3), rule="nearest")),
    "rule for bicubic": (ValueError, "rule", lambda: SHRINK(IMAGE, (3, 3), rule="exact")),
    "unknown layout": (ValueError, "layout", lambda: SHRINK(IMAGE, (3, 3), layout="NDHWC")),
    "no threads": (ValueError, "threads", lambda: SHRINK(IMAGE, (3, 3), threads=0)),
    "negative threads": (ValueError, "threads", lambda: SHRINK(IMAGE, (3, 3), threads=-2)),
    "threads of bool": (TypeError, "threads", lambda: SHRINK(IMAGE, (3, 3), threads=True)),
    "threads beyond an int": (ValueError, "threads", lambda: SHRINK(IMAGE, (3, 3), threads=2**40)),
    "rule of a number": (TypeError, "rule", lambda: PICK(VOLUME, (3, 3, 3), rule=1)),
    "rule of an array": (TypeError, "rule", lambda: PICK(VOLUME, (3, 3, 3), rule=WORDS)),
    "layout of a number": (TypeError, "layout", lambda: SHRINK(IMAGE, (3, 3), layout=0)),
    "layout of an array": (TypeError, "layout", lambda: SHRINK(IMAGE, (3, 3), layout=WORDS)),
    "half a thread": (TypeError, "threads", lambda: SHRINK(IMAGE, (3, 3), threads=0.5)),
    "out of another type": (TypeError, "out", lambda: SHRINK(IMAGE, (3, 3),
                                                            out=np.zeros((1, 2, 3, 3)))),
    "out of another shape": (ValueError, "out", lambda: SHRINK(
        IMAGE, (3, 3), out=np.zeros((1, 2, 3, 4), np.float32))),
    "gradient's out of another shape": (ValueError, "out", lambda: PICK_GRAD(
        VOLUME, (4, 6, 5), (1, 2, 2, 2, 2), out=np.zeros((1, 2, 3, 2, 2), np.float32))),
    "out is read-only": (ValueError, "out", lambda: SHRINK(IMAGE, (3, 3), out=frozen())),
    "out of another rank": (ValueError, "out", lambda: SHRINK(IMAGE, (3, 3),
                                                              out=np.zeros((3, 3), np.float32))),
    "out of another byte order": (TypeError, "out", lambda: SHRINK(IMAGE, (3, 3),
                                                                  out=np.zeros((1, 2, 3, 3), ">f4"))),
    "a mask": (TypeError, "self", lambda: SHRINK(np.ma.masked_array(IMAGE, IMAGE == 0), (3, 3))),
    "out with a mask": (TypeError, "out", lambda: SHRINK(IMAGE, (3, 3), out=np.ma.masked_array(
        np.zeros((1, 2, 3, 3), np.float32)))),
    "out is a list": (TypeError, "out", lambda: SHRINK(IMAGE, (3, 3), out=[])),
    "out is the input": (ValueError, "out", lambda: SHRINK(IMAGE, (6, 5), out=IMAGE)),
    "out overlaps itself": (ValueError, "out", lambda: SHRINK(
        IMAGE, (3, 3), out=np.lib.stride_tricks.as_strided(
            np.zeros(64, np.float32), (1, 2, 3, 3), (4, 4, 4, 4)))),
    "unknown operator": (ValueError, "op", lambda: opscv.Plan("Upsample", (1, 1, 2, 2))),
    "unknown attribute": (ValueError, ".*has no attribute 'colour", lambda: opscv.Plan(
        "UpsampleBicubic2dAA", (1, 1, 2, 2), output_size=(1, 1), colour=1)),
    "operator that is no text": (TypeError, "op", lambda: opscv.Plan(5, (1, 1, 2, 2))),
    "plan's unknown type": (TypeError, "dtype", lambda: plan(dtype="nonsense")),
    "plan's type None": (TypeError, "dtype", lambda: plan(dtype=None)),
    "plan's complex type": (TypeError, "dtype", lambda: plan(dtype=complex)),
    "plan's corners of text": (TypeError, "align_corners", lambda: plan(align_corners="yes")),
    "plan's corners of a number": (TypeError, "align_corners", lambda: plan(align_corners=1)),
    "plan's scale of text": (TypeError, "scales_h", lambda: plan(scales_h="2")),
    "plan's scale of bool": (TypeError, "scales_w", lambda: plan(scales_w=True)),
    "plan's scale NaN": (ValueError, "scales_h", lambda: plan(scales_h=np.nan)),
    "plan's scales of text": (TypeError, "scales", lambda: volume_plan(scales="111")),
    "plan's scales of one number": (TypeError, "scales", lambda: volume_plan(scales=1.0)),
    "plan's scales of two": (ValueError, "scales", lambda: volume_plan(scales=(1, 1))),
    "plan's scales of bools": (TypeError, r"scales\[0\]", lambda: volume_plan(scales=[True] * 3)),
    "plan's scales NaN": (ValueError, r"scales\[1\]", lambda: volume_plan(scales=(1, np.nan, 1))),
    "plan's size of floats": (TypeError, "output_size", lambda: plan(output_size=(3.0, 3.0))),
    "plan's size too long": (ValueError, "output_size", lambda: plan(output_size=(3, 3, 3))),
    "plan's shape of floats": (TypeError, "shape", lambda: opscv.Plan(
        "UpsampleBicubic2dAA", (1.0, 2, 6, 5), output_size=(3, 3))),
    "plan's threads of bool": (TypeError, "threads", lambda: plan().run(IMAGE, threads=True)),
    "plan's out of another shape": (ValueError, "out", lambda: plan().run(
        IMAGE, out=np.zeros((1, 2, 3, 4), np.float32))),
    "plan's read-only out": (ValueError, "out", lambda: plan().run(IMAGE, out=frozen())),
    "plan of another type": (TypeError, "self", lambda: opscv.Plan(
        "UpsampleBicubic2dAA", IMAGE.shape, output_size=(3, 3), dtype="float64").run(IMAGE)),
    "plan of another shape": (ValueError, "self", lambda: opscv.Plan(
        "UpsampleBicubic2dAA", (1, 2, 6, 6), output_size=(3, 3)).run(IMAGE)),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_exception_names_the_argument(mistake):
    exception, name, call = MISTAKES[mistake]
    with pytest.raises(exception, match=rf"^({name})(?!\w)"):
        call()


# Of an output of 1, 2, 3, 3.
BOXES = {
    "too few": ((slice(0, 1),), ValueError, "box must have 4 slices, got 1"),
    "a list": ([slice(0, 1)] * 4, TypeError, "box must be a tuple of 4 slices"),
    "an index": (np.s_[0:1, 0:2, 0, 0:3], TypeError, "box must be a tuple of 4 slices"),
    "beyond the end": (np.s_[0:1, 0:2, 0:4, 0:3], ValueError,
                       r"box\[2\] must be a slice within 0\.\.3, got 0:4"),
    "all beyond the end": (np.s_[0:1, 5:9, 0:3, 0:3], ValueError,
                           r"box\[1\] must be a slice within 0\.\.2, got 5:9"),
    "before the beginning": (np.s_[:, :, :, -1:2], ValueError,
                             r"box\[3\] must be a slice within 0\.\.3, got -1:2"),
    "from the end": (np.s_[:, :, :, :-1], ValueError,
                     r"box\[3\] must be a slice within 0\.\.3, got 0:-1"),
    "backwards": (np.s_[:, :, 2:1, :], ValueError,
                  r"box\[2\] must not end before it begins, got 2:1"),
    "a step": (np.s_[:, :, ::2, :], ValueError, r"box\[2\] must be a slice without a step"),
    "floats": (np.s_[:, :, 0.0:2, :], TypeError, r"box\[2\] must be a slice of integers"),
    "absurd": (np.s_[:, :, 0:2**70, :], ValueError, r"box\[2\] must be a slice within 0\.\.3"),
}


@pytest.mark.parametrize("mistake", BOXES)
def test_a_box_that_is_not_of_the_output_is_refused(mistake):
    box, exception, words = BOXES[mistake]
    out = np.full((1, 2, 3, 3), 5, np.float32)
    for call in (lambda: plan().run(IMAGE, box), lambda: plan().run(IMAGE, box, out=out),
                 lambda: plan().input_box(box)):
        with pytest.raises(exception, match=f"^{words}"):
            call()
    assert (out == 5).all()


def test_what_numpy_has_for_a_bool_and_a_number_is_taken():
    expected = SHRINK(IMAGE + 1, (3, 2), True, 0.5, 0.5)
    given = SHRINK(IMAGE + 1, np.array([3, 2]), np.bool_(True), np.float32(0.5), np.float64(0.5),
                   threads=np.int64(1))
    assert given.tobytes() == expected.tobytes()
    made = plan(output_size=np.array([3, 2]), align_corners=np.True_, scales_h=np.float32(0.5),
                scales_w=None)
    assert made.run(IMAGE + 1).tobytes() == expected.tobytes()
    assert volume_plan(scales=np.array([1, 1, 1])).output_shape == VOLUME.shape


def test_a_refusal_leaves_out_alone():
    out = np.full((1, 2, 3, 3), 5, np.float32)
    with pytest.raises(ValueError, match="^scales_h must be >= 0, got -1"):
        SHRINK(IMAGE, (3, 3), scales_h=-1, out=out)
    assert (out == 5).all()


def test_memory_that_cannot_be_had_is_a_memory_error():
    with pytest.raises(MemoryError):
        SHRINK(np.broadcast_to(np.float32(1), (2**20, 2**10, 4, 4)), (2**8, 2**8))
