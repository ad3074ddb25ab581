"""Wire values as dataclasses: camelCase outside, snake_case inside, unknown members ignored."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeVar, Union

from .errors import ProtocolError

Json = dict[str, Any]
T = TypeVar("T")


def decode(kind: type[T], wire: object) -> T:
    """A dataclass from its wire form. A member that is missing is an error that names it."""
    if not isinstance(wire, Mapping):
        raise ProtocolError(f"agentcli sent {wire!r} where {kind.__name__} was expected.")
    values = {}
    described: Any = kind
    for name, hint, required in _fields(described):
        key = camel(name)
        if wire.get(key) is not None:
            values[name] = _convert(hint, wire[key])
        elif required:
            raise ProtocolError(f"agentcli sent a {kind.__name__} without {key}.")
    return kind(**values)


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def encode(values: Mapping[str, object]) -> Json:
    """Members that are None are left out."""
    return {camel(name): value for name, value in values.items() if value is not None}


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


def _convert_union(arguments: tuple[Any, ...], value: Any) -> Any:
    """Of several dataclasses the one whose `type` says so; one without such a default takes the rest."""
    classes: list[Any] = [argument for argument in arguments if dataclasses.is_dataclass(argument)]
    if not classes or not isinstance(value, dict):
        return value
    kinds = {_type_of(argument): argument for argument in classes}
    fitting = kinds.get(value.get("type"), kinds.get(None, classes[0]))
    return fitting.from_wire(value) if hasattr(fitting, "from_wire") else decode(fitting, value)


def _type_of(kind: Any) -> object:
    for field in dataclasses.fields(kind):
        if field.name == "type" and field.default is not dataclasses.MISSING:
            return field.default
    return None
