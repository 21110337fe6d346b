# SPDX-License-Identifier: Apache-2.0
"""The acceptance runner: every specification and all regression cases through every door, and that
it tells right from wrong."""
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from opscv.cases.__main__ import main
from opscv.cases._values import decode, encode

CASES = pathlib.Path(__file__).resolve().parents[1] / "cases"
LIBRARY = pathlib.Path(os.environ["OPSCV_BUILD_DIR"]) / "lib" / "libopscv.so"
DOORS = ("c", "native", "python", "torch")
FILES = sorted(path.name for path in CASES.glob("*.json"))
# Calls of these files that a door must have: what else a door lacks stands in its documents.
LEAST = {"c": 20, "native": 60, "python": 60, "torch": 20}


def run(file, door, *words):
    return subprocess.run([sys.executable, "-m", "opscv.cases", file, "--door", door, *words],
                          capture_output=True, text=True,
                          env={**os.environ, "OPSCV_LIBRARY": str(LIBRARY)})


@pytest.fixture(autouse=True)
def library(monkeypatch):
    monkeypatch.setenv("OPSCV_LIBRARY", str(LIBRARY))


def test_every_operator_has_its_specification():
    named = {json.loads((CASES / file).read_text())["specification"] for file in FILES
             if file != "cases.json"}
    assert named == {"UpsampleBicubic2dAA", "UpsampleBicubic2dAAGrad", "UpsampleNearestExact3d",
                     "UpsampleNearestExact3dGrad"}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("file", FILES)
def test_file_through_door(file, door, tmp_path, capsys):
    status = main([str(CASES / file), "--door", door, "--report", str(tmp_path / "report.json")])
    table = capsys.readouterr().out
    assert status == 0, table
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["failed"] == 0 and report["passed"] >= LEAST[door]
    assert report["passed"] == sum(case["outcome"] == "passed" for case in report["cases"])
    assert f"{report['passed']} passed, 0 failed" in table.splitlines()[-1]
    assert max(case["worst"] for case in report["cases"]) > 0 or "exact3d.json" in file


CASE = {"id": "X", "op": "UpsampleNearestExact3dGrad", "dtype": "float32",
        "grad_output_shape": [1, 1, 1, 1, 4], "input_size": [1, 1, 1, 1, 2],
        "output_size": [1, 1, 4], "align_corners": None, "scales": [None] * 3, "data": "arange",
        "expect": "exact", "expect_values": {"full": [[[[[3.0, 7.0]]]]]}}


def run_case(tmp_path, door="native", **changes):
    file = tmp_path / "case.json"
    file.write_text(json.dumps([{**CASE, **changes}]))
    return run(file, door)


def test_a_right_case_passes(tmp_path):
    done = run_case(tmp_path)
    assert done.returncode == 0 and done.stdout.splitlines()[1].startswith("ok"), done.stdout


@pytest.mark.parametrize("changes,reason", [
    ({"expect_values": {"full": [[[[[3.0, 8.0]]]]]}}, "at (0, 0, 0, 0, 1): 7.0, stated 8.0"),
    ({"ref": {"sum": 11.0, "absmax": 7.0, "nonfinite": 0}}, "sum of the float64 answer is"),
    ({"expect": "error 161002"}, "was not refused"),
    ({"scales": [None, None, 3.0]}, "refused: output_size[2] must be floor"),
])
def test_a_wrong_case_fails(tmp_path, changes, reason):
    done = run_case(tmp_path, **changes)
    assert done.returncode == 1, done.stdout
    assert done.stdout.splitlines()[1].startswith("FAILED") and reason in done.stdout


