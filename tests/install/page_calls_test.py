#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What the operator pages show of calls is what the installed library does: the example builds and
prints what stands below it, and every row of the error table is answered with its code and message.
With --write, codes and messages are written into the tables instead."""
import copy
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["OPSCV_BUILD_DIR"])
CXX = os.environ.get("OPSCV_CXX", "g++")
WORK = BUILD / "page_calls_test"
HOME = WORK / "prefix"

# C function: names of its input and its output.
OPERATORS = {
    "aclnnUpsampleBicubic2dAA": ("self", "out"),
    "aclnnUpsampleBicubic2dAAGrad": ("gradOutput", "out"),
    "aclnnUpsampleNearestExact3d": ("self", "out"),
    "aclnnUpsampleNearestExact3dBackward": ("gradOut", "gradInput"),
}
FLOAT, FLOAT16, DOUBLE = 0, 1, 11
NCHW, NHWC, ND, NDHWC, NCDHW = 0, 1, 2, 27, 30

ROW = re.compile(r"^\| (\d+) \| (.*) \| (\d+) \| (.*) \|$", re.MULTILINE)
EXAMPLE = re.compile(r"^```cpp\n(#include.*?)^```$.*?^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page(language, function):
    return SOURCE / "docs" / language / f"{function}.md"


def run(*command, **environment):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          env={**os.environ, **environment}, timeout=120)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


class Tensor:
    def __init__(self, dims, dtype, format, data):
        self.dims, self.dtype, self.format, self.data = list(dims), dtype, format, data
        self.strides, self.offset = None, 0


class Call:
    """A first-stage call that is accepted as it is made."""

    def __init__(self, function):
        self.function = function
        self.input_name, self.output_name = OPERATORS[function]
        self.volume = "3d" in function
        self.gradient = function.endswith(("Grad", "Backward"))
        self.resize((1, 1), *(((4, 4, 4), (2, 2, 2)) if self.volume else ((8, 4), (4, 2))))
        self.scales = [0.0] * len(self.output_size)
        self.null = self.destroyed = None
        self.environment = {}

    def resize(self, batch, before, after):
        """Tensors of N, C and extents before and after the forward operator."""
        format = NCDHW if self.volume else NCHW
        shapes = [[*batch, *before], [*batch, *after]]
        self.input_size, self.output_size = shapes[0], list(after)
        first, second = reversed(shapes) if self.gradient else shapes
        self.input = Tensor(first, FLOAT, format, 0x100000)
        self.output = Tensor(second, FLOAT, format, 0x40000000000)

    def answer(self, library):
        """Code and message, without what stands before the sentence."""
        for name in ("OPSCV_SOC", "OPSCV_INDEX_RULE"):
            os.environ.pop(name, None)
        os.environ.update(self.environment)
        library.aclFinalize()
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        arguments = [self.tensor(library, self.input_name, self.input),
                     self.array(library, "outputSize", self.output_size)]
        if self.gradient:
            arguments.append(self.array(library, "inputSize", self.input_size))
        if not self.volume:
            arguments.append(ctypes.c_bool(False))
        arguments += [ctypes.c_double(scale) for scale in self.scales]
        arguments += [self.tensor(library, self.output_name, self.output),
                      None if self.null == "workspaceSize" else ctypes.byref(size),
                      None if self.null == "executor" else ctypes.byref(executor)]
        code = getattr(library, f"{self.function}GetWorkspaceSize")(*arguments)
        if code == 0:
            return 0, ""
        message = library.aclGetRecentErrMsg().decode()
        return code, message.removeprefix(f"EZ1001: {self.function}GetWorkspaceSize: ")

    def tensor(self, library, name, tensor):
        if self.null == name:
            return None
        array = ctypes.c_int64 * len(tensor.dims)
        handle = ctypes.c_void_p(library.aclCreateTensor(
            array(*tensor.dims), ctypes.c_uint64(len(tensor.dims)), tensor.dtype,
            tensor.strides and array(*tensor.strides), ctypes.c_int64(tensor.offset),
            tensor.format, None, ctypes.c_uint64(0), ctypes.c_void_p(tensor.data)))
        if self.destroyed == name:
            library.aclDestroyTensor(handle)
        return handle

    def array(self, library, name, values):
        if self.null == name:
            return None
        return ctypes.c_void_p(library.aclCreateIntArray((ctypes.c_int64 * len(values))(*values),
                                                         ctypes.c_uint64(len(values))))


def faults(function):
    """A call for each row of the operator's error table."""
    sound = Call(function)
    made = []

    def fault(change):
        call = copy.deepcopy(sound)
        change(call)
        made.append(call)

    def ones():
        return [1] * len(sound.output_size)

    large = 2**20
    fault(lambda c: setattr(c, "null", "workspaceSize"))
    fault(lambda c: setattr(c, "null", c.input_name))
    fault(lambda c: c.environment.update(OPSCV_SOC="Ascend310P"))
    if sound.volume:
        fault(lambda c: c.environment.update(OPSCV_INDEX_RULE="nearest"))
    fault(lambda c: setattr(c, "destroyed", c.input_name))
    fault(lambda c: setattr(c.input, "dtype", DOUBLE))
    fault(lambda c: setattr(c.output, "dtype", FLOAT16))
    fault(lambda c: c.input.dims.pop())
    if sound.volume:
        fault(lambda c: setattr(c.output, "format", NDHWC))
    else:
        fault(lambda c: setattr(c.input, "format", NHWC))
        fault(lambda c: setattr(c.output, "format", ND))
    fault(lambda c: c.output_size.append(1))
    fault(lambda c: c.scales.__setitem__(0, float("nan") if c.volume else -1.0))
    fault(lambda c: c.output_size.__setitem__(0, 0))
    fault(lambda c: c.output.dims.__setitem__(2, 7))
    if sound.volume:
        fault(lambda c: c.resize((0, 1), (4, 4, 4), (2, 2, 2)))
        fault(lambda c: c.resize((1, 1), (4, 4, 4), (201, 2, 2)))
        fault(lambda c: (c.environment.update(OPSCV_INDEX_RULE="exact"),
                         c.scales.__setitem__(0, 0.5)))
        fault(lambda c: setattr(c, "scales", [0.8, 0.8, 0.8]))
    else:
        fault(lambda c: (c.environment.update(OPSCV_SOC="Ascend910B"),
                         c.resize((1, 1), (8, 4), (401, 2))))
        fault(lambda c: c.scales.__setitem__(0, 0.7))
    fault(lambda c: c.resize((large + 1, 1), ones(), ones()))
    fault(lambda c: c.resize((1, 1), ones()[2:] + [4096, 4096], ones()[2:] + [131072, 131072]))
    fault(lambda c: c.resize((65536, 32768), ones(), ones()))
    if sound.volume:
        fault(lambda c: c.resize((1, 1), (1, 65536, 32768), ones()))
    fault(lambda c: setattr(c.input, "strides", [1] * (len(c.input.dims) - 2) + [2**61, 1]))
    fault(lambda c: setattr(c.input, "offset", 1))
    fault(lambda c: setattr(c.output, "strides", [1] * (len(c.output.dims) - 2) + [0, 1]))
    fault(lambda c: setattr(c.output, "data", c.input.data + 8))
    return made


