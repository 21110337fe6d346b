# SPDX-License-Identifier: Apache-2.0
"""Who runs: opscv, PyTorch, oneDNN and memory alone, each behind run(repeat) -> seconds per call.

Where a contestant has an `output`, it is computed when the contestant is made, in `first` seconds."""

import time

import torch

import library

ATEN = torch.ops.aten
DTYPE = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
DTYPE_CODE = {"float32": 0, "float16": 1, "bfloat16": 2}


LONG_CALL = 60e-3  # seconds; a call so long is not slower for being the first


class Unable(Exception):
    """The contestant has no such operator."""


def empty(shape, case):
    """An output in the case's layout. Its pages are touched, so that no run pays for them."""
    return torch.empty(shape, dtype=DTYPE[case.dtype],
                       memory_format=memory_format(case)).zero_()


def memory_format(case):
    if not case.channels_last:
        return torch.contiguous_format
    return torch.channels_last if case.pair.axes == 2 else torch.channels_last_3d


def normal_values(case):
    """The input: normal values, the same for every run and every type. A large tensor repeats a
    block of them, whose length is prime, so that no two rows are alike."""
    count = 1
    for extent in case.input_shape:
        count *= extent
    block = torch.randn(min(count, 1000003), generator=torch.Generator().manual_seed(7))
    block = block.to(DTYPE[case.dtype])
    values = torch.empty(count, dtype=block.dtype)
    whole = count // block.numel() * block.numel()
    values[:whole].view(-1, block.numel()).copy_(block.expand(whole // block.numel(), -1))
    values[whole:] = block[:count - whole]
    return values.view(case.input_shape).contiguous(memory_format=memory_format(case))


class Opscv:

    def __init__(self, lib, case, source, threads, target="", name="opscv", runs=1):
        self.name = name
        self.lib = lib
        self.source = source
        self.output = empty(case.output_shape, case)
        error = library.error_buffer()
        self.job = lib.opscv_bench_plan(case.operator.encode(), DTYPE_CODE[case.dtype],
                                        case.channels_last, len(case.before),
                                        library.sizes(case.input_shape),
                                        library.sizes(case.output_shape), target.encode(), threads,
                                        error)
        if not self.job:
            raise SystemExit(f"bench: {case.name()}: {error.value.decode()}")
        self.first = self.run(runs)

    def run(self, repeat):
        return self.lib.opscv_bench_run(self.job, self.source.data_ptr(), self.output.data_ptr(),
                                        repeat)

    def description(self):
        return self.lib.opscv_bench_describe(self.job).decode()

    def workspace(self):
        return self.lib.opscv_bench_workspace(self.job)

    def close(self):
        self.lib.opscv_bench_drop(self.job)


def torch_forms(case, source, output):
    """PyTorch's allocating and its out= form, as functions without arguments."""
    none = [None] * case.pair.axes
    after, before = list(case.after), list(case.before)
    if case.pair.letter == "A":
        operator = ATEN._upsample_bicubic2d_aa_backward if case.gradient else \
            ATEN._upsample_bicubic2d_aa
        flags = [False]
    else:
        operator = ATEN._upsample_nearest_exact3d_backward if case.gradient else \
            ATEN._upsample_nearest_exact3d
        flags = []
    allocate = operator.default
    if case.gradient:
        into = operator.grad_input
        arguments = [source, after, before, *flags, *none]
        return {"allocating": lambda: allocate(*arguments),
                "out=": lambda: into(*arguments, grad_input=output)}
    into = operator.out
    arguments = [source, after, *flags, *none]
    return {"allocating": lambda: allocate(*arguments),
            "out=": lambda: into(*arguments, out=output)}


class Torch:
    """PyTorch, by the faster of its two forms."""

    def __init__(self, case, source):
        self.name = "PyTorch"
        self.output = empty(case.output_shape, case)
        forms = torch_forms(case, source, self.output)
        try:
            times = {form: self.time(call) for form, call in forms.items()}
        except (RuntimeError, NotImplementedError) as error:
            raise Unable(str(error).splitlines()[0]) from None
        self.form = min(times, key=times.get)
        self.call = forms[self.form]
        self.first = times[self.form]

    def time(self, call):
        self.call = call
        first = self.run(1)
        return first if first > LONG_CALL else min(first, self.run(3))

    def run(self, repeat):
        call = self.call
        start = time.perf_counter_ns()
        for _ in range(repeat):
            call()
        return (time.perf_counter_ns() - start) * 1e-9 / repeat

    def description(self):
        return self.form

    def close(self):
        pass


class OneDnn:

    def __init__(self, lib, case, source):
        self.name = "oneDNN"
        self.lib = lib
        self.source = source
        if case.pair.axes != 3:
            raise Unable("oneDNN has no antialiasing filter")
        error = library.error_buffer()
        self.job = lib.opscv_onednn_plan(case.gradient, DTYPE_CODE[case.dtype], case.channels_last,
                                         library.sizes(case.input_shape),
                                         library.sizes(case.output_shape), error)
        if not self.job:
            raise Unable(error.value.decode())
        self.output = empty(case.output_shape, case)
        self.first = self.run(1)

    def run(self, repeat):
        return self.lib.opscv_onednn_run(self.job, self.source.data_ptr(), self.output.data_ptr(),
                                         repeat)

    def description(self):
        return self.lib.opscv_onednn_implementation(self.job).decode()

    def close(self):
        self.lib.opscv_onednn_drop(self.job)


class Memory:
    """Something that memory alone does. The roof is to read the input and to write the output."""

    output = None
    first = None

    def __init__(self, name, run):
        self.name = name
        self.run = run

    def description(self):
        return ""

    def close(self):
        pass


def memory_contestants(lib, case, source, output, threads):
    source_at, output_at = source.data_ptr(), output.data_ptr()
    source_bytes, output_bytes = case.input_bytes(), case.output_bytes()
    return [Memory("read", lambda n: lib.opscv_bench_read(source_at, source_bytes, threads, n)),
            Memory("write", lambda n: lib.opscv_bench_write(output_at, output_bytes, threads, n))]
