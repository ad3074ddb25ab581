"""Notifications of the app server during a turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Union

from .items import ThreadItem
from .shapes import TokenUsage, TurnErrorInfo, TurnInfo
from .wire import Json, decode


@dataclass(frozen=True, kw_only=True)
class TurnStarted:
    thread_id: str
    turn: TurnInfo


@dataclass(frozen=True, kw_only=True)
class TurnCompleted:
    """The last notification of a turn; `turn.status` says how it ended."""

    thread_id: str
    turn: TurnInfo


@dataclass(frozen=True, kw_only=True)
class ItemStarted:
    thread_id: str
    turn_id: str
    item: ThreadItem


@dataclass(frozen=True, kw_only=True)
class ItemCompleted:
    thread_id: str
    turn_id: str
    item: ThreadItem


@dataclass(frozen=True, kw_only=True)
class Delta:
    """A piece of an item that is not complete yet; the method says of which kind."""

    thread_id: str
    turn_id: str
    item_id: str
    delta: str


@dataclass(frozen=True, kw_only=True)
class PlanStep:
    step: str
    status: str


@dataclass(frozen=True, kw_only=True)
class PlanUpdated:
    thread_id: str
    turn_id: str
    plan: list[PlanStep]
    explanation: str | None = None


@dataclass(frozen=True, kw_only=True)
class DiffUpdated:
    thread_id: str
    turn_id: str
    diff: str


@dataclass(frozen=True, kw_only=True)
class TokenUsageUpdated:
    thread_id: str
    turn_id: str
    token_usage: TokenUsage


@dataclass(frozen=True, kw_only=True)
class ErrorReported:
    """An error during the turn; with `will_retry` the turn continues."""

    thread_id: str
    turn_id: str
    error: TurnErrorInfo
    will_retry: bool


@dataclass(frozen=True, kw_only=True)
class OtherPayload:
    """A notification that this version has no class for, unchanged."""

    data: Json


Payload = Union[
    TurnStarted,
    TurnCompleted,
    ItemStarted,
    ItemCompleted,
    Delta,
    PlanUpdated,
    DiffUpdated,
    TokenUsageUpdated,
    ErrorReported,
    OtherPayload,
]

_BY_METHOD: dict[str, type[Any]] = {
    "turn/started": TurnStarted,
    "turn/completed": TurnCompleted,
    "item/started": ItemStarted,
    "item/completed": ItemCompleted,
    "item/agentMessage/delta": Delta,
    "item/plan/delta": Delta,
    "item/reasoning/summaryTextDelta": Delta,
    "item/reasoning/textDelta": Delta,
    "item/commandExecution/outputDelta": Delta,
    "item/fileChange/outputDelta": Delta,
    "turn/plan/updated": PlanUpdated,
    "turn/diff/updated": DiffUpdated,
    "thread/tokenUsage/updated": TokenUsageUpdated,
    "error": ErrorReported,
}


@dataclass(frozen=True)
class Notification:
    method: str
    payload: Payload


def read_notification(method: str, params: Json) -> Notification:
    kind = _BY_METHOD.get(method)
    return Notification(method, decode(kind, params) if kind else OtherPayload(data=params))


def turn_id_of(params: Json) -> str | None:
    """The turn that a notification belongs to, if any."""
    turn = params.get("turn")
    turn_id = turn.get("id") if isinstance(turn, dict) else params.get("turnId")
    return turn_id if isinstance(turn_id, str) else None
