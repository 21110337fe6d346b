# SPDX-License-Identifier: Apache-2.0
"""What is measured beside the table of cases: tiny calls, growth, peak memory, PyTorch's door.

Each function answers a list of plain records."""

import contextlib
import ctypes
import gc
import hashlib
import importlib
import os
import pathlib
import subprocess
import sys
import time

import torch

import agreement
import cases
import contestants
import library
import race

A, B = cases.PAIRS["A"], cases.PAIRS["B"]


class Repeated:
    """A contestant that is a function repeat -> seconds per call."""

    output = None
    first = None

    def __init__(self, name, run, kept=None):
        self.name, self.run, self.kept = name, run, kept


def python_call(call):
    def run(repeat):
        start = time.perf_counter_ns()
        for _ in range(repeat):
            call()
        return (time.perf_counter_ns() - start) * 1e-9 / repeat
    return run


# --- tiny calls -----------------------------------------------------------------------------------

def compile_torch_calls():
    """PyTorch's C++ calls as a library, or None where PyTorch has come without its headers."""
    source = pathlib.Path(__file__).parent / "pytorch" / "torch_calls.cc"
    home = pathlib.Path(torch.__file__).parent
    words = ["c++", "-O2", "-std=c++20", "-w", "-shared", "-fPIC", f"-I{home / 'include'}",
             f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}", str(source),
             f"-L{home / 'lib'}", f"-Wl,-rpath,{home / 'lib'}", "-ltorch_cpu", "-lc10"]
    key = hashlib.sha256(repr((words, torch.__version__, source.read_text())).encode()).hexdigest()
    target = cases.ROOT / "build" / f"torch_calls-{key[:12]}.so"
    if not target.exists():
        if subprocess.run([*words, "-o", target], check=False, capture_output=True).returncode:
            return None
    calls = ctypes.CDLL(str(target))
    calls.opscv_torch_run.restype = ctypes.c_double
    calls.opscv_torch_run.argtypes = [ctypes.c_int, library.SIZES, library.SIZES, ctypes.c_void_p,
                                      ctypes.c_void_p, ctypes.c_int, ctypes.c_int64]
    return calls


def two_stage(lib, case, source):
    output = contestants.empty(case.output_shape, case)
    error = library.error_buffer()
    job = lib.opscv_two_stage_plan(len(case.before), library.sizes(case.input_shape),
                                   library.sizes(case.output_shape), source.data_ptr(),
                                   output.data_ptr(), error)
    if not job:
        raise SystemExit(f"bench: {case.name()}: {error.value.decode()}")
    contestant = Repeated("opscv, C call, both stages",
                          lambda n: lib.opscv_two_stage_run(job, n), source)
    contestant.output = output
    contestant.close = lambda: lib.opscv_two_stage_drop(job)
    return contestant


def torch_calls(calls, case, source):
    output = contestants.empty(case.output_shape, case)
    for form, call in contestants.torch_forms(case, source, output).items():
        yield Repeated(f"PyTorch from Python, {form}", python_call(call))
    if calls is None:
        return
    shapes = library.sizes(case.input_shape), library.sizes(case.output_shape)
    for into, form in enumerate(("allocating", "out=")):
        yield Repeated(f"PyTorch from C++, {form}",
                       lambda n, into=into: calls.opscv_torch_run(
                           len(case.before), *shapes, source.data_ptr(), output.data_ptr(), into, n))


def tiny(bench):
    calls = compile_torch_calls()
    if calls is None:
        print("tiny calls: PyTorch's C++ calls are left out, since they do not compile here")
    for pair, (before, after) in ((pair, shape) for pair in (A, B)
                                  for shape in cases.read_shapes(pair)):
        case = cases.Case(pair, before, after, "gradient", "float32", pair.layouts()[0])
        if not case.tiny():
            continue
        source = contestants.normal_values(case)
        run = contestants.Opscv(bench.lib, case, source, bench.threads, name="opscv, plan kept")
        staged = two_stage(bench.lib, case, source)
        if not torch.equal(run.output, staged.output):
            raise SystemExit(f"bench: {case.name()}: the two-stage call has other bits")
        field = [run, staged, *torch_calls(calls, case, source)]
        with contextlib.suppress(contestants.Unable):
            field.append(contestants.OneDnn(bench.lib, case, source))
        times = race.race(field, bench.options.budget, bench.pinned)
        run.close()
        staged.close()
        yield {"pair": pair.letter, "before": before, "after": after, "seconds": times}


