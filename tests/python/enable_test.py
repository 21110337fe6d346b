# SPDX-License-Identifier: Apache-2.0
"""enable(), disable(), enabled() and report(): unmodified programs on the library's kernels."""
import pathlib
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from support import agree_with_each_other, seeded, sizes
from torch._subclasses import FakeTensorMode

import opscv.torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
ATEN = torch.ops.aten
BICUBIC = {"mode": "bicubic", "antialias": True}
NEAREST = {"mode": "nearest-exact"}
NAMES = ("_upsample_bicubic2d_aa", "_upsample_bicubic2d_aa_backward", "_upsample_nearest_exact3d",
         "_upsample_nearest_exact3d_backward")


@pytest.fixture(autouse=True)
def fresh():
    """Each test begins and ends disabled, with empty counts and no warning let pass."""
    opscv.torch.disable()
    opscv.torch.report(reset=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
    opscv.torch.disable()


def taken():
    return opscv.torch.report().taken


def random_call(rng, name, dtype):
    """An operator's arguments, drawn."""
    axes = 2 if "2d" in name else 3
    batch = tuple(int(n) for n in rng.integers(1, 4, 2))
    before, after = sizes(rng, axes, 12), sizes(rng, axes, 12)
    backward = name.endswith("backward")
    tensor = torch.from_numpy(rng.standard_normal((*batch, *(after if backward else before))))
    if rng.integers(2):
        last = torch.channels_last if axes == 2 else torch.channels_last_3d
        tensor = tensor.contiguous(memory_format=last)
    args = [list(after)] + ([[*batch, *before]] if backward else [])
    args += [bool(rng.integers(2))] if axes == 2 else []
    if rng.integers(2):
        args += [a / b if rng.integers(3) else None for a, b in zip(after, before)]
    return tensor.to(dtype), args


def pytorch_is_right(rng, name, tensor, args, result):
    """Whether PyTorch's own operator and its gradient agree. In PyTorch 2.15 they at times do not:
    docs/python.md."""
    other = torch.from_numpy(rng.standard_normal(result.shape))
    if name.endswith("backward"):
        partner = getattr(ATEN, name.removesuffix("_backward"))
        return agree_with_each_other(tensor, result, partner(other, args[0], *args[2:]), other)
    partner = getattr(ATEN, name + "_backward")
    back = partner(other, args[0], list(tensor.shape), *args[1:])
    return agree_with_each_other(tensor, result, back, other)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", NAMES)
def test_operators_answer_as_pytorch_does(name, dtype):
    rng = seeded(f"operators {name} {dtype}")
    op = getattr(ATEN, name)
    overload = "grad_input" if name.endswith("backward") else "out"
    compared = 0
    for _ in range(20):
        tensor, args = random_call(rng, name, dtype)
        theirs = op(tensor, *args)
        exact = op(tensor.double(), *args)
        is_right = pytorch_is_right(rng, name, tensor.double(), args, exact)
        compared += is_right
        with opscv.torch.enabled():
            ours = op(tensor, *args)
            into = torch.full_like(theirs, 9)
            given = getattr(op, overload)(tensor, *args, **{overload: into})
            grown = getattr(op, overload)(tensor, *args, **{overload: tensor.new_empty(0)})
        assert given is into
        for result in (ours, into, grown):
            assert result.shape == theirs.shape and result.dtype == theirs.dtype
            assert result.stride() == theirs.stride()
            if is_right:
                torch.testing.assert_close(
                    result.double(), exact, rtol=0,
                    atol=1e-11 if dtype is torch.float64 else 1e-4, msg=f"{tensor.shape} {args}")
    assert compared >= 8
    assert taken() == {name: 60}
    assert not opscv.torch.report().not_taken


MISTAKES = {
    "size of another gradient": ("_upsample_bicubic2d_aa_backward", (1, 1, 4, 4),
                                 ([5, 4], [1, 1, 8, 8], False)),
    "empty output": ("_upsample_bicubic2d_aa", (1, 1, 4, 4), ([0, 4], False)),
    "rank": ("_upsample_nearest_exact3d", (1, 1, 4, 4), ([2, 2, 2],)),
    "length of a size": ("_upsample_nearest_exact3d_backward", (1, 1, 2, 2, 2),
                         ([2, 2], [1, 1, 4, 4, 4])),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_answered_as_pytorch_does(mistake):
    name, shape, args = MISTAKES[mistake]
    tensor = torch.ones(shape)
    with pytest.raises(Exception) as theirs:
        getattr(ATEN, name)(tensor, *args)
    with opscv.torch.enabled(), pytest.raises(type(theirs.value)) as ours:
        getattr(ATEN, name)(tensor, *args)
    assert str(ours.value).split("\n")[0] == str(theirs.value).split("\n")[0]


def test_what_is_refused_runs_in_pytorch_and_is_listed():
    """The size is not floor(5 * 2): PyTorch takes the scale as it is, the library refuses it."""
    tensor = torch.from_numpy(seeded("refused").standard_normal((1, 2, 5, 5)))
    args = ([9, 9], False, 2.0, 2.0)
    expected = ATEN._upsample_bicubic2d_aa(tensor, *args)
    with opscv.torch.enabled():
        result = ATEN._upsample_bicubic2d_aa(tensor, *args)
    assert torch.equal(result, expected)
    report = opscv.torch.report()
    ((name, reason),) = report.not_taken
    assert name == "_upsample_bicubic2d_aa" and "output_size[0] must be floor" in reason
    assert reason in str(report) and not report.taken


def test_out_that_the_library_cannot_fill_is_pytorchs():
    tensor = torch.ones(1, 1, 4, 4)
    with opscv.torch.enabled():
        with pytest.raises(RuntimeError):
            ATEN._upsample_bicubic2d_aa.out(tensor, [2, 2], False,
                                            out=torch.empty(1, 1, 2, 2, dtype=torch.float64))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch warns that it resizes
            out = ATEN._upsample_bicubic2d_aa.out(tensor, [2, 2], False, out=torch.ones(7))
    assert out.shape == (1, 1, 2, 2)
    assert {reason for _, reason in opscv.torch.report().not_taken} == {
        "out has another type", "out has another shape"}


def test_other_tensors_pass_by():
    with opscv.torch.enabled():
        meta = F.interpolate(torch.ones(1, 1, 4, 4, device="meta"), size=(2, 2), **BICUBIC)
    assert meta.device.type == "meta" and meta.shape == (1, 1, 2, 2)
    assert not taken() and not opscv.torch.report().not_taken


@pytest.mark.parametrize("mode,shape,size", [(BICUBIC, (1, 2, 6, 5), (3, 4)),
                                             (NEAREST, (1, 2, 4, 5, 6), (3, 3, 3))])
def test_shapes_can_be_asked_for_without_data(mode, shape, size):
    """As torch.compile asks: by tensors that say they are on the CPU and have no memory."""
    with opscv.torch.enabled(), FakeTensorMode():
        for function in (F.interpolate, opscv.torch.interpolate):
            x = torch.ones(shape, requires_grad=True)
            y = function(x, size=size, **mode)
            (grad,) = torch.autograd.grad(y.sum(), x)
            assert type(y) is type(grad) is type(x) is not torch.Tensor
            assert y.shape == (*shape[:2], *size) and grad.shape == shape


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["sparse", "CSR", "mkldnn", "quantized"])
def test_tensors_of_other_kinds_are_answered_as_pytorch_does(kind, name):
    shape = (2, 2) if kind == "CSR" else (1, 2, 4, 4) if "2d" in name else (1, 2, 4, 4, 4)
    dense = torch.from_numpy(seeded(f"{kind} {name}").standard_normal(shape)).float()
    make = {"sparse": dense.to_sparse, "mkldnn": dense.to_mkldnn, "CSR": dense.to_sparse_csr,
            "quantized": lambda: torch.quantize_per_tensor(dense, 0.1, 0, torch.quint8)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch warns that these kinds are beta, or deprecated
        tensor = make[kind]()
    args = [[4] * (2 if "2d" in name else 3)]
    args += [[1, 2, *args[0]]] if name.endswith("backward") else []
    args += [False] if "2d" in name else []

    def answer():
        try:
            result = getattr(ATEN, name)(tensor, *args)
            return result.layout, result.dtype, result.dequantize().tolist()
        except (RuntimeError, NotImplementedError) as error:
            return type(error), str(error).split("\n")[0]

    expected = answer()
    with opscv.torch.enabled():
        assert answer() == expected
    ((counted, reason),) = opscv.torch.report().not_taken
    assert (counted, reason) == (name, "no dense memory") and not taken()


@pytest.mark.parametrize("mode,shape,size", [(BICUBIC, (2, 3, 12, 10), (5, 7)),
                                             (NEAREST, (2, 3, 4, 5, 6), (7, 3, 9))])
def test_functions_and_modules_of_pytorch_run_here(mode, shape, size):
    x = torch.from_numpy(seeded(f"functions {mode}").standard_normal(shape)).requires_grad_()
    expected = F.interpolate(x, size=size, **mode)
    (expected_grad,) = torch.autograd.grad(expected.square().sum(), x)
    with opscv.torch.enabled():
        y = F.interpolate(x, size=size, **mode)
        (grad,) = torch.autograd.grad(y.square().sum(), x)
        with torch.no_grad():
            again = F.interpolate(x, size=size, **mode)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            autocast = F.interpolate(x.float(), size=size, **mode)
    torch.testing.assert_close(y, expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(grad, expected_grad, rtol=0, atol=1e-11)
    assert torch.equal(again, y) and not again.requires_grad
    torch.testing.assert_close(autocast.double(), expected.detach(), rtol=0, atol=1e-1)
    assert sum(taken().values()) == 4


def test_upsample_module():
    x = torch.from_numpy(seeded("module").standard_normal((1, 2, 3, 4, 5)))
    module = torch.nn.Upsample(scale_factor=(2, 1.5, 3), mode="nearest-exact")
    expected = module(x)
    with opscv.torch.enabled():
        assert torch.equal(module(x), expected)
    assert taken() == {"_upsample_nearest_exact3d": 1}


@pytest.mark.parametrize("mode,shape", [(BICUBIC, (1, 2, 5, 4)), (NEAREST, (1, 2, 2, 3, 4))])
def test_gradients_of_both_orders(mode, shape):
    x = torch.from_numpy(seeded(f"gradcheck {mode}").standard_normal(shape)).requires_grad_()
    size = tuple(n + 2 for n in shape[2:])
    with opscv.torch.enabled():
        assert torch.autograd.gradcheck(lambda t: F.interpolate(t, size=size, **mode), x)
        assert torch.autograd.gradgradcheck(lambda t: F.interpolate(t, size=size, **mode), x)
    assert len(taken()) == 2 and not opscv.torch.report().not_taken


def test_half_types_that_pytorch_may_lack():
    rng = seeded("half types")
    for dtype in (torch.float16, torch.bfloat16):
        x = torch.from_numpy(rng.standard_normal((1, 3, 9, 8))).to(dtype).requires_grad_()
        with opscv.torch.enabled():
            y = F.interpolate(x, size=(4, 5), **BICUBIC)
            y.float().sum().backward()
        exact = F.interpolate(x.detach().double(), size=(4, 5), **BICUBIC)
        step = 2.0**-8 if dtype is torch.float16 else 2.0**-6
        torch.testing.assert_close(y.detach().double(), exact, rtol=0, atol=step)
        assert x.grad.dtype == dtype


def test_threads_follow_pytorch(monkeypatch):
    seen = []

    class Watched:
        def __init__(self, plan):
            self._plan = plan

        def run(self, source, target, threads):
            seen.append(threads)
            self._plan.run(source, target, threads)

    from opscv.torch import _enable
    real = _enable.decide
    monkeypatch.setattr(_enable, "decide", lambda *key: real(*key)._replace(
        plan=Watched(real(*key).plan)))
    before = torch.get_num_threads()
    try:
        with opscv.torch.enabled():
            for count in (1, 3):
                torch.set_num_threads(count)
                F.interpolate(torch.ones(1, 1, 8, 8), size=(4, 4), **BICUBIC)
    finally:
        torch.set_num_threads(before)
    assert seen == [1, 3]


def test_disabling_leaves_no_trace():
    def state():
        return [torch._C._dispatch_dump(f"aten::{name}{overload}") for name in NAMES
                for overload in ("", ".grad_input" if name.endswith("backward") else ".out")]

    before = state()
    opscv.torch.enable()
    assert state() != before
    opscv.torch.enable()  # twice is once
    opscv.torch.disable()
    assert state() == before
    with opscv.torch.enabled():
        with opscv.torch.enabled():
            pass
        assert state() != before  # the inner one leaves it as it was
    assert state() == before
    with pytest.raises(ZeroDivisionError), opscv.torch.enabled():
        1 / 0
    assert state() == before
    opscv.torch.report(reset=True)
    F.interpolate(torch.ones(1, 1, 8, 8), size=(4, 4), **BICUBIC)
    assert not taken()


def test_eight_threads_at_once():
    rng = seeded("eight threads")
    inputs = [torch.from_numpy(rng.standard_normal((2, 3, 40 + n, 50))).float() for n in range(8)]

    def losses(x):
        x = x.clone().requires_grad_()
        y = F.interpolate(x, size=(24, 31), **BICUBIC)
        y.square().sum().backward()
        return y.detach(), x.grad

    wrong = []

    def work(number, expected):
        for _ in range(10):
            if not all(torch.equal(a, b) for a, b in zip(losses(inputs[number]), expected)):
                wrong.append(number)

    with opscv.torch.enabled():
        expected = [losses(x) for x in inputs]
        threads = [threading.Thread(target=work, args=(n, expected[n])) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong
    assert taken() == {"_upsample_bicubic2d_aa": 88, "_upsample_bicubic2d_aa_backward": 88}


def test_a_program_ends_in_silence_while_enabled():
    code = ("import torch, opscv.torch; opscv.torch.enable(); x = torch.ones(1, 1, 8, 8, "
            "requires_grad=True); torch.nn.functional.interpolate(x, size=(4, 4), mode='bicubic', "
            "antialias=True).sum().backward(); print(x.grad.sum().item())")
    done = subprocess.run([sys.executable, "-W", "error::UserWarning", "-c", code],
                          capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "16.0\n", "")


def train(steps=30):
    """Super-resolution of the example photograph by three small layers; the losses of each step."""
    photo = np.load(ROOT / "examples" / "data" / "astronaut.npy")
    photo = torch.from_numpy(photo.reshape(-1, *photo.shape[-2:])[None, :3, 64:192, 64:192].copy())
    photo = photo.float() / photo.float().max()
    torch.manual_seed(3)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.ReLU(),
                              torch.nn.Conv2d(16, 3, 3, padding=1))
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    losses = []
    for _ in range(steps):
        small = F.interpolate(photo, size=(64, 64), **BICUBIC)
        large = F.interpolate(small + net(small), size=(128, 128), **BICUBIC)
        again = F.interpolate(large, size=(64, 64), **BICUBIC)
        loss = F.mse_loss(large, photo) + F.mse_loss(again, small)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return np.array(losses)


def test_a_training_has_the_same_losses():
    alone = train()
    with opscv.torch.enabled():
        ours = train()
    assert taken() == {"_upsample_bicubic2d_aa": 90, "_upsample_bicubic2d_aa_backward": 60}
    assert alone[-1] < 0.8 * alone[0], "nothing was learnt"
    assert np.max(np.abs(ours - alone) / alone) <= 1e-4


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_torchvisions_resize_of_tensors(dtype):
    from torchvision import transforms
    photo = torch.from_numpy(np.load(ROOT / "examples" / "data" / "astronaut.npy")).to(dtype)
    resize = transforms.Resize((224, 200), transforms.InterpolationMode.BICUBIC, antialias=True)
    # PyTorch's float32 tables are further from its float64 than the library is.
    expected = resize(photo if dtype is torch.uint8 else photo.double())
    with opscv.torch.enabled():
        result = resize(photo)
    report = opscv.torch.report()
    # Newer versions hand bytes to PyTorch as they are; the library has no bicubic operator for them.
    assert report.taken or {reason for _, reason in report.not_taken} == {
        "self must be of type float32, float16, bfloat16, float64, got uint8."}
    assert result.shape == expected.shape == (1, 3, 224, 200) and result.dtype == dtype
    # Bytes differ where rounding does; float32 keeps the bound, at most 26 * 2^-24 * (1.6^2 * 255).
    largest = 1 if dtype is torch.uint8 else 26 * 2.0**-24 * 650
    assert (result.double() - expected.double()).abs().max() <= largest