def test_a_wrong_result_fails(tmp_path):
    """A library whose sums are off by a thousandth, from outside: the module is patched."""
    (tmp_path / "case.json").write_text(json.dumps([CASE]))
    code = f"""
import sys
import opscv.cases._doors as doors
run = doors.NativeDoor.run
def wrong(self, problem, source, target):
    run(self, problem, source, target)
    target.storage[:] *= 1.001
doors.NativeDoor.run = wrong
from opscv.cases.__main__ import main
sys.exit(main([{str(tmp_path / 'case.json')!r}, "--door", "native"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and "FAILED" in done.stdout, done.stdout + done.stderr


def test_the_c_door_wants_the_code(tmp_path):
    shape = {"grad_output_shape": [1, 1, 4, 4], "expect_values": None}
    assert run_case(tmp_path, "c", expect="error 161002", **shape).returncode == 0
    done = run_case(tmp_path, "c", expect="error 161001", **shape)
    assert done.returncode == 1 and "refused with 161002, not 161001" in done.stdout


SPECIFICATION = {"specification": "UpsampleNearestExact3d", "count": 3, "seed": 1,
                 "dtypes": ["float32", "int8"], "in": [1, 4], "out": [[1, 2], [1, 3], [1, 4]],
                 "batch": [1, 2], "channels": [1, 2], "layouts": ["NCDHW", "NDHWC"],
                 "scales": ["none", "each"], "rules": [None, "exact"], "memory": ["stepped"],
                 "data": ["integers"]}
FULL_CASE = {**CASE, "layout": "strides", "strides": [4, 4, 4, 4, 1], "out_layout": "contiguous",
             "out_dtype": "float32", "out_shape": [1, 1, 1, 1, 2], "prefill": "nan",
             "ref": {"sum": 10.0, "absmax": 7.0, "nonfinite": 0}, "lifecycle": False,
             "c_api_expect": "exact", "python_expect": "torch64"}


def answer(tmp_path, capsys, text, door="python"):
    """Status, output and errors of the runner on a file of that text."""
    file = tmp_path / "case.json"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    status = main([str(file), "--door", door])
    return status, *capsys.readouterr()


def changed(whole, **changes):
    """JSON of an object with other values; the value `...` takes a key away."""
    return json.dumps({key: value for key, value in {**whole, **changes}.items()
                       if value is not ...})


HOSTILE = {
    "nothing": ("", "is no JSON"),
    "no JSON": ("[1, 2", "is no JSON"),
    "no text": (b"\xff\xfe\x00", "is no JSON"),
    "deep": ("[" * 10**5, "is no JSON"),
    "a number": ("7", "the specification must be an object, got 7"),
    "null": ("null", "the specification must be an object, got None"),
    "no case": ("[]", "there is no case"),
    "a case that is a number": ("[7]", "case number 1 must be an object, got 7"),
    "an empty case": ("[{}]", "case number 1: op is missing"),
    "a second case": (f"[{changed(CASE)}, {changed(CASE, id='Y', data=...)}]",
                      "case Y: data is missing"),
    "no specification": ("{}", "specification is missing"),
    "a misspelt key": (changed(SPECIFICATION, dtype=["float32"]),
                       "there is no key 'dtype'"),
    "unknown operator": (changed(SPECIFICATION, specification="Upsample"),
                         "specification must be one of UpsampleBicubic2dAA, "),
    "corners of nearest": (changed(SPECIFICATION, align_corners=[True]),
                           "there is no key 'align_corners'"),
    "count of zero": (changed(SPECIFICATION, count=0), "count must be an integer from 1 to"),
    "count of text": (changed(SPECIFICATION, count="3"), "count must be an integer from 1 to"),
    "count of bool": (changed(SPECIFICATION, count=True), "count must be an integer from 1 to"),
    "negative seed": (changed(SPECIFICATION, seed=-1), "seed must be an integer from 0 to"),
    "no dtypes": (changed(SPECIFICATION, dtypes=...), "dtypes is missing"),
    "empty dtypes": (changed(SPECIFICATION, dtypes=[]), "dtypes must be a list whose elements are"),
    "unknown dtype": (changed(SPECIFICATION, dtypes=["float"]), "dtypes must be a list whose"),
    "dtypes of text": (changed(SPECIFICATION, dtypes="float32"), "dtypes must be a list whose"),
    "range backwards": (changed(SPECIFICATION, batch=[2, 1]), "batch must be [least, most] with 0"),
    "range of zero": (changed(SPECIFICATION, **{"in": [0, 3]}), "in must be [least, most] with 1"),
    "range of floats": (changed(SPECIFICATION, out=[1.0, 3.0]), "out must be [least, most] with 1"),
    "range of two axes": (changed(SPECIFICATION, out=[[1, 3]] * 2), "out must be [least, most] with"),
    "layout of images": (changed(SPECIFICATION, layouts=["NCHW"]), "layouts must be a list whose"),
    "unknown scales": (changed(SPECIFICATION, scales=["all"]), "scales must be a list whose"),
    "unknown memory": (changed(SPECIFICATION, memory=["dense"]), "memory must be a list whose"),
    "unknown rule": (changed(SPECIFICATION, rules=["nearest"]), "rules must be a list whose"),
    "unknown data": (changed(SPECIFICATION, data=["zeros"]), "data must be a list whose"),
    "forward case": (f"[{changed(CASE, op='UpsampleNearestExact3d')}]", "case X: op must be a gradient"),
    "case's unknown operator": (f"[{changed(CASE, op=None)}]", "case X: op must be one of"),
    "case's unknown dtype": (f"[{changed(CASE, dtype='half')}]", "case X: dtype must be one of"),
    "case's size of text": (f"[{changed(CASE, input_size='1,1')}]", "case X: input_size must be"),
    "case's negative shape": (f"[{changed(CASE, grad_output_shape=[1, -1])}]",
                              "case X: grad_output_shape must be"),
    "case's size beyond 64 bits": (f"[{changed(CASE, output_size=[1, 1, 2**70])}]",
                                   "case X: output_size must be"),
    "case's corners of text": (f"[{changed(CASE, align_corners='no')}]",
                               "case X: align_corners must be true or false"),
    "case's two scales": (f"[{changed(CASE, scales=[1, 1])}]", "case X: scales must be a list of 3"),
    "case's scale of text": (f"[{changed(CASE, scales=['1', 1, 1])}]", "case X: scales must be"),
    "case's unknown data": (f"[{changed(CASE, data='random')}]", "case X: data must be in the language"),
    "case's NaN outside": (f"[{changed(CASE, data='ones, nan at [0, 0, 0, 0, 4]')}]",
                           "case X: data must be of elements of [1, 1, 1, 1, 4]"),
    "case's unknown answer": (f"[{changed(CASE, expect='right')}]", "case X: expect must be torch64,"),
    "case's values of another shape": (f"[{changed(CASE, expect_values={'full': [3.0, 7.0]})}]",
                                       "case X: expect_values must be of numbers that fit"),
    "case's values of text": (f"[{changed(CASE, expect_values={'all': 'three'})}]",
                              "case X: expect_values must be of numbers that fit"),
    "case's values outside": (
        f"[{changed(CASE, expect_values={'nonzero': [[0, 0, 0, 0, 2]], 'value': 1})}]",
        "case X: expect_values must be of numbers that fit"),
    "case's half reference": (f"[{changed(CASE, ref={'sum': 1})}]", "case X: ref must be an object of"),
    "case's negative strides": (f"[{changed(CASE, strides=[1, 1, 1, 1, -1])}]",
                                "case X: strides must be a list of 5"),
    "case's unknown layout": (f"[{changed(CASE, out_layout='NCHW')}]", "case X: out_layout must be one"),
}


@pytest.mark.parametrize("mistake", HOSTILE)
def test_a_file_that_is_none_is_status_2(mistake, tmp_path, capsys):
    """One line on the error stream with the file's name, what the mistake is in, and the key."""
    text, words = HOSTILE[mistake]
    status, out, err = answer(tmp_path, capsys, text)
    assert (status, out, err.count("\n")) == (2, "", 1)
    told = err.removeprefix(f"opscv.cases: {tmp_path / 'case.json'}: ")
    assert told != err and told.removeprefix("the specification: ").startswith(words), err


