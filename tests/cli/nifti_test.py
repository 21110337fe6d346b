#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The command on NIfTI files, judged by nibabel: values, geometry, and files that are damaged."""

import gzip
import struct
import unittest

import nibabel
import numpy as np
from support import BAD_INPUT, DATA, USAGE, CommandTest, double, halves, sizes

VOLUME = DATA / "macaque_t1.nii.gz"
SHAPE = (6, 5, 4)  # x, y, z


def affine():
    """Voxels of 0.7 x 1.1 x 2.5, turned about two axes and moved."""
    a, b = 0.3, -0.5
    turn = (np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]]) @
            np.array([[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]]))
    result = np.eye(4)
    result[:3, :3] = turn @ np.diag([-0.7, 1.1, 2.5])
    result[:3, 3] = [12.5, -40, 7]
    return result


def corners(image, matrix):
    """Where the outer corners of the volume lie: they must not move when it is resampled."""
    ends = [(-0.5, extent - 0.5) for extent in image.shape[:3]]
    return np.array([matrix @ (x, y, z, 1) for x in ends[0] for y in ends[1] for z in ends[2]])


class NiftiTest(CommandTest):
    def write(self, name, data, kind=nibabel.Nifti1Image, slope=None, inter=None, header=None):
        image = kind(data, affine(), header, dtype=data.dtype)
        image.set_qform(affine(), 1)
        image.set_sform(affine(), 2)
        image.header.set_xyzt_units("mm", "sec")
        if slope is not None:
            image.header.set_slope_inter(slope, inter)
        nibabel.save(image, self.folder / name)
        return name

    def raw(self, name, data, slope, inter, **options):
        """Writes stored integers as they are, with slope and intercept in the header."""
        self.write(name, data, slope=1, inter=0, **options)
        self.patch(name, {112: struct.pack("<ff", slope, inter)})
        return name

    def patch(self, name, changes, source=None):
        """Changes bytes of an uncompressed file: {offset: bytes}."""
        content = bytearray((self.folder / (source or name)).read_bytes())
        for offset, data in changes.items():
            content[offset:offset + len(data)] = data
        (self.folder / name).write_bytes(content)
        return name

    def enlarge(self, source, target, size, *options):
        self.opscv("run", "UpsampleNearestExact3d", "--input", source, "--output", target,
                   "--output_size", size, *options)
        return nibabel.load(self.folder / target)


