"""Time, and what makes waiting end early."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Stop:
    """Ends whatever waits under it, with a reason. One under another ends with it."""

    def __init__(self, parent: Stop | None = None) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: dict[object, Callable[[], None]] = {}
        self._reason: BaseException | None = None
        self._leave = parent.on_set(lambda: self.set(parent.reason)) if parent else None

    @property
    def is_set(self) -> bool:
        return self._event.is_set()

    @property
    def reason(self) -> BaseException:
        return self._reason or RuntimeError("stopped without a reason")

    def set(self, reason: BaseException) -> None:
        with self._lock:
            if self._event.is_set():
                return
            self._reason = reason
            self._event.set()
            callbacks = list(self._callbacks.values())
        for callback in callbacks:
            callback()

    def on_set(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Calls it at once where it is set already. Returns what takes it back."""
        token = object()
        with self._lock:
            is_set = self._event.is_set()
            if not is_set:
                self._callbacks[token] = callback
        if is_set:
            callback()
        return lambda: void(self._callbacks.pop(token, None))

    def leave(self) -> None:
        """The parent need not know of it any longer."""
        if self._leave:
            self._leave()

    def check(self) -> None:
        if self.is_set:
            raise self.reason

    def wait(self, seconds: float) -> None:
        if self._event.wait(seconds):
            raise self.reason


def void(_: object) -> None:
    return None


class Clock:
    """Real time. A test has another."""

    def now(self) -> float:
        """Seconds; only differences mean something."""
        return time.monotonic()

    def wait(self, seconds: float, stop: Stop) -> None:
        """Raises the reason of `stop` where that comes first."""
        stop.wait(seconds)
