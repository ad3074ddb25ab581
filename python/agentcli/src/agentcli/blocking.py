"""Waiting that blocks the calling thread. `event_loop.py` has the same names for asyncio."""

from __future__ import annotations

import queue
from concurrent.futures import Future
from typing import TypeVar

from .connection import Message

T = TypeVar("T")


def wait(future: Future[T]) -> T:
    return future.result()


class MessageQueue:
    """`put` may be called from any thread."""

    def __init__(self) -> None:
        self._messages: queue.SimpleQueue[Message] = queue.SimpleQueue()

    def put(self, message: Message) -> None:
        self._messages.put(message)

    def get(self) -> Message:
        return self._messages.get()
