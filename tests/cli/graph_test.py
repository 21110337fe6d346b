#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""opscv graph: check, show and run, on files of every kind; refusals that leave nothing."""

import itertools
import json
import os
import resource
import unittest

import nibabel
import numpy as np
from PIL import Image
from support import (BAD_INPUT, CANNOT_WRITE, DATA, INTERRUPTED, ROOT, USAGE, CommandTest, double,
                     halves, sizes)

PHOTO_PAIR = ROOT / "examples" / "graphs" / "photo_pair.json"
SHRINK, SHRINK_GRAD = "UpsampleBicubic2dAA", "UpsampleBicubic2dAAGrad"
NEAREST, NEAREST_GRAD = "UpsampleNearestExact3d", "UpsampleNearestExact3dGrad"


def node(name, op, source, rule=None, **attrs):
    value = {"name": name, "op": op, "attrs": attrs,
             "inputs": {"grad_output" if op.endswith("Grad") else "self": source}}
    return {**value, "rule": rule} if rule else value


class GraphTest(CommandTest):
    def write(self, inputs, nodes, outputs, name="graph.json"):
        """A graph whose outputs show the nodes of those names."""
        graph = {"opscv_graph": 1, "inputs": inputs, "nodes": nodes,
                 "outputs": [{"name": key, "source": value} for key, value in outputs.items()]}
        (self.folder / name).write_text(json.dumps(graph))
        return name

    def volumes(self):
        """Doubles a volume of any size along every axis of (4, 5, 6), and sums it up again."""
        return self.write([{"name": "x"}],
                          [node("grow", NEAREST, "x", output_size=[8, 10, 12]),
                           node("back", NEAREST_GRAD, "grow.out", input_size=[1, 2, 4, 5, 6])],
                          {"large": "grow.out", "sum": "back.y"})


class Check(GraphTest):
    def test_a_good_graph(self):
        out, err = self.opscv("graph", "check", self.volumes())
        self.assertEqual(out, "graph.json: ok: inputs x; nodes grow, back; outputs large, sum\n")
        self.assertEqual(err, "")
        report = self.report("graph", "check", "graph.json")
        self.assertEqual(report["nodes"], ["grow", "back"])
        self.opscv("graph", "check", "graph.json", "--shape", "x=1,2,3,3,3", "--quiet")

    def test_graphs_that_cannot_run(self):
        x = [{"name": "x", "shape": [1, 1, 4, 4]}]
        good = node("a", SHRINK, "x", output_size=[2, 2])
        for nodes, outputs, says in (
                ([good, node("b", SHRINK, "c.out", output_size=[2, 2])], {"o": "b"},
                 ["node 'b'", "self", "'c.out'"]),
                ([good, node("b", SHRINK, "b", output_size=[2, 2])], {"o": "a", "p": "b"},
                 ["cycle b -> b"]),
                ([good, node("b", SHRINK, "a", output_size=[2, 2])], {"o": "a"},
                 ["node 'b'", "output"]),
                ([good, good], {"o": "a"}, ["'a' again"]),
                ([node("a", "Upsample", "x")], {"o": "a"}, ["node 'a'", SHRINK, "'Upsample'"]),
                ([node("a", SHRINK, "x", size=[2, 2])], {"o": "a"},
                 ["node 'a'", "size = [2, 2]", "output_size"]),
                ([node("a", SHRINK, "x", output_size=2)], {"o": "a"},
                 ["node 'a'", "output_size = 2", "LISTINT"]),
                ([node("a", SHRINK, "x")], {"o": "a"}, ["node 'a'", "output_size must be given"]),
                ([node("a", SHRINK, "x", output_size=[2, 0])], {"o": "a"},
                 ["node 'a'", "output_size[1]", "> 0", "0"]),
                ([node("a", NEAREST, "x", output_size=[2, 2, 2])], {"o": "a"},
                 ["node 'a'", "5 dimensions", "4"]),
                ([good], {}, ["an output"])):
            with self.subTest(says):
                self.write(x, nodes, outputs)
                self.refused("graph", "check", "graph.json", status=BAD_INPUT,
                             says=["graph.json: ", *says])

    def test_files_that_are_no_graph(self):
        for text, says in ((b"", "line 1, column 1"), (b"{\n\n  oops", "line 3, column 3"),
                           (b"[]", "object"), (b"\xff\xfe", "line 1, column 1"),
                           (b'{"opscv_graph": 3}', "opscv_graph must be 1")):
            with self.subTest(text):
                (self.folder / "graph.json").write_bytes(text)
                self.refused("graph", "check", "graph.json", status=BAD_INPUT,
                             says=["graph.json: graph JSON: ", says])
        self.refused("graph", "check", "none.json", status=BAD_INPUT, says="none.json: ")


