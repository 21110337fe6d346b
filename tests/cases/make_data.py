#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes inputs and answers of the cases in cases.json: OUT/<id>/grad_output.npy, expected.npy.

grad_output.npy holds the case's `data` in its dtype, row-major (bfloat16: two bytes an element,
descr `<V2`). expected.npy holds the answer in float64: `expect_values` as they stand (so already
rounded to the dtype), else the PyTorch backward operator run in float64 on the rounded gradient
(not rounded to the dtype). README.md beside this file explains the keys and the data language.

Every answer is held against the sums of `ref`; a difference ends the run with status 1. A case
whose files are newer than this script and the case file is left alone.
"""

import argparse
import json
import math
import os
import pathlib
import re
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
MOST_ELEMENTS = 2**25
GIVEN = re.compile(r", (nan|inf) at (\[[0-9, ]*\])")


class CaseError(Exception):
    """A case that cannot be made, or whose answer is not the one recorded."""


def parse_data(text):
    """Splits `data` into (kind, argument, [(value, index), ...]): the base and what overwrites it.

    randn seed S | arange | arange mod M | half +V half -V | const V | zeros | ones | expand 1 |
    onehot at last, each followed by any number of `, nan at [i, j, ...]` or `, inf at [...]`.
    """
    base = GIVEN.sub("", text)
    overwrites = [(float(value), tuple(json.loads(at))) for value, at in GIVEN.findall(text)]
    for kind, pattern in (
        ("randn", r"randn seed (\d+)"),
        ("mod", r"arange mod (\d+)"),
        ("half", r"half \+([\d.]+) half -\1"),
        ("const", r"const (-?[\d.]+)"),
    ):
        match = re.fullmatch(pattern, base)
        if match:
            return kind, float(match.group(1)), overwrites
    plain = {"zeros": ("const", 0.0), "ones": ("const", 1.0), "expand 1": ("const", 1.0),
             "arange": ("arange", None), "onehot at last": ("onehot", None)}
    if base not in plain:
        raise CaseError(f"data {text!r} is not in the language")
    return (*plain[base], overwrites)


def make_data(text, shape):
    """The values that `data` names, as a float64 tensor; the caller rounds them to the dtype."""
    import torch

    count = math.prod(shape)
    if count > MOST_ELEMENTS:
        raise CaseError(f"{count} elements are more than the {MOST_ELEMENTS} written at most")
    kind, argument, overwrites = parse_data(text)
    if kind == "randn":
        torch.manual_seed(int(argument))
        data = torch.randn(shape, dtype=torch.float64)
    else:
        flat = torch.zeros(count, dtype=torch.float64)
        if kind == "arange":
            flat = torch.arange(1, count + 1, dtype=torch.float64)
        elif kind == "mod":
            flat = torch.arange(count, dtype=torch.float64) % argument
        elif kind == "half":
            flat[: count // 2] = argument
            flat[count // 2 :] = -argument
        elif kind == "onehot":
            flat[-1] = 1
        else:
            flat[:] = argument
        data = flat.reshape(shape)
    for value, at in overwrites:
        if len(at) != len(shape):
            raise CaseError(f"data {text!r}: index {list(at)} of a tensor of rank {len(shape)}")
        data[at] = value
    return data


def is_identity(case):
    """Every axis keeps its size and its samples: the answer is the gradient itself, bit for bit."""
    return case["output_size"] == case["input_size"][2:] and (
        case["align_corners"] or all(s is None or s <= 0 or s == 1 for s in case["scales"]))


def torch64(case, grad):
    """grad_input in float64. grad: the gradient, rounded to the case's dtype, as float64."""
    import torch

    if is_identity(case):
        return grad
    if grad.numel() == 0:
        return torch.zeros(case["input_size"], dtype=torch.float64)
    sizes = case["output_size"], case["input_size"]
    if case["op"] == "UpsampleBicubic2dAAGrad":
        backward = torch.ops.aten._upsample_bicubic2d_aa_backward
        return backward(grad, *sizes, case["align_corners"], *case["scales"])
    if case["op"] == "UpsampleNearestExact3dGrad":
        return torch.ops.aten._upsample_nearest_exact3d_backward(grad, *sizes, *case["scales"])
    raise CaseError(f"no PyTorch operator is known for {case['op']}")


def stated_values(case, grad):
    """The array that `expect_values` writes out, or None where the case states no values."""
    promised = re.match(r"[\d.]+", case.get("python_expect", ""))
    values = {"all": promised.group()} if promised else case.get("expect_values")
    if values is None:
        return None
    shape = case["input_size"]
    if "all" in values:
        return np.full(shape, float(values["all"]))
    if "full" in values:
        full = np.array(values["full"], dtype=np.float64)
        if full.shape != tuple(shape):
            raise CaseError(f"expect_values has shape {full.shape}, input_size is {shape}")
        return full
    if "nonzero" in values:
        full = np.zeros(shape)
        for at in values["nonzero"]:
            full[tuple(at)] = values["value"]
        return full
    if values == {"equals": "grad_output"}:
        return grad.numpy().copy()
    raise CaseError(f"expect_values {values} is not in the language")


