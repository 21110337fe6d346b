# SPDX-License-Identifier: Apache-2.0
"""opscv.torch.interpolate: values, gradients of both orders, memory formats, what goes to PyTorch."""
import pytest
import torch
import torch.nn.functional as F
from support import agree_with_each_other, seeded, sizes, worst_fraction

from opscv.torch import interpolate

BICUBIC = {"mode": "bicubic", "antialias": True}
NEAREST = {"mode": "nearest-exact"}
DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]


def random_tensor(rng, shape, dtype=torch.float64):
    return torch.from_numpy(rng.standard_normal(shape)).to(dtype)


def random_form(rng, tensor):
    """The same values in another memory format."""
    form = rng.integers(4)
    if form == 1:
        last = torch.channels_last if tensor.dim() == 4 else torch.channels_last_3d
        return tensor.contiguous(memory_format=last)
    if form == 2:
        return tensor.transpose(-1, -2).contiguous().transpose(-1, -2)
    if form == 3:
        return torch.stack([tensor, tensor], dim=-1)[..., 0]
    return tensor


def problem(rng, mode):
    axes = 2 if mode is BICUBIC else 3
    return (*(int(n) for n in rng.integers(1, 4, 2)), *sizes(rng, axes, 14)), sizes(rng, axes, 14)


def names(mode):
    name = "UpsampleBicubic2dAA" if mode is BICUBIC else "UpsampleNearestExact3d"
    return name, name + "Grad"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", [BICUBIC, NEAREST])
def test_values_and_gradients_keep_the_bound(mode, dtype):
    rng = seeded(f"torch bound {mode} {dtype}")
    for _ in range(15):
        shape, size = problem(rng, mode)
        x = random_form(rng, random_tensor(rng, shape, dtype)).requires_grad_()
        y = interpolate(x, size=size, **mode)
        grad = random_form(rng, random_tensor(rng, y.shape, dtype))
        (back,) = torch.autograd.grad(y, x, grad)
        assert y.dtype == back.dtype == dtype and back.shape == x.shape
        kind = str(dtype).removeprefix("torch.")
        for op, data, result in zip(names(mode), (x, grad), (y, back)):
            worst = worst_fraction(op, data, result, kind, shape[2:], size)
            assert worst <= 1, f"{op} {shape} {size}: {worst} of the bound"


@pytest.mark.parametrize("mode", [BICUBIC, NEAREST])
@pytest.mark.parametrize("by", ["size", "scale_factor", "recomputed"])
def test_agrees_with_pytorch_in_double(mode, by):
    """Where PyTorch is right. PyTorch 2.15 at times reads other samples forward than its own backward
    pass says (docs/python.md): such calls are drawn again."""
    rng = seeded(f"agrees {mode} {by}")
    compared = 0
    for _ in range(30):
        shape, size = problem(rng, mode)
        how = {"size": size}
        if by != "size":
            factors = [float(f) for f in rng.uniform(0.3, 3, len(size))]
            if any(int(n * f) < 1 for n, f in zip(shape[2:], factors)):
                continue
            how = {"scale_factor": factors, "recompute_scale_factor": by == "recomputed" or None}
        corners = {"align_corners": bool(rng.integers(2))} if mode is BICUBIC else {}
        x = random_tensor(rng, shape)
        grad, results = None, []
        for function in (F.interpolate, interpolate):
            leaf = random_form(rng, x).detach().requires_grad_()
            y = function(leaf, **how, **mode, **corners)
            grad = random_tensor(rng, y.shape) if grad is None else grad
            results.append((y.detach(), torch.autograd.grad(y, leaf, grad)[0]))
        if not agree_with_each_other(x, *results[0], grad):
            continue
        compared += 1
        for theirs, ours in zip(*results):
            torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-11, msg=f"{shape} {how} {corners}")
    assert compared >= 10


@pytest.mark.parametrize("mode", [BICUBIC, NEAREST])
def test_gradients_of_both_orders(mode):
    rng = seeded(f"gradcheck {mode}")
    for _ in range(3):
        shape = (1, 2, *sizes(rng, len(problem(rng, mode)[1]), 5))
        size = sizes(rng, len(shape) - 2, 5)
        x = random_form(rng, random_tensor(rng, shape)).detach().requires_grad_()

        def function(tensor):
            return interpolate(tensor, size=size, **mode) ** 2

        assert torch.autograd.gradcheck(function, x), (shape, size)
        assert torch.autograd.gradgradcheck(function, x), (shape, size)


@pytest.mark.parametrize("mode,last", [(BICUBIC, torch.channels_last),
                                       (NEAREST, torch.channels_last_3d)])
