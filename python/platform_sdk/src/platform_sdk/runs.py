"""One prompt given to an agent: follow it, wait for it, cancel it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from .conversation import ConversationTurn, as_json
from .messages import AssistantMessage, SDKMessage
from .run_core import RunCore, RunEvent
from .shapes import ModelSelection, RunError, RunGit, RunOperation, RunResult, RunStatus, TokenUsage


class RunState:
    """What is known of a run, as of the last read."""

    def __init__(self, core: RunCore) -> None:
        self._core = core

    @property
    def id(self) -> str:
        return self._core.id

    @property
    def run_id(self) -> str:
        return self._core.id

    @property
    def agent_id(self) -> str:
        return self._core.agent_id

    @property
    def request_id(self) -> str | None:
        return self._core.request_id

    @property
    def status(self) -> RunStatus:
        return self._core.status

    @property
    def created_at(self) -> str | None:
        return self._core.created_at

    @property
    def model(self) -> ModelSelection | None:
        return self._core.model

    @property
    def result(self) -> str | None:
        return self._core.result

    @property
    def error(self) -> RunError | None:
        return self._core.error

    @property
    def duration_ms(self) -> int | None:
        return self._core.duration_ms

    @property
    def usage(self) -> TokenUsage | None:
        return self._core.usage

    @property
    def git(self) -> RunGit | None:
        return self._core.git

    def supports(self, operation: RunOperation) -> bool:
        return self.unsupported_reason(operation) is None

    def unsupported_reason(self, operation: RunOperation) -> str | None:
        return self._core.unsupported_reason(operation)


class Run(RunState):
    """Its attributes are as of the last read: `stream`, `wait`, `conversation` and status listeners read the run."""

    def stream(self) -> Iterator[SDKMessage]:
        """Yields the whole run from its start, as it happens. Every call reads anew; leaving the loop disconnects."""
        return self._core.stream(self._core.stop)

    messages = stream

    def __iter__(self) -> Iterator[RunEvent]:
        return self.events()

    def events(self) -> Iterator[RunEvent]:
        """Yields the messages with their offsets in the run, then the result."""
        return self._core.events(self._core.stop)

    def observe(self, *, after_offset: int | str | None = None) -> Iterator[RunEvent]:
        """Yields the events after one that this or another process has read."""
        return self._core.events(self._core.stop, after_offset)

    def iter_text(self) -> Iterator[str]:
        """Yields the text of the agent, as it is written."""
        for message in self.stream():
            if isinstance(message, AssistantMessage):
                yield message.text

    def text(self) -> str:
        """Returns the final message. Raises if the run did not finish."""
        return self._core.final_text(self.wait())

    def wait(self) -> RunResult:
        """Returns when the run is over, however it ended."""
        return self._core.wait(self._core.stop)

    def conversation(self) -> list[ConversationTurn]:
        """Returns the messages and tool calls, once the run is over."""
        return self._core.conversation(self._core.stop)

    def conversation_json(self) -> str:
        return as_json(self.conversation())

    def cancel(self) -> None:
        """Does nothing if the run is already cancelled. Raises if it ended otherwise."""
        self._core.cancel()

    def steer(self, text: str) -> Literal["complete_delivered", "revert_to_followup"]:
        """A run takes no input while it is active: send the text as the next prompt."""
        return "revert_to_followup"

    def on_did_change_status(self, listener: Callable[[RunStatus], None]) -> Callable[[], None]:
        """Follows the run in a thread until it is over or the returned function is called."""
        return self._core.on_did_change_status(listener)