class Show(GraphTest):
    def test_what_is_unknown_stays_open(self):
        report = self.report("graph", "show", self.volumes())
        self.assertEqual(report["inputs"],
                         [{"name": "x", "dtype": None, "shape": None, "layout": "channels_first"}])
        self.assertEqual([n["shape"] for n in report["nodes"]],
                         [[-1, -1, 8, 10, 12], [1, 2, 4, 5, 6]])
        self.assertNotIn("memory", report)
        out, _ = self.opscv("graph", "show", "graph.json")
        for part in ("input x: any type of any shape", "grow = UpsampleNearestExact3d(x) "
                     "output_size=[8,10,12]", "(?, ?, 8, 10, 12)", "output sum: back.y", "--shape"):
            self.assertIn(part, out)

    def test_shapes_tell_costs_and_memory(self):
        self.write([{"name": "x"}],
                   [node("grow", NEAREST, "x", output_size=[8, 10, 12]),
                    node("back", NEAREST_GRAD, "grow", "torch_cpu", input_size=[1, 2, 4, 5, 6])],
                   {"sum": "back"})
        report = self.report("graph", "show", "graph.json", "--shape", "x=1,2,4,5,6")
        grow, back = report["nodes"]
        large, small = 2 * 8 * 10 * 12 * 4, 2 * 4 * 5 * 6 * 4
        self.assertEqual(grow["cost"], {"passes": [], "multiply_adds": 0, "bytes_read": small,
                                        "bytes_written": large, "offset": 0, "live_bytes": large})
        self.assertEqual(back["cost"]["passes"], [{"axes": "DH", "most_taps": [2, 2]},
                                                  {"axes": "W", "most_taps": [2]}])
        # 4 to sum for each of 4 x 5 x 12, then 2 for each of 4 x 5 x 6.
        self.assertEqual(back["cost"]["multiply_adds"], 2 * (4 * 4 * 5 * 12 + 2 * 4 * 5 * 6))
        self.assertEqual(back["cost"]["offset"], None)
        self.assertEqual((grow["rule"], back["rule"]), ("ascend", "torch_cpu"))
        self.assertEqual(report["memory"]["peak_bytes"], large)
        self.assertGreaterEqual(report["memory"]["workspace_bytes"], large)
        out, _ = self.opscv("graph", "show", "graph.json", "--shape", "x=1,2,4,5,6")
        for part in ("a copy; 0 multiply-adds", "at most 2x2 taps along DH, then 2 taps along W",
                     f"{large} bytes of intermediates at the peak", "rule=torch_cpu"):
            self.assertIn(part, out)

    def test_a_file_tells_its_shape(self):
        report = self.report("graph", "show", PHOTO_PAIR, "--input",
                             f"photo={DATA / 'astronaut.png'}")
        self.assertEqual([n["shape"] for n in report["nodes"]],
                         [[1, 3, 224, 224], [1, 3, 512, 512]])
        self.assertIn("memory", report)

    def test_shapes_that_do_not_fit(self):
        self.volumes()
        self.refused("graph", "show", "graph.json", "--shape", "x=1,3,4,5,6", status=BAD_INPUT,
                     says=["graph.json: node 'back'", "(1, 2, 8, 10, 12)", "(1, 3, 8, 10, 12)"])


