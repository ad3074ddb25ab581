"""Retries while the program is overloaded."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

from .errors import RetryLimitExceededError, ServerBusyError

T = TypeVar("T")


def is_retryable_error(error: BaseException) -> bool:
    """Whether the same request may succeed later."""
    return isinstance(error, ServerBusyError) and not isinstance(error, RetryLimitExceededError)


def retry_on_overload(
    operation: Callable[[], T],
    *,
    max_attempts: int = 3,
    initial_delay_s: float = 0.25,
    max_delay_s: float = 2.0,
    jitter_ratio: float = 0.2,
) -> T:
    """Calls `operation` until it does not raise ServerBusyError. The delay doubles after each attempt."""
    delays = _delays(max_attempts, initial_delay_s, max_delay_s, jitter_ratio)
    while True:
        try:
            return operation()
        except ServerBusyError as error:
            time.sleep(_next_delay(delays, error))


async def retry_on_overload_async(
    operation: Callable[[], Awaitable[T]],
    *,
    max_attempts: int = 3,
    initial_delay_s: float = 0.25,
    max_delay_s: float = 2.0,
    jitter_ratio: float = 0.2,
) -> T:
    """The same for a coroutine function."""
    delays = _delays(max_attempts, initial_delay_s, max_delay_s, jitter_ratio)
    while True:
        try:
            return await operation()
        except ServerBusyError as error:
            await asyncio.sleep(_next_delay(delays, error))


def _next_delay(delays: Iterator[float], error: ServerBusyError) -> float:
    delay = next(delays, None)
    if delay is None or isinstance(error, RetryLimitExceededError):
        raise RetryLimitExceededError(error.code, error.message, error.data) from error
    return delay


def _delays(max_attempts: int, initial_s: float, max_s: float, jitter_ratio: float) -> Iterator[float]:
    if max_attempts < 1:
        raise ValueError(f"Invalid max_attempts {max_attempts}: expected at least 1.")
    for attempt in range(max_attempts - 1):
        delay = min(max_s, initial_s * 2**attempt)
        yield max(0.0, delay * (1 + random.uniform(-jitter_ratio, jitter_ratio)))