def test_a_file_that_cannot_be_read_is_status_2(tmp_path, capsys):
    for file in (tmp_path, tmp_path / "none.json"):
        assert main([str(file), "--door", "native"]) == 2
        out, err = capsys.readouterr()
        assert out == "" and err.startswith(f"opscv.cases: {file}: ") and err.count("\n") == 1


def test_what_else_cannot_be_used_is_status_2(tmp_path, capsys, monkeypatch):
    file = tmp_path / "case.json"
    file.write_text(json.dumps([CASE]))
    assert main([str(file), "--door", "native", "--report", str(tmp_path / "no" / "r.json")]) == 2
    assert capsys.readouterr().err == f"opscv.cases: {tmp_path}/no/r.json: No such file or directory\n"
    for library in (str(tmp_path / "none.so"), str(file), "libm.so.6"):
        monkeypatch.setenv("OPSCV_LIBRARY", library)
        assert main([str(file), "--door", "c"]) == 2
        err = capsys.readouterr().err
        assert library in err and err.count("\n") == 1


def test_without_pytorch_only_its_door_is_shut(tmp_path):
    """Cases whose data PyTorch's generator makes are not offered then, by any door."""
    file = tmp_path / "case.json"
    file.write_text(json.dumps([CASE, {**CASE, "id": "Y", "data": "randn seed 1"}]))
    for door, expected in (("torch", 2), ("native", 0)):
        code = ("import sys; sys.modules['torch'] = None; from opscv.cases.__main__ import main; "
                f"sys.exit(main([{str(file)!r}, '--door', {door!r}]))")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == expected, done.stdout + done.stderr
        if expected == 2:
            assert done.stderr.startswith("opscv.cases: ") and done.stderr.count("\n") == 1
        else:
            assert "1 passed, 0 failed, 1 not offered" in done.stdout


