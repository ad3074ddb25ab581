"""Waiting code for those who may not wait: calls and streams in threads, awaited from a loop."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, TypeVar

from .errors import PlatformSdkError
from .surroundings import Stop

T = TypeVar("T")

_MOST_UNREAD = 64


async def in_thread(function: Callable[[], T], stop: Stop | None = None) -> T:
    """Giving up the await sets `stop`, which ends what the function waits for."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(method: Callable[[Any], None], value: object) -> None:
        if not future.done():
            method(value)

    def work() -> None:
        try:
            outcome: tuple[Callable[[Any], None], object] = (future.set_result, function())
        except BaseException as error:
            outcome = (future.set_exception, error)
        # Nobody awaits it where the loop is closed.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=work, name="platform_sdk call", daemon=True).start()
    try:
        return await future
    except asyncio.CancelledError:
        if stop:
            stop.set(_given_up())
        raise


async def iterate_in_thread(read: Callable[[Stop], Iterator[T]], parent: Stop) -> AsyncIterator[T]:
    """One thread for all of it, at most so many items ahead of the reader."""
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
    room = threading.Semaphore(_MOST_UNREAD)
    stop = Stop(parent)
    stop.on_set(room.release)

    def tell(kind: str, value: object = None) -> None:
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(arrived.put_nowait, (kind, value))

    def work() -> None:
        try:
            for item in read(stop):
                room.acquire()
                stop.check()
                tell("item", item)
            tell("end")
        except BaseException as error:
            tell("error", error)

    threading.Thread(target=work, name="platform_sdk stream", daemon=True).start()
    try:
        while True:
            kind, value = await arrived.get()
            room.release()
            if kind == "error":
                raise value
            if kind == "end":
                return
            yield value
    finally:
        stop.set(_given_up())
        stop.leave()


def call_in_loop(function: Callable[[T], object], loop: asyncio.AbstractEventLoop) -> Callable[[T], None]:
    """For a thread: calls it where the loop runs, waits for it, and raises what it raises."""

    async def call(value: T) -> None:
        outcome = function(value)
        if inspect.isawaitable(outcome):
            await outcome

    return lambda value: asyncio.run_coroutine_threadsafe(call(value), loop).result()


def await_in_loop(
    function: Callable[..., Coroutine[Any, Any, object]], loop: asyncio.AbstractEventLoop
) -> Callable[..., object]:
    """The same for what must be awaited there."""

    @functools.wraps(function)
    def call(*values: object) -> object:
        return asyncio.run_coroutine_threadsafe(function(*values), loop).result()

    return call


def _given_up() -> PlatformSdkError:
    return PlatformSdkError("Nobody waits for it any more.", code="closed")