class Run(GraphTest):
    def test_the_pair_on_the_example_photograph(self):
        """The same bits as the two operators one after the other."""
        photo = DATA / "astronaut.png"
        report = self.report("graph", "run", PHOTO_PAIR, "--input", f"photo={photo}", "--output",
                             "small=small.npy", "--output", "grad=grad.npy")
        self.assertEqual([o["shape"] for o in report["outputs"]],
                         [[1, 3, 224, 224], [1, 3, 512, 512]])
        self.opscv("run", SHRINK, "--input", photo, "--output", "a.npy", "--output_size", "224,224")
        self.opscv("run", SHRINK_GRAD, "--input", "a.npy", "--output", "b.npy", "--output_size",
                   "224,224", "--input_size", "1,3,512,512")
        for one, two in (("small.npy", "a.npy"), ("grad.npy", "b.npy")):
            np.testing.assert_array_equal(self.load(one).view("u4"), self.load(two).view("u4"))
        # A scalar product that both directions agree on: |Wx|^2 = <x, W'Wx>.
        with Image.open(photo) as image:
            pixels = np.moveaxis(np.asarray(image, "f8")[..., :3], 2, 0)[None]
        small, grad = self.load("small.npy").astype("f8"), self.load("grad.npy").astype("f8")
        self.assertAlmostEqual((small * small).sum() / (pixels * grad).sum(), 1.0, places=6)

    def test_volumes_and_threads(self):
        self.save("x.npy", self.normal(1, 2, 4, 5, 6))
        contents = set()
        for threads in (1, 3):
            self.opscv("graph", "run", self.volumes(), "--input", "x=x.npy", "--output",
                       "large=large.npy", "--output", "sum=sum.npy", "--threads", threads)
            contents.add((self.folder / "sum.npy").read_bytes())
        self.assertEqual(len(contents), 1)
        x = self.load("x.npy")
        np.testing.assert_array_equal(self.load("large.npy"), double(x))
        np.testing.assert_array_equal(self.load("sum.npy"), halves(double(x)).astype("f4"))

    def test_types_are_the_graphs_or_the_files(self):
        x = self.random.integers(-9, 9, (1, 2, 4, 5, 6)).astype("i2")
        self.save("x.npy", x)
        grow = [node("grow", NEAREST, "x", output_size=[8, 10, 12])]
        call = ["graph", "run", "graph.json", "--input", "x=x.npy", "--output", "y=y.npy"]
        for declared, expected in (({}, "i2"), ({"dtype": "float16"}, "f2"),
                                   ({"dtype": "int16"}, "i2"), ({"dtype": "float64"}, "f8")):
            self.write([{"name": "x", **declared}], grow, {"y": "grow"})
            self.opscv(*call)
            self.assertEqual(self.load("y.npy").dtype, expected)
            np.testing.assert_array_equal(self.load("y.npy"), double(x))
        (self.folder / "y.npy").unlink()
        self.write([{"name": "x", "dtype": "int32"}], grow, {"y": "grow"})
        self.refused(*call, status=BAD_INPUT, says=["x.npy", "int16", "'x'", "int32"])
        self.write([{"name": "x"}], [node("back", NEAREST_GRAD, "x", input_size=[1, 2, 2, 5, 6])],
                   {"y": "back"})
        self.refused(*call, status=BAD_INPUT, says=["node 'back'", "float32", "int16"])

    def test_missing_dimensions_are_one(self):
        self.save("x.npy", self.normal(4, 5, 6))
        self.write([{"name": "x"}], [node("grow", NEAREST, "x", output_size=[8, 10, 12])],
                   {"y": "grow"})
        self.opscv("graph", "run", "graph.json", "--input", "x=x.npy", "--output", "y=y.npy")
        np.testing.assert_array_equal(self.load("y.npy"), double(self.load("x.npy")[None, None]))

    def test_nifti_keeps_its_place_in_space(self):
        """Through two nodes, the second a gradient: the outer corners stay where they were."""
        affine = np.array([[0, -0.8, 0, 10], [1.5, 0, 0, -20], [0, 0, 2.5, 30], [0, 0, 0, 1.0]])
        voxels = self.random.normal(size=(6, 5, 4)).astype("f4")
        nibabel.Nifti1Image(voxels, affine).to_filename(self.folder / "x.nii.gz")
        self.write([{"name": "x"}],
                   [node("grow", NEAREST, "x", output_size=[8, 10, 12]),
                    node("back", NEAREST_GRAD, "grow", input_size=[1, 1, 2, 5, 3])],
                   {"large": "grow", "sum": "back"})
        self.opscv("graph", "run", "graph.json", "--input", "x=x.nii.gz", "--output",
                   "large=large.nii", "--output", "sum=sum.nii.gz")
        for name, shape in (("large.nii", (12, 10, 8)), ("sum.nii.gz", (3, 5, 2))):
            image = nibabel.load(self.folder / name)
            self.assertEqual(image.shape, shape)
            for corner in itertools.product((0, 1), repeat=3):
                before = affine @ [*(np.array(corner) * (6, 5, 4) - 0.5), 1]
                after = image.affine @ [*(np.array(corner) * shape - 0.5), 1]
                np.testing.assert_allclose(after, before, atol=1e-4)
        large = np.asarray(nibabel.load(self.folder / "large.nii").dataobj)
        np.testing.assert_array_equal(large, double(voxels))

    def test_images_come_out_as_images(self):
        pixels = self.random.integers(0, 256, (40, 30, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(self.folder / "photo.png")
        self.write([{"name": "photo", "layout": "channels_last"}],
                   [node("shrink", SHRINK, "photo", output_size=[20, 15])], {"small": "shrink"})
        self.opscv("graph", "run", "graph.json", "--input", "photo=photo.png", "--output",
                   "small=small.png")
        self.opscv("run", SHRINK, "--input", "photo.png", "--output", "same.png", "--output_size",
                   "20,15")
        with Image.open(self.folder / "small.png") as one, Image.open(self.folder / "same.png") as two:
            np.testing.assert_array_equal(np.asarray(one), np.asarray(two))
        self.write([{"name": "photo"}],
                   [node("pull", SHRINK_GRAD, "photo", output_size=[40, 30],
                         input_size=[1, 3, 8, 8])], {"grad": "pull"})
        self.refused("graph", "run", "graph.json", "--input", "photo=photo.png", "--output",
                     "grad=grad.npy", status=BAD_INPUT, says=["photo.png", "gradient"])
        self.refused("graph", "run", PHOTO_PAIR, "--input", f"photo={DATA / 'astronaut.png'}",
                     "--output", "small=new.png", "--output", "grad=grad.png", status=BAD_INPUT,
                     says=["grad.png", "gradient"])


class AllOrNothing(GraphTest):
    def setUp(self):
        super().setUp()
        self.save("x.npy", self.normal(1, 2, 4, 5, 6))
        self.volumes()

    def call(self, large="large.npy", total="sum.npy"):
        return ["graph", "run", "graph.json", "--input", "x=x.npy", "--output", f"large={large}",
                "--output", f"sum={total}"]

    def test_lines_that_cannot_be_read(self):
        os.symlink("sum.npy", self.folder / "link.npy")
        for words, says in (
                (["graph"], ["check, run, show", "nothing"]), (["graph", "walk"], ["'walk'", "check, run, show"]),
                (["graph", "run"], "GRAPH"),
                (["graph", "run", "graph.json"], "--output large=FILE is required"),
                (self.call()[:3] + self.call()[5:], "--input x=FILE is required"),
                (self.call()[:-2], "--output sum=FILE is required"),
                (self.call() + ["--output", "sum=b.npy"], "'sum' twice"),
                (self.call() + ["--input", "z=b.npy"], ["--input", "name of x", "'z'"]),
                (self.call() + ["--input", "x.npy"], ["NAME=VALUE", "'x.npy'"]),
                (self.call("sum.npy"), ["file of its own", "'sum.npy'"]),
                (self.call("./sum.npy"), ["file of its own", "'./sum.npy'"]),
                (self.call("link.npy"), ["file of its own", "'link.npy'"]),
                (["graph", "show", "graph.json", "--shape", "x=1,,2"], ["--shape", "'1,,2'"]),
                (["graph", "show", "graph.json", "--shape", "x=1,2,4,5,6", "--input", "x=x.npy"],
                 ["--input and --shape", "'x'"])):
            with self.subTest(says):
                self.refused(*words, status=USAGE, says=says)

    def test_what_is_refused_writes_nothing(self):
        self.save("x.npy", self.normal(1, 3, 4, 5, 6))
        self.refused(*self.call(), status=BAD_INPUT, says=["node 'back'", "(1, 3, 8, 10, 12)"])
        self.save("x.npy", self.normal(1, 2, 4, 5, 6))
        os.mkdir(self.folder / "folder.npy")
        self.refused(*self.call(total="folder.npy"), status=CANNOT_WRITE, says="folder.npy")
        self.refused(*self.call(total="no/such.npy"), status=CANNOT_WRITE, says="no/such.npy")
        self.refused(*self.call(total="sum.txt"), status=USAGE, says="sum.txt")

    def test_a_full_disk_leaves_nothing(self):
        """The first output fits, the second does not: neither appears, and old ones stay."""
        (self.folder / "sum.npy").write_bytes(b"old")

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))

        self.write([{"name": "x"}], [node("grow", NEAREST, "x", output_size=[8, 10, 12]),
                                     node("back", NEAREST_GRAD, "grow.out",
                                          input_size=[1, 2, 4, 5, 6])],
                   {"sum": "back.y", "large": "grow.out"})
        self.refused(*self.call(), status=CANNOT_WRITE, says=["large.npy", "File too large"],
                     preexec_fn=limit)
        self.assertEqual((self.folder / "sum.npy").read_bytes(), b"old")
        # Compressed and encoded files are written when they are finished.
        pixels = self.random.integers(0, 256, (64, 64, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(self.folder / "photo.png")
        self.write([{"name": "x"}], [node("a", SHRINK, "x", output_size=[3, 3]),
                                     node("b", SHRINK, "x", output_size=[64, 64])],
                   {"sum": "a", "large": "b"})
        self.refused("graph", "run", "graph.json", "--input", "x=photo.png", "--output",
                     "sum=sum.png", "--output", "large=large.png", status=CANNOT_WRITE,
                     says=["large.png", "File too large"], preexec_fn=limit)

    def test_a_signal_amid_renames_waits_for_the_last(self):
        self.build_library("rename", """
            #include <csignal>
            #include <cstdio>
            #include <dlfcn.h>
            extern "C" int rename(const char* from, const char* to) {
              static int calls = 0;
              if (calls++ == 0) std::raise(SIGINT);
              return reinterpret_cast<int (*)(const char*, const char*)>(
                  dlsym(RTLD_NEXT, "rename"))(from, to);
            }
            """)
        for name in ("large.npy", "sum.npy"):
            (self.folder / name).write_bytes(b"old")
        _, err = self.opscv(*self.call(), status=INTERRUPTED, env=self.preloading("rename"))
        self.assertEqual(err, "opscv: interrupted\n")
        self.assertEqual(self.load("large.npy").shape, (1, 2, 8, 10, 12))
        self.assertEqual(self.load("sum.npy").shape, (1, 2, 4, 5, 6))
        self.assertEqual(self.files(), ["graph.json", "large.npy", "rename.cc", "rename.so",
                                        "sum.npy", "x.npy"])

    def test_inputs_may_be_replaced(self):
        before = self.load("x.npy")
        self.opscv(*self.call(total="x.npy"))
        np.testing.assert_array_equal(self.load("x.npy"), halves(double(before)).astype("f4"))


class Prototypes(CommandTest):
    """The tables that the documents of graph mode give, from the prototypes that run."""

    SEEDS = {
        NEAREST_GRAD: ("grad_output", "y", [("input_size", "LISTINT", "required"),
                                            ("output_size", "LISTINT", "{0, 0, 0}"),
                                            ("scales", "LISTFLOAT", "{0.0, 0.0, 0.0}")]),
        SHRINK_GRAD: ("grad_output", "grad_input", [("output_size", "LISTINT", "required"),
                                                    ("input_size", "LISTINT", "required"),
                                                    ("align_corners", "BOOL", "false"),
                                                    ("scales_h", "FLOAT", "none"),
                                                    ("scales_w", "FLOAT", "none")]),
    }

    def test_list_long_has_both_tables(self):
        out, _ = self.opscv("list", "--long")
        sections = {text.split(" ", 1)[0]: text for text in out.split("\n\n")}
        for operator, (source, result, attributes) in self.SEEDS.items():
            text = sections[operator]
            self.assertRegex(text, rf"(?m)^  {source} +input +TENSOR ")
            self.assertRegex(text, rf"(?m)^  {result} +output +TENSOR ")
            for name, kind, default in attributes:
                words = [name, "attribute", kind, default.replace("{", r"\{").replace("}", r"\}")]
                self.assertRegex(text, "(?m)^  " + " +".join(words) + " ")
            self.assertEqual(text.count(" attribute "), len(attributes))

    def test_graphs_take_what_the_list_tells(self):
        """The same prototypes: every attribute of the list is taken by a node, no other is."""
        for operator in self.report("list"):
            attributes = [a["name"] for a in operator["attributes"]]
            graph = {"opscv_graph": 1, "inputs": [], "outputs": [], "nodes": [
                {"name": "n", "op": operator["name"], "inputs": {operator["input"]["name"]: "x"},
                 "attrs": {"nothing": 1}}]}
            (self.folder / "graph.json").write_text(json.dumps(graph))
            err = self.refused("graph", "check", "graph.json", status=BAD_INPUT, says="'nothing'")
            self.assertIn(f"it has {', '.join(attributes)}", err)


class Shell(CommandTest):
    def test_completion_and_man_page(self):
        out, _ = self.opscv("complete", "--", "graph", "")
        self.assertEqual(out.split(), ["check", "run", "show"])
        out, _ = self.opscv("complete", "--", "graph", "run", "--")
        for option in ("--input", "--output", "--threads", "--json"):
            self.assertIn(option, out.split())
        out, _ = self.opscv("man")
        for part in (".SS opscv graph", "opscv graph run", "NAME=FILE", ".B .json"):
            self.assertIn(part, out)


if __name__ == "__main__":
    unittest.main()
