"""JSON from the wire as dataclasses: camelCase outside, snake_case inside, unknown members ignored."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeVar, Union

from .errors import unexpected_value

Json = dict[str, Any]
T = TypeVar("T")


def decode(kind: type[T], wire: object) -> T:
    """Builds a dataclass from its wire form. Raises an error that names the first missing member."""
    if not isinstance(wire, Mapping):
        raise unexpected_value(f"sent {wire!r} where {kind.__name__} was expected.")
    values = {}
    dataclass: Any = kind
    for name, hint, required in _fields(dataclass):
        key = camel(name)
        if wire.get(key) is not None:
            values[name] = _convert(hint, wire[key])
        elif required:
            raise unexpected_value(f"sent a {kind.__name__} without {key}.")
    return kind(**values)


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


@lru_cache(maxsize=None)
def _fields(kind: Any) -> tuple[tuple[str, Any, bool], ...]:
    hints = typing.get_type_hints(kind)
    return tuple(
        (
            field.name,
            hints[field.name],
            field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING,
        )
        for field in dataclasses.fields(kind)
    )


def _convert(hint: Any, value: Any) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return decode(hint, value)
    if origin is list and isinstance(value, list):
        return [_convert(arguments[0], item) for item in value]
    if origin is dict and isinstance(value, dict):
        return {key: _convert(arguments[1], item) for key, item in value.items()}
    if origin in (Union, types.UnionType):
        return _convert_union(arguments, value)
    return value


def _convert_union(choices: tuple[Any, ...], value: Any) -> Any:
    classes: list[Any] = [choice for choice in choices if dataclasses.is_dataclass(choice)]
    if classes:
        return _convert_to_one_of(classes, value)
    generic = next((choice for choice in choices if typing.get_origin(choice)), None)
    return value if generic is None else _convert(generic, value)


def _convert_to_one_of(classes: list[Any], value: Any) -> Any:
    """Picks the dataclass whose `type` default matches; one without such a default accepts every other type."""
    by_type = {_type_of(kind): kind for kind in classes}
    tag = value.get("type") if isinstance(value, dict) else None
    fallback = by_type.get(None, classes[0])
    match = by_type.get(tag, fallback) if isinstance(tag, str) else fallback
    return match.from_wire(value) if hasattr(match, "from_wire") and isinstance(value, dict) else decode(match, value)


def _type_of(kind: Any) -> object:
    for field in dataclasses.fields(kind):
        if field.name == "type" and field.default is not dataclasses.MISSING:
            return field.default
    return None
