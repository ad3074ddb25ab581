"""Parsing of event streams, split anywhere."""

from __future__ import annotations

import os
import random

from platform_sdk.sse import EventReader, ServerEvent

RUNS = int(os.environ.get("FUZZ_RUNS", "200"))
LETTERS = "ab: \u00e4\u20ac\U0001f600\t{}\"\u2028"


def read(pieces: list[bytes]) -> list[ServerEvent]:
    reader = EventReader()
    return [event for piece in pieces for event in reader.push(piece)]


def split(source: random.Random, data: bytes) -> list[bytes]:
    offsets = sorted(source.randrange(len(data) + 1) for _ in range(source.randrange(40)))
    return [data[start:end] for start, end in zip([0, *offsets], [*offsets, len(data)])]


def test_events_are_parsed_with_any_line_ending_and_any_split() -> None:
    source = random.Random(7)

    def text(min_length: int) -> str:
        return "".join(source.choice(LETTERS) for _ in range(source.randrange(min_length, 9)))

    for _ in range(RUNS):
        end = source.choice(["\n", "\r\n", "\r"])
        events, sent = [], ""
        for _ in range(source.randrange(5)):
            id, name = source.choice([None, text(0)]), text(1)
            lines = [text(0) for _ in range(source.randrange(1, 4))]
            events.append(ServerEvent(id, name, "\n".join(lines)))
            fields = ([] if id is None else [f"id: {id}"]) + [f"event: {name}", *[f"data: {line}" for line in lines]]
            sent += end.join(fields) + end + end
        assert read(split(source, sent.encode())) == events


def test_the_reader_accepts_any_bytes() -> None:
    source = random.Random(8)
    for _ in range(RUNS):
        read([source.randbytes(source.randrange(60)) for _ in range(source.randrange(10))])


def test_comments_unknown_fields_and_a_byte_order_mark_are_ignored() -> None:
    text = "\ufeff: hello\nretry: 5\nid:7\nevent:status\ndata:{}\n\nevent: x\n\ndata:  y\n\ndata: half\n"
    assert read([text.encode()]) == [ServerEvent("7", "status", "{}"), ServerEvent(None, "message", " y")]
