"""One prompt given to an agent: follow it, wait for it, cancel it."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterator
from typing import Literal, get_args

from .conversation import Conversation, ConversationTurn, as_json
from .errors import NetworkError, PlatformSdkError, UnsupportedRunOperationError
from .follow import Ended, Followed, Late, is_over
from .frame import Frame
from .messages import AssistantMessage, Messages, SDKMessage, usage_of
from .observing import Observing
from .options import SendOptions
from .places import RunPlace
from .shapes import ModelSelection, RunError, RunGit, RunOperation, RunResult, RunStatus, TokenUsage
from .surroundings import Stop
from .wire import Json, decode

_TOO_LATE = "Timed out waiting for the cloud run to finish."
_STATUSES: dict[str, RunStatus] = {
    "CREATING": "running",
    "RUNNING": "running",
    "FINISHED": "finished",
    "CANCELLED": "cancelled",
    "EXPIRED": "expired",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunEvent:
    """`offset` is the same whenever the run is read. Of `sdk_message` and `result` there is the one that `kind` names."""

    kind: Literal["sdk_message", "result"]
    offset: int
    sdk_message: SDKMessage | None = None
    result: RunResult | None = None

    @property
    def message(self) -> SDKMessage | None:
        return self.sdk_message


class Run:
    """Its members are as of what was read last: `stream`, `wait`, `conversation` and listeners read."""

    def __init__(
        self, wire: Json, place: RunPlace, stop: Stop, *, model: ModelSelection | None = None, observers: SendOptions | None = None
    ) -> None:
        self._wire = wire
        self._place = place
        self._stop = stop
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
        self._take(wire)
        self._observing = Observing(self._follow, stop, observers) if observers and (observers.on_delta or observers.on_step) else None

    @property
    def status(self) -> RunStatus:
        if self._is_cancelled and not is_over(self._wire_status):
            return "cancelled"
        return _STATUSES.get(self._wire_status, "error")

    @property
    def run_id(self) -> str:
        return self.id

    def stream(self) -> Iterator[SDKMessage]:
        """The whole run from its beginning, as it happens. Every call reads anew; leaving the loop closes the connection."""
        return self._stream(self._stop)

    messages = stream

    def __iter__(self) -> Iterator[RunEvent]:
        return self.events()

    def _stream(self, stop: Stop) -> Iterator[SDKMessage]:
        return (event.sdk_message for event in self._events(stop) if event.sdk_message)

    def events(self) -> Iterator[RunEvent]:
        """The same with the place of each message in the run, and the result behind them."""
        return self._events(self._stop)

    def observe(self, *, after_offset: int | str | None = None) -> Iterator[RunEvent]:
        """What comes behind an event that was seen, also by another process."""
        return self._events(self._stop, -1 if after_offset is None else int(after_offset))

    def _events(self, stop: Stop, after_offset: int = -1) -> Iterator[RunEvent]:
        return (event for event in self._all_events(stop) if event.offset > after_offset)

    def _all_events(self, stop: Stop) -> Iterator[RunEvent]:
        messages = Messages(self.agent_id, self.id)
        offset = 0
        for message in messages.opening(self.request_id, self.model):
            yield RunEvent(kind="sdk_message", offset=0, sdk_message=message)
        for followed in self._follow(stop):
            if isinstance(followed, Frame):
                # What says where a run stands depends on when it is asked; all else is kept as it happened.
                offset += followed.event not in ("status", "heartbeat", "result", "error", "done")
                news = messages.of(followed)
            else:
                news = messages.closing(self._wire_status, self.error.message if self.error else None)
            for message in news:
                yield RunEvent(kind="sdk_message", offset=offset, sdk_message=message)
        yield RunEvent(kind="result", offset=offset + 1, result=self._result())

    def iter_text(self) -> Iterator[str]:
        """What the agent says, as it says it."""
        for message in self.stream():
            if isinstance(message, AssistantMessage):
                yield message.text

    def text(self) -> str:
        """The final message. Raises where the run did not finish."""
        return self._final_text(self.wait())

    def _final_text(self, result: RunResult) -> str:
        if result.status == "finished":
            return result.result or ""
        why = result.error.message if result.error else f"it was {result.status}"
        code = result.error.code if result.error else result.status
        raise PlatformSdkError(f"Run {self.id} has no final message: {why}", code=code or "unknown", operation="run.text")

    def wait(self) -> RunResult:
        """Comes back when the run is over, however it ended."""
        return self._wait(self._stop)

    def _wait(self, stop: Stop) -> RunResult:
        if self._observing:
            self._observing.join()
        if not is_over(self._wire_status):
            for _ in self._follow(stop):
                pass
        return self._result()

    def _result(self) -> RunResult:
        facts = {field.name: getattr(self, field.name) for field in dataclasses.fields(RunResult)}
        return RunResult(**facts)

    def conversation(self) -> list[ConversationTurn]:
        """What was said and done, once the run is over."""
        return self._conversation(self._stop)

    def conversation_json(self) -> str:
        return as_json(self.conversation())

    def _conversation(self, stop: Stop) -> list[ConversationTurn]:
        conversation = Conversation()
        for followed in self._follow(stop):
            if not isinstance(followed, Frame):
                raise self._incomplete()
            if followed.event == "interaction_update":
                conversation.add(followed.data)
        return conversation.turns

    def cancel(self) -> None:
        """A run that is cancelled already stays so; one that ended otherwise cannot be cancelled."""
        if self.status == "cancelled":
            return
        self._place.cancel(self._stop)
        before, self._is_cancelled = self.status, True
        self._tell_listeners(before)

    def steer(self, text: str) -> Literal["complete_delivered", "revert_to_followup"]:
        """No run takes words in its middle: they come back, to be sent as the next prompt."""
        return "revert_to_followup"

    def supports(self, operation: RunOperation) -> bool:
        return self.unsupported_reason(operation) is None

    def unsupported_reason(self, operation: RunOperation) -> str | None:
        if operation not in get_args(RunOperation):
            return f"A run has no operation {operation!r}."
        return self._unsupported if operation == "conversation" else None

    def on_did_change_status(self, listener: Callable[[RunStatus], None]) -> Callable[[], None]:
        """Follows the run in a thread until it is over or the returned function is called."""
        self._listeners.append(listener)
        leaving = Stop(self._stop)
        if not is_over(self._wire_status):
            threading.Thread(target=self._listen, args=(leaving,), daemon=True).start()

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)
            leaving.set(PlatformSdkError("Nobody listens any more.", code="closed"))

        return unsubscribe

    def _listen(self, leaving: Stop) -> None:
        try:
            for _ in self._follow(leaving):
                pass
        except PlatformSdkError:
            pass  # Told to whoever waits or streams; a listener has nobody to tell.
        finally:
            leaving.leave()

    def _follow(self, stop: Stop) -> Iterator[Followed]:
        for followed in self._place.follow(stop):
            self._note(followed)
            yield followed

    def _note(self, followed: Followed) -> None:
        if isinstance(followed, Late):
            self._change("ERROR", {"error": {"message": _TOO_LATE, "code": "timeout"}})
        elif isinstance(followed, Ended):
            if followed.why == "expired":
                self._unsupported = f"The stream of {self.id} is no longer kept; only its result is."
            self._change(followed.run["status"], followed.run)
        elif followed.event == "status":
            self._change(followed.data["status"], {})
        elif followed.event == "result":
            self._change(followed.data["status"], {**followed.data, "result": followed.data.get("text")})
        elif followed.event == "interaction_update" and followed.data["type"] == "turn-ended":
            usage = followed.data.get("usage")
            self.usage = usage_of(usage) if usage else self.usage

    def _change(self, status: str, facts: Json) -> None:
        # A connection that is behind others says what was.
        if is_over(self._wire_status) and not is_over(status):
            return
        before = self.status
        self._take(facts)
        self._wire_status = status
        self._tell_listeners(before)

    def _tell_listeners(self, before: RunStatus) -> None:
        if self.status != before:
            for listener in list(self._listeners):
                listener(self.status)

    def _take(self, facts: Json) -> None:
        self.result = facts.get("result") if facts.get("result") is not None else self.result
        self.duration_ms = facts.get("durationMs") if facts.get("durationMs") is not None else self.duration_ms
        self.error = decode(RunError, facts["error"]) if facts.get("error") else self.error
        self.usage = decode(TokenUsage, facts["usage"]) if facts.get("usage") else self.usage
        self.git = decode(RunGit, facts["git"]) if facts.get("git") else self.git

    def _incomplete(self) -> PlatformSdkError:
        operation = "run.conversation"
        if self._unsupported:
            return UnsupportedRunOperationError(self._unsupported, code="stream_expired", operation=operation)
        message = "The run's stream could not be read to its end. Try again."
        return NetworkError(message, code="network", is_retryable=True, operation=operation)
