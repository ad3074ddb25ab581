"""A prompt with images."""

from __future__ import annotations

import base64
import mimetypes
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union


@dataclass(frozen=True)
class SDKImageDimension:
    width: int
    height: int


@dataclass(frozen=True, kw_only=True)
class SDKImage:
    """Create it with `from_file`, `data_image` or `url_image`."""

    data: str | None = None
    mime_type: str | None = None
    url: str | None = None
    dimension: SDKImageDimension | None = None

    @classmethod
    def from_file(
        cls, path: str | os.PathLike[str], *, mime_type: str | None = None, dimension: SDKImageDimension | None = None
    ) -> SDKImage:
        kind = mime_type or mimetypes.guess_type(str(path))[0]
        if kind is None:
            raise ValueError(f"Unknown image type of {path}. Pass mime_type.")
        return cls.data_image(Path(path).read_bytes(), kind, dimension)

    @classmethod
    def data_image(
        cls, data: bytes | str, mime_type: str, dimension: SDKImageDimension | None = None
    ) -> SDKImage:
        """From bytes, or from a string that is already base64."""
        text = data if isinstance(data, str) else base64.b64encode(data).decode("ascii")
        return cls(data=text, mime_type=mime_type, dimension=dimension)

    @classmethod
    def url_image(cls, url: str, dimension: SDKImageDimension | None = None) -> SDKImage:
        return cls(url=url, dimension=dimension)

    from_data = data_image
    from_url = url_image


@dataclass(frozen=True)
class UserMessage:
    text: str
    images: Sequence[SDKImage] | None = None


Message = Union[str, UserMessage, Mapping[str, Any]]