class Values(NiftiTest):
    def test_labels_stay_labels(self):
        for dtype in ("u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8"):
            with self.subTest(dtype):
                data = self.random.integers(0, 100, SHAPE).astype(dtype)
                self.write("in.nii", data)
                out = self.enlarge("in.nii", "out.nii", sizes(8, 10, 12))
                self.assertEqual(out.get_data_dtype(), np.dtype(dtype))
                np.testing.assert_array_equal(np.asanyarray(out.dataobj), double(data))

    def test_copied_integers_keep_slope_and_intercept(self):
        data = self.random.integers(-300, 300, SHAPE).astype("i2")
        self.raw("in.nii", data, 0.5, -3)
        out = self.enlarge("in.nii", "out.nii.gz", sizes(8, 10, 12))
        self.assertEqual(out.get_data_dtype(), np.int16)
        np.testing.assert_array_equal(out.get_fdata(), double(data) * 0.5 - 3)

    def test_slope_and_intercept_are_applied_to_floats(self):
        data = self.random.integers(-300, 300, SHAPE).astype("i2")
        self.raw("in.nii", data, 0.25, 10)
        out = self.enlarge("in.nii", "out.nii", sizes(8, 10, 12), "--dtype", "float32")
        self.assertEqual(out.get_data_dtype(), np.float32)
        self.assertEqual((out.dataobj.slope, out.dataobj.inter), (1, 0))
        np.testing.assert_array_equal(out.get_fdata(), double(data) * 0.25 + 10)

    def test_a_slope_that_is_0_or_nan_counts_for_nothing(self):
        data = self.random.integers(0, 300, SHAPE).astype("i2")
        for slope in (0.0, np.nan):
            self.raw("in.nii", data, slope, 5)
            out = self.enlarge("in.nii", "out.nii", sizes(8, 10, 12), "--dtype", "float32")
            np.testing.assert_array_equal(out.get_fdata(), double(data))

    def test_gradients_convert_any_type(self):
        for dtype, expected in (("i2", "f4"), ("u1", "f4"), ("f4", "f4"), ("f8", "f8"),
                                ("i4", "f8")):
            with self.subTest(dtype):
                data = self.random.integers(0, 100, SHAPE).astype(dtype)
                self.write("g.nii", data[..., :4][:, :4])
                self.opscv("run", "UpsampleNearestExact3dGrad", "--input", "g.nii", "--output",
                           "out.nii.gz", "--input_size", sizes(1, 1, 2, 2, 3))
                out = nibabel.load(self.folder / "out.nii.gz")
                self.assertEqual(out.get_data_dtype(), np.dtype(expected))
                volume = data[:, :4].transpose(2, 1, 0)[None, None]
                np.testing.assert_array_equal(out.get_fdata().transpose(2, 1, 0),
                                              halves(volume)[0, 0])

    def test_half_types_are_written_as_float32(self):
        self.write("in.nii", self.normal(*SHAPE))
        out = self.enlarge("in.nii", "out.nii", sizes(4, 5, 6), "--dtype", "float16")
        self.assertEqual(out.get_data_dtype(), np.float32)
        expected = nibabel.load(self.folder / "in.nii").get_fdata().astype("f2")
        np.testing.assert_array_equal(out.get_fdata(), expected)

    def test_big_endian_and_nifti2_are_read(self):
        data = self.normal(*SHAPE)
        plain = self.enlarge(self.write("a.nii", data), "out_a.nii", sizes(8, 10, 12))
        big = nibabel.Nifti1Header(endianness=">")
        two = nibabel.Nifti2Header()
        for name, kind, header in (("b.nii", nibabel.Nifti1Image, big),
                                   ("c.nii.gz", nibabel.Nifti2Image, two)):
            with self.subTest(name):
                self.write(name, data, kind, header=header)
                out = self.enlarge(name, f"out_{name}", sizes(8, 10, 12))
                self.assertIsInstance(out, kind)
                np.testing.assert_array_equal(out.get_fdata(), plain.get_fdata())
                np.testing.assert_allclose(out.affine, plain.affine, atol=1e-5)

    def test_times_and_vectors_are_batch_and_channels(self):
        data = self.random.integers(0, 99, (*SHAPE, 3, 2)).astype("i2")
        out = self.enlarge(self.write("in.nii", data), "out.nii", sizes(4, 5, 12))
        self.assertEqual(out.shape, (12, 5, 4, 3, 2))
        np.testing.assert_array_equal(np.asanyarray(out.dataobj), data.repeat(2, 0))
        self.enlarge("in.nii", "out.npy.nii", sizes(4, 5, 6))
        self.opscv("run", "UpsampleNearestExact3d", "--input", "in.nii", "--output", "out.npy",
                   "--output_size", sizes(4, 5, 6))
        np.testing.assert_array_equal(self.load("out.npy"), data.transpose(4, 3, 2, 1, 0))

    def test_images_are_the_slices_of_a_volume(self):
        data = self.normal(*SHAPE)
        self.write("in.nii", data)
        self.save("in.npy", data.transpose(2, 1, 0)[None])
        for suffix in ("nii", "npy"):
            self.opscv("run", "UpsampleBicubic2dAA", "--input", f"in.{suffix}", "--output",
                       f"out.{suffix}", "--output_size", "7,3")
        out = nibabel.load(self.folder / "out.nii")
        np.testing.assert_array_equal(out.get_fdata().transpose(2, 1, 0)[None],
                                      self.load("out.npy"))
        np.testing.assert_allclose(out.header.get_zooms(), (0.7 * 2, 1.1 * 5 / 7, 2.5), rtol=1e-6)

    def test_arrays_become_volumes(self):
        data = self.normal(2, 3, 4, 5, 6)
        self.save("in.npy", data)
        self.enlarge("in.npy", "out.nii.gz", sizes(4, 5, 6))
        out = nibabel.load(self.folder / "out.nii.gz")
        np.testing.assert_array_equal(out.get_fdata(), data.transpose(4, 3, 2, 1, 0))
        self.save("last.npy", data.transpose(0, 2, 3, 4, 1))
        again = self.enlarge("last.npy", "last.nii", sizes(4, 5, 6), "--layout", "NDHWC")
        np.testing.assert_array_equal(again.get_fdata(), out.get_fdata())
        self.save("small.npy", data[0, 0])
        small = self.enlarge("small.npy", "small.nii", sizes(4, 5, 6))
        self.assertEqual(small.shape, (6, 5, 4))

    def test_long_axes_become_nifti2(self):
        self.save("in.npy", np.arange(40000, dtype="i4").reshape(1, 1, 1, 1, -1))
        out = self.enlarge("in.npy", "out.nii", sizes(1, 1, 40000))
        self.assertIsInstance(out, nibabel.Nifti2Image)
        np.testing.assert_array_equal(np.asanyarray(out.dataobj).ravel(), np.arange(40000))


