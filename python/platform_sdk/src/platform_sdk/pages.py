"""Pages of a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from .errors import ConfigurationError

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    """`next_cursor` is None on the last page."""

    items: list[T]
    next_cursor: str | None
    _read_next: Callable[[str], Page[T]] = field(repr=False, compare=False)

    def __iter__(self) -> Iterator[T]:
        """The items of this page."""
        return iter(self.items)

    def has_next_page(self) -> bool:
        return self.next_cursor is not None

    def get_next_page(self) -> Page[T]:
        if self.next_cursor is None:
            raise ConfigurationError("This is the last page. Check has_next_page() first.", code="invalid_cursor", operation="get_next_page")
        return self._read_next(self.next_cursor)

    def auto_paging_iter(self) -> Iterator[T]:
        """The items of this page and of all later pages."""
        page = self
        while True:
            yield from page.items
            if page.next_cursor is None:
                return
            page = page._read_next(page.next_cursor)
