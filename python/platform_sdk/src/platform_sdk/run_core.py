"""The state of a run and the code that reads it. `Run` and `AsyncRun` call it, in a thread of the caller or of their own."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterator
from typing import Literal, get_args

from .conversation import Conversation, ConversationTurn
from .errors import NetworkError, PlatformSdkError, UnsupportedRunOperationError
from .follow import FollowEvent, FollowTimeout, RunEnded, is_over
from .frame import Frame
from .messages import Messages, SDKMessage, usage_of
from .observers import ObserverThread
from .options import SendOptions
from .run_backend import RunBackend
from .shapes import ModelSelection, RunError, RunGit, RunOperation, RunResult, RunStatus, TokenUsage
from .stop_signal import StopSignal
from .wire import Json, decode

_TIMED_OUT = "Timed out waiting for the cloud run to finish."
_STATUSES: dict[str, RunStatus] = {
    "CREATING": "running",
    "RUNNING": "running",
    "FINISHED": "finished",
    "CANCELLED": "cancelled",
    "EXPIRED": "expired",
}
# Frames that depend on when the run is read. All others are stored, so they count in offsets.
_UNSTORED = ("status", "heartbeat", "result", "error", "done")


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunEvent:
    """`offset` is the same for every reader of the run. `kind` says which of `sdk_message` and `result` is set."""

    kind: Literal["sdk_message", "result"]
    offset: int
    sdk_message: SDKMessage | None = None
    result: RunResult | None = None

    @property
    def message(self) -> SDKMessage | None:
        return self.sdk_message


class RunCore:
    """Attributes are as of the last read: `events`, `wait`, `conversation` and status listeners read the run."""

    def __init__(
        self,
        wire: Json,
        backend: RunBackend,
        stop: StopSignal,
        *,
        model: ModelSelection | None = None,
        observers: SendOptions | None = None,
    ) -> None:
        self._backend = backend
        self.stop = stop
        self._wire_status: str = wire["status"]
        self._unsupported: str | None = None
        self._is_cancelled = False
        self._listeners: list[Callable[[RunStatus], None]] = []
        self.id: str = wire["id"]
        self.agent_id: str = wire["agentId"]
        self.request_id: str | None = wire.get("requestId")
        self.created_at: str | None = wire.get("createdAt")
        self.model = model
        self.result: str | None = None
        self.error: RunError | None = None
        self.duration_ms: int | None = None
        self.usage: TokenUsage | None = None
        self.git: RunGit | None = None
        self._update(wire)
        has_observers = observers and (observers.on_delta or observers.on_step)
        self._observer_thread = ObserverThread(self._follow, stop, observers) if observers and has_observers else None

    @property
    def status(self) -> RunStatus:
        if self._is_cancelled and not is_over(self._wire_status):
            return "cancelled"
        return _STATUSES.get(self._wire_status, "error")

    def stream(self, stop: StopSignal) -> Iterator[SDKMessage]:
        return (event.sdk_message for event in self.events(stop) if event.sdk_message)

    def events(self, stop: StopSignal, after_offset: int | str | None = None) -> Iterator[RunEvent]:
        after = -1 if after_offset is None else int(after_offset)
        return (event for event in self._all_events(stop) if event.offset > after)

    def _all_events(self, stop: StopSignal) -> Iterator[RunEvent]:
        messages = Messages(self.agent_id, self.id)
        offset = 0
        for message in messages.opening(self.request_id, self.model):
            yield RunEvent(kind="sdk_message", offset=0, sdk_message=message)
        for event in self._follow(stop):
            if isinstance(event, Frame):
                offset += event.event not in _UNSTORED
                new_messages = messages.of(event)
            else:
                new_messages = messages.status(self._wire_status, self.error.message if self.error else None)
            for message in new_messages:
                yield RunEvent(kind="sdk_message", offset=offset, sdk_message=message)
        yield RunEvent(kind="result", offset=offset + 1, result=self._result())

    def wait(self, stop: StopSignal) -> RunResult:
        if self._observer_thread:
            self._observer_thread.join()
        if not is_over(self._wire_status):
            for _ in self._follow(stop):
                pass
        return self._result()

    def _result(self) -> RunResult:
        return RunResult(**{field.name: getattr(self, field.name) for field in dataclasses.fields(RunResult)})

    def final_text(self, result: RunResult) -> str:
        if result.status == "finished":
            return result.result or ""
        reason = result.error.message if result.error else f"it was {result.status}"
        code = result.error.code if result.error else result.status
        message = f"Run {self.id} has no final message: {reason}"
        raise PlatformSdkError(message, code=code or "unknown", operation="run.text")

    def conversation(self, stop: StopSignal) -> list[ConversationTurn]:
        conversation = Conversation()
        for event in self._follow(stop):
            if not isinstance(event, Frame):
                raise self._incomplete()
            if event.event == "interaction_update":
                conversation.add(event.data)
        return conversation.turns

    def cancel(self) -> None:
        if self.status == "cancelled":
            return
        self._backend.cancel(self.stop)
        before, self._is_cancelled = self.status, True
        self._notify_listeners(before)

    def unsupported_reason(self, operation: RunOperation) -> str | None:
        if operation not in get_args(RunOperation):
            return f"A run has no operation {operation!r}."
        return self._unsupported if operation == "conversation" else None

    def on_did_change_status(self, listener: Callable[[RunStatus], None]) -> Callable[[], None]:
        self._listeners.append(listener)
        stop = StopSignal(self.stop)
        if not is_over(self._wire_status):
            threading.Thread(target=self._follow_for_listeners, args=(stop,), daemon=True).start()

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)
            stop.set(PlatformSdkError("The status listener was removed.", code="closed"))

        return unsubscribe

    def _follow_for_listeners(self, stop: StopSignal) -> None:
        try:
            for _ in self._follow(stop):
                pass
        except PlatformSdkError:
            pass  # `wait` and `stream` raise it; a listener only takes a status.
        finally:
            stop.detach()

    def _follow(self, stop: StopSignal) -> Iterator[FollowEvent]:
        for event in self._backend.follow(stop):
            self._apply(event)
            yield event

    def _apply(self, event: FollowEvent) -> None:
        if isinstance(event, FollowTimeout):
            self._change("ERROR", {"error": {"message": _TIMED_OUT, "code": "timeout"}})
        elif isinstance(event, RunEnded):
            if event.reason == "expired":
                self._unsupported = f"The stream of {self.id} has expired; only its result is stored."
            self._change(event.run["status"], event.run)
        elif event.event == "status":
            self._change(event.data["status"], {})
        elif event.event == "result":
            self._change(event.data["status"], {**event.data, "result": event.data.get("text")})
        elif event.event == "interaction_update" and event.data["type"] == "turn-ended":
            usage = event.data.get("usage")
            self.usage = usage_of(usage) if usage else self.usage

    def _change(self, status: str, wire: Json) -> None:
        # Another connection may be ahead of this one: a run that is over does not start again.
        if is_over(self._wire_status) and not is_over(status):
            return
        before = self.status
        self._update(wire)
        self._wire_status = status
        self._notify_listeners(before)

    def _notify_listeners(self, before: RunStatus) -> None:
        if self.status != before:
            for listener in list(self._listeners):
                listener(self.status)

    def _update(self, wire: Json) -> None:
        self.result = wire.get("result") if wire.get("result") is not None else self.result
        self.duration_ms = wire.get("durationMs") if wire.get("durationMs") is not None else self.duration_ms
        self.error = decode(RunError, wire["error"]) if wire.get("error") else self.error
        self.usage = decode(TokenUsage, wire["usage"]) if wire.get("usage") else self.usage
        self.git = decode(RunGit, wire["git"]) if wire.get("git") else self.git

    def _incomplete(self) -> PlatformSdkError:
        operation = "run.conversation"
        if self._unsupported:
            return UnsupportedRunOperationError(self._unsupported, code="stream_expired", operation=operation)
        message = "The stream of the run could not be read to its end. Try again."
        return NetworkError(message, code="network", is_retryable=True, operation=operation)