class Geometry(NiftiTest):
    def check_extent(self, before, after):
        for get in ("get_sform", "get_qform"):
            with self.subTest(get):
                old, new = getattr(before, get)(), getattr(after, get)()
                np.testing.assert_allclose(corners(after, new), corners(before, old), atol=2e-5)
        zooms = np.array(before.header.get_zooms()) * before.shape / after.shape
        np.testing.assert_allclose(after.header.get_zooms(), zooms, rtol=1e-6)
        self.assertEqual(after.header["sform_code"], before.header["sform_code"])
        self.assertEqual(after.header["qform_code"], before.header["qform_code"])
        self.assertEqual(after.header.get_xyzt_units(), before.header.get_xyzt_units())

    def test_the_volume_covers_the_same_space_after_resizing(self):
        before = nibabel.load(self.folder / self.write("in.nii", self.normal(*SHAPE)))
        for size in ((8, 10, 12), (3, 7, 5), (1, 1, 1), (4, 5, 6)):
            with self.subTest(size):
                self.check_extent(before, self.enlarge("in.nii", "out.nii", sizes(*size)))

    def test_and_after_the_gradient(self):
        before = nibabel.load(self.folder / self.write("in.nii", self.normal(*SHAPE)))
        self.opscv("run", "UpsampleNearestExact3dGrad", "--input", "in.nii", "--output", "out.nii",
                   "--input_size", sizes(1, 1, 2, 3, 11))
        self.check_extent(before, nibabel.load(self.folder / "out.nii"))

    def test_real_volume_to_a_spacing(self):
        before = nibabel.load(VOLUME)
        out, _ = self.opscv("run", "UpsampleNearestExact3d", "--input", VOLUME, "--output",
                            "out.nii.gz", "--spacing", "1,1,1")
        self.assertIn("(1, 1, 117, 159, 127) -> (1, 1, 59, 80, 64)", out)
        after = nibabel.load(self.folder / "out.nii.gz")
        self.assertEqual(after.shape, (64, 80, 59))
        self.check_extent(before, after)
        self.assertTrue(set(np.unique(after.get_fdata())) <= set(np.unique(before.get_fdata())))

    def test_spacing_goes_along_x_y_z(self):
        self.write("in.nii", self.normal(*SHAPE))  # 0.7 x 1.1 x 2.5
        self.opscv("run", "UpsampleNearestExact3d", "--input", "in.nii", "--output", "out.nii",
                   "--spacing", "0.35,2.2,1.25")
        self.assertEqual(nibabel.load(self.folder / "out.nii").shape, (12, 3, 8))
        self.opscv("run", "UpsampleBicubic2dAA", "--input", "in.nii", "--output", "out.nii",
                   "--spacing", "0.35,2.2")
        self.assertEqual(nibabel.load(self.folder / "out.nii").shape, (12, 3, 4))

    def test_spacings_that_are_refused(self):
        self.write("in.nii", self.normal(*SHAPE))
        self.save("in.npy", self.normal(1, 1, 4, 4, 4))
        call = ["run", "UpsampleNearestExact3d", "--output", "out.nii"]
        for words, says in ((["--input", "in.nii", "--spacing", "0,1,1"], "above 0"),
                            (["--input", "in.nii", "--spacing", "nan,1,1"], "above 0"),
                            (["--input", "in.nii", "--spacing", "1,1"], "3 numbers, got 2"),
                            (["--input", "in.nii", "--spacing", "1,1,1", "--output_size", "1,1,1"],
                             "the same thing"),
                            (["--input", "in.nii", "--spacing", "1e-300,1,1"], "2^53"),
                            (["--input", "in.npy", "--spacing", "1,1,1"], "NIfTI")):
            with self.subTest(words):
                self.refused(*call, *words, status=USAGE, says=says)


