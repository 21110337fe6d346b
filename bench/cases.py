# SPDX-License-Identifier: Apache-2.0
"""What is measured: shapes from the operators' shapes.txt, times types, layouts and directions."""

import dataclasses
import math
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
L2_BYTES = 2 << 20  # a working set below this says nothing of memory

DTYPES = ("float32", "float16", "bfloat16")
BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}
DIRECTIONS = ("gradient", "forward")


@dataclasses.dataclass(frozen=True)
class Pair:
    letter: str
    operator: str  # the gradient's name is this and "Grad"
    folder: str
    axes: int

    def layouts(self):
        return ("NCHW", "NHWC") if self.axes == 2 else ("NCDHW", "NDHWC")


PAIRS = {
    "A": Pair("A", "UpsampleBicubic2dAA", "upsample_bicubic2d_aa", 2),
    "B": Pair("B", "UpsampleNearestExact3d", "upsample_nearest_exact3d", 3),
}


@dataclasses.dataclass(frozen=True)
class Case:
    pair: Pair
    before: tuple  # N, C and the extents before the forward operator
    after: tuple  # the extents after it
    direction: str
    dtype: str
    layout: str

    @property
    def gradient(self):
        return self.direction == "gradient"

    @property
    def operator(self):
        return self.pair.operator + ("Grad" if self.gradient else "")

    @property
    def channels_last(self):
        return self.layout.endswith("C")

    @property
    def small(self):
        """The whole shape after the forward operator."""
        return self.before[:2] + self.after

    @property
    def input_shape(self):
        return self.small if self.gradient else self.before

    @property
    def output_shape(self):
        return self.before if self.gradient else self.small

    def elements(self):
        return math.prod(self.input_shape), math.prod(self.output_shape)

    def input_bytes(self):
        return self.elements()[0] * BYTES[self.dtype]

    def output_bytes(self):
        return self.elements()[1] * BYTES[self.dtype]

    def tiny(self):
        """So little work that the call itself is what is measured."""
        return self.input_bytes() + self.output_bytes() < 4096

    def in_cache(self):
        return self.input_bytes() + self.output_bytes() < L2_BYTES

    def shape_name(self):
        arrow = "<-" if self.gradient else "->"
        return f"({','.join(map(str, self.before))}) {arrow} ({','.join(map(str, self.after))})"

    def name(self):
        return f"{self.pair.letter} {self.direction} {self.dtype} {self.layout} {self.shape_name()}"


def read_shapes(pair):
    path = ROOT / "src" / "ops" / pair.folder / "shapes.txt"
    for line in path.read_text().splitlines():
        values = tuple(map(int, line.partition("#")[0].split()))
        if values:
            yield values[:2 + pair.axes], values[2 + pair.axes:]


def add_options(parser, threads):
    """Which cases to measure, on how many threads."""
    words = lambda text: text.split(",")  # noqa: E731
    parser.add_argument("--only", type=words, default=list(PAIRS), help="pairs: A, B or A,B")
    parser.add_argument("--shape", help="only shapes that hold this text, such as 512,512")
    parser.add_argument("--threads", type=lambda text: [int(word) for word in text.split(",")],
                        default=threads)
    parser.add_argument("--dtype", type=words, default=list(DTYPES))
    parser.add_argument("--direction", type=words, default=list(DIRECTIONS))
    parser.add_argument("--layout", type=words, default=[], help="such as NCHW,NCDHW")


def chosen(options):
    """In an order that keeps the cases of one shape together."""
    for pair in (PAIRS[letter] for letter in options.only):
        for before, after in read_shapes(pair):
            if options.shape and options.shape not in ",".join(map(str, before)):
                continue
            for direction in options.direction:
                for layout in pair.layouts():
                    for dtype in options.dtype:
                        if not options.layout or layout in options.layout:
                            yield Case(pair, before, after, direction, dtype, layout)
