#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The data language, the answers and the files of make_data.py, on examples made by hand."""

import contextlib
import io
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import make_data  # noqa: E402

TIES = {"id": "ties", "op": "UpsampleNearestExact3dGrad", "dtype": "float32",
        "grad_output_shape": [1, 1, 1, 1, 6], "input_size": [1, 1, 1, 1, 4],
        "output_size": [1, 1, 6], "align_corners": None, "scales": [None, None, None],
        "data": "arange", "expect": "torch64",
        "ref": {"sum": 21.0, "absmax": 11.0, "nonfinite": 0}}
CORNER = {"id": "corner", "op": "UpsampleBicubic2dAAGrad", "dtype": "float32",
          "grad_output_shape": [1, 1, 1, 1], "input_size": [1, 1, 1, 3], "output_size": [1, 1],
          "align_corners": True, "scales": [None, None], "data": "ones", "expect": "exact",
          "expect_values": {"full": [[[[1.125, -0.125, 0.0]]]]},
          "ref": {"sum": 1.0, "absmax": 1.125, "nonfinite": 0}}


def values(text, shape):
    return make_data.make_data(text, shape).tolist()


class Language(unittest.TestCase):
    def test_counting(self):
        self.assertEqual(values("arange", [2, 3]), [[1, 2, 3], [4, 5, 6]])
        self.assertEqual(values("arange mod 3", [5]), [0, 1, 2, 0, 1])

    def test_constants(self):
        self.assertEqual(values("zeros", [2]), [0, 0])
        self.assertEqual(values("ones", [2]), [1, 1])
        self.assertEqual(values("expand 1", [2, 2]), [[1, 1], [1, 1]])
        self.assertEqual(values("const 40", [2]), [40, 40])
        self.assertEqual(values("const -2.5", [1]), [-2.5])

    def test_halves_of_the_flattened_tensor(self):
        self.assertEqual(values("half +1000 half -1000", [2, 2]), [[1000, 1000], [-1000, -1000]])

    def test_onehot(self):
        self.assertEqual(values("onehot at last", [2, 2]), [[0, 0], [0, 1]])

    def test_randn_is_that_of_the_seed_in_float64(self):
        torch.manual_seed(14)
        expected = torch.randn((2, 3), dtype=torch.float64).tolist()
        self.assertEqual(values("randn seed 14", [2, 3]), expected)
        self.assertNotEqual(values("randn seed 15", [2, 3]), expected)

    def test_overwriting_single_elements(self):
        found = values("ones, nan at [0, 1], inf at [1, 0]", [2, 2])
        self.assertTrue(math.isnan(found[0][1]))
        self.assertEqual([found[0][0], found[1][0], found[1][1]], [1, math.inf, 1])

    def test_refuses_what_is_not_in_the_language(self):
        for text in ("one", "arange mod", "randn", "half +1 half -2", "ones, nan", "expand 2",
                     "ones, nan at [0, 0]", ""):
            with self.subTest(text), self.assertRaises(make_data.CaseError):
                make_data.make_data(text, [2])

    def test_refuses_absurd_sizes(self):
        with self.assertRaises(make_data.CaseError):
            make_data.make_data("expand 1", [65536, 65536, 65536, 65536])


