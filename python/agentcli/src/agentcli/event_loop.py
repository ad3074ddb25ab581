"""Waiting on an asyncio event loop. `blocking.py` has the same names for threads."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from .connection import Message

T = TypeVar("T")


async def wait(future: Future[T]) -> T:
    return await asyncio.wrap_future(future)


class MessageQueue:
    """`put` may be called from any thread; `get` belongs to the loop that created the queue."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._messages: asyncio.Queue[Message] = asyncio.Queue()

    def put(self, message: Message) -> None:
        try:
            self._loop.call_soon_threadsafe(self._messages.put_nowait, message)
        except RuntimeError:
            return  # The loop is closed, so nothing reads the turn any more.

    async def get(self) -> Message:
        return await self._messages.get()


def await_on(loop: asyncio.AbstractEventLoop) -> Callable[[Any], Any]:
    """For callbacks that run in threads: returns a value as it is and the result of an awaitable."""

    async def result_of(value: Awaitable[Any]) -> Any:
        return await value

    def wait_for(value: Any) -> Any:
        if not inspect.isawaitable(value):
            return value
        return asyncio.run_coroutine_threadsafe(result_of(value), loop).result()

    return wait_for
