#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The subcommands that compute no output: list, plan, bench, targets, gen, compare; the man page."""

import json
import os
import subprocess
import unittest

import numpy as np
from support import BAD_INPUT, CANNOT_WRITE, FAILED_CHECK, OPSCV, ROOT, CommandTest, halves, sizes

OPERATORS = ["UpsampleBicubic2dAA", "UpsampleBicubic2dAAGrad", "UpsampleNearestExact3d",
             "UpsampleNearestExact3dGrad"]


class List(CommandTest):
    def test_every_operator_is_listed(self):
        out, _ = self.opscv("list")
        for name in OPERATORS:
            self.assertRegex(out, rf"(?m)^{name} +[45] .*float32.*N.*HW,N.*HWC ")

    def test_long_has_the_attributes_and_products(self):
        out, _ = self.opscv("list", "--long")
        for part in ("aclnnUpsampleNearestExact3dBackward", "scalesD, scalesH, scalesW",
                     "{0.0, 0.0, 0.0}", "LISTINT", "align_corners", "Ascend910_93",
                     "Atlas inference series", "gradOutput"):
            self.assertIn(part, out)

    def test_json_names_the_options_that_run_takes(self):
        for operator in self.report("list"):
            out, _ = self.opscv("run", operator["name"], "--help")
            for attribute in operator["attributes"]:
                self.assertIn(f"--{attribute['name']} ", out)
            self.assertEqual("--rule" in out, operator["takes_rule"])


class Plan(CommandTest):
    def test_a_shrinking_photo(self):
        report = self.report("plan", "UpsampleBicubic2dAAGrad", "--output_size", "224,100",
                             "--input_size", "2,3,512,100")
        self.assertEqual(report["input_shape"], [2, 3, 224, 100])
        height, width = report["axes"]
        self.assertEqual((height["before"], height["after"]), (512, 224))
        self.assertAlmostEqual(height["scale"], 512 / 224)
        self.assertAlmostEqual(height["inverse"], 224 / 512)
        self.assertAlmostEqual(height["support"], 2 * 512 / 224)
        self.assertTrue(width["identity"])
        self.assertEqual(report["passes"], [{"axes": "H", "most_taps": [4]}])
        self.assertEqual(report["block_count"], len(report["blocks"]))
        elements = sum(np.prod([end - begin for begin, end in block.values()])
                       for block in report["blocks"])
        self.assertEqual(elements, 2 * 3 * 512 * 100)
        self.assertNotIn("rule", report)
        self.assertTrue(any(choice.startswith("stores: ") for choice in report["choices"]))
        self.assertGreater(report["estimated_seconds"], 0)

    def test_a_volume_tells_its_rule(self):
        words = ["plan", "UpsampleNearestExact3dGrad", "--shape", "1,2,8,9,10", "--input_size",
                 "1,2,4,9,3", "--rule", "exact"]
        report = self.report(*words)
        self.assertEqual(report["rule"], "exact")
        self.assertEqual([axis["scale"] for axis in report["axes"]], [0.5, 1, 0.3])
        self.assertEqual([p["axes"] for p in report["passes"]], ["DH", "W"])
        out, _ = self.opscv(*words)
        for part in ("rule: exact", "pass 1: along DH, at most 2 x 1 taps", "axis H", "identity",
                     "stores: ", "estimate: ", "blocks: ", "block 0: planes [0, ", "workspace: ", "SIMD target: "):
            self.assertIn(part, out)

    def test_a_copy_has_no_pass(self):
        out, _ = self.opscv("plan", "UpsampleNearestExact3d", "--shape", "1,1,2,2,2",
                            "--output_size", "3,3,3")
        self.assertIn("no pass", out)

    def test_a_file_gives_its_shape_and_type(self):
        self.save("in.npy", self.normal(1, 2, 3, 4, dtype="f8"))
        report = self.report("plan", "UpsampleBicubic2dAA", "--input", "in.npy", "--output_size",
                             "5,6")
        self.assertEqual((report["dtype"], report["input_shape"]), ("float64", [1, 2, 3, 4]))

    def test_sizes_beyond_any_memory_can_be_planned(self):
        report = self.report("plan", "UpsampleBicubic2dAA", "--shape", "1000000,1000000,512,512",
                             "--output_size", "224,224")
        self.assertGreater(report["block_count"], 10**11)
        self.assertEqual(len(report["blocks"]), 10000)
        self.refused("plan", "UpsampleBicubic2dAA", "--shape",
                     sizes(2**40, 2**40, 512, 512), "--output_size", "224,224", status=BAD_INPUT,
                     says="2^63")


