"""The frames of a run from the first to the result, each once, over as many connections as needed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Literal, Union

from .errors import AuthenticationError, ConfigurationError, PlatformSdkError, UnknownAgentError
from .frame import Frame, read_frame
from .stream_position import StreamPosition
from .sse import read_events
from .clock import Clock
from .stop_signal import StopSignal
from .wire import Json

_RECONNECT_S = (1, 2, 4, 8, 16, 30)
_POLL_S = 15
_MAX_FOLLOW_S = 2 * 60 * 60


@dataclass(frozen=True)
class RunSource:
    """Opens the stream of a run after an event id, and reads the run itself."""

    open: Callable[[Union[str, None], StopSignal], Iterator[bytes]]
    read: Callable[[StopSignal], Json]


@dataclass(frozen=True)
class RunEnded:
    """The run is over, and its stream could not be read to the end."""

    run: Json
    reason: Literal["expired", "dropped"]


@dataclass(frozen=True)
class FollowTimeout:
    """The run was not over within two hours."""


FollowEvent = Union[Frame, RunEnded, FollowTimeout]
Attempt = Literal["over", "expired", "dropped", "dropped-after-progress"]


def follow_run(source: RunSource, clock: Clock, stop: StopSignal) -> Iterator[FollowEvent]:
    return _RunFollower(source, clock, stop).follow()


def is_over(status: str) -> bool:
    return status not in ("CREATING", "RUNNING")


class _RunFollower:
    def __init__(self, source: RunSource, clock: Clock, stop: StopSignal) -> None:
        self._source = source
        self._clock = clock
        self._stop = stop
        self._position = StreamPosition()
        self._ends_at = clock.now() + _MAX_FOLLOW_S

    def follow(self) -> Iterator[FollowEvent]:
        failures = 0
        while self._clock.now() < self._ends_at:
            attempt = yield from self._read_stream()
            if attempt == "over":
                return
            run = self._read_run()
            if run and is_over(run["status"]):
                yield from self._read_rest(run, attempt)
                return
            if attempt == "dropped-after-progress":
                failures = 0
            if attempt == "expired" or failures == len(_RECONNECT_S):
                yield from self._poll(attempt)
                return
            self._clock.wait(_RECONNECT_S[failures], self._stop)
            failures += 1
        yield FollowTimeout()

    def _read_stream(self) -> Generator[Frame, None, Attempt]:
        """One connection, to the result or until it breaks. Raises errors that a retry cannot fix."""
        attempt: Attempt = "dropped"
        self._position.reconnect()
        try:
            for event in read_events(self._source.open(self._position.resume_id, self._stop)):
                frame = read_frame(event)
                is_new = self._position.admit(event.id)
                if frame and frame.event == "error":
                    raise _stream_error(frame.data)
                if frame and (is_new or frame.event == "result"):
                    yield frame
                if frame and frame.event == "result":
                    return "over"
                if event.id is not None and is_new:
                    attempt = "dropped-after-progress"
                if self._clock.now() >= self._ends_at:
                    break
        except PlatformSdkError as error:
            self._stop.check()
            if error.code == "stream_expired":
                return "expired"
            if error.code == "invalid_last_event_id":
                self._position.restart()
            elif _is_final(error):
                raise
        except ValueError:
            pass  # Not JSON: the connection is broken, so try the next one.
        return attempt

    def _read_run(self) -> Json | None:
        """None while the platform does not respond."""
        try:
            return self._source.read(self._stop)
        except PlatformSdkError as error:
            if self._stop.is_set or _is_final(error):
                raise
            return None

    def _read_rest(self, run: Json, attempt: Attempt) -> Iterator[FollowEvent]:
        """The run ended while disconnected: the rest of its stream comes before its end."""
        if attempt != "expired":
            attempt = yield from self._read_stream()
        if attempt != "over":
            yield RunEnded(run, "expired" if attempt == "expired" else "dropped")

    def _poll(self, attempt: Attempt) -> Iterator[FollowEvent]:
        while self._clock.now() < self._ends_at:
            self._clock.wait(_POLL_S, self._stop)
            run = self._read_run()
            if run and is_over(run["status"]):
                yield from self._read_rest(run, attempt)
                return
        yield FollowTimeout()


def _stream_error(data: Json) -> Exception:
    code, message = data["code"], data["message"]
    if code == "unauthorized":
        return AuthenticationError(message, code=code, operation="run.stream")
    if code == "forbidden":
        return UnknownAgentError(message, code=code, operation="run.stream", status=403)
    if code == "not_found":
        return ConfigurationError(message, code=code, operation="run.stream")
    return ValueError(f"the stream failed with {code}: {message}")


def _is_final(error: PlatformSdkError) -> bool:
    """An error of the caller, which a retry would only repeat."""
    return isinstance(error, (AuthenticationError, ConfigurationError)) or error.status == 403
