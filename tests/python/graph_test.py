# SPDX-License-Identifier: Apache-2.0
"""Graphs from Python: the bits of the functions, JSON there and back, every mistake named."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import torch
from support import seeded, sizes

import opscv
from opscv.graph import Graph, GraphInput, GraphNode, GraphOutput, Session, TensorHint

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = pathlib.Path(os.environ["OPSCV_BUILD_DIR"]) / "bin" / "opscv"
PAIR = ROOT / "examples" / "graphs" / "photo_pair.json"


def pair(shape=(1, 3, -1, -1), size=(224, 224), whole=(1, 3, 512, 512), dtype="float32"):
    graph = Graph()
    graph.add_input("photo", dtype, shape)
    graph.add_node("shrink", "UpsampleBicubic2dAA", "photo", output_size=size)
    graph.add_node("pull", "UpsampleBicubic2dAAGrad", "shrink.out", output_size=size,
                   input_size=whole)
    graph.add_output("small", "shrink.out")
    graph.add_output("grad", "pull.grad_input")
    return graph


def test_a_graph_has_the_bits_of_the_functions():
    rng = seeded("bits of the functions")
    for dtype in ("float64", "float32", "float16"):
        for _ in range(4):
            batch = tuple(int(n) for n in rng.integers(1, 4, 2))
            before, after = sizes(rng, 2), sizes(rng, 2)
            photo = rng.standard_normal((*batch, *before)).astype(dtype)
            session = Session(pair(None, list(after), np.array((*batch, *before)), None))
            got = session.run({"photo": photo}, threads=int(rng.integers(1, 4)))
            small = opscv.upsample_bicubic2d_aa(photo, after)
            grad = opscv.upsample_bicubic2d_aa_backward(small, after, (*batch, *before))
            assert list(got) == ["small", "grad"]
            assert got["small"].dtype == got["grad"].dtype == photo.dtype
            assert got["small"].tobytes() == small.tobytes()
            assert got["grad"].tobytes() == grad.tobytes()


@pytest.mark.parametrize("rule", [None, "ascend", "torch_cpu", "exact"])
def test_volumes_by_every_rule_and_channels_last(rule):
    rng = seeded(f"volumes {rule}")
    graph = Graph()
    graph.add_input("scan", layout="channels_last")
    graph.add_node("grow", "upsamplenearestexact3d", rule=rule, output_size=(7, 9, 5))
    graph.connect("grow", "self", "scan")
    graph.add_node("back", "UpsampleNearestExact3dGrad", "grow", input_size=(1, 2, 3, 4, 6))
    graph.set("back", "output_size", [7, 9, 5])
    if rule is not None:
        graph.set_rule("back", rule)
    graph.add_output("gradient", "back.y")
    scan = rng.standard_normal((1, 3, 4, 6, 2)).astype(np.float32)
    how = {"layout": "NDHWC", "rule": rule or "ascend"}
    large = opscv.upsample_nearest_exact3d(scan, (7, 9, 5), **how)
    expected = opscv.upsample_nearest_exact3d_backward(large, (7, 9, 5), (1, 2, 3, 4, 6), **how)
    got = Session(graph).run({"scan": scan})["gradient"]
    assert got.shape == scan.shape and got.tobytes() == expected.tobytes()
    assert [node.rule for node in graph.nodes] == [rule or "ascend"] * 2


def test_arrays_lie_as_they_like_and_out_is_written_in_place():
    photo = seeded("strides").standard_normal((1, 512, 512, 3)).astype(np.float32)
    seen = photo.transpose(0, 3, 1, 2)[:, :, ::-1]
    memory = np.zeros((2, 224, 3, 224), np.float32)
    small = memory[1:].transpose(0, 2, 1, 3)
    got = Session(pair()).run({"photo": seen}, out={"small": small})
    assert got["small"] is small and not memory[0].any()
    expected = opscv.upsample_bicubic2d_aa(np.ascontiguousarray(seen), (224, 224))
    assert np.ascontiguousarray(small).tobytes() == expected.tobytes()
    assert got["grad"].flags.c_contiguous


def test_an_output_is_of_the_kind_of_the_input_that_it_comes_from():
    graph = Graph()
    for name in ("a", "b"):
        graph.add_input(name)
        graph.add_node(f"{name}1", "UpsampleBicubic2dAA", name, output_size=(3, 3))
        graph.add_node(f"{name}2", "UpsampleBicubic2dAA", f"{name}1.out", output_size=(4, 2))
        graph.add_output(f"of_{name}", f"{name}2.out")
    tensor = torch.arange(40, dtype=torch.bfloat16).reshape(1, 2, 4, 5)
    array = tensor.double().numpy()
    got = opscv.Session(graph).run({"b": array, "a": tensor})
    assert got["of_a"].dtype == torch.bfloat16 and isinstance(got["of_b"], np.ndarray)
    twice = lambda x: opscv.upsample_bicubic2d_aa(opscv.upsample_bicubic2d_aa(x, (3, 3)), (4, 2))
    assert torch.equal(got["of_a"], twice(tensor))
    assert got["of_b"].tobytes() == twice(array).tobytes()


def test_json_there_and_back():
    graph = Graph.from_json(PAIR.read_text())
    text = graph.to_json()
    assert json.loads(text) == json.loads(PAIR.read_text())
    assert text == pair((1, 3, 512, 512)).to_json() == Graph.from_json(text).to_json()
    assert graph.inputs == (GraphInput("photo", TensorHint("float32", (1, 3, 512, 512))),)
    assert graph.nodes[0] == GraphNode("shrink", "UpsampleBicubic2dAA", "photo",
                                       {"output_size": [224, 224]}, None)
    assert graph.outputs == (GraphOutput("small", "shrink.out"),
                             GraphOutput("grad", "pull.grad_input"))
    assert Session(graph).graph.to_json() == text


def test_every_kind_of_attribute_reaches_the_json():
    graph = Graph()
    graph.add_input("x")
    graph.add_node("n", "UpsampleBicubic2dAA", "x", output_size=(np.int64(4), 4),
                   align_corners=np.bool_(True), scales_h=np.float32(0.5), scales_w=2)
    graph.add_node("m", "UpsampleNearestExact3d", "x", output_size=np.array([2, 2, 2]),
                   scales=(0.5, 0, 1))
    attrs = [node["attrs"] for node in json.loads(graph.to_json())["nodes"]]
    assert attrs[0] == {"output_size": [4, 4], "align_corners": True, "scales_h": 0.5,
                        "scales_w": 2}
    assert attrs[1] == {"output_size": [2, 2, 2], "scales": [0.5, 0.0, 1.0]}
    assert Graph.from_json(graph.to_json()).nodes == graph.nodes


def test_python_and_the_command_agree(tmp_path):
    """The same file, the same photograph: the same bits and the same facts."""
    photo = seeded("command").standard_normal((1, 3, 512, 512)).astype(np.float32)
    np.save(tmp_path / "photo.npy", photo)
    subprocess.run([COMMAND, "graph", "run", PAIR, "--input", f"photo={tmp_path}/photo.npy",
                    "--output", f"small={tmp_path}/small.npy", "--output",
                    f"grad={tmp_path}/grad.npy"], check=True, capture_output=True)
    session = Session(Graph.from_json(PAIR.read_text()))
    for name, array in session.run({"photo": photo}).items():
        assert np.load(tmp_path / f"{name}.npy").tobytes() == array.tobytes()
    done = subprocess.run([COMMAND, "graph", "show", PAIR, "--json"], check=True,
                          capture_output=True, text=True)
    shown = json.loads(done.stdout)
    facts = session.facts()
    for node, step in zip(shown["nodes"], facts.steps, strict=True):
        cost = node["cost"]
        assert (node["name"], node["op"]) == (step.node, step.op)
        for key in ("multiply_adds", "bytes_read", "bytes_written", "offset", "live_bytes"):
            assert cost[key] == getattr(step, key)
        assert [(p["axes"], tuple(p["most_taps"])) for p in cost["passes"]] == list(step.passes)
    assert shown["memory"] == {key: getattr(facts, key) for key in
                               ("peak_bytes", "arena_bytes", "workspace_bytes")}


def test_shapes_are_inferred_as_far_as_they_are_known():
    graph = pair((1, -1, -1, -1), dtype=None)
    shapes = graph.infer_shapes()
    assert list(shapes) == ["shrink", "pull"]
    assert shapes["shrink"] == TensorHint(None, (1, -1, 224, 224))
    assert shapes["pull"].shape == (1, 3, 512, 512)
    photo = np.zeros((1, 3, 9, 9), np.float16)
    for told in ((1, 3, 9, 9), TensorHint("float16", (1, 3, 9, 9)), photo, torch.from_numpy(photo)):
        known = graph.infer_shapes({"photo": told})["shrink"]
        assert known.shape == (1, 3, 224, 224)
        assert known.dtype == (None if isinstance(told, tuple) else "float16")


def test_facts_tell_of_memory():
    graph = Graph()
    graph.add_input("x")
    graph.add_node("a", "UpsampleBicubic2dAA", "x", output_size=(8, 8))
    graph.add_node("b", "UpsampleBicubic2dAA", "a", output_size=(4, 4))
    graph.add_output("y", "b")
    session = Session(graph)
    with pytest.raises(ValueError, match="^input 'x' must be of known shape, got None"):
        session.facts()
    facts = session.facts({"x": (1, 1, 6, 6)})
    first, last = facts.steps
    assert (first.bytes_read, first.bytes_written) == (6 * 6 * 4, 8 * 8 * 4)
    assert (first.offset, last.offset, facts.peak_bytes) == (0, None, 8 * 8 * 4)
    assert facts.workspace_bytes >= facts.arena_bytes >= facts.peak_bytes
    assert session.facts({"x": np.zeros((1, 1, 6, 6))}).peak_bytes == 2 * facts.peak_bytes


def test_a_combination_is_planned_once():
    session = Session(pair(None, (3, 4), (1, 2, 5, 6), None))
    for shape in ((1, 2, 5, 6), (1, 2, 9, 8), (1, 2, 5, 6)):
        session.run({"photo": np.ones(shape)})
    assert session.times_planned == 2


X = np.zeros((1, 3, 512, 512), np.float32)
MISTAKES = {
    "attribute of another type": (ValueError, r"node 'pull', input_size = 0\.5: input_size must be "
                                  "LISTINT, got", lambda g: g.set("pull", "input_size", 0.5)),
    "attribute that is text": (TypeError, "node 'pull', input_size = 'big': input_size must be a "
                               "bool, a number or a list of numbers, got str",
                               lambda g: g.set("pull", "input_size", "big")),
    "list of text": (TypeError, "node 'n', output_size = ", lambda g: g.add_node(
        "n", "UpsampleBicubic2dAA", "photo", output_size=["3", 3])),
    "list of bools": (TypeError, "node 'pull', input_size = ",
                      lambda g: g.set("pull", "input_size", [True, 3])),
    "attribute beyond 64 bits": (ValueError, "node 'pull', input_size = ",
                                 lambda g: g.set("pull", "input_size", [2**64, 3])),
    "infinite scale": (ValueError, "node 'shrink', scales_h = inf: scales_h must be finite",
                       lambda g: g.set("shrink", "scales_h", float("inf"))),
    "unknown attribute": (ValueError, "node 'shrink', colour = 1: .*has no attribute 'colour",
                          lambda g: g.set("shrink", "colour", 1)),
    "unknown node": (ValueError, r"node must be one of \[shrink, pull\], got 'none'",
                     lambda g: g.set("none", "input_size", [1])),
    "unknown operator": (ValueError, "node 'n': ", lambda g: g.add_node("n", "Upsample", "photo")),
    "unknown input of a node": (ValueError, "node 'pull'.* has no input 'self'",
                                lambda g: g.connect("pull", "self", "photo")),
    "rule of a bicubic node": (ValueError, "node 'pull'.*rule",
                               lambda g: g.set_rule("pull", "exact")),
    "unknown rule": (ValueError, "rule must be one of", lambda g: g.set_rule("pull", "nearest")),
    "name twice": (ValueError, "the name of an input must be new", lambda g: g.add_input("pull")),
    "name that is no text": (TypeError, "name must be a str, got 3", lambda g: g.add_input(3)),
    "unknown layout": (ValueError, "layout must be one of",
                       lambda g: g.add_input("y", layout="NCHW")),
    "shape that is no list": (TypeError, "shape must be", lambda g: g.add_input("y", None, 3)),
    "extent below -1": (ValueError, "input 'y' must have extents",
                        lambda g: g.add_input("y", None, (-2,))),
    "malformed text": (ValueError, ".*line 1", lambda g: Graph.from_json("{")),
    "shape of another input": (ValueError, "inputs must be among 'photo', got 'x'",
                               lambda g: g.infer_shapes({"x": (1,)})),
    "shape against the graph": (ValueError, "input 'photo'",
                                lambda g: g.infer_shapes({"photo": (2, 3, 4, 4)})),
    "session of a text": (TypeError, "graph must be a Graph", lambda g: Session(g.to_json())),
    "no inputs": (ValueError, "input 'photo' must be given", lambda g: Session(g).run({})),
    "inputs as a list": (TypeError, "inputs must be a dict", lambda g: Session(g).run([X])),
    "input that is none": (TypeError, "input 'photo' must be a NumPy array",
                           lambda g: Session(g).run({"photo": 3})),
    "input of another type": (ValueError, "input 'photo'",
                              lambda g: Session(g).run({"photo": X.astype(np.float64)})),
    "input of another shape": (ValueError, "input 'photo'",
                               lambda g: Session(g).run({"photo": X[:, :2]})),
    "unknown out": (ValueError, "out must be among 'small', 'grad', got 'large'",
                    lambda g: Session(g).run({"photo": X}, out={"large": X})),
    "out of another shape": (ValueError, "output 'small'",
                             lambda g: Session(g).run({"photo": X}, out={"small": X.copy()})),
    "out that is the input": (ValueError, "output 'grad' must share no memory with input 'photo'",
                              lambda g: Session(g).run({"photo": X}, out={"grad": X})),
    "no threads": (ValueError, "threads must be", lambda g: Session(g).run({"photo": X}, threads=0)),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_exception_tells_what_is_wrong_and_nothing_changes(mistake):
    exception, message, call = MISTAKES[mistake]
    graph = pair()
    with pytest.raises(exception, match=f"^{message}"):
        call(graph)
    assert graph.to_json() == pair().to_json()


def test_check_and_session_refuse_alike():
    graph = pair()
    graph.add_node("idle", "UpsampleBicubic2dAA", "photo", output_size=(2, 2))
    refusals = []
    for call in (graph.check, graph.infer_shapes, lambda: Session(graph)):
        with pytest.raises(ValueError, match="idle") as caught:
            call()
        refusals.append(str(caught.value))
    assert len(set(refusals)) == 1
    pair().check()


def test_what_is_too_large_is_refused_in_the_library_s_words():
    graph = Graph()
    graph.add_input("x")
    graph.add_node("grow", "UpsampleBicubic2dAA", "x", output_size=(2**20, 2**20))
    graph.add_output("y", "grow")
    many = np.broadcast_to(np.float32(1), (2**20, 2**10, 4, 4))
    with pytest.raises(ValueError, match="^node 'grow': out must span less than 2.63 bytes"):
        Session(graph).run({"x": many})
    graph.set("grow", "output_size", [2**8, 2**8])
    with pytest.raises(MemoryError):
        Session(graph).run({"x": many})


LONG = """
import numpy as np, opscv
graph = opscv.Graph()
graph.add_input("x")
for name, source, size in ("a", "x", 16), ("b", "a", 8):
    graph.add_node(name, "UpsampleBicubic2dAA", source, output_size=(size, size))