class Bench(CommandTest):
    def test_it_measures(self):
        for name, words in ((OPERATORS[0], ["--shape", "1,3,64,64", "--output_size", "32,32"]),
                            (OPERATORS[1], ["--output_size", "32,32", "--input_size", "1,3,64,64"]),
                            (OPERATORS[3], ["--shape", "1,1,8,8,8", "--input_size", "1,1,4,4,4",
                                            "--dtype", "bfloat16"])):
            with self.subTest(name):
                report = self.report("bench", name, *words, "--seconds", "0.01", "--threads", "2")
                self.assertGreaterEqual(report["runs"], 5)
                self.assertEqual(report["threads"], 2)
                self.assertLessEqual(report["best_milliseconds"], report["median_milliseconds"])
                self.assertGreater(report["best_gigabytes_per_second"], 0)
        self.save("in.npy", self.normal(1, 1, 9, 9))
        out, _ = self.opscv("bench", OPERATORS[0], "--input", "in.npy", "--output_size", "4,4",
                            "--seconds", "0")
        self.assertRegex(out, r"best .* ms, .* GB/s; median .* ms, .* GB/s")


class Targets(CommandTest):
    def test_the_pinned_target_is_marked(self):
        targets = self.report("targets")["targets"]
        for target in targets:
            environment = {**os.environ, "OPSCV_TARGET": target, "OPSCV_THREADS": "3"}
            out, _ = self.opscv("targets", env=environment)
            self.assertIn(f"* {target}\n", out)
            self.assertIn("threads: 3\n", out)


class Compare(CommandTest):
    def compare(self, a, b, *words, status=0):
        self.save("a.npy", a)
        self.save("b.npy", b)
        out, _ = self.opscv("compare", "a.npy", "b.npy", *words, "--json", status=status)
        return json.loads(out)

    def test_equal_tensors(self):
        values = self.normal(2, 3, 4, 5)
        values[0, 0, 0, :3] = np.nan, np.inf, -np.inf
        report = self.compare(values, np.asfortranarray(values))
        self.assertEqual((report["elements"], report["beyond_tolerance"]), (120, 0))
        self.compare(values, values.astype("f8"))
        self.compare(np.zeros((0, 3)), np.zeros((0, 3)))

    def test_the_worst_element_is_named(self):
        a = self.normal(3, 40, 50, dtype="f8")
        b = a.copy()
        b[1, 7, 9] += 1
        b[2, 3, 4] -= 0.125
        report = self.compare(a, b, "--atol", "0.01", status=FAILED_CHECK)
        self.assertEqual(report["beyond_tolerance"], 2)
        self.assertEqual(report["worst_at"], [1, 7, 9])
        self.assertAlmostEqual(report["difference"], 1)
        self.assertEqual((report["a"], report["b"]), (a[1, 7, 9], b[1, 7, 9]))
        self.compare(a, b, "--atol", "1.01")
        out, _ = self.opscv("compare", "a.npy", "b.npy", status=FAILED_CHECK)
        self.assertIn("worst at (1, 7, 9)", out)

    def test_tolerances_add_up(self):
        a, b = np.full((1, 1), 110.0), np.full((1, 1), 100.0)
        self.compare(a, b, "--rtol", "0.1001")
        self.compare(a, b, "--rtol", "0.05", "--atol", "5.001")
        self.compare(a, b, "--rtol", "0.0999", status=FAILED_CHECK)

    def test_non_finite_values_differ_from_others(self):
        for a, b in ((np.nan, 1), (1, np.nan), (np.inf, 1), (np.inf, -np.inf), (np.inf, np.nan)):
            with self.subTest(a=a, b=b):
                self.compare(np.full((2, 2), a), np.full((2, 2), b), "--atol", "1e300",
                             status=FAILED_CHECK)

    def test_wide_integers_are_compared_exactly(self):
        a = np.array([[2**62]])
        self.compare(a, a + 1, status=FAILED_CHECK)
        self.compare(a, a)

    def test_formats_mix(self):
        values = self.random.integers(0, 256, (1, 3, 6, 7)).astype("f4")
        self.save("a.npy", values)
        self.opscv("run", OPERATORS[0], "--input", "a.npy", "--output", "a.png", "--output_size",
                   "6,7")
        self.opscv("compare", "a.npy", "a.png")
        self.opscv("compare", "a.png", "a.npy")
        volume = self.normal(1, 1, 4, 5, 6)
        self.save("v.npy", np.asfortranarray(volume))
        self.opscv("run", OPERATORS[2], "--input", "v.npy", "--output", "v.nii.gz", "--output_size",
                   "4,5,6")
        for pair in (("v.npy", "v.nii.gz"), ("v.nii.gz", "v.npy"), ("v.nii.gz", "v.nii.gz")):
            self.opscv("compare", *pair)

    def test_shapes_must_agree(self):
        self.save("a.npy", np.zeros((2, 3)))
        self.save("b.npy", np.zeros((3, 2)))
        self.refused("compare", "a.npy", "b.npy", status=BAD_INPUT, says=["b.npy", "(3, 2)"])


