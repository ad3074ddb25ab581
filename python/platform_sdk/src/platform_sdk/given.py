"""Options as a program gives them: dataclasses, or mappings with the names of Python or of the wire, at any depth."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar, Union

from .errors import ConfigurationError
from .wire import camel

T = TypeVar("T")


def taken(kind: type[T], value: T | Mapping[str, Any] | None) -> T:
    """The options themselves. A member that there is not is refused with the names of those that there are."""
    described: Any = kind
    members = _named(described, value) if isinstance(value, Mapping) else dict(vars(value)) if value else {}
    return kind(**{name: _converted(_hints(described)[name], member) for name, member in members.items()})


def _named(kind: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    names = {form: name for name in _hints(kind) for form in (name, camel(name), _plain(name))}
    for name in given:
        if name not in names:
            known = ", ".join(_hints(kind))
            message = f"{kind.__name__} has no member {name}. There are: {known}."
            raise ConfigurationError(message, code="invalid_option", operation=kind.__name__)
    return {names[name]: member for name, member in given.items()}


def _converted(hint: Any, value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return taken(type(value), value)
    for choice in _choices(hint):
        arguments = typing.get_args(choice)
        if isinstance(value, Mapping) and dataclasses.is_dataclass(choice) and _fits(choice, value):
            return taken(typing.cast("type[Any]", choice), value)
        if isinstance(value, Mapping) and typing.get_origin(choice) is Mapping:
            return {name: _converted(arguments[1], item) for name, item in value.items()}
        if isinstance(value, (list, tuple)) and typing.get_origin(choice) is Sequence:
            return [_converted(arguments[0], item) for item in value]
    return value


def _choices(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) in (Union, types.UnionType) else (hint,)


def _fits(kind: Any, value: Mapping[str, Any]) -> bool:
    """Has what the class cannot do without, so that a server with a url is no command."""
    required = [field.name for field in dataclasses.fields(kind) if field.default is dataclasses.MISSING]
    return all(name in value or camel(name) in value or _plain(name) in value for name in required)


@lru_cache(maxsize=None)
def _hints(kind: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _plain(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
