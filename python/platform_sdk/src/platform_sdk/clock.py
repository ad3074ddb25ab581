"""Time, and waiting that a stop signal can end early."""

from __future__ import annotations

import time

from .stop_signal import StopSignal


class Clock:
    """Real time. Tests pass another clock."""

    def now(self) -> float:
        """Seconds from an arbitrary start: only differences have a meaning."""
        return time.monotonic()

    def wait(self, seconds: float, stop: StopSignal) -> None:
        """Raises the reason of `stop` if that is set first."""
        stop.wait(seconds)