class Gen(CommandTest):
    CASES = [
        {"id": "sum", "op": "UpsampleNearestExact3dGrad", "dtype": "float32",
         "grad_output_shape": [1, 2, 2, 4, 2], "input_size": [1, 2, 1, 2, 1],
         "output_size": [2, 4, 2], "scales": [None, None, None], "align_corners": None,
         "data": "arange", "expect": "exact"},
        {"id": "cubic", "op": "UpsampleBicubic2dAAGrad", "dtype": "bfloat16",
         "grad_output_shape": [1, 1, 4, 2], "input_size": [1, 1, 8, 4], "output_size": [4, 2],
         "align_corners": False, "scales": [0.5, 0.5], "data": "arange mod 3, nan at [0, 0, 3, 1]",
         "expect": "nanmask"},
        {"id": "drawn", "op": "UpsampleBicubic2dAAGrad", "dtype": "float32",
         "grad_output_shape": [1, 1, 4, 2], "input_size": [1, 1, 8, 4], "output_size": [4, 2],
         "align_corners": True, "scales": [None, None], "data": "randn seed 5", "expect": "torch64"},
        {"id": "wrong", "op": "UpsampleBicubic2dAAGrad", "dtype": "float32",
         "grad_output_shape": [1, 1, 0, 2], "input_size": [1, 1, 8, 4], "output_size": [0, 2],
         "align_corners": True, "scales": [None, None], "data": "ones", "expect": "error 161002"}]

    def gen(self, cases, *words, **options):
        (self.folder / "cases.json").write_text(json.dumps(cases))
        output = [] if any(word.startswith("--output") for word in words) else ["--output", "out"]
        return self.opscv("gen", "cases.json", *output, *words, **options)

    def test_inputs_and_answers(self):
        out, _ = self.gen(self.CASES)
        self.assertIn("2 cases written", out)
        self.assertIn("drawn: nothing written", out)
        self.assertIn("wrong: nothing written: a refusal is expected", out)
        grad = self.load("out/sum/grad_output.npy")
        np.testing.assert_array_equal(grad.ravel(), np.arange(1, 33))
        expected = self.load("out/sum/expected.npy")
        self.assertEqual(expected.dtype, np.float64)
        np.testing.assert_array_equal(expected, halves(grad))
        raw = self.load("out/cubic/grad_output.npy")
        self.assertEqual(raw.dtype, np.dtype("V2"))
        self.assertTrue(np.isnan(self.load("out/cubic/expected.npy")).any())
        self.opscv("run", "UpsampleNearestExact3dGrad", "--input", "out/sum/grad_output.npy",
                   "--input_size", "1,2,1,2,1", "--output", "engine.npy")
        self.opscv("compare", "engine.npy", "out/sum/expected.npy")

    def test_drawn_data_come_from_a_folder(self):
        os.makedirs(self.folder / "data" / "drawn")
        values = self.normal(1, 1, 4, 2)
        self.save("data/drawn/grad_output.npy", values)
        self.gen(self.CASES, "--data", "data", "--case", "drawn")
        np.testing.assert_array_equal(self.load("out/drawn/grad_output.npy"), values)
        self.opscv("run", "UpsampleBicubic2dAAGrad", "--input", "out/drawn/grad_output.npy",
                   "--output_size", "4,2", "--input_size", "1,1,8,4", "--align_corners",
                   "--output", "engine.npy")
        self.opscv("compare", "engine.npy", "out/drawn/expected.npy", "--atol", "1e-6")

    def test_files_that_are_no_cases(self):
        def refused(cases, says):
            self.gen(cases, status=BAD_INPUT)
            _, err = self.gen(cases, status=BAD_INPUT)
            self.assertIn(says, err)

        refused({"id": "x"}, "no JSON array")
        refused([{"id": "../x"}], "'../x'")
        refused([3], "has the id ''")
        refused([{"id": "x", "op": "Fly"}], "Fly")
        refused([{"id": "x", "op": OPERATORS[1]}], "grad_output_shape")
        for data in ("noise", "arange mod 0", "arange mod 99999999999999999999", "const 1.2.3",
                     "half +1 half -9.9.9", "ones, nan at [0]", "ones, inf at [0, 0, 0, 4, 0]",
                     "ones, nan at [0, 0, 0, 0, 4611686018427387904]"):
            refused([{**self.CASES[0], "data": data}], f"data '{data}")
        refused([{**self.CASES[0], "id": 5}], "has the id ''")
        for name, says in ((".", "a directory"), ("none.json", "No such file")):
            self.refused("gen", name, "--output", "out", status=BAD_INPUT, says=[name, says])
        (self.folder / "file").write_bytes(b"")
        _, err = self.gen(self.CASES[:1], "--output=file/x", status=CANNOT_WRITE)
        self.assertIn("file/x", err)
        refused([], "no such case")
        self.assertFalse((self.folder / "out" / "x").exists())


