# SPDX-License-Identifier: Apache-2.0
"""How the package behaves in a program: Ctrl-C, the interpreter lock, import, signatures, stubs."""
import ast
import inspect
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import opscv
from opscv import _native
from opscv._types import OPERATORS

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = pathlib.Path(os.environ["OPSCV_BUILD_DIR"]) / "bin" / "opscv"

# A result that takes a minute and more: many planes that are all the same memory.
LONG = """
import numpy as np, opscv, time
image = np.broadcast_to(np.ones((1, 1, 1024, 1024), np.float32), (512, 64, 1024, 1024))
"""


def run_and_interrupt(after_start):
    """What a program prints that is interrupted in a long run, and how long it lived on."""
    program = subprocess.Popen([sys.executable, "-c", LONG + after_start], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    try:
        assert program.stdout.readline() == "running\n"
        time.sleep(0.3)
        began = time.perf_counter()
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=60)
        return out, err, time.perf_counter() - began
    finally:
        program.kill()
        program.wait()


def test_ctrl_c_stops_a_long_run():
    out, err, seconds = run_and_interrupt("""
print("running", flush=True)
try:
    opscv.upsample_bicubic2d_aa(image, (16, 16))
    print("complete")
except KeyboardInterrupt:
    print("interrupted")
small = opscv.upsample_bicubic2d_aa(np.ones((1, 1, 4, 4)), (2, 2))
print(float(small.mean().round(6)))
""")
    assert (out, err) == ("interrupted\n1.0\n", "")
    assert seconds < 5


def test_a_handler_that_raises_nothing_lets_the_run_go_on():
    """A program may handle SIGINT otherwise; the result is complete all the same."""
    out, err, _ = run_and_interrupt("""
import signal
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))
part = np.ones((48, 3, 512, 512), np.float32)
print("running", flush=True)
until = time.perf_counter() + 60
while not seen and time.perf_counter() < until:
    result = opscv.upsample_bicubic2d_aa(part, (256, 256))
print(len(seen), bool(np.abs(result - 1).max() < 1e-5))
""")
    assert (out, err) == ("1 True\n", "")


def test_the_handler_is_left_as_it_was():
    before = signal.getsignal(signal.SIGINT)
    opscv.upsample_bicubic2d_aa(np.ones((4, 3, 512, 512), np.float32), (256, 256))
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)


def test_other_threads_run_meanwhile():
    """While one thread computes for long, another one counts."""
    grad = np.broadcast_to(np.float32(1), (64, 3, 256, 256))
    count, done = 0, threading.Event()

    def compute():
        opscv.upsample_bicubic2d_aa_backward(grad, (256, 256), (64, 3, 512, 512), threads=1)
        done.set()

    thread = threading.Thread(target=compute)
    thread.start()
    while not done.is_set():
        count += 1
        time.sleep(0.001)
    thread.join()
    assert count > 3


def flags_of_memory(address):
    """The flags that the kernel has for the mapping of an address."""
    inside = False
    for line in pathlib.Path("/proc/self/smaps").read_text().splitlines():
        first, *rest = line.split()
        if "-" in first and ":" not in first:
            begin, end = (int(bound, 16) for bound in first.split("-"))
            inside = begin <= address < end
        elif inside and first == "VmFlags:":
            return rest
    raise AssertionError("the address is in no mapping")


