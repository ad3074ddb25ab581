"""How far the stream of a run was read: where to resume, and which repeated frames to skip."""

from __future__ import annotations

from typing import Literal


class StreamPosition:
    """Several frames may share an id, and a connection may break between them. So a reader resumes after the last
    complete id (known to be complete when the next one starts) and skips the frames of the newest id it has."""

    def __init__(self) -> None:
        self.resume_id: str | None = None
        """The Last-Event-ID header of the next connection."""
        self._newest: str | None = None
        self._count = 0
        self._skipped = 0
        self._catching_up: Literal["no", "within-newest", "to-newest"] = "no"

    def admit(self, id: str | None) -> bool:
        """Returns whether this frame is new. Frames without an id always are."""
        if id is None:
            return True
        if self._is_repeated(id):
            return False
        if id == self._newest:
            self._count += 1
        else:
            self.resume_id = self._newest
            self._newest, self._count = id, 1
        return True

    def reconnect(self) -> None:
        """Call before each connection."""
        self._skipped = 0
        if self._catching_up != "to-newest":
            self._catching_up = "no" if self._newest is None else "within-newest"

    def restart(self) -> None:
        """The platform has no event with this id any more: reads from the start and skips known frames."""
        self.resume_id = None
        self._skipped = 0
        self._catching_up = "no" if self._newest is None else "to-newest"

    def _is_repeated(self, id: str) -> bool:
        if self._catching_up == "no":
            return False
        if id != self._newest:
            if self._catching_up == "to-newest" and self._skipped == 0:
                return True
            self._catching_up = "no"
            return False
        self._skipped += 1
        if self._skipped >= self._count:
            self._catching_up = "no"
        return True
