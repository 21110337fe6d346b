# SPDX-License-Identifier: Apache-2.0
"""Operators as the nodes of a graph: described once, checked as a whole, run on arrays of any shape
that fits.

A graph written here and one read from JSON are the same thing; docs/graph.md has the rules of both.
"""
from __future__ import annotations

import dataclasses
import operator
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from . import _native
from ._arrays import View, fresh, view
from ._plans import LARGEST, row_major, to_ints, to_threads
from ._types import DTYPE_NAMES, OPERATORS, RULES, one_of, to_dtype

LAYOUTS = ("channels_first", "channels_last")


@dataclasses.dataclass(frozen=True)
class TensorHint:
    """A tensor as far as it is known before a run: None for a type or a rank that is not, -1 for an
    extent."""
    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    layout: str = "channels_first"


@dataclasses.dataclass(frozen=True)
class GraphInput:
    name: str
    hint: TensorHint


@dataclasses.dataclass(frozen=True)
class GraphNode:
    """A node with its attributes as they were given. rule is None where the operator takes none."""
    name: str
    op: str
    source: str
    attributes: dict[str, Any]
    rule: str | None


@dataclasses.dataclass(frozen=True)
class GraphOutput:
    name: str
    source: str


@dataclasses.dataclass(frozen=True)
class StepFacts:
    """One node as it runs on certain shapes. passes are the axes that each one sums over, and for
    each of these the most taps; offset is None where the result is an output of the graph."""
    node: str
    op: str
    passes: tuple[tuple[str, tuple[int, ...]], ...]
    multiply_adds: float
    bytes_read: int
    bytes_written: int
    offset: int | None
    live_bytes: int


@dataclasses.dataclass(frozen=True)
class SessionFacts:
    """A graph as it runs on certain shapes: its steps in order, and the bytes of intermediates."""
    steps: tuple[StepFacts, ...]
    peak_bytes: int
    arena_bytes: int
    workspace_bytes: int