def test_large_results_ask_for_huge_pages():
    """From the first byte to the last: a page left out at an end would make 512 small ones there."""
    import torch

    import opscv.torch
    tensor = torch.ones(1, 3, 512, 512)
    with opscv.torch.enabled():
        large = torch.nn.functional.interpolate(tensor, size=(900, 900), mode="bicubic",
                                                antialias=True)
    assert opscv.torch.report(reset=True).taken
    lent = opscv.upsample_bicubic2d_aa(tensor, (900, 900))
    array = opscv.upsample_bicubic2d_aa(tensor.numpy(), (900, 900))
    for address in (large.data_ptr(), lent.data_ptr(), array.ctypes.data):
        for offset in (0, array.nbytes // 2, array.nbytes - 1):
            assert "hg" in flags_of_memory(address + offset)


def seconds_to_run(code):
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - began


def test_import_is_quick():
    """Less than 100 ms beyond NumPy: the least of several, since the machine may be busy."""
    beyond = []
    for _ in range(15):
        beyond.append(seconds_to_run("import numpy; import opscv") - seconds_to_run("import numpy"))
        if min(beyond) < 0.1 and len(beyond) >= 3:
            break
    assert min(beyond) < 0.1, beyond


def test_import_brings_neither_torch_nor_ml_dtypes():
    code = "import sys, opscv; print([m for m in ('torch', 'ml_dtypes') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


FUNCTIONS = {
    "UpsampleBicubic2dAA": opscv.upsample_bicubic2d_aa,
    "UpsampleBicubic2dAAGrad": opscv.upsample_bicubic2d_aa_backward,
    "UpsampleNearestExact3d": opscv.upsample_nearest_exact3d,
    "UpsampleNearestExact3dGrad": opscv.upsample_nearest_exact3d_backward,
}


def prototypes():
    done = subprocess.run([COMMAND, "list", "--json"], capture_output=True, text=True, check=True)
    return {prototype["name"]: prototype for prototype in json.loads(done.stdout)}


def test_every_operator_has_its_function_and_every_argument():
    """Names and defaults of the functions are those of the registry's prototypes. Sizes stand in
    ATen's order and are all required; a list of scales is one argument for each axis."""
    registry = prototypes()
    assert registry.keys() == FUNCTIONS.keys() == OPERATORS.keys()
    for name, prototype in registry.items():
        parameters = inspect.signature(FUNCTIONS[name]).parameters
        positional = [p for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        expected = {}
        for attribute in prototype["attributes"]:
            if attribute["name"] == "scales":
                expected.update({f"scales_{axis}": None for axis in "dhw"})
            elif attribute["name"].endswith("_size"):
                expected[attribute["name"]] = inspect.Parameter.empty
            else:
                expected[attribute["name"]] = {"false": False, "none": None}[attribute["default"]]
        tensor, *rest = positional
        assert tensor.name == OPERATORS[name].input == prototype["input"]["name"]
        assert OPERATORS[name].output == prototype["output"]["name"]
        assert {p.name: p.default for p in rest} == expected
        only = [p.name for p in parameters.values() if p.kind is p.KEYWORD_ONLY]
        assert only == ["out", "rule", "layout", "threads"]


def test_order_of_arguments_is_atens():
    import torch
    for name, function in FUNCTIONS.items():
        schema = getattr(torch.ops.aten, "_" + function.__name__).default._schema
        positional = [p.name for p in inspect.signature(function).parameters.values()
                      if p.kind is p.POSITIONAL_OR_KEYWORD]
        assert positional == [argument.name for argument in schema.arguments]


def test_stubs_name_what_the_module_has():
    stub = ast.parse((ROOT / "python" / "opscv" / "_native.pyi").read_text())
    named = {node.name for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert named == {name for name in dir(_native) if not name.startswith("_")}
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            members = {m.name for m in node.body if isinstance(m, ast.FunctionDef)}
            there = {name for name in dir(getattr(_native, node.name)) if not name.startswith("_")}
            assert members - {"__init__"} == there


def test_the_package_is_typed_and_says_its_version():
    assert (pathlib.Path(opscv.__file__).parent / "py.typed").exists()
    header = (ROOT / "include" / "opscv" / "version.h").read_text()
    assert [f"#define OPSCV_VERSION_{part} {number}" in header for part, number in zip(
        ("MAJOR", "MINOR", "PATCH"), opscv.__version__.split("."))] == [True] * 3
    assert opscv.current_target() in opscv.supported_targets()
    assert opscv.default_threads() >= 1