def test_tensors_that_cannot_be_made_fail_their_case(tmp_path, capsys):
    """Too large for any memory, or for NumPy."""
    for most in (2**40, 2**62):
        spec = changed(SPECIFICATION, **{"in": [most, most], "count": 1, "memory": ["contiguous"]})
        status, out, err = answer(tmp_path, capsys, spec)
        assert (status, err) == (1, "") and "its tensors cannot be made here" in out


def test_anything_in_a_file_ends_in_a_status(tmp_path, capsys):
    """Every value of a whole case and of a specification, replaced by values of all sorts."""
    values = [..., None, True, -1, 0, 1, 1.5, 2**70, float("nan"), "", "x", "float32", [], [None], [1],
              [1, 2], [2, 1], [-1, 2], [[1, 2]], [[1, 2]] * 3, ["x"], [1] * 5, [0] * 5, {}, {"x": 1},
              {"full": "x"}, {"all": None}, {"nonzero": 3, "value": 1}, {"equals": "x"}]
    for whole in (SPECIFICATION, FULL_CASE):
        seen = []
        for key in whole:
            for value in values:
                text = changed(whole, **{key: value})
                status, _, err = answer(tmp_path, capsys,
                                        text if whole is SPECIFICATION else f"[{text}]", "native")
                said = err.startswith(f"opscv.cases: {tmp_path}") and err.count("\n") == 1
                assert said if status == 2 else err == "", f"{key} = {value}: {err}"
                seen.append(status)
        assert set(seen) == {0, 1, 2} or whole is SPECIFICATION and set(seen) == {0, 2}, seen


def test_bfloat16_is_rounded_as_pytorch_rounds():
    import torch
    values = np.concatenate([np.random.default_rng(5).standard_normal(20000) * 10.0**np.arange(
        -40, 40).repeat(250), [0.0, -0.0, np.inf, -np.inf, np.nan, 3.4e38, 1e300]])
    theirs = torch.from_numpy(values).to(torch.bfloat16).view(torch.int16).numpy().view(np.uint16)
    np.testing.assert_array_equal(encode(values, "bfloat16"), theirs)
    np.testing.assert_array_equal(decode(theirs, "bfloat16"),
                                  torch.from_numpy(values).to(torch.bfloat16).double().numpy())