def test_memory_formats_are_those_of_pytorch(mode, last):
    rng = seeded(f"formats {mode}")
    for form in (torch.contiguous_format, last):
        x = random_tensor(rng, (2, 3, 6, 5, 4)[:len(last_shape(mode))], torch.float32)
        x = x.contiguous(memory_format=form).requires_grad_()
        size = (4, 7, 3)[:x.dim() - 2]
        ours, theirs = (f(x, size=size, **mode) for f in (interpolate, F.interpolate))
        assert ours.stride() == theirs.stride()
        grads = [torch.autograd.grad(y, x, torch.ones_like(y))[0] for y in (ours, theirs)]
        assert grads[0].stride() == grads[1].stride()


def last_shape(mode):
    return range(4 if mode is BICUBIC else 5)


def test_integers_are_resized():
    labels = torch.arange(8, dtype=torch.int64).reshape(1, 1, 2, 2, 2)
    assert torch.equal(interpolate(labels, scale_factor=2, **NEAREST),
                       labels.repeat_interleave(2, 2).repeat_interleave(2, 3).repeat_interleave(2, 4))


@pytest.mark.parametrize("how", [{"mode": "bilinear", "align_corners": True}, {"mode": "nearest"},
                                 {"mode": "bicubic"}, {"mode": "area"}])
def test_other_modes_are_pytorchs(how):
    x = random_tensor(seeded("other modes"), (1, 2, 6, 5))
    assert torch.equal(interpolate(x, size=(4, 4), **how), F.interpolate(x, size=(4, 4), **how))


@pytest.mark.parametrize("wrong", [
    {"size": (4, 4), "scale_factor": 2.0, **BICUBIC}, dict(BICUBIC), {"size": (4,), **BICUBIC},
    {"size": (0, 4), **BICUBIC}, {"scale_factor": (1.0, 2.0, 3.0), **BICUBIC},
    {"size": (4, 4), "mode": "bicubic", "antialias": True, "recompute_scale_factor": True},
    {"scale_factor": 0.01, **BICUBIC},
])
def test_mistakes_are_answered_as_pytorch_does(wrong):
    x = torch.ones(1, 2, 6, 5)
    with pytest.raises(Exception) as theirs:
        F.interpolate(x, **wrong)
    with pytest.raises(type(theirs.value)) as ours:
        interpolate(x, **wrong)
    assert str(ours.value) == str(theirs.value)


def test_nan_stays_where_weights_reach():
    x = torch.ones(1, 1, 9, 9)
    x[0, 0, 4, 4] = torch.nan
    y = interpolate(x, size=(18, 18), **BICUBIC)
    reached = interpolate(torch.eye(81).reshape(81, 1, 9, 9), size=(18, 18), **BICUBIC)[40, 0] != 0
    assert torch.equal(torch.isnan(y[0, 0]), reached)


class Unlike(torch.Tensor):
    pass


def test_results_have_the_class_that_pytorch_gives_them():
    x = torch.ones(1, 1, 4, 4)
    for tensor in (x, x.as_subclass(Unlike), torch.nn.Parameter(x)):
        kinds = [type(f(tensor, size=(2, 2), **BICUBIC)) for f in (F.interpolate, interpolate)]
        assert kinds[0] is kinds[1]


def test_corners_that_are_no_bool_are_pytorchs_to_refuse():
    for corners in ("yes", 1):
        for function in (F.interpolate, interpolate):
            with pytest.raises(TypeError, match="invalid combination of arguments"):
                function(torch.ones(1, 1, 4, 4), size=(2, 2), align_corners=corners, **BICUBIC)


@pytest.mark.parametrize("mode,shape,size", [(BICUBIC, (1, 2, 5, 4), (3, 6)),
                                             (NEAREST, (1, 2, 2, 3, 4), (3, 3, 3))])
def test_memory_that_means_something_else(mode, shape, size):
    """Tensors that PyTorch negates lazily, as conj().imag does, and zeros without memory; as the input
    and as the gradient."""
    x = random_tensor(seeded(f"something else {mode}"), shape)
    negated = torch.complex(x, x).conj().imag
    assert negated.is_neg()
    assert torch.equal(interpolate(negated, size=size, **mode), -interpolate(x, size=size, **mode))
    leaf = x.clone().requires_grad_()
    y = interpolate(leaf, size=size, **mode)
    (forth,) = torch.autograd.grad(y, leaf, torch.ones_like(y), retain_graph=True)
    (back,) = torch.autograd.grad(y, leaf, torch._neg_view(torch.ones_like(y)), retain_graph=True)
    assert torch.equal(back, -forth)
    zeros = torch._efficientzerotensor(shape, dtype=torch.float64)
    assert not interpolate(zeros, size=size, **mode).any()
    (none,) = torch.autograd.grad(y, leaf, torch._efficientzerotensor(y.shape, dtype=y.dtype))
    assert none.shape == shape and not none.any()
