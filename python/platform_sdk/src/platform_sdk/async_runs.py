"""Runs for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Literal, TypeVar

from .conversation import ConversationTurn, as_json
from .messages import AssistantMessage, SDKMessage
from .run_core import RunEvent
from .runs import Run, RunState
from .shapes import RunResult, RunStatus
from .stop_signal import StopSignal
from .threads import in_thread, iterate_in_thread

T = TypeVar("T")


class AsyncRun(RunState):
    """Its attributes are as of the last read."""

    def __init__(self, run: Run) -> None:
        super().__init__(run._core)

    def stream(self) -> AsyncIterator[SDKMessage]:
        """Yields the whole run from its start, as it happens. Every call reads anew."""
        return iterate_in_thread(self._core.stream, self._core.stop)

    messages = stream

    def __aiter__(self) -> AsyncIterator[RunEvent]:
        return self.events()

    def events(self) -> AsyncIterator[RunEvent]:
        """Yields the messages with their offsets in the run, then the result."""
        return self.observe()

    def observe(self, *, after_offset: int | str | None = None) -> AsyncIterator[RunEvent]:
        """Yields the events after one that this or another process has read."""
        offset = None if after_offset is None else int(after_offset)
        return iterate_in_thread(lambda stop: self._core.events(stop, offset), self._core.stop)

    async def iter_text(self) -> AsyncIterator[str]:
        """Yields the text of the agent, as it is written."""
        async for message in self.stream():
            if isinstance(message, AssistantMessage):
                yield message.text

    async def text(self) -> str:
        """Returns the final message. Raises if the run did not finish."""
        return self._core.final_text(await self.wait())

    async def wait(self) -> RunResult:
        """Returns when the run is over, however it ended."""
        return await self._cancellable(self._core.wait)

    async def conversation(self) -> list[ConversationTurn]:
        """Returns the messages and tool calls, once the run is over."""
        return await self._cancellable(self._core.conversation)

    async def conversation_json(self) -> str:
        return as_json(await self.conversation())

    async def cancel(self) -> None:
        """Does nothing if the run is already cancelled. Raises if it ended otherwise."""
        await in_thread(self._core.cancel)

    async def steer(self, text: str) -> Literal["complete_delivered", "revert_to_followup"]:
        """A run takes no input while it is active: send the text as the next prompt."""
        return "revert_to_followup"

    def on_did_change_status(self, listener: Callable[[RunStatus], None]) -> Callable[[], None]:
        """Calls the listener on the event loop, until the run is over or the returned function is called."""
        loop = asyncio.get_running_loop()

        def call_on_loop(status: RunStatus) -> None:
            loop.call_soon_threadsafe(listener, status)

        return self._core.on_did_change_status(call_on_loop)

    async def _cancellable(self, function: Callable[[StopSignal], T]) -> T:
        stop = StopSignal(self._core.stop)
        try:
            return await in_thread(lambda: function(stop), stop)
        finally:
            stop.detach()