def load(folder):
    library = ctypes.CDLL(str(next(folder.glob("**/libopscv.so"))))
    for name in ("aclCreateTensor", "aclCreateIntArray"):
        getattr(library, name).restype = ctypes.c_void_p
    library.aclGetRecentErrMsg.restype = ctypes.c_char_p
    return library


def write(library):
    for language in ("en", "zh"):
        for function in OPERATORS:
            answers = [call.answer(library) for call in faults(function)]
            path = page(language, function)
            path.write_text(ROW.sub(
                lambda row: "| {} | {} | {} | {} |".format(row[1], row[2],
                                                           *answers[int(row[1]) - 1]),
                path.read_text()))


class PageCalls(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        run("/usr/bin/cmake", "-E", "rm", "-rf", WORK)
        run("/usr/bin/cmake", "--install", BUILD, "--prefix", HOME)

    def test_every_operator_has_a_page(self):
        for language in ("en", "zh"):
            pages = page(language, "x").parent.glob("aclnn*.md")
            self.assertEqual(sorted(path.stem for path in pages), sorted(OPERATORS))

    def test_error_tables(self):
        library = load(HOME)
        for function in OPERATORS:
            self.assertEqual(Call(function).answer(library), (0, ""))
            answers = [(str(n), str(code), message) for n, (code, message) in
                       enumerate((call.answer(library) for call in faults(function)), 1)]
            for language in ("en", "zh"):
                with self.subTest(function=function, language=language):
                    rows = ROW.findall(page(language, function).read_text())
                    self.assertEqual([(row[0], row[2], row[3]) for row in rows], answers)

    def test_examples(self):
        for function in OPERATORS:
            with self.subTest(function=function):
                program, expected = EXAMPLE.search(page("en", function).read_text()).groups()
                source = WORK / f"{function}.cc"
                source.write_text(program)
                run(CXX, "-std=c++11", "-Wall", "-Wextra", "-Werror", source, "-o",
                    WORK / function, f"-I{HOME}/include", f"-L{HOME}/lib64",
                    "-lascendcl", "-lnnopbase", "-lopapi")
                self.assertEqual(run(WORK / function, LD_LIBRARY_PATH=f"{HOME}/lib64"), expected)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write(load(BUILD / "lib"))
    else:
        unittest.main(verbosity=2)
