"""Frames of a run's stream, from its events. Unknown events of a newer platform are skipped."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .sse import ServerEvent
from .wire import Json


@dataclass(frozen=True)
class Frame:
    event: str
    data: Json


def read_frame(event: ServerEvent) -> Frame | None:
    """None for an unknown event. Raises ValueError if the data is not JSON."""
    parsed = json.loads(event.data)
    data = _fields(parsed)
    if event.event == "tool_call" and "callId" not in data:
        data = _fields(data.get("data"))
    test = _FRAMES.get(event.event)
    return Frame(event.event, data) if test and test(data) else None


Test = Callable[[Json], bool]


def _fields(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _text(name: str) -> Test:
    return lambda data: isinstance(data.get(name), str)


def _number(name: str) -> Test:
    return lambda data: isinstance(data.get(name), (int, float))


def _optional(name: str, kind: type | tuple[type, ...]) -> Test:
    return lambda data: data.get(name) is None or isinstance(data[name], kind)


def _all(*tests: Test) -> Test:
    return lambda data: all(test(data) for test in tests)


def _is_usage(data: Json) -> bool:
    counts = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
    usage = data.get("usage")
    return usage is None or all(isinstance(_fields(usage).get(name), int) for name in counts)


def _is_update(data: Json) -> bool:
    kind = data.get("type")
    test = _UPDATES.get(kind) if isinstance(kind, str) else None
    return test is not None and test(data)


def _within(name: str, test: Test) -> Test:
    return lambda data: test(_fields(data.get(name)))


def _optionally_within(name: str, test: Test) -> Test:
    return lambda data: data.get(name) is None or test(_fields(data[name]))


def _anything(_: Json) -> bool:
    return True


_STATUSES = ("CREATING", "RUNNING", "FINISHED", "ERROR", "CANCELLED", "EXPIRED")


def _status(data: Json) -> bool:
    return data.get("status") in _STATUSES


def _call_status(data: Json) -> bool:
    return data.get("status") in ("running", "completed", "error")


_CALL = _all(_text("callId"), _within("toolCall", _text("type")))

_FRAMES: dict[str, Test] = {
    "status": _status,
    "assistant": _text("text"),
    "thinking": _text("text"),
    "tool_call": _all(_text("callId"), _text("name"), _call_status),
    "interaction_update": _is_update,
    "heartbeat": _anything,
    "result": _all(
        _status,
        _optional("text", str),
        _optional("durationMs", (int, float)),
        _optionally_within("error", _text("message")),
        _optionally_within("git", lambda git: isinstance(git.get("branches"), list)),
    ),
    "error": _all(_text("code"), _text("message")),
    "done": _anything,
}

_UPDATES: dict[str, Test] = {
    "text-delta": _text("text"),
    "thinking-delta": _text("text"),
    "thinking-completed": _number("thinkingDurationMs"),
    "tool-call-started": _CALL,
    "tool-call-completed": _CALL,
    "summary": _text("summary"),
    "summary-started": _anything,
    "summary-completed": _anything,
    "shell-output-delta": _within("event", _all(_text("callId"), _within("value", _text("data")))),
    "turn-ended": _is_usage,
    "step-started": _number("stepId"),
    "step-completed": _all(_number("stepId"), _number("stepDurationMs")),
    "tool-requests-listed": _number("callCount"),
    "user-message-appended": _within("userMessage", _text("text")),
}