class Damage(NiftiTest):
    def refuse(self, name, says):
        self.refused("run", "UpsampleNearestExact3d", "--input", name, "--output", "out.nii",
                     "--output_size", "4,4,4", status=BAD_INPUT, says=[name, says])

    def test_headers_that_make_no_sense(self):
        self.write("good.nii", self.normal(*SHAPE))

        def floats(*values):
            return struct.pack(f"<{len(values)}f", *values)

        def shorts(*values):
            return struct.pack(f"<{len(values)}h", *values)

        for changes, says in (
                ({0: b"\0\0\0\0"}, "no NIfTI"), ({344: b"abcd"}, "ANALYZE"),
                ({344: b"ni1\0"}, "pair"), ({40: shorts(0)}, "dim[0]"), ({40: shorts(8)}, "dim[0]"),
                ({42: shorts(0)}, "dim[1] = 0"), ({44: shorts(-5)}, "dim[2] = -5"),
                ({40: shorts(7, 6, 5, 4, 1, 1, 2, 1)}, "at most 5 dimensions"),
                ({40: shorts(5, 32767, 32767, 32767, 32767, 32767)}, "2^63"),
                ({42: shorts(32767, 32767)}, "expected"), ({70: shorts(32)}, "COMPLEX64"),
                ({70: shorts(128)}, "RGB24"), ({70: shorts(1536)}, "FLOAT128"),
                ({70: shorts(999)}, "999"), ({80: floats(np.nan)}, "pixdim[1] = nan"),
                ({84: floats(np.inf)}, "pixdim[2] = inf"), ({88: floats(-1)}, "pixdim[3] = -1"),
                ({108: floats(np.nan)}, "vox_offset"), ({108: floats(-352)}, "vox_offset"),
                ({108: floats(100)}, "vox_offset"), ({108: floats(352.5)}, "vox_offset"),
                ({108: floats(1e30)}, "vox_offset"), ({108: floats(100000)}, "holds 0 bytes"),
                ({112: floats(np.inf, 0)}, "slope"), ({112: floats(1, np.nan)}, "intercept"),
                ({256: floats(np.nan)}, "qform"), ({280: floats(np.inf)}, "sform")):
            with self.subTest(changes):
                self.refuse(self.patch("bad.nii", changes, source="good.nii"), says)

    def test_files_that_end_early(self):
        self.write("good.nii", self.normal(*SHAPE))
        whole = (self.folder / "good.nii").read_bytes()
        for length, says in ((0, "no NIfTI"), (3, "no NIfTI"), (347, "NIfTI"), (352, "0 bytes"),
                             (len(whole) - 1, f"expected {4 * 6 * 5 * 4}")):
            with self.subTest(length):
                (self.folder / "cut.nii").write_bytes(whole[:length])
                self.refuse("cut.nii", says)

    def test_compressed_files_that_are_damaged(self):
        self.write("good.nii", self.normal(16, 16, 16))
        packed = gzip.compress((self.folder / "good.nii").read_bytes())
        wrong_sum = bytearray(packed)
        wrong_sum[-8] ^= 1
        garbled = bytearray(packed)
        garbled[len(packed) // 2] ^= 0xFF
        short = gzip.compress((self.folder / "good.nii").read_bytes()[:-100])
        for name, content in (("cut.nii.gz", packed[:len(packed) // 2]),
                              ("tail.nii.gz", packed[:-4]), ("sum.nii.gz", bytes(wrong_sum)),
                              ("garbled.nii.gz", bytes(garbled)), ("short.nii.gz", short),
                              ("empty.nii.gz", b""), ("text.nii.gz", b"hello"),
                              ("head.nii.gz", packed[:15])):
            with self.subTest(name):
                (self.folder / name).write_bytes(content)
                self.refuse(name, name)

    def test_nothing_empty_can_be_written(self):
        self.save("in.npy", np.zeros((0, 1, 2, 2, 2), "f4"))
        self.refused("run", "UpsampleNearestExact3d", "--input", "in.npy", "--output", "out.nii",
                     "--output_size", "4,4,4", status=BAD_INPUT, says=["out.nii", "empty"])


if __name__ == "__main__":
    unittest.main()
