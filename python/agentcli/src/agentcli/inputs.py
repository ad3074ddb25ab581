"""Input of a turn: text, images, skills, mentions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Union

from .wire import Json


@dataclass(frozen=True)
class TextInput:
    text: str


@dataclass(frozen=True)
class ImageInput:
    """An image by its URL; `data:` URLs are allowed."""

    url: str


@dataclass(frozen=True)
class LocalImageInput:
    path: str | os.PathLike[str]


@dataclass(frozen=True)
class SkillInput:
    """The skill that `$name` in the text refers to."""

    name: str
    path: str | os.PathLike[str]


@dataclass(frozen=True)
class MentionInput:
    name: str
    path: str | os.PathLike[str]


InputItem = Union[TextInput, ImageInput, LocalImageInput, SkillInput, MentionInput]
Input = Union[str, InputItem, Sequence[InputItem]]


def wire_input(value: Input) -> list[Json]:
    """Resolves relative paths against the directory of this process."""
    if isinstance(value, str):
        return [_wire(TextInput(value))]
    if isinstance(value, (TextInput, ImageInput, LocalImageInput, SkillInput, MentionInput)):
        return [_wire(value)]
    return [_wire(item) for item in value]


def _wire(item: InputItem) -> Json:
    if isinstance(item, TextInput):
        return {"type": "text", "text": item.text}
    if isinstance(item, ImageInput):
        return {"type": "image", "url": item.url}
    if isinstance(item, LocalImageInput):
        return {"type": "localImage", "path": os.path.abspath(item.path)}
    if isinstance(item, SkillInput):
        return {"type": "skill", "name": item.name, "path": os.path.abspath(item.path)}
    if isinstance(item, MentionInput):
        return {"type": "mention", "name": item.name, "path": os.fspath(item.path)}
    raise TypeError(f"Invalid input {item!r}: expected text, TextInput, ImageInput, LocalImageInput, SkillInput or MentionInput.")
