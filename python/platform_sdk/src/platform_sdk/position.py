"""How far a run's stream was read: where to go on after a cut, and what of the repeated part was seen before."""

from __future__ import annotations

from typing import Literal


class Position:
    """Several frames may share an id, and a cut may fall between them. So one goes on behind the last id that is
    complete, which the next id shows, and leaves out as many frames of the newest id as had come."""

    def __init__(self) -> None:
        self.resume_id: str | None = None
        """What to send as Last-Event-ID."""
        self._newest: str | None = None
        self._count = 0
        self._repeated = 0
        self._catching_up: Literal["no", "within-newest", "to-newest"] = "no"

    def admit(self, id: str | None) -> bool:
        """Whether this frame is new. Frames without an id always are."""
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
        """Before each connection."""
        self._repeated = 0
        if self._catching_up != "to-newest":
            self._catching_up = "no" if self._newest is None else "within-newest"

    def start_again(self) -> None:
        """The platform does not know our id any more: from the start, without what was seen."""
        self.resume_id = None
        self._repeated = 0
        self._catching_up = "no" if self._newest is None else "to-newest"

    def _is_repeated(self, id: str) -> bool:
        if self._catching_up == "no":
            return False
        if id != self._newest:
            if self._catching_up == "to-newest" and self._repeated == 0:
                return True
            self._catching_up = "no"
            return False
        self._repeated += 1
        if self._repeated >= self._count:
            self._catching_up = "no"
        return True
