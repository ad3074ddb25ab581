"""The result of a turn, collected from its notifications."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import TurnFailedError
from .items import AgentMessageItem, ThreadItem
from .notifications import ItemCompleted, Notification, TokenUsageUpdated, TurnCompleted
from .shapes import TokenUsage, TurnErrorInfo, TurnInfo, TurnStatus


@dataclass(frozen=True, kw_only=True)
class TurnResult:
    id: str
    status: TurnStatus
    error: TurnErrorInfo | None
    started_at: int | None
    completed_at: int | None
    duration_ms: int | None
    final_response: str | None
    items: list[ThreadItem]
    usage: TokenUsage | None


class TurnCollector:
    """Takes every notification of one turn with `add`, then builds the `result`."""

    def __init__(self) -> None:
        self._items: list[ThreadItem] = []
        self._usage: TokenUsage | None = None
        self._turn: TurnInfo | None = None

    def add(self, notification: Notification) -> None:
        payload = notification.payload
        if isinstance(payload, ItemCompleted):
            self._items.append(payload.item)
        elif isinstance(payload, TokenUsageUpdated):
            self._usage = payload.token_usage
        elif isinstance(payload, TurnCompleted):
            self._turn = payload.turn

    def result(self) -> TurnResult:
        """Raises TurnFailedError for a failed turn; an interrupted one is a normal result."""
        turn = self._turn
        if turn is None:
            raise RuntimeError("The turn has not ended, or its stream was already read. Call stream() or run() once per turn.")
        result = TurnResult(
            id=turn.id,
            status=turn.status,
            error=turn.error,
            started_at=turn.started_at,
            completed_at=turn.completed_at,
            duration_ms=turn.duration_ms,
            # The items of the turn hold the response that was validated against the output schema.
            final_response=final_response(turn.items) or final_response(self._items),
            items=self._items or turn.items,
            usage=self._usage,
        )
        if turn.status == "failed":
            raise TurnFailedError(turn.error.message if turn.error else "The turn failed.", result)
        return result


def final_response(items: list[ThreadItem]) -> str | None:
    """The last message of phase final_answer, else the last one without a phase."""
    messages = [item for item in items if isinstance(item, AgentMessageItem)]
    finals = [item.text for item in messages if item.phase == "final_answer"]
    plain = [item.text for item in messages if item.phase is None]
    texts = finals or plain
    return texts[-1] if texts else None
