#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The command on PNG and JPEG files, judged by the Python Imaging Library."""

import io
import struct
import subprocess
import unittest
import zlib

import numpy as np
from PIL import Image
from support import BAD_INPUT, DATA, OPSCV, CommandTest, exif_of

PHOTO = DATA / "astronaut.png"


def chunk(kind, data):
    return (struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)))


def png_of(width, height, depth, colour, raw):
    """A PNG file of rows that are given with their filter bytes."""
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw)) +
            chunk(b"IEND", b""))


def pixels(path):
    """Samples as (1, C, H, W)."""
    array = np.asarray(Image.open(path))
    return np.atleast_3d(array).transpose(2, 0, 1)[None]


class Images(CommandTest):
    def resize(self, source, target, size, *options):
        self.opscv("run", "UpsampleBicubic2dAA", "--input", source, "--output", target,
                   "--output_size", size, *options)
        return self.folder / target

    def same_size(self, source, target):
        with Image.open(self.folder / source) as image:
            size = f"{image.height},{image.width}"
        return self.resize(source, target, size)

    def test_the_photo_shrinks_as_pil_shrinks_it(self):
        out = np.load(self.resize(PHOTO, "small.npy", "224,200"))
        self.assertEqual((out.dtype, out.shape), (np.float32, (1, 3, 224, 200)))
        for channel, plane in enumerate(pixels(PHOTO)[0]):
            expected = Image.fromarray(plane.astype("f4")).resize((200, 224), Image.BICUBIC)
            np.testing.assert_allclose(out[0, channel], np.asarray(expected), atol=0.01)

    def test_written_samples_are_rounded_and_clamped(self):
        values = np.array([-3, -0.4, 0.49, 0.51, 1.5, 2.5, 254.4, 254.6, 255.4, 1e9, np.nan,
                           -np.inf, np.inf, 7, 8, 9], "f4").reshape(1, 1, 4, 4)
        self.save("in.npy", values)
        out = pixels(self.resize("in.npy", "out.png", "4,4"))
        expected = [0, 0, 0, 1, 2, 2, 254, 255, 255, 255, 0, 0, 255, 7, 8, 9]
        np.testing.assert_array_equal(out.ravel(), expected)

    def test_every_kind_of_png_is_read(self):
        rgb = self.random.integers(0, 256, (6, 5, 3), np.uint8)
        images = {
            "grey": Image.fromarray(rgb[..., 0]),
            "grey_alpha": Image.fromarray(rgb[..., :2].copy(), "LA"),
            "rgb": Image.fromarray(rgb),
            "rgba": Image.fromarray(np.dstack([rgb, rgb[..., 0]])),
            "bits": Image.fromarray(rgb[..., 0]).convert("1"),
            "palette": Image.fromarray(rgb).convert("P"),
        }
        for name, image in images.items():
            with self.subTest(name):
                image.save(self.folder / f"{name}.png")
                out = np.load(self.same_size(f"{name}.png", f"{name}.npy"))
                plain = image.convert({"bits": "L", "palette": "RGB"}.get(name, image.mode))
                expected = np.atleast_3d(np.asarray(plain)).transpose(2, 0, 1)[None]
                np.testing.assert_array_equal(out, expected)

    def test_png_with_a_transparent_colour_has_alpha(self):
        image = Image.fromarray(self.random.integers(0, 256, (4, 4, 3), np.uint8))
        image.save(self.folder / "t.png", transparency=tuple(map(int, image.getpixel((1, 2)))))
        out = np.load(self.same_size("t.png", "t.npy"))
        self.assertEqual(out.shape, (1, 4, 4, 4))
        self.assertEqual(out[0, 3, 2, 1], 0)

    def test_16_bits_stay_16_bits_from_png_to_png(self):
        samples = self.random.integers(0, 65536, (4, 6), np.uint16)
        raw = b"".join(b"\0" + row.astype(">u2").tobytes() for row in samples)
        (self.folder / "deep.png").write_bytes(png_of(6, 4, 16, 0, raw))
        self.same_size("deep.png", "out.png")
        again = np.asarray(Image.open(self.folder / "out.png"))
        np.testing.assert_array_equal(again, samples)
        values = np.load(self.same_size("deep.png", "out.npy"))
        np.testing.assert_allclose(values[0, 0], samples / 257, rtol=1e-6)

    def test_png_roundtrip_of_all_channel_counts(self):
        for channels in (1, 2, 3, 4):
            values = self.random.integers(0, 256, (1, channels, 5, 7)).astype("f4")
            self.save("in.npy", values)
            out = pixels(self.resize("in.npy", f"{channels}.png", "5,7"))
            np.testing.assert_array_equal(out, values)

    def test_channels_last_arrays_become_the_same_image(self):
        values = self.random.integers(0, 256, (1, 3, 5, 7)).astype("f4")
        self.save("first.npy", values)
        self.save("last.npy", values.transpose(0, 2, 3, 1))
        self.resize("first.npy", "first.png", "4,4")
        self.resize("last.npy", "last.png", "4,4", "--layout", "NHWC")
        self.assertEqual((self.folder / "first.png").read_bytes(),
                         (self.folder / "last.png").read_bytes())

    def test_jpeg_in_and_out(self):
        with Image.open(PHOTO) as photo:
            photo.save(self.folder / "photo.jpg", quality=90)
            photo.convert("L").save(self.folder / "grey.jpeg", quality=90)
        for name, channels in (("photo.jpg", 3), ("grey.jpeg", 1)):
            with self.subTest(name):
                out = np.load(self.same_size(name, "out.npy"))
                self.assertEqual(out.shape, (1, channels, 512, 512))
                self.assertLess(np.abs(out - pixels(self.folder / name)).mean(), 0.5)
                self.resize(name, "small.jpg", "100,120")
                with Image.open(self.folder / "small.jpg") as small:
                    self.assertEqual((small.size, small.mode),
                                     ((120, 100), "RGB" if channels == 3 else "L"))

    def test_an_orientation_is_told_and_not_obeyed(self):
        call = ["run", "UpsampleBicubic2dAA", "--output", "o.npy", "--output_size", "5,5", "--input"]
        plain = Image.fromarray(self.random.integers(0, 256, (20, 30, 3), np.uint8))
        plain.save(self.folder / "plain.jpg")
        self.assertEqual(self.opscv(*call, "plain.jpg")[1], "")
        expected = (self.folder / "o.npy").read_bytes()
        for order, value in ((">", 6), ("<", 8), (">", 1), ("<", 0), (">", 9)):
            with self.subTest(order=order, value=value):
                plain.save(self.folder / "turned.jpg", exif=exif_of(order, value))
                _, err = self.opscv(*call, "turned.jpg")
                told = value in range(2, 9)
                self.assertEqual(err, f"opscv: turned.jpg: its EXIF orientation is {value}, which is "
                                      "not obeyed: pixels are taken as stored\n" if told else "")
                self.assertEqual((self.folder / "o.npy").read_bytes(), expected)
                self.assertEqual(self.opscv(*call, "turned.jpg", "--quiet"), ("", ""))
                with open("/dev/full", "wb") as full:
                    subprocess.run([OPSCV, *call, "turned.jpg"], cwd=self.folder, check=True,
                                   stdout=subprocess.DEVNULL, stderr=full)

    def test_exif_data_that_make_no_sense_say_nothing(self):
        good = exif_of(">", 6)
        plain = Image.new("L", (9, 9))
        for exif in (good[:end] for end in range(6, len(good))):
            plain.save(self.folder / "x.jpg", exif=exif)
            _, err = self.opscv("run", "UpsampleBicubic2dAA", "--input", "x.jpg", "--output",
                                "o.npy", "--output_size", "5,5")
            if len(exif) < 6 + 8 + 2 + 10:  # the value is not in it yet
                self.assertEqual(err, "")

    def test_check_takes_images(self):
        report = self.report("check", "UpsampleBicubic2dAA", "--input", PHOTO, "--output_size",
                             "100,90")
        self.assertTrue(report["bound_kept"])
        self.assertLess(report["error_over_bound"], 1)
        self.assertGreater(report["error_over_bound"], 0)


