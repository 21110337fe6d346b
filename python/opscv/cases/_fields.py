# SPDX-License-Identifier: Apache-2.0
"""An object of a case file, whose values are taken by key and checked as they are. Knows no key."""
from __future__ import annotations

import reprlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

LARGEST = 2**63 - 1


class FileError(Exception):
    """A case file that does not say what its format asks for, in one sentence that names the key."""


class Kind(NamedTuple):
    """What a value may be: in words, and as a test."""
    words: str
    holds: Callable[[Any], bool]


def shown(value: Any) -> str:
    return reprlib.repr(value).replace("\n", " ")


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST


TEXT = Kind("text", lambda value: isinstance(value, str))
BOOL = Kind("true or false", lambda value: isinstance(value, bool))
NUMBER = Kind("a number", is_number)
OBJECT = Kind("an object", lambda value: isinstance(value, dict))


def integer(least: int, most: int = LARGEST) -> Kind:
    return Kind(f"an integer from {least} to {most}",
                lambda value: is_integer(value) and least <= value <= most)


def one_of(known: Sequence[Any]) -> Kind:
    return Kind(f"one of {', '.join('null' if word is None else str(word) for word in known)}",
                lambda value: any(type(value) is type(word) and value == word for word in known))


def or_null(kind: Kind) -> Kind:
    return Kind(f"{kind.words}, or null", lambda value: value is None or kind.holds(value))


def list_of(kind: Kind, length: int | None = None) -> Kind:
    """Of that length; of any but 0 where none is given."""
    count = "" if length is None else f"of {length} "
    return Kind(f"a list {count}whose elements are {kind.words}",
                lambda value: isinstance(value, list) and all(map(kind.holds, value))
                and (len(value) == length if length is not None else bool(value)))


class Fields:
    """The values of an object by key. `place` says in messages which object it is."""

    def __init__(self, content: Any, place: str) -> None:
        if not isinstance(content, dict):
            raise FileError(f"{place} must be an object, got {shown(content)}")
        self._content = content
        self._place = place

    def __contains__(self, key: str) -> bool:
        return key in self._content

    def error(self, key: str, words: str) -> FileError:
        return FileError(f"{self._place}: {key} must be {words}, got "
                         f"{shown(self._content.get(key))}")

    def need(self, key: str, kind: Kind) -> Any:
        if key not in self._content:
            raise FileError(f"{self._place}: {key} is missing; it must be {kind.words}")
        if not kind.holds(self._content[key]):
            raise self.error(key, kind.words)
        return self._content[key]

    def get(self, key: str, kind: Kind, default: Any = None) -> Any:
        return self.need(key, kind) if key in self._content else default

    def refuse_others(self, known: Sequence[str]) -> None:
        unknown = sorted(self._content.keys() - set(known))
        if unknown:
            raise FileError(f"{self._place}: there is no key {', '.join(map(shown, unknown))}; there "
                            f"are {', '.join(sorted(known))}")
