"""A run's frames from the first to the result, each once, over as many connections as it takes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Literal, Union

from .errors import AuthenticationError, ConfigurationError, PlatformSdkError, UnknownAgentError
from .frame import Frame, read_frame
from .position import Position
from .sse import read_events
from .surroundings import Clock, Stop
from .wire import Json

_RECONNECT_S = (1, 2, 4, 8, 16, 30)
_POLL_S = 15
_LONGEST_S = 2 * 60 * 60


@dataclass(frozen=True)
class RunSource:
    """Where a run can be seen: its stream behind the frames with an id, and the run itself."""

    open: Callable[[Union[str, None], Stop], Iterator[bytes]]
    read: Callable[[Stop], Json]


@dataclass(frozen=True)
class Ended:
    """The run is over, and its stream could not be had to the end."""

    run: Json
    why: Literal["expired", "dropped"]


@dataclass(frozen=True)
class Late:
    """It takes longer than anybody waits."""


Followed = Union[Frame, Ended, Late]
Attempt = Literal["over", "expired", "dropped", "dropped-after-progress"]


def follow_run(source: RunSource, clock: Clock, stop: Stop) -> Iterator[Followed]:
    return _Following(source, clock, stop).follow()


def is_over(status: str) -> bool:
    return status not in ("CREATING", "RUNNING")


class _Following:
    def __init__(self, source: RunSource, clock: Clock, stop: Stop) -> None:
        self._source = source
        self._clock = clock
        self._stop = stop
        self._position = Position()
        self._ends_at = clock.now() + _LONGEST_S

    def follow(self) -> Iterator[Followed]:
        failures = 0
        while self._clock.now() < self._ends_at:
            attempt = yield from self._read_stream()
            if attempt == "over":
                return
            run = self._look()
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
        yield Late()

    def _read_stream(self) -> Generator[Frame, None, Attempt]:
        """One connection, to the result or to where it breaks. Raises what no other connection would mend."""
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
                self._position.start_again()
            elif _is_final(error):
                raise
        except ValueError:
            pass  # Not JSON: the stream is broken, and the next connection may be better.
        return attempt

    def _look(self) -> Json | None:
        """None where the platform cannot be asked for the moment."""
        try:
            return self._source.read(self._stop)
        except PlatformSdkError as error:
            if self._stop.is_set or _is_final(error):
                raise
            return None

    def _read_rest(self, run: Json, why: Attempt) -> Iterator[Followed]:
        """The run ended while nobody listened: what was said meanwhile comes first."""
        attempt = why if why == "expired" else (yield from self._read_stream())
        if attempt != "over":
            yield Ended(run, "expired" if attempt == "expired" else "dropped")

    def _poll(self, why: Attempt) -> Iterator[Followed]:
        while self._clock.now() < self._ends_at:
            self._clock.wait(_POLL_S, self._stop)
            run = self._look()
            if run and is_over(run["status"]):
                yield from self._read_rest(run, why)
                return
        yield Late()


def _stream_error(data: Json) -> Exception:
    code, message = data["code"], data["message"]
    if code == "unauthorized":
        return AuthenticationError(message, code=code, operation="run.stream")
    if code == "forbidden":
        return UnknownAgentError(message, code=code, operation="run.stream", status=403)
    if code == "not_found":
        return ConfigurationError(message, code=code, operation="run.stream")
    return ValueError(f"the stream says {code}: {message}")


def _is_final(error: PlatformSdkError) -> bool:
    """The caller's doing, so that no second attempt would go better."""
    return isinstance(error, (AuthenticationError, ConfigurationError)) or error.status == 403