class Refusals(CommandTest):
    def refuse(self, source, target, says, *options):
        self.refused("run", "UpsampleBicubic2dAA", "--input", source, "--output", target,
                     "--output_size", "4,4", *options, status=BAD_INPUT, says=says)

    def test_gradients_neither_come_from_images_nor_become_some(self):
        call = ["run", "UpsampleBicubic2dAAGrad", "--output_size", "512,512", "--input_size",
                "1,3,9,9"]
        self.refused(*call, "--input", PHOTO, "--output", "g.npy", status=BAD_INPUT,
                     says=["astronaut.png", "gradient"])
        self.save("g.npy", self.normal(1, 3, 512, 512))
        self.refused(*call, "--input", "g.npy", "--output", "g.png", status=BAD_INPUT,
                     says=["g.png", "gradient"])

    def test_a_volume_operator_takes_no_image(self):
        self.refused("run", "UpsampleNearestExact3d", "--input", PHOTO, "--output", "o.npy",
                     "--output_size", "4,4,4", status=BAD_INPUT, says="5 dimensions, got 4")

    def test_shapes_that_no_image_has(self):
        for shape, target in (((2, 3, 4, 4), "o.png"), ((1, 5, 4, 4), "o.png"),
                              ((1, 2, 4, 4), "o.jpg"), ((1, 4, 4, 4), "o.jpg")):
            with self.subTest(shape=shape, target=target):
                self.save("in.npy", np.zeros(shape, "f4"))
                self.refuse("in.npy", target, [target, "(1, C, H, W)"])

    def test_files_that_are_no_images(self):
        whole = PHOTO.read_bytes()
        jpeg = io.BytesIO()
        Image.open(PHOTO).save(jpeg, "JPEG")
        broad = bytearray(jpeg.getvalue())
        frame = broad.index(b"\xff\xc0")
        broad[frame + 5:frame + 9] = struct.pack(">HH", 60000, 60000)
        cmyk = io.BytesIO()
        Image.open(PHOTO).convert("CMYK").save(cmyk, "JPEG")
        flipped = bytearray(whole)
        flipped[len(whole) // 2] ^= 0x40
        bomb = png_of(1 << 20, 1 << 20, 8, 6, b"\0" * 100)
        huge = png_of((1 << 31) - 1, (1 << 31) - 1, 16, 6, b"\0" * 100)
        for name, content, says in (
                ("empty.png", b"", "no sound PNG"), ("text.png", b"hello" * 20, "no sound PNG"),
                ("head.png", whole[:20], "no sound PNG"), ("half.png", whole[:len(whole) // 2], "PNG"),
                ("flipped.png", bytes(flipped), "PNG"), ("bomb.png", bomb, "promises"),
                ("huge.png", huge, "PNG"), ("zero.png", png_of(0, 4, 8, 0, b""), "PNG"),
                ("short.png", png_of(4, 4, 8, 0, b"\0" * 9), "PNG"),
                ("jpeg.png", jpeg.getvalue(), "no sound PNG"),
                ("empty.jpg", b"", "no sound JPEG"), ("png.jpg", whole, "no sound JPEG"),
                ("half.jpg", jpeg.getvalue()[:9000], "no sound JPEG"),
                ("broad.jpg", bytes(broad), "promises 60000 x 60000"),
                ("cmyk.jpg", cmyk.getvalue(), "CMYK")):
            with self.subTest(name):
                (self.folder / name).write_bytes(content)
                self.refuse(name, "o.npy", [name, says])


if __name__ == "__main__":
    unittest.main()
