"""Parses Server-Sent Events from bytes: any line ending, multi-line data, comments."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_MAX_EVENT_CHARACTERS = 64 * 1024 * 1024
_LINE_ENDING = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True)
class ServerEvent:
    """`id` is None if the event has none of its own."""

    id: str | None
    event: str
    data: str


def read_events(chunks: Iterable[bytes]) -> Iterator[ServerEvent]:
    """Yields complete events only: a broken connection may leave half of one."""
    reader = EventReader()
    for chunk in chunks:
        yield from reader.push(chunk)


class EventReader:
    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._is_at_start = True
        self._ended_in_return = False
        self._rest: list[str] = []
        self._size = 0
        self._id: str | None = None
        self._name = ""
        self._data: list[str] = []

    def push(self, chunk: bytes) -> list[ServerEvent]:
        """Returns the events that this chunk completes."""
        text = self._decoder.decode(chunk)
        if not text:
            return []
        if self._is_at_start:
            text = text.removeprefix("\ufeff")
            self._is_at_start = False
        # The second half of a line ending that is split between two chunks.
        if self._ended_in_return:
            text = text.removeprefix("\n")
        self._ended_in_return = text.endswith("\r")
        *lines, rest = _LINE_ENDING.split(text)
        events = []
        for line in lines:
            events += self._line("".join(self._rest) + line)
            self._rest = []
        self._rest.append(rest)
        self._size += len(text)
        if self._size > _MAX_EVENT_CHARACTERS:
            raise ValueError("An event of the stream is larger than 64 Mi characters.")
        return events

    def _line(self, line: str) -> list[ServerEvent]:
        if line == "":
            return self._dispatch()
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
        elif field == "id" and "\0" not in value:
            self._id = value
        return []

    def _dispatch(self) -> list[ServerEvent]:
        ended = [ServerEvent(self._id, self._name or "message", "\n".join(self._data))] if self._data else []
        self._id, self._name, self._data, self._size = None, "", [], 0
        return ended