class Answers(unittest.TestCase):
    def refused(self, case, word, **changes):
        with self.assertRaises(make_data.CaseError) as caught:
            make_data.make_case({**case, **changes})
        self.assertIn(word, str(caught.exception))

    def test_nearest_exact(self):
        grad, answer = make_data.make_case(TIES)
        self.assertEqual((grad.dtype, grad.ravel().tolist()), (np.float32, [1, 2, 3, 4, 5, 6]))
        self.assertEqual((answer.dtype, answer.ravel().tolist()), (np.float64, [1, 5, 4, 11]))

    def test_scales_reach_the_operator(self):
        _, answer = make_data.make_case({**TIES, "scales": [None, None, 1.6],
                                         "ref": {"sum": 21.0, "absmax": 9.0, "nonfinite": 0}})
        self.assertEqual(answer.ravel().tolist(), [3, 3, 9, 6])

    def test_bicubic_with_stated_values(self):
        _, answer = make_data.make_case(CORNER)
        self.assertEqual(answer.tolist(), [[[[1.125, -0.125, 0.0]]]])

    def test_align_corners_reaches_the_operator(self):
        self.refused(CORNER, "absmax", align_corners=False)

    def test_stated_values_are_rounded_ones(self):
        case = {**TIES, "grad_output_shape": [1, 1, 1, 1, 2], "input_size": [1, 1, 1, 1, 1],
                "output_size": [1, 1, 2], "dtype": "float16", "data": "const 60000",
                "expect": "exact", "expect_values": {"all": "inf"},
                "ref": {"sum": 120000.0, "absmax": 120000.0, "nonfinite": 0}}
        # 60000 is a half, 120000 is beyond the largest.
        self.assertEqual(make_data.make_case(case)[1].ravel().tolist(), [math.inf])

    def test_an_identity_is_a_copy(self):
        case = {**TIES, "grad_output_shape": [1, 1, 1, 1, 4], "output_size": [1, 1, 4],
                "scales": [1.0, None, 0.0], "expect": "exact",
                "expect_values": {"equals": "grad_output"},
                "ref": {"sum": 10.0, "absmax": 4.0, "nonfinite": 0}}
        self.assertEqual(make_data.make_case(case)[1].ravel().tolist(), [1, 2, 3, 4])

    def test_in_an_identity_nan_stays_where_it_is(self):
        case = {**CORNER, "grad_output_shape": [1, 1, 1, 3], "output_size": [1, 3],
                "data": "ones, nan at [0, 0, 0, 1]", "expect": "torch64", "expect_values": None,
                "ref": {"sum": 2.0, "absmax": 1.0, "nonfinite": 1}}
        for align_corners, scales in ((True, [2.0, 2.0]), (False, [None, None]), (False, [0.0, 1])):
            _, answer = make_data.make_case({**case, "align_corners": align_corners,
                                             "scales": scales})
            self.assertEqual(np.isnan(answer).ravel().tolist(), [False, True, False])

    def test_equal_sizes_with_a_scale_are_no_identity(self):
        case = {**TIES, "grad_output_shape": [1, 1, 1, 1, 4], "output_size": [1, 1, 4],
                "scales": [None, None, 1.2], "ref": {"sum": 10.0, "absmax": 7.0, "nonfinite": 0}}
        self.assertEqual(make_data.make_case(case)[1].ravel().tolist(), [1, 2, 7, 0])

    def test_bfloat16_is_rounded_before_the_operator_sees_it(self):
        ref = {"sum": 514.0, "absmax": 514.0, "nonfinite": 0}
        case = {**TIES, "grad_output_shape": [1, 1, 1, 1, 2], "input_size": [1, 1, 1, 1, 1],
                "output_size": [1, 1, 2], "dtype": "bfloat16", "data": "const 257", "ref": ref}
        self.refused(case, "sum")
        grad, answer = make_data.make_case({**case, "ref": {**ref, "sum": 512.0, "absmax": 512.0}})
        self.assertEqual(answer.ravel().tolist(), [512])
        self.assertEqual(grad.view(np.uint16).ravel().tolist(), [0x4380, 0x4380])

    def test_a_wrong_ref_is_refused(self):
        for key, value in (("sum", 21 + 1e-9), ("absmax", 11 + 1e-9), ("nonfinite", 1),
                           ("sum", math.nan)):
            self.refused(TIES, key, ref={**TIES["ref"], key: value})

    def test_a_missing_ref_is_refused(self):
        self.refused({k: v for k, v in TIES.items() if k != "ref"}, "no ref")

    def test_wrong_stated_values_are_refused(self):
        self.refused(CORNER, "expect_values", expect_values={"full": [[[[1.125, -0.125, 0.25]]]]})
        self.refused(CORNER, "expect_values", expect_values={"all": 1.0})
        self.refused(CORNER, "shape", expect_values={"full": [1.125, -0.125, 0.0]})
        self.refused(CORNER, "language", expect_values={"some": 1.0})

    def test_which_cases_have_data(self):
        for expect, python, has in (("torch64", None, True), ("empty", None, True),
                                    ("documented", None, True), ("error 161002", None, False),
                                    ("error 161002", "documented", False),
                                    ("error 161002", "torch64 or TypeError", True),
                                    ("error 161002", "51 (no limit there)", True)):
            case = {"expect": expect, **({"python_expect": python} if python else {})}
            with self.subTest(**case):
                self.assertEqual(make_data.reason_without_data(case) is None, has)


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name, "out")
        self.cases = pathlib.Path(folder.name, "cases.json")

    def run_on(self, cases, *arguments):
        self.cases.write_text(json.dumps(cases))
        os.utime(self.cases, (0, 0))
        return self.run_again(*arguments)

    def run_again(self, *arguments):
        words = ["--cases", str(self.cases), str(self.out), *arguments]
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = make_data.main(words)
        return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())

    def test_writes_files_that_numpy_reads(self):
        half = {**TIES, "id": "half", "dtype": "bfloat16"}
        done = self.run_on([TIES, half])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        grad = np.load(self.out / "ties" / "grad_output.npy")
        self.assertEqual((grad.dtype, grad.shape), (np.float32, (1, 1, 1, 1, 6)))
        expected = np.load(self.out / "ties" / "expected.npy")
        self.assertEqual((expected.dtype, expected.ravel().tolist()), (np.float64, [1, 5, 4, 11]))
        file = self.out / "half" / "grad_output.npy"
        self.assertIn(b"'descr': '<V2'", file.read_bytes()[:128])
        self.assertEqual(np.load(file).view(np.uint16).ravel().tolist(),
                         [0x3F80, 0x4000, 0x4040, 0x4080, 0x40A0, 0x40C0])
        self.assertEqual(sorted(p.name for p in file.parent.iterdir()),
                         ["expected.npy", "grad_output.npy"])

    def test_makes_a_case_once_and_again_when_the_case_file_is_newer(self):
        self.assertIn("1 made, 0 already there", self.run_on([TIES]).stdout)
        file = self.out / "ties" / "expected.npy"
        before = file.stat().st_mtime_ns
        self.assertIn("0 made, 1 already there", self.run_again().stdout)
        self.assertEqual(file.stat().st_mtime_ns, before)
        os.utime(self.cases, ns=(before + 1, before + 1))
        self.assertIn("1 made, 0 already there", self.run_again().stdout)

    def test_makes_a_case_again_when_one_file_is_gone(self):
        self.run_on([TIES])
        (self.out / "ties" / "grad_output.npy").unlink()
        self.assertIn("1 made", self.run_again().stdout)

    def test_a_failing_case_is_named_and_leaves_no_files(self):
        wrong = {**TIES, "id": "wrong", "ref": {**TIES["ref"], "sum": 20.0}}
        done = self.run_on([wrong, TIES])
        self.assertEqual(done.returncode, 1)
        self.assertIn("wrong: sum of the answer is 21.0, ref says 20.0", done.stderr)
        self.assertEqual([p.name for p in self.out.iterdir()], ["ties"])

    def test_only(self):
        refusal = {**TIES, "id": "refusal", "expect": "error 161002"}
        done = self.run_on([TIES, CORNER, refusal], "--only", "corner")
        self.assertEqual(done.returncode, 0)
        self.assertEqual([p.name for p in self.out.iterdir()], ["corner"])
        for name in ("refusal", "unknown"):
            done = self.run_again("--only", name)
            self.assertEqual(done.returncode, 1)
            self.assertIn(name, done.stderr)

    def test_says_which_cases_have_no_data(self):
        done = self.run_on([{**TIES, "id": "refusal", "expect": "error 161002"}])
        self.assertEqual(done.returncode, 0)
        self.assertIn("refusal: error 161002", done.stdout)

    def test_the_script_passes_its_status_on(self):
        done = subprocess.run([HERE / "make_data.py", self.out, "--only", "nothing"],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr),
                         (1, "make_data: no case is named nothing\n"))

    def test_two_cases_of_one_name_are_refused(self):
        self.assertEqual(self.run_on([TIES, TIES]).returncode, 1)


if __name__ == "__main__":
    unittest.main()