class Pages(CommandTest):
    def test_completion(self):
        def answers(*words):
            return self.opscv("complete", "--", *words)[0].split()

        self.assertEqual(answers("comp"), ["compare"])
        self.assertEqual(answers("run", ""), OPERATORS)
        self.assertEqual(answers("run", OPERATORS[3], "--in"), ["--input", "--input_size"])
        self.assertEqual(answers("run", OPERATORS[3], "--input", ""), [])

    def test_completion_in_bash(self):
        script = (f'source {ROOT}/cli/completion.bash; COMP_WORDS=({OPSCV} plan UpsampleN); '
                  'COMP_CWORD=2; _opscv; echo "${COMPREPLY[@]}"')
        out = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(out.stdout.split(), OPERATORS[2:])

    def test_the_man_page_knows_every_option(self):
        page, _ = self.opscv("man")
        self.assertTrue(page.startswith(".TH OPSCV 1"))
        for operator in self.report("list"):
            self.assertIn(operator["name"], page)
            for attribute in operator["attributes"]:
                self.assertIn(f"\\-\\-{attribute['name']}", page)
        for part in ("EXIT STATUS", "\\-\\-memory", "\\-\\-spacing", "OPSCV_THREADS"):
            self.assertIn(part, page)


if __name__ == "__main__":
    unittest.main()
