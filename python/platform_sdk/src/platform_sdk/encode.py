"""Dataclasses as JSON for the wire."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from .wire import camel

_IRREGULAR = {"auto_create_pr": "autoCreatePR", "client_id": "CLIENT_ID", "client_secret": "CLIENT_SECRET"}


def encode(value: object) -> Any:
    """The wire form of dataclasses and of collections of them. Members that are None are left out."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        members = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {wire_name(name): encode(member) for name, member in members.items() if member is not None}
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    if isinstance(value, Mapping):
        return {key: encode(item) for key, item in value.items()}
    return value


def wire_name(name: str) -> str:
    return _IRREGULAR.get(name) or camel(name)
