"""Runs and pages for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Generic, Literal, TypeVar

from .conversation import ConversationTurn, as_json
from .messages import AssistantMessage, SDKMessage
from .runs import Run, RunEvent
from .shapes import ModelSelection, Page, RunError, RunGit, RunOperation, RunResult, RunStatus, TokenUsage
from .surroundings import Stop, void
from .threads import in_thread, iterate_in_thread

T = TypeVar("T")


class AsyncRun:
    """Its members are as of what was read last."""

    def __init__(self, run: Run) -> None:
        self._run = run

    @property
    def id(self) -> str:
        return self._run.id

    @property
    def run_id(self) -> str:
        return self._run.id

    @property
    def agent_id(self) -> str:
        return self._run.agent_id

    @property
    def request_id(self) -> str | None:
        return self._run.request_id

    @property
    def status(self) -> RunStatus:
        return self._run.status

    @property
    def created_at(self) -> str | None:
        return self._run.created_at

    @property
    def model(self) -> ModelSelection | None:
        return self._run.model

    @property
    def result(self) -> str | None:
        return self._run.result

    @property
    def error(self) -> RunError | None:
        return self._run.error

    @property
    def duration_ms(self) -> int | None:
        return self._run.duration_ms

    @property
    def usage(self) -> TokenUsage | None:
        return self._run.usage

    @property
    def git(self) -> RunGit | None:
        return self._run.git

    def stream(self) -> AsyncIterator[SDKMessage]:
        """The whole run from its beginning, as it happens. Every call reads anew."""
        return iterate_in_thread(self._run._stream, self._run._stop)

    messages = stream

    def events(self) -> AsyncIterator[RunEvent]:
        """The same with the place of each message in the run, and the result behind them."""
        return iterate_in_thread(self._run._events, self._run._stop)

    def __aiter__(self) -> AsyncIterator[RunEvent]:
        return self.events()

    def observe(self, *, after_offset: int | str | None = None) -> AsyncIterator[RunEvent]:
        """What comes behind an event that was seen, also by another process."""
        behind = -1 if after_offset is None else int(after_offset)
        return iterate_in_thread(lambda stop: self._run._events(stop, behind), self._run._stop)

    async def iter_text(self) -> AsyncIterator[str]:
        async for message in self.stream():
            if isinstance(message, AssistantMessage):
                yield message.text

    async def text(self) -> str:
        """The final message. Raises where the run did not finish."""
        return self._run._final_text(await self.wait())

    async def wait(self) -> RunResult:
        """Comes back when the run is over, however it ended."""
        return await self._under_stop(self._run._wait)

    async def conversation(self) -> list[ConversationTurn]:
        """What was said and done, once the run is over."""
        return await self._under_stop(self._run._conversation)

    async def conversation_json(self) -> str:
        return as_json(await self.conversation())

    async def cancel(self) -> None:
        await in_thread(self._run.cancel)

    async def steer(self, text: str) -> Literal["complete_delivered", "revert_to_followup"]:
        """No run takes words in its middle: they come back, to be sent as the next prompt."""
        return self._run.steer(text)

    def supports(self, operation: RunOperation) -> bool:
        return self._run.supports(operation)

    def unsupported_reason(self, operation: RunOperation) -> str | None:
        return self._run.unsupported_reason(operation)

    def on_did_change_status(self, listener: Callable[[RunStatus], None]) -> Callable[[], None]:
        """Told in the loop, until the run is over or the returned function is called."""
        loop = asyncio.get_running_loop()
        return self._run.on_did_change_status(lambda status: void(loop.call_soon_threadsafe(listener, status)))

    async def _under_stop(self, function: Callable[[Stop], T]) -> T:
        stop = Stop(self._run._stop)
        try:
            return await in_thread(lambda: function(stop), stop)
        finally:
            stop.leave()


class AsyncPage(Generic[T]):
    """`next_cursor` is None on the last page."""

    def __init__(self, page: Page[Any], wrap: Callable[[Any], T]) -> None:
        self.items = [wrap(item) for item in page.items]
        self.next_cursor = page.next_cursor
        self._page = page
        self._wrap = wrap

    def __iter__(self) -> Iterator[T]:
        """The items of this page."""
        return iter(self.items)

    def has_next_page(self) -> bool:
        return self.next_cursor is not None

    async def get_next_page(self) -> AsyncPage[T]:
        return await in_thread(lambda: AsyncPage(self._page.get_next_page(), self._wrap))

    async def auto_paging_iter(self) -> AsyncIterator[T]:
        """The items of this page and of all behind it."""
        page = self
        while True:
            for item in page.items:
                yield item
            if not page.has_next_page():
                return
            page = await page.get_next_page()
