#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The command on .npy files: types, orders, layouts, and files that are not what they say."""

import struct
import unittest

import numpy as np
from support import BAD_INPUT, OK, USAGE, CommandTest, double, halves, sizes

VOLUME = (1, 2, 3, 4, 5)
LARGE = sizes(6, 8, 10)


def header(text, version=1):
    """The beginning of a .npy file with that header text."""
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode("latin1")


def as_bfloat16(values):
    """bfloat16 of float32 values, rounded to nearest-even, as NumPy holds them: raw."""
    bits = values.astype("<f4").view("<u4").astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2").view("V2")


def from_bfloat16(raw):
    return (raw.view("<u2").astype("<u4") << 16).view("<f4")


class Elements(CommandTest):
    def enlarge(self, values, *options):
        source = self.save("in.npy", values)
        self.opscv("run", "UpsampleNearestExact3d", "--input", source, "--output", "out.npy",
                   "--output_size", LARGE, *options)
        return self.load("out.npy")

    def test_every_type_is_copied(self):
        for dtype in ("f8", "f4", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"):
            with self.subTest(dtype):
                raw = self.random.integers(0, 2 if dtype == "?" else 120, VOLUME)
                values = raw.astype(dtype)
                out = self.enlarge(values)
                self.assertEqual(out.dtype, values.dtype)
                np.testing.assert_array_equal(out, double(values))

    def test_64_bit_integers_lose_nothing(self):
        values = self.random.integers(-2**63, 2**63 - 1, VOLUME)
        np.testing.assert_array_equal(self.enlarge(values), double(values))

    def test_the_other_byte_order_is_read(self):
        for dtype in (">f8", ">f4", ">i2"):
            with self.subTest(dtype):
                values = self.random.integers(0, 99, VOLUME).astype(dtype)
                np.testing.assert_array_equal(self.enlarge(values), double(values))

    def test_bfloat16_is_raw_with_a_word(self):
        raw = as_bfloat16(self.normal(*VOLUME))
        out = self.enlarge(raw, "--dtype", "bfloat16")
        self.assertEqual(out.dtype, np.dtype("V2"))
        np.testing.assert_array_equal(out.view("<u2"), double(raw.view("<u2")))
        self.assertIn(b"'descr': '<V2'", (self.folder / "out.npy").read_bytes()[:128])

    def test_raw_data_without_the_word_are_refused(self):
        source = self.save("in.npy", as_bfloat16(self.normal(*VOLUME)))
        self.refused("run", "UpsampleNearestExact3d", "--input", source, "--output", "out.npy",
                     "--output_size", LARGE, status=BAD_INPUT, says=[source, "--dtype bfloat16"])

    def test_conversions_round_once_to_nearest_even(self):
        values = np.concatenate([
            self.normal(1000, dtype="f8"),  # and values half way, next to it, and at the ends
            [1 + 2**-11 + 2**-40, 1 + 2**-11, 1 + 3 * 2**-11, 2**-24 * 0.5000001, 65519.99, 65520,
             np.inf, -np.inf, np.nan, -0.0]])
        values = values.reshape(1, 1, 1, 1, -1)
        source = self.save("in.npy", values)
        same = sizes(*values.shape[2:])
        for dtype in ("float16", "float32", "float64"):
            with self.subTest(dtype), np.errstate(over="ignore"):
                expected = values.astype(dtype)
                self.opscv("run", "UpsampleNearestExact3d", "--input", source, "--output",
                           "out.npy", "--output_size", same, "--dtype", dtype)
                np.testing.assert_array_equal(self.load("out.npy"), expected)

    def test_integers_become_floats_on_demand_only(self):
        source = self.save("in.npy", np.arange(60, dtype="u1").reshape(1, 1, 6, 10))
        call = ["run", "UpsampleBicubic2dAA", "--input", source, "--output", "out.npy",
                "--output_size", "3,5"]
        self.refused(*call, status=BAD_INPUT, says=[source, "uint8", "--dtype float32"])
        self.opscv(*call, "--dtype", "float32")
        self.assertEqual(self.load("out.npy").dtype, np.float32)


class Order(CommandTest):
    def shrink(self, values, name, *options):
        source = self.save("in.npy", values)
        self.opscv("run", "UpsampleBicubic2dAA", "--input", source, "--output", name,
                   "--output_size", "5,7", *options)
        return self.load(name)

    def test_fortran_order_gives_the_same_bits_and_stays(self):
        values = self.normal(2, 3, 11, 13)
        c = self.shrink(values, "c.npy")
        f = self.shrink(np.asfortranarray(values), "f.npy")
        self.assertTrue(f.flags.f_contiguous)
        np.testing.assert_array_equal(f, c)

    def test_channels_last_gives_the_same_bits(self):
        values = self.normal(2, 3, 11, 13)
        first = self.shrink(values, "first.npy")
        last = self.shrink(values.transpose(0, 2, 3, 1), "last.npy", "--layout", "nhwc")
        np.testing.assert_array_equal(last, first.transpose(0, 2, 3, 1))

    def test_channels_last_gradient_of_volumes(self):
        values = self.normal(2, 3, 4, 6, 8)
        source = self.save("in.npy", values.transpose(0, 2, 3, 4, 1))
        self.opscv("run", "UpsampleNearestExact3dGrad", "--input", source, "--output", "out.npy",
                   "--input_size", sizes(2, 3, 2, 3, 4), "--layout", "NDHWC")
        expected = halves(values).transpose(0, 2, 3, 4, 1)
        np.testing.assert_allclose(self.load("out.npy"), expected, atol=1e-5)

    def test_missing_leading_dimensions_are_one(self):
        volume = self.random.integers(0, 99, (3, 4, 5)).astype("i2")
        source = self.save("in.npy", volume)
        self.opscv("run", "UpsampleNearestExact3d", "--input", source, "--output", "out.npy",
                   "--output_size", LARGE)
        np.testing.assert_array_equal(self.load("out.npy"), double(volume))

    def test_an_empty_batch_gives_an_empty_file(self):
        source = self.save("in.npy", np.zeros((0, 3, 4, 5), "f4"))
        self.opscv("run", "UpsampleBicubic2dAA", "--input", source, "--output", "out.npy",
                   "--output_size", "8,9")
        self.assertEqual(self.load("out.npy").shape, (0, 3, 8, 9))
        out, _ = self.opscv("check", "UpsampleBicubic2dAA", "--input", source, "--output_size",
                            "8,9")
        self.assertIn("nothing to check", out)


class Header(CommandTest):
    """Files are given as bytes; what is refused names the file in one line."""

    GOOD = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 2, 2), }\n"
    PIXELS = np.arange(4, dtype="<f4").tobytes()

    def shrink(self, content):
        (self.folder / "x.npy").write_bytes(content)
        return ["run", "UpsampleBicubic2dAA", "--input", "x.npy", "--output", "out.npy",
                "--output_size", "1,1"]

    def test_all_versions_and_spellings_are_read(self):
        for version in (1, 2, 3):
            for text in (self.GOOD,
                         '{"shape":(1,1,2,2),"descr":"<f4","fortran_order":False}',
                         "{'shape': (1L, 1L, 2L, 2L), 'fortran_order': False, 'descr': '<f4'}"):
                with self.subTest(version=version, text=text):
                    self.opscv(*self.shrink(header(text, version) + self.PIXELS))

    def test_data_behind_the_array_are_left_alone(self):
        self.opscv(*self.shrink(header(self.GOOD) + self.PIXELS + b"more"))

    def test_malformed_headers_are_refused(self):
        def shaped(shape):
            return header(f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}")

        def typed(descr):
            return header(f"{{'descr': {descr}, 'fortran_order': False, 'shape': (1, 1, 2, 2)}}")

        whole = header(self.GOOD)
        for content, says in (
                (b"", "does not begin"), (b"\x93NUMP", "does not begin"), (whole[:8], "begin"),
                (b"PK\x03\x04" + bytes(60), "does not begin"), (whole[:40], "ends after 40 bytes"),
                (header(self.GOOD, 4), "version 4.0"),
                (header("", 2)[:8] + b"\xff\xff\xff\xff", "header of 4294967295 bytes"),
                (whole, "holds 0 bytes of data; expected 16"),
                (whole + self.PIXELS[:15], "holds 15 bytes of data; expected 16"),
                (header("{}"), "malformed"), (header("x" * 40), "malformed"),
                (header(self.GOOD[:-3]), "malformed"), (header(self.GOOD + "x"), "malformed"),
                (header(self.GOOD.replace("'shape'", "'shapes'")), "malformed"),
                (header("{'descr': '<f4', 'descr': '<f4'}"), "malformed"),
                (header("{'descr': '<f4"), "malformed"),
                (shaped("(1, -1, 2, 2)"), "malformed"), (shaped("(1, 1, 2, 2"), "malformed"),
                (shaped("(1, 1.0, 2, 2)"), "malformed"), (shaped("[1, 1, 2, 2]"), "malformed"),
                (shaped(f"({'1,' * 9})"), "at most 8 dimensions"),
                (shaped("(9223372036854775808, 1)"), "malformed"),
                (shaped("(4294967296, 4294967296, 2, 2)"), "2^63 bytes"),
                (shaped("(1099511627776, 1, 2, 2)"), "holds 16 bytes"),
                (shaped("()"), "4 dimensions"), (shaped("(4,)"), "4 dimensions"),
                (shaped("(1, 1, 1, 2, 2)"), "4 dimensions"),
                (typed("'<c8'"), "type 'c8'"), (typed("'<f16'"), "type 'f16'"),
                (typed("'|O'"), "type 'O'"), (typed("'<U3'"), "type 'U3'"),
                (typed("'f4'"), "'f4'"), (typed("''"), "''"), (typed("'<V4'"), "V4"),
                (typed("[('x', '<f4')]"), "malformed")):
            with self.subTest(content=content[:80]):
                data = b"" if "data" in says or len(content) < 60 else self.PIXELS
                self.refused(*self.shrink(content + data), status=BAD_INPUT, says=["x.npy", says])

    def test_an_empty_batch_may_have_absurd_extents(self):
        for shape, status in (("0, 3, 1099511627776, 1099511627776", OK),
                              ("3, 0, 4611686018427387904, 8", OK),
                              ("0, 4611686018427387904, 8", OK),
                              ("0, 4611686018427387904", BAD_INPUT)):
            for order in (True, False):
                with self.subTest(shape=shape, fortran=order):
                    run = self.shrink(header(
                        f"{{'descr': '<f8', 'fortran_order': {order}, 'shape': ({shape})}}"))
                    self.opscv(*run, status=status)
                    self.opscv("check", *run[1:4], "--output_size", "1,1", status=status)

    def test_no_spatial_extent_may_be_zero(self):
        text = self.GOOD.replace("(1, 1, 2, 2)", "(1, 1, 0, 2)")
        self.refused(*self.shrink(header(text)), status=BAD_INPUT, says="self.shape[2]")


