"""Messages of a run, from the frames of its stream."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Union

from .frame import Frame
from .shapes import ModelSelection, TokenUsage
from .wire import Json, decode


@dataclass(frozen=True, kw_only=True)
class TextBlock:
    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, kw_only=True)
class MessageContent:
    role: Literal["user", "assistant"]
    content: list[TextBlock]


@dataclass(frozen=True, kw_only=True)
class _RunMessage:
    agent_id: str
    run_id: str


@dataclass(frozen=True, kw_only=True)
class SystemMessage(_RunMessage):
    model: ModelSelection | None = None
    subtype: Literal["init"] = "init"
    type: Literal["system"] = "system"


@dataclass(frozen=True, kw_only=True)
class RequestMessage(_RunMessage):
    request_id: str
    type: Literal["request"] = "request"


@dataclass(frozen=True, kw_only=True)
class _TextMessage(_RunMessage):
    message: MessageContent

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.message.content)


@dataclass(frozen=True, kw_only=True)
class PromptMessage(_TextMessage):
    """The prompt of the run."""

    type: Literal["user"] = "user"


@dataclass(frozen=True, kw_only=True)
class AssistantMessage(_TextMessage):
    """A piece of the agent's text."""

    type: Literal["assistant"] = "assistant"


@dataclass(frozen=True, kw_only=True)
class AgentMessage(_TextMessage):
    """A message in the conversation of a local agent. `uuid` never changes."""

    type: Literal["user", "assistant"]
    uuid: str


@dataclass(frozen=True, kw_only=True)
class ThinkingMessage(_RunMessage):
    text: str
    type: Literal["thinking"] = "thinking"


@dataclass(frozen=True, kw_only=True)
class ToolCallMessage(_RunMessage):
    """`truncated` says whether arguments or result were too large to send."""

    call_id: str
    name: str
    status: Literal["running", "completed", "error"]
    args: Any = None
    result: Any = None
    truncated: Json = field(default_factory=dict)
    type: Literal["tool_call"] = "tool_call"


@dataclass(frozen=True, kw_only=True)
class TaskMessage(_RunMessage):
    """A summary that replaced the older part of the conversation."""

    text: str | None = None
    status: str | None = None
    type: Literal["task"] = "task"


@dataclass(frozen=True, kw_only=True)
class UsageMessage(_RunMessage):
    usage: TokenUsage
    type: Literal["usage"] = "usage"


@dataclass(frozen=True, kw_only=True)
class StatusMessage(_RunMessage):
    status: str
    message: str | None = None
    type: Literal["status"] = "status"


SDKMessage = Union[
    SystemMessage,
    RequestMessage,
    PromptMessage,
    AssistantMessage,
    ThinkingMessage,
    ToolCallMessage,
    TaskMessage,
    UsageMessage,
    StatusMessage,
]


class Messages:
    def __init__(self, agent_id: str, run_id: str) -> None:
        self._ids: dict[str, Any] = {"agent_id": agent_id, "run_id": run_id}
        self._last_status: str | None = None

    def opening(self, request_id: str | None, model: ModelSelection | None) -> list[SDKMessage]:
        """The messages before the stream."""
        first: list[SDKMessage] = [SystemMessage(**self._ids, model=model)]
        return first + ([RequestMessage(**self._ids, request_id=request_id)] if request_id else [])

    def status(self, status: str, message: str | None) -> list[SDKMessage]:
        """Empty if the status has not changed: every connection begins with it."""
        if status == self._last_status:
            return []
        self._last_status = status
        return [StatusMessage(**self._ids, status=status, message=message)]

    def of(self, frame: Frame) -> list[SDKMessage]:
        ids, data = self._ids, frame.data
        if frame.event == "status":
            return self.status(data["status"], None)
        if frame.event == "result":
            return self.status(data["status"], (data.get("error") or {}).get("message"))
        if frame.event == "assistant":
            return [AssistantMessage(**ids, message=_content("assistant", data["text"]))]
        if frame.event == "thinking":
            return [ThinkingMessage(**ids, text=data["text"])]
        if frame.event == "tool_call":
            optional = {name: data[name] for name in ("args", "result", "truncated") if data.get(name) is not None}
            return [ToolCallMessage(**ids, call_id=data["callId"], name=data["name"], status=data["status"], **optional)]
        return self._of_update(data) if frame.event == "interaction_update" else []

    def _of_update(self, update: Json) -> list[SDKMessage]:
        kind = update["type"]
        if kind == "user-message-appended":
            return [PromptMessage(**self._ids, message=_content("user", update["userMessage"]["text"]))]
        if kind == "summary":
            return [TaskMessage(**self._ids, text=update["summary"])]
        if kind == "turn-ended" and update.get("usage"):
            return [UsageMessage(**self._ids, usage=usage_of(update["usage"]))]
        return []


def message_from(wire: Json) -> AgentMessage:
    names = ("type", "uuid", "agent_id", "run_id")
    content = decode(MessageContent, wire["message"])
    return AgentMessage(message=content, **{name: wire[name] for name in names})


def usage_of(usage: Json) -> TokenUsage:
    total = sum(usage[name] for name in ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"))
    return decode(TokenUsage, {**usage, "totalTokens": total})


def _content(role: Literal["user", "assistant"], text: str) -> MessageContent:
    return MessageContent(role=role, content=[TextBlock(text=text)])
