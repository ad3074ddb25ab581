"""Ends waiting calls early."""

from __future__ import annotations

import threading
from collections.abc import Callable


class StopSignal:
    """Ends every call that waits with it and raises `reason` there. Setting a parent sets its children."""

    def __init__(self, parent: StopSignal | None = None) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: dict[object, Callable[[], None]] = {}
        self._reason: BaseException | None = None
        self._unsubscribe = parent.on_set(lambda: self.set(parent.reason)) if parent else None

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
        """Calls it at once if the signal is already set. Returns a function that unsubscribes it."""
        key = object()
        with self._lock:
            is_set = self._event.is_set()
            if not is_set:
                self._callbacks[key] = callback
        if is_set:
            callback()

        def unsubscribe() -> None:
            self._callbacks.pop(key, None)

        return unsubscribe

    def detach(self) -> None:
        """Unsubscribes from the parent."""
        if self._unsubscribe:
            self._unsubscribe()

    def check(self) -> None:
        """Raises the reason if the signal is set."""
        if self.is_set:
            raise self.reason

    def wait(self, seconds: float) -> None:
        if self._event.wait(seconds):
            raise self.reason
