"""Wire values as dataclasses: camelCase outside, snake_case inside, unknown members ignored."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeVar, Union

from .errors import PlatformAgentError

Json = dict[str, Any]
T = TypeVar("T")

_UNUSUAL = {"auto_create_pr": "autoCreatePR", "client_id": "CLIENT_ID", "client_secret": "CLIENT_SECRET"}


def decode(kind: type[T], wire: object) -> T:
    """A dataclass from its wire form. A member that is missing is an error that names it."""
    if not isinstance(wire, Mapping):
        raise PlatformAgentError(f"The platform sent {wire!r} where {kind.__name__} was expected.", code="protocol")
    values = {}
    described: Any = kind
    for name, hint, required in _fields(described):
        key = camel(name)
        if wire.get(key) is not None:
            values[name] = _convert(hint, wire[key])
        elif required:
            raise PlatformAgentError(f"The platform sent a {kind.__name__} without {key}.", code="protocol")
    return kind(**values)


def encode(value: object) -> Any:
    """The wire form of dataclasses and of what holds them. Members that are None are left out."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        members = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {camel(name): encode(member) for name, member in members.items() if member is not None}
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    if isinstance(value, Mapping):
        return {key: encode(item) for key, item in value.items()}
    return value


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return _UNUSUAL.get(name) or first + "".join(part.capitalize() for part in rest)


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
    if origin in (Union, types.UnionType):
        classes = [argument for argument in arguments if dataclasses.is_dataclass(argument) or typing.get_origin(argument)]
        return _convert(classes[0], value) if classes else value
    return value
