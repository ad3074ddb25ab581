"""Options from dataclasses, or from mappings with Python or wire names, at any depth."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar, Union

from .encode import wire_name
from .errors import ConfigurationError
from .wire import camel

T = TypeVar("T")


def coerce(kind: type[T], value: T | Mapping[str, Any] | None) -> T:
    """Builds the options. Raises ConfigurationError for an unknown member, with the names of the allowed ones."""
    dataclass: Any = kind
    members = _by_field(dataclass, value) if isinstance(value, Mapping) else dict(vars(value)) if value else {}
    return kind(**{name: _convert(_hints(dataclass)[name], member) for name, member in members.items()})


def _by_field(kind: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    fields = {form: name for name in _hints(kind) for form in _forms(name)}
    for name in values:
        if name not in fields:
            allowed = ", ".join(_hints(kind))
            message = f"{kind.__name__} has no member {name}. Use one of: {allowed}."
            raise ConfigurationError(message, code="invalid_option", operation=kind.__name__)
    return {fields[name]: member for name, member in values.items()}


def _convert(hint: Any, value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return coerce(type(value), value)
    for choice in _choices(hint):
        arguments = typing.get_args(choice)
        if isinstance(value, Mapping) and dataclasses.is_dataclass(choice) and _has_required(choice, value):
            return coerce(typing.cast("type[Any]", choice), value)
        if isinstance(value, Mapping) and typing.get_origin(choice) is Mapping:
            return {name: _convert(arguments[1], item) for name, item in value.items()}
        if isinstance(value, (list, tuple)) and typing.get_origin(choice) is Sequence:
            return [_convert(arguments[0], item) for item in value]
    return value


def _choices(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) in (Union, types.UnionType) else (hint,)


def _has_required(kind: Any, value: Mapping[str, Any]) -> bool:
    """Tells the classes of a union apart: an MCP server with a url is not one with a command."""
    required = [field.name for field in dataclasses.fields(kind) if field.default is dataclasses.MISSING]
    return all(any(form in value for form in _forms(name)) for name in required)


def _forms(name: str) -> tuple[str, ...]:
    return (name, wire_name(name), camel(name))


@lru_cache(maxsize=None)
def _hints(kind: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}
