"""Blocking code for asyncio: calls and iterators run in threads, awaited from a loop."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from .errors import PlatformSdkError
from .stop_signal import StopSignal

T = TypeVar("T")
R = TypeVar("R")
S = TypeVar("S")
P = ParamSpec("P")

_MAX_UNREAD_ITEMS = 64


class Wrapper(Generic[S]):
    """An asyncio class over a blocking one."""

    def __init__(self, blocking: S) -> None:
        self._blocking = blocking


def awaited(
    method: Callable[Concatenate[S, P], T],
) -> Callable[Concatenate[Wrapper[S], P], Coroutine[Any, Any, T]]:
    """The method of the blocking class, as a coroutine method with the same parameters."""
    return awaited_as(lambda result: result, method)


def awaited_as(
    convert: Callable[[T], R], method: Callable[Concatenate[S, P], T]
) -> Callable[Concatenate[Wrapper[S], P], Coroutine[Any, Any, R]]:
    """The same, with a converted result."""

    @functools.wraps(method)
    async def call(self: Wrapper[S], /, *args: P.args, **kwargs: P.kwargs) -> R:
        # By name: subclasses override the method.
        bound: Callable[..., T] = getattr(self._blocking, method.__name__)
        return convert(await in_thread(lambda: bound(*args, **kwargs)))

    return call


async def in_thread(function: Callable[[], T], stop: StopSignal | None = None) -> T:
    """Cancelling the await sets `stop`, which ends the wait of the function."""
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
        # A closed loop awaits nothing.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=work, name="platform_sdk call", daemon=True).start()
    try:
        return await future
    except asyncio.CancelledError:
        if stop:
            stop.set(_cancelled())
        raise


async def iterate_in_thread(read: Callable[[StopSignal], Iterator[T]], parent: StopSignal) -> AsyncIterator[T]:
    """One thread per iteration. It reads a limited number of items ahead of the caller."""
    loop = asyncio.get_running_loop()
    results: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
    slots = threading.Semaphore(_MAX_UNREAD_ITEMS)
    stop = StopSignal(parent)
    stop.on_set(slots.release)

    def put(kind: str, value: object = None) -> None:
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(results.put_nowait, (kind, value))

    def work() -> None:
        try:
            for item in read(stop):
                slots.acquire()
                stop.check()
                put("item", item)
            put("end")
        except BaseException as error:
            put("error", error)

    threading.Thread(target=work, name="platform_sdk stream", daemon=True).start()
    try:
        while True:
            kind, value = await results.get()
            slots.release()
            if kind == "error":
                raise value
            if kind == "end":
                return
            yield value
    finally:
        stop.set(_cancelled())
        stop.detach()


def _cancelled() -> PlatformSdkError:
    return PlatformSdkError("The caller stopped waiting.", code="closed")