def _text(what: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a str, got {value!r}.")
    return value


def _to_attribute(node: str, name: str, value: Any) -> Any:
    """The value as the native module takes it: a bool, an int, a float or a list of one of the last
    two."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, Real):
        return _to_numbers(node, name, value, [value])[0]
    if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__iter__"):
        raise _attribute_error(node, name, value)
    return _to_numbers(node, name, value, list(value))


def _to_numbers(node: str, name: str, value: Any, elements: list[Any]) -> list[Any]:
    if not all(isinstance(e, Real) and not isinstance(e, bool) for e in elements):
        raise _attribute_error(node, name, value)
    try:
        numbers = [operator.index(element) for element in elements]
    except TypeError:
        return [float(element) for element in elements]
    if any(abs(number) > LARGEST for number in numbers):
        raise ValueError(f"node '{node}', {name} = {value!r}: {name} must be of numbers below 2^63.")
    return numbers


def _attribute_error(node: str, name: str, value: Any) -> TypeError:
    return TypeError(f"node '{node}', {name} = {value!r}: {name} must be a bool, a number or a list "
                     f"of numbers, got {type(value).__name__}.")


def _to_rule(rule: str | None) -> int:
    return 0 if rule is None else one_of("rule", rule, RULES)


_NativeHint = tuple[int | None, Sequence[int] | None, int]


def _to_native(dtype: Any, shape: Any, layout: Any) -> _NativeHint:
    if shape is not None:
        try:
            shape = tuple(shape)
        except TypeError:
            raise TypeError(f"shape must be a list of integers, got {shape!r}.") from None
        shape = to_ints("shape", shape, len(shape))
    return (None if dtype is None else to_dtype(dtype), shape,
            one_of("layout", layout, LAYOUTS))


def _from_native(hint: _NativeHint) -> TensorHint:
    dtype, shape, layout = hint
    return TensorHint(None if dtype is None else DTYPE_NAMES[dtype],
                      None if shape is None else tuple(shape), LAYOUTS[layout])


def _check_names(what: str, known: Sequence[str], given: Mapping[str, Any]) -> None:
    if not isinstance(given, Mapping):
        raise TypeError(f"{what} must be a dict by name, got {type(given).__name__}.")
    for name in given:
        if name not in known:
            raise ValueError(f"{what} must be among {', '.join(map(repr, known))}, got {name!r}.")


def _hints(inputs: Sequence[GraphInput], given: Mapping[str, Any] | None) -> list[TensorHint]:
    """For each input of a graph what is told of it by an array, a TensorHint or a shape, else the
    graph's own hint."""
    given = {} if given is None else given
    _check_names("inputs", [declared.name for declared in inputs], given)
    hints = []
    for declared in inputs:
        told = given.get(declared.name, declared.hint)
        if not isinstance(told, TensorHint):
            dtype, shape = declared.hint.dtype, told
            if isinstance(told, np.ndarray) or hasattr(told, "__dlpack__"):
                seen = view(f"input '{declared.name}'", told)
                dtype, shape = DTYPE_NAMES[seen.dtype], seen.shape
            told = TensorHint(dtype, shape, declared.hint.layout)
        hints.append(told)
    return hints


class Graph:
    """A description of nodes and how they are wired; holds no data and plans nothing.

        graph = Graph()
        graph.add_input("photo", "float32", (1, 3, -1, -1))
        graph.add_node("shrink", "UpsampleBicubic2dAA", "photo", output_size=[224, 224])
        graph.add_output("small", "shrink.out")
        small = Session(graph).run({"photo": photo})["small"]

    Parts may be added in any order; a part that is refused changes nothing. A source is the name of
    an input, or `node.output` with the output's name in the prototype, or `node` alone.
    """

    def __init__(self) -> None:
        self._native = _native.Graph()

    @classmethod
    def _of(cls, native: _native.Graph) -> Graph:
        graph = cls()
        graph._native = native
        return graph

    @classmethod
    def from_json(cls, text: str) -> Graph:
        """Reads the JSON form. A message tells where the text is malformed. Does not check()."""
        return cls._of(_native.Graph.from_json(_text("text", text)))

    def to_json(self) -> str:
        """The JSON form; reading it again gives the same text."""
        return self._native.to_json()

    def add_input(self, name: str, dtype: Any = None, shape: Sequence[int] | None = None,
                  layout: str = "channels_first") -> None:
        """The tensor that a run brings: a type, rank (None) or extent (-1) may be left to it."""
        self._native.add_input(_text("name", name), _to_native(dtype, shape, layout))

    def add_node(self, name: str, op: str, source: str = "", /, *, rule: str | None = None,
                 **attributes: Any) -> None:
        """A node that runs the operator `op`, with attributes by their names in the prototype.

        source is what its input reads, and may be connected later. rule, for nearest operators, is
        "ascend" (the default in graphs), "torch_cpu" or "exact".
        """
        attrs = {key: _to_attribute(name, key, value) for key, value in attributes.items()}
        self._native.add_node(_text("name", name), _text("op", op), attrs, _to_rule(rule),
                              _text("source", source))

    def connect(self, node: str, input: str, source: str) -> None:
        """Connects the input that the operator's prototype calls `input`."""
        self._native.connect(_text("node", node), _text("input", input), _text("source", source))

    def set(self, node: str, attribute: str, value: Any) -> None:
        """Sets an attribute: a bool, a number, or a list of numbers."""
        self._native.set(_text("node", node), _text("attribute", attribute),
                         _to_attribute(node, attribute, value))

    def set_rule(self, node: str, rule: str) -> None:
        self._native.set_rule(_text("node", node), _to_rule(_text("rule", rule)))

    def add_output(self, name: str, source: str) -> None:
        """A tensor that a run gives: the result of the node that `source` names."""
        self._native.add_output(_text("name", name), _text("source", source))

    @property
    def inputs(self) -> tuple[GraphInput, ...]:
        return tuple([GraphInput(name, _from_native(hint)) for name, hint in self._native.inputs()])

    @property
    def nodes(self) -> tuple[GraphNode, ...]:
        return tuple([GraphNode(name, op, source, attrs,
                                RULES[rule] if OPERATORS[op].is_nearest else None)
                      for name, op, source, attrs, rule in self._native.nodes()])

    @property
    def outputs(self) -> tuple[GraphOutput, ...]:
        return tuple([GraphOutput(name, source) for name, source in self._native.outputs()])

    def check(self) -> None:
        """ValueError where the graph as a whole cannot run."""
        self._native.check()

    def infer_shapes(self, inputs: Mapping[str, Any] | None = None) -> dict[str, TensorHint]:
        """What is known of every node's result, in the order in which nodes run. Fails like check.

        inputs tells more of some inputs by name: a shape, a TensorHint, or an array.
        """
        hints = [_to_native(hint.dtype, hint.shape, hint.layout)
                 for hint in _hints(self.inputs, inputs)]
        return {name: _from_native(hint) for name, hint in self._native.infer_shapes(hints)}


_Tensor = tuple[int, int, Sequence[int], Sequence[int], int]


def _tensor(seen: View, layout: int) -> _Tensor:
    return seen.dtype, layout, seen.shape, seen.strides, seen.address


class Session:
    """A checked graph that runs: planned once for every combination of types, shapes and strides,
    the last 16 of which are kept. Any number of threads may use it at once. Later changes of the
    graph do not reach it."""

    def __init__(self, graph: Graph) -> None:
        if not isinstance(graph, Graph):
            raise TypeError(f"graph must be a Graph, got {type(graph).__name__}.")
        self._native = _native.Session(graph._native)
        self._inputs = graph.inputs
        self._layouts = [LAYOUTS.index(declared.hint.layout) for declared in self._inputs]
        self._origins = _origins(graph)

    @property
    def graph(self) -> Graph:
        """A copy of the graph."""
        return Graph._of(self._native.graph())

    @property
    def times_planned(self) -> int:
        """How often it had to plan."""
        return self._native.times_planned()

    def run(self, inputs: Mapping[str, Any], *, out: Mapping[str, Any] | None = None,
            threads: int | None = None) -> dict[str, Any]:
        """Runs the graph on an array for every input, and returns one for every output, by name.

        An output is written into the array that `out` has under its name, else into a new row-major
        array of the kind of the input that it comes from. What is refused touches none.
        """
        count = to_threads(threads)
        _check_names("inputs", [declared.name for declared in self._inputs], inputs)
        out = {} if out is None else out
        _check_names("out", list(self._origins), out)
        sources = []
        for declared in self._inputs:
            if declared.name not in inputs:
                raise ValueError(f"input '{declared.name}' must be given.")
            sources.append(view(f"input '{declared.name}'", inputs[declared.name]))
        tensors = [_tensor(seen, layout) for seen, layout in zip(sources, self._layouts)]
        shapes = self._native.outputs_for(tensors)
        results, targets = {}, []
        for (name, origin), (dtype, layout, shape) in zip(self._origins.items(), shapes):
            if name in out:
                results[name] = out[name]
                target = view(f"output '{name}'", out[name], for_writing=True)
            else:
                results[name], target = fresh(tuple(shape), dtype, inputs[origin])
            targets.append((target, layout))
        self._native.run(tensors, [_tensor(*target) for target in targets], count)
        return results

    def facts(self, inputs: Mapping[str, Any] | None = None, *,
              threads: int | None = None) -> SessionFacts:
        """How the graph runs on dense tensors: order, costs, memory.

        inputs tells of those inputs that the graph leaves open: a shape, a TensorHint, or an array.
        A type that is not known is taken to be float32.
        """
        count = to_threads(threads)
        tensors = []
        for declared, hint in zip(self._inputs, _hints(self._inputs, inputs)):
            dtype, shape, layout = _to_native(hint.dtype, hint.shape, hint.layout)
            if shape is None or -1 in shape:
                raise ValueError(f"input '{declared.name}' must be of known shape, got "
                                 f"{None if shape is None else tuple(shape)}.")
            dtype = DTYPE_NAMES.index("float32") if dtype is None else dtype
            tensors.append((dtype, layout, shape, row_major(tuple(shape)), 0))
        outputs = [(dtype, layout, shape, row_major(tuple(shape)), 0)
                   for dtype, layout, shape in self._native.outputs_for(tensors)]
        facts = self._native.facts(tensors, outputs, count)
        steps = tuple([StepFacts(**step) for step in facts.pop("steps")])
        return SessionFacts(steps, **facts)


def _origins(graph: Graph) -> dict[str, str]:
    """For each output of a checked graph the input that it comes from."""
    sources = {node.name: node.source for node in graph.nodes}
    origins = {}
    for output in graph.outputs:
        name = output.source.partition(".")[0]
        while name in sources:
            name = sources[name].partition(".")[0]
        origins[output.name] = name
    return origins