graph.add_output("y", "b")
session = opscv.Session(graph)
x = np.broadcast_to(np.ones((1, 1, 1024, 1024), np.float32), (512, 64, 1024, 1024))
print("running", flush=True)
try:
    session.run({"x": x})
    print("complete")
except KeyboardInterrupt:
    print("interrupted", session.run({"x": x[:1, :1]})["y"].shape)
"""


def test_ctrl_c_stops_a_long_run():
    program = subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    try:
        assert program.stdout.readline() == "running\n"
        time.sleep(0.3)
        program.send_signal(signal.SIGINT)
        assert program.communicate(timeout=60) == ("interrupted (1, 1, 8, 8)\n", "")
    finally:
        program.kill()
        program.wait()


def test_other_threads_run_meanwhile():
    """While sessions compute for long in two threads, this one counts; the bits are the same."""
    session = Session(pair(None, (256, 256), (64, 3, 512, 512)))
    photo = np.broadcast_to(np.float32(1), (64, 3, 256, 256))
    results = []
    threads = [threading.Thread(target=lambda: results.append(
        session.run({"photo": photo}, threads=1)["grad"])) for _ in range(2)]
    for thread in threads:
        thread.start()
    count = 0
    while any(thread.is_alive() for thread in threads):
        count += 1
        time.sleep(0.001)
    assert count > 3
    assert results[0].tobytes() == results[1].tobytes()
