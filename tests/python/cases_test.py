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


@pytest.mark.parametrize("content,words", [
    ("", "case.json"), ("[{}]", "KeyError"), ('{"specification": "UpsampleBicubic2dAA"}', "must have"),
    ('{"specification": "Upsample", "count": 1, "seed": 1, "dtypes": ["float32"], "in": [1, 2], '
     '"out": [1, 2]}', "op must be one of"),
])
def test_a_file_that_is_none_is_status_2(tmp_path, content, words):
    (tmp_path / "case.json").write_text(content)
    done = run(tmp_path / "case.json", "python")
    assert done.returncode == 2 and words in done.stderr and done.stdout == ""


def test_bfloat16_is_rounded_as_pytorch_rounds():
    import torch
    values = np.concatenate([np.random.default_rng(5).standard_normal(20000) * 10.0**np.arange(
        -40, 40).repeat(250), [0.0, -0.0, np.inf, -np.inf, np.nan, 3.4e38, 1e300]])
    theirs = torch.from_numpy(values).to(torch.bfloat16).view(torch.int16).numpy().view(np.uint16)
    np.testing.assert_array_equal(encode(values, "bfloat16"), theirs)
    np.testing.assert_array_equal(decode(theirs, "bfloat16"),
                                  torch.from_numpy(values).to(torch.bfloat16).double().numpy())