# --- growth ---------------------------------------------------------------------------------------

SIDES_A = (32, 100, 316, 1000, 3162, 10000)  # 1e3 to 1e8 elements of grad_input
SIDES_B = (10, 22, 46, 100, 216, 464)  # and of grad_output
SLOWEST_RIVAL = 1.0  # seconds that PyTorch's next call may be expected to take


def square(side, dtype="float32"):
    return cases.Case(A, (1, 1, side, side), (side // 2, side // 2), "gradient", dtype, "NCHW")


def cube(side, dtype="float32"):
    half = side // 2
    return cases.Case(B, (1, 1, half, half, half), (side,) * 3, "gradient", dtype, "NCDHW")


def gigabytes_per_second(case, seconds):
    return (case.input_bytes() + case.output_bytes()) / seconds * 1e-9


def growth(bench):
    for make, sides in ((square, SIDES_A), (cube, SIDES_B)):
        expected = 0.0
        for side in sides:
            case = make(side)
            source = contestants.normal_values(case)
            field = [contestants.Opscv(bench.lib, case, source, bench.threads)]
            if expected < SLOWEST_RIVAL:
                field.append(contestants.Torch(case, source))
            times = race.race(field, bench.options.budget, bench.pinned)
            field[0].close()
            if "PyTorch" in times:
                expected = 10 * times["PyTorch"]["median"]
            yield {"pair": case.pair.letter, "before": case.before, "after": case.after,
                   "elements": max(case.elements()), "seconds": times}


LARGE = {  # elements of the larger tensor, as a power of two -> float16 cases
    "A": {26: cases.Case(A, (1, 1, 8192, 8192), (4096, 4096), "gradient", "float16", "NCHW"),
          31: cases.Case(A, (1, 1, 32768, 65536), (16384, 32768), "gradient", "float16", "NCHW")},
    "B": {26: cases.Case(B, (1, 1, 128, 256, 256), (256, 512, 512), "gradient", "float16", "NCDHW"),
          31: cases.Case(B, (1, 1, 512, 512, 1024), (1024, 1024, 2048), "gradient", "float16",
                         "NCDHW")},
}
LARGE_BYTES = 8 << 30  # memory that must be free


def free_bytes():
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return 0


def large(bench):
    """2^26 against 2^31 elements, in turns."""
    if free_bytes() < LARGE_BYTES:
        print(f"2^31 elements: left out, less than {LARGE_BYTES >> 30} GiB of memory is free")
        return
    for pair, sizes in LARGE.items():
        field = []
        for power, case in sizes.items():
            source = contestants.normal_values(case)
            field.append(contestants.Opscv(bench.lib, case, source, bench.threads, name=power))
        times = race.race(field, bench.options.budget, bench.pinned)
        for contestant in field:
            contestant.close()
        yield {"pair": pair, "threads": bench.threads,
               "gigabytes_per_second": {
                   power: gigabytes_per_second(case, times[power]["median"])
                   for power, case in sizes.items()}}
        del field, source, contestant
        gc.collect()


# --- peak memory ----------------------------------------------------------------------------------

PEAK_SHAPES = ((A, 4), (B, 5))  # lines of shapes.txt
PEAK_OPTION = "--peak-of"


def status_bytes(field):
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) << 10
    raise SystemExit(f"bench: /proc/self/status has no {field}")


def peak_case(pair, index, layout):
    return cases.Case(pair, *list(cases.read_shapes(pair))[index], "gradient", "float32", layout)


def peak_of(lib, pair, index, layout, name):
    """Bytes that one call takes beyond its tensors, in a process of its own."""
    # The first call of a process makes threads and loads code, so a small one comes first.
    for case in (peak_case(pair, -1, layout), peak_case(pair, index, layout)):
        source = contestants.normal_values(case)
        output = contestants.empty(case.output_shape, case)
        call = peak_call(lib, case, source, output, name)
        pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak becomes what is in use now
        before = status_bytes("VmRSS")
        result = call()
        after = status_bytes("VmHWM")
        del result
    return max(after - before, 0)


def peak_call(lib, case, source, output, name):
    if name.startswith("PyTorch"):
        return contestants.torch_forms(case, source, output)[name.partition(", ")[2]]
    if name == "oneDNN":
        error = library.error_buffer()
        job = lib.opscv_onednn_plan(1, 0, case.channels_last, library.sizes(case.input_shape),
                                    library.sizes(case.output_shape), error)
        return lambda: lib.opscv_onednn_run(job, source.data_ptr(), output.data_ptr(), 1)
    job = contestants.Opscv(lib, case, source, len(os.sched_getaffinity(0)), runs=0)
    return lambda: job.run(1)


def peak(bench):
    names = ["opscv", "PyTorch, allocating", "PyTorch, out=", "oneDNN"]
    # Memory that is freed goes back to the system, so that none of it hides what comes next.
    environment = dict(os.environ, MALLOC_MMAP_THRESHOLD_="65536", MALLOC_TRIM_THRESHOLD_="0")
    main = str(pathlib.Path(__file__).parent / "bench.py")
    for pair, index in PEAK_SHAPES:
        for layout in pair.layouts():
            sizes = {}
            for name in names[:3] if pair is A else names:
                done = subprocess.run(
                    [sys.executable, main, PEAK_OPTION, pair.letter, str(index), layout, name],
                    env=environment, check=True, stdout=subprocess.PIPE, text=True)
                sizes[name] = int(done.stdout)
            case = peak_case(pair, index, layout)
            yield {"pair": pair.letter, "before": case.before, "after": case.after, "layout": layout,
                   "bytes": sizes, "output_bytes": case.output_bytes()}


# --- PyTorch's door -------------------------------------------------------------------------------

def door_cases():
    for pair in (A, B):
        for before, after in cases.read_shapes(pair):
            case = cases.Case(pair, before, after, "gradient", "float32", pair.layouts()[0])
            if not case.in_cache():
                yield case


def interpolation(case):
    """The backward pass of F.interpolate, as a user would write it."""
    leaf = contestants.empty(case.before, case).requires_grad_()
    mode = {"mode": "bicubic", "antialias": True} if case.pair is A else {"mode": "nearest-exact"}
    result = torch.nn.functional.interpolate(leaf, size=case.after, **mode)
    grad = contestants.normal_values(case)
    return lambda: torch.autograd.grad(result, leaf, grad, retain_graph=True)[0]


def check_door(case, enabled, backward):
    with enabled():
        mine = backward()
    size = mine.abs().max()
    error = float(mine.sub_(backward()).abs_().max() / size)
    if not error < agreement.FLOAT32[case.pair.letter]:
        raise SystemExit(f"bench: {case.name()}: opscv.torch and PyTorch differ by {error:.2e}")


def door(bench):
    """F.interpolate's backward pass with and without opscv; beside it what touching a fresh output
    costs alone, since PyTorch's interface makes one for every call."""
    try:
        enabled = importlib.import_module("opscv.torch").enabled
    except ImportError as error:
        print(f"backward through F.interpolate with opscv: left out, {error}")
        return
    for case in door_cases():
        with torch.inference_mode(False), torch.enable_grad():
            backward = interpolation(case)
            check_door(case, enabled, backward)
            plain = python_call(backward)

            def with_opscv(repeat, plain=plain):
                with enabled():
                    return plain(repeat)

            size = case.output_bytes()

            def fresh(repeat, size=size):
                return bench.lib.opscv_bench_fresh(size, bench.threads, repeat)

            field = [Repeated("with opscv", with_opscv), Repeated("PyTorch", plain),
                     Repeated("touching a fresh output", fresh)]
            times = race.race(field, bench.options.budget, bench.pinned)
        yield {"pair": case.pair.letter, "before": case.before, "after": case.after,
               "seconds": times}