class Attributes(CommandTest):
    def test_align_corners_with_and_without_a_word(self):
        source = self.save("in.npy", self.normal(1, 1, 8, 9))
        results = []
        for name, words in (("a", ["--align_corners"]), ("b", ["--align_corners", "true"]),
                            ("c", ["--align_corners=1"]), ("d", ["--align_corners", "false"]),
                            ("e", [])):
            self.opscv("run", "UpsampleBicubic2dAA", *words, "--input", source, "--output",
                       f"{name}.npy", "--output_size", "5,6")
            results.append(self.load(f"{name}.npy").tobytes())
        self.assertEqual(len({results[0], results[1], results[2]}), 1)
        self.assertEqual(results[3], results[4])
        self.assertNotEqual(results[0], results[3])

    def test_lists_take_commas_or_spaces_and_names_take_dashes(self):
        source = self.save("in.npy", self.normal(1, 1, 8, 9))
        for words in (["--output_size", "4,3"], ["--output_size", "4", "3"],
                      ["--output-size=4,3"], ["--output_size", "4,", "3"],
                      ["--output_size", "4", ",3"]):
            with self.subTest(words):
                self.opscv("run", "upsamplebicubic2daa", *words, "--input", source, "--output",
                           "out.npy")
                self.assertEqual(self.load("out.npy").shape, (1, 1, 4, 3))

    def test_the_rules_differ_where_they_should(self):
        source = self.save("in.npy", np.arange(2, dtype="f4").reshape(1, 1, 1, 1, 2))
        sums = {}
        for rule in ("ascend", "torch_cpu", "exact"):
            self.opscv("run", "UpsampleNearestExact3d", "--input", source, "--output", "out.npy",
                       "--output_size", "1,1,41", "--rule", rule)
            sums[rule] = self.load("out.npy").sum()
        # Sample 20 lies at (20 + 0.5) * 2 / 41 = 1, which float32 misses from below.
        self.assertEqual(sums, {"ascend": 21, "torch_cpu": 20, "exact": 21})

    def test_scales_are_obeyed(self):
        source = self.save("in.npy", self.normal(1, 1, 10, 10))
        for name, words in (("plain", []), ("scaled", ["--scales_h", "0.55", "--scales_w=.55"])):
            self.opscv("run", "UpsampleBicubic2dAA", "--input", source, "--output", f"{name}.npy",
                       "--output_size", "5,5", *words)
        self.assertFalse(np.array_equal(self.load("plain.npy"), self.load("scaled.npy")))
        self.refused("run", "UpsampleBicubic2dAA", "--input", source, "--output", "no.npy",
                     "--output_size", "5,5", "--scales_h", "0.7", status=BAD_INPUT,
                     says=["output_size[0]", "scales_h"])

    def test_words_that_are_no_values(self):
        source = self.save("in.npy", self.normal(1, 1, 8, 9))
        call = ["run", "UpsampleBicubic2dAA", "--input", source, "--output", "out.npy"]
        size = ["--output_size", "4,4"]
        for words, says in ((["--output_size", "4,x"], ["--output_size", "'4,x'"]),
                            (["--output_size", "4,4.5"], ["--output_size", "'4,4.5'"]),
                            (["--output_size", "4,,4"], ["--output_size", "'4,,4'"]),
                            (["--output_size", "4,4,"], ["--output_size", "'4,4,'"]),
                            (["--output_size", "99999999999999999999,1"], "--output_size"),
                            ([*size, "--scales_h", "two"], ["--scales_h", "'two'"]),
                            ([*size, "--align_corners", "maybe"], ["--align_corners", "'maybe'"]),
                            ([*size, "--layout", "CHWN"], ["--layout", "NHWC", "'CHWN'"]),
                            ([*size, "--dtype", "int8"], ["--dtype", "bfloat16", "'int8'"]),
                            ([*size, "--rule", "exact"], "--rule"),
                            ([*size, "--spacing", "0,1"], ["--spacing", "above 0"]),
                            ([*size, "--nonsense"], "--nonsense"),
                            ([*size, "--spacing", "1,1"], "--spacing"),
                            ([], "--output_size is required")):
            with self.subTest(words):
                self.refused(*call, *words, status=USAGE, says=says)

    def test_values_that_the_operator_refuses(self):
        source = self.save("in.npy", self.normal(1, 1, 8, 9))
        call = ["run", "UpsampleBicubic2dAA", "--input", source, "--output", "out.npy"]
        for words, says in ((["--output_size", "4"], "output_size must have 2 elements, got 1"),
                            (["--output_size", "4,0"], "output_size[1] must be > 0, got 0"),
                            (["--output_size", "-4,5"], "output_size[0] must be > 0, got -4"),
                            (["--output_size", "9223372036854775807,9223372036854775807"],
                             "2^63 bytes"),
                            (["--output_size", "4,4", "--scales_h", "nan"], "scales_h"),
                            (["--output_size", "4,4", "--scales_w", "-1"], "scales_w")):
            with self.subTest(words):
                self.refused(*call, *words, status=BAD_INPUT, says=says)


if __name__ == "__main__":
    unittest.main()
