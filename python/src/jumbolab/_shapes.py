"""Checks of what is read: JSON and TOML whose content others may have changed."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from ._errors import JumbolabError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Object = dict[str, Any]
T = TypeVar("T")

#: The largest integer of the program.
LARGEST = 2**64 - 1

#: The most parts of a key. `tomllib` needs a minute for one of 64 000 parts.
MOST_PARTS = 16

_PART = re.compile(r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')""")
_KEY = re.compile(rf"(?<![\w-]){_PART.pattern}(?:[ \t]*\.[ \t]*{_PART.pattern})+")


def _is_integer(value: Any) -> bool:
    return type(value) is int and 0 <= value <= LARGEST


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= LARGEST


_INTEGER = f"an integer from 0 to {LARGEST}"
_NUMBER = "a finite number of at least 0"
_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "int": (_INTEGER, _is_integer),
    "float": (_NUMBER, _is_number),
    "str": ("a string", lambda value: isinstance(value, str)),
    "str | None": ("a string or null", lambda value: value is None or isinstance(value, str)),
    "int | None": (f"{_INTEGER} or null", lambda value: value is None or _is_integer(value)),
    "float | None": (f"{_NUMBER} or null", lambda value: value is None or _is_number(value)),
    "Object": ("an object", lambda value: isinstance(value, dict)),
    "dict[str, str]": (
        "an object of strings",
        lambda value: isinstance(value, dict) and all(isinstance(v, str) for v in value.values()),
    ),
}


class WrongShape(ValueError):
    """What is wrong with a value, without its file."""


def read_json(content: bytes | str, place: str, shape: Callable[[Any], T]) -> T:
    """What `shape` makes of a JSON text.

    Raises:
        JumbolabError: The text is no JSON, or has another shape.
    """
    try:
        return fitting(json.loads(content, parse_constant=_constant), place, shape)
    except WrongShape as error:
        raise JumbolabError(f"{place}: {error}", file=place) from error
    except (ValueError, RecursionError) as error:
        raise JumbolabError(f"{place} is no JSON: {error}", file=place) from error


def fitting(value: Any, place: str, shape: Callable[[Any], T]) -> T:
    """What `shape` makes of a value.

    Raises:
        JumbolabError: The value has another shape.
    """
    try:
        return shape(value)
    except WrongShape as error:
        raise JumbolabError(f"{place}: {error}", file=place) from error


def record(kind: Callable[..., T], *, further: bool = False) -> Callable[[Any], T]:
    """The shape of an object with the fields of a dataclass, with others too if `further`."""
    types = {field.name: str(field.type) for field in dataclasses.fields(kind)}  # type: ignore[arg-type]

    def shape(value: Any) -> T:
        if not isinstance(value, dict):
            raise WrongShape(f"{short(value)}: an object is needed")
        for key in value.keys() - types.keys():
            if not further:
                raise WrongShape(f"{key} is no key of it; there are {', '.join(types)}")
        for key, type_ in types.items():
            if key not in value:
                raise WrongShape(f"the key {key} is missing")
            wanted, fits = _KINDS[type_]
            if not fits(value[key]):
                raise WrongShape(f"{key} = {short(value[key])}: {wanted} is needed")
        return kind(**{key: value[key] for key in types})

    return shape


def objects(text: str, place: str) -> list[Object]:
    """The objects of JSON Lines."""
    return [read_json(line, place, _object) for line in text.splitlines() if line]


def read_toml(content: bytes, place: str) -> Object:
    """A TOML text.

    Raises:
        JumbolabError: It is none.
    """
    try:
        text = content.decode()
        for key in _KEY.finditer(text):
            if (
                key.group().count(".") >= MOST_PARTS
                and len(_PART.findall(key.group())) > MOST_PARTS
            ):
                raise WrongShape(f"a key has more than {MOST_PARTS} parts: {short(key.group())}")
        table: Object = tomllib.loads(text)
        return table
    except (ValueError, RecursionError) as error:
        raise JumbolabError(f"{place} is no TOML: {error}", file=place) from error


def short(value: Any) -> str:
    """A value in an error."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _object(value: Any) -> Object:
    if not isinstance(value, dict):
        raise WrongShape(f"{short(value)}: an object is needed")
    return value


def _constant(name: str) -> float:
    raise WrongShape(f"{name}: a finite number is needed")