def reason_without_data(case):
    """Why the case has no files, or None. A refusal has none unless Python promises a value."""
    if not case["expect"].startswith("error"):
        return None
    if re.match(r"torch64|\d", case.get("python_expect", "")):
        return None
    return case["expect"]


def check_ref(case, answer):
    """Compares sum, largest magnitude and count of non-finite values of the float64 answer."""
    ref = case.get("ref")
    if ref is None:
        if case["expect"] in ("torch64", "exact", "bitwise", "nanmask", "exact-interior"):
            raise CaseError("the case has no ref")
        return
    finite = answer[np.isfinite(answer)]
    found = {"sum": float(finite.sum()), "absmax": float(np.abs(finite).max(initial=0)),
             "nonfinite": answer.size - finite.size}
    slack = {"sum": 1e-12 * float(np.abs(finite).sum()), "absmax": 1e-12 * found["absmax"],
             "nonfinite": 0}
    for key, value in found.items():
        if not abs(value - ref[key]) <= slack[key]:
            raise CaseError(f"{key} of the answer is {value!r}, ref says {ref[key]!r}")


def check_stated(case, stated, answer):
    """The stated values must be the float64 answer rounded to the dtype."""
    import torch

    dtype = getattr(torch, case["dtype"])
    rounded = torch.from_numpy(answer).to(dtype).to(torch.float64).numpy()
    slack = 1e-12 * np.abs(answer).max(initial=0)
    with np.errstate(invalid="ignore"):
        equal = (rounded == stated) | (np.abs(rounded - stated) <= slack)
    if not equal.all():
        at = tuple(int(i) for i in np.argwhere(~equal)[0])
        raise CaseError(f"expect_values say {stated[at]!r} at {at}, PyTorch {rounded[at]!r}")


def make_case(case):
    """(grad_output as it is written, expected in float64)."""
    import torch

    grad = make_data(case["data"], case["grad_output_shape"]).to(getattr(torch, case["dtype"]))
    grad64 = grad.to(torch.float64)
    answer = torch64(case, grad64).numpy()
    if answer.shape != tuple(case["input_size"]):
        raise CaseError(f"the answer has shape {answer.shape}, input_size is {case['input_size']}")
    check_ref(case, answer)
    stated = stated_values(case, grad64)
    if stated is not None:
        check_stated(case, stated, answer)
        answer = stated
    if grad.dtype == torch.bfloat16:
        return grad.view(torch.int16).numpy().view("V2"), answer
    return grad.numpy(), answer


def write_npy(path, array):
    """Writes beside the file and renames, so that a file under its name is complete."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    array = np.ascontiguousarray(array)
    try:
        with open(beside, "wb") as file:
            header = np.lib.format.header_data_from_array_1_0(array)
            # NumPy says |V2 for two raw bytes; <V2 names the byte order of the bfloat16 in them.
            header["descr"] = header["descr"].replace("|V2", "<V2")
            np.lib.format.write_array_header_1_0(file, header)
            file.write(array.tobytes())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def is_fresh(folder, newest_source):
    files = [folder / "grad_output.npy", folder / "expected.npy"]
    return all(f.exists() and f.stat().st_mtime_ns > newest_source for f in files)


def select(cases, only):
    """(cases to make, {id: reason} of those that have no data)."""
    known = {case["id"]: case for case in cases}
    if len(known) != len(cases):
        raise CaseError("two cases have one id")
    unknown = [name for name in only if name not in known]
    if unknown:
        raise CaseError(f"no case is named {', '.join(unknown)}")
    chosen = [known[name] for name in only] if only else cases
    without = {c["id"]: reason_without_data(c) for c in chosen if reason_without_data(c)}
    if only and without:
        raise CaseError(f"no data belong to {', '.join(without)}: a refusal is expected")
    return [c for c in chosen if c["id"] not in without], without


def run(out, cases_file, only):
    chosen, without = select(json.loads(cases_file.read_text()), only)
    newest_source = max(f.stat().st_mtime_ns for f in (cases_file, pathlib.Path(__file__)))
    made = failed = 0
    for case in chosen:
        folder = out / case["id"]
        if is_fresh(folder, newest_source):
            continue
        try:
            grad, expected = make_case(case)
        except CaseError as error:
            print(f"{case['id']}: {error}", file=sys.stderr)
            failed += 1
            continue
        folder.mkdir(parents=True, exist_ok=True)
        write_npy(folder / "grad_output.npy", grad)
        write_npy(folder / "expected.npy", expected)
        made += 1
    print(f"{made} made, {len(chosen) - made - failed} already there, {failed} failed, "
          f"{len(without)} without data")
    for name, reason in without.items():
        print(f"  {name}: {reason}")
    return 1 if failed else 0


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path, help="folder to write to")
    parser.add_argument("--only", nargs="+", default=[], metavar="ID", help="just these cases")
    parser.add_argument("--cases", type=pathlib.Path, default=HERE / "cases.json", metavar="FILE",
                        help="the case file; cases.json beside this script if not given")
    arguments = parser.parse_args(words)
    try:
        return run(arguments.out, arguments.cases, arguments.only)
    except CaseError as error:
        print(f"make_data: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
