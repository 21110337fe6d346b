# SPDX-License-Identifier: Apache-2.0
"""Arrays that speak DLPack: read without a copy, and answered with arrays of the same kind."""
import numpy as np
import pytest
import torch
from support import seeded

import opscv


class Speaker:
    """The least that an array library can be: memory behind the two methods of DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_tensors_in_tensors_out(dtype):
    grad = torch.from_numpy(seeded(f"tensors {dtype}").standard_normal((2, 3, 5, 6))).to(dtype)
    result = opscv.upsample_bicubic2d_aa_backward(grad, (5, 6), (2, 3, 9, 8))
    assert isinstance(result, torch.Tensor) and result.dtype == dtype
    expected = opscv.upsample_bicubic2d_aa_backward(grad.double().numpy(), (5, 6), (2, 3, 9, 8))
    step = {torch.float64: 1e-14, torch.float32: 1e-5, torch.float16: 2e-2, torch.bfloat16: 1e-1}
    np.testing.assert_allclose(result.double().numpy(), expected, atol=step[dtype])


def test_any_strides_are_read_in_place():
    data = torch.from_numpy(seeded("strides").standard_normal((6, 2, 5, 3)))
    view = data.permute(3, 1, 2, 0)[:, :, ::2].expand(3, 2, 3, 6)
    expected = opscv.upsample_bicubic2d_aa(np.ascontiguousarray(view.numpy()), (4, 4))
    np.testing.assert_array_equal(opscv.upsample_bicubic2d_aa(view, (4, 4)).numpy(), expected)


def test_the_result_owns_its_memory():
    result = opscv.upsample_bicubic2d_aa(torch.ones(1, 1, 64, 64), (32, 32))
    others = [opscv.upsample_bicubic2d_aa(torch.zeros(1, 1, 64, 64), (32, 32)) for _ in range(50)]
    assert (result - 1).abs().max() < 1e-6 and len(others) == 50


def test_out_is_written_in_place():
    out = torch.full((1, 1, 2, 8), 7.0)
    assert opscv.upsample_bicubic2d_aa(torch.ones(1, 1, 4, 4), (2, 4), out=out[..., ::2]) is not out
    assert (out[..., ::2] - 1).abs().max() < 1e-6 and (out[..., 1::2] == 7).all()


def test_other_libraries_need_an_out():
    image = Speaker(np.ones((1, 1, 4, 4)))
    with pytest.raises(TypeError, match="^out must be given"):
        opscv.upsample_bicubic2d_aa(image, (2, 2))
    out = Speaker(np.zeros((1, 1, 2, 2)))
    assert opscv.upsample_bicubic2d_aa(image, (2, 2), out=out) is out
    np.testing.assert_allclose(out.array, np.ones((1, 1, 2, 2)))


def test_a_gradient_is_not_lost_in_silence():
    with pytest.raises(TypeError, match="^self must not require grad"):
        opscv.upsample_bicubic2d_aa(torch.ones(1, 1, 4, 4, requires_grad=True), (2, 2))


def test_memory_elsewhere_is_refused():
    class Elsewhere(Speaker):
        def __dlpack_device__(self):
            return (2, 0)

        def __dlpack__(self, **keywords):
            raise BufferError("not on the CPU")

    with pytest.raises(TypeError, match="^self must lend its memory by DLPack on the CPU"):
        opscv.upsample_bicubic2d_aa(Elsewhere(np.ones((1, 1, 4, 4))), (2, 2))


def test_complex_tensors_are_refused():
    with pytest.raises(TypeError, match="^self must be of type float64"):
        opscv.upsample_bicubic2d_aa(torch.ones(1, 1, 4, 4, dtype=torch.complex64), (2, 2))


def test_memory_that_means_something_else_is_refused():
    """PyTorch lends the memory of a tensor that it has not negated yet."""
    image = torch.ones(1, 1, 4, 4)
    with pytest.raises(TypeError, match="^self must not be negated lazily"):
        opscv.upsample_bicubic2d_aa(torch._neg_view(image), (2, 2))
    with pytest.raises(TypeError, match="^out must not be negated lazily"):
        opscv.upsample_bicubic2d_aa(image, (4, 3), out=torch._neg_view(torch.ones(1, 1, 4, 3)))


def test_read_only_memory_is_no_out():
    frozen = np.zeros((1, 1, 2, 2))
    frozen.flags.writeable = False
    with pytest.raises(TypeError, match="^out must lend its memory by DLPack on the CPU for writing"):
        opscv.upsample_bicubic2d_aa(np.ones((1, 1, 4, 4)), (2, 2), out=Speaker(frozen))
