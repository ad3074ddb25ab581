"""Pages of a list for asyncio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Generic, TypeVar

from .async_runs import AsyncRun
from .pages import Page
from .runs import Run
from .shapes import AgentInfo
from .threads import in_thread

T = TypeVar("T")


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
        """The items of this page and of all later pages."""
        page = self
        while True:
            for item in page.items:
                yield item
            if not page.has_next_page():
                return
            page = await page.get_next_page()


def page_of_agents(page: Page[AgentInfo]) -> AsyncPage[AgentInfo]:
    return AsyncPage(page, lambda info: info)


def page_of_runs(page: Page[Run]) -> AsyncPage[AsyncRun]:
    return AsyncPage(page, AsyncRun)
