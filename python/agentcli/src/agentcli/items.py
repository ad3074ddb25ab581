"""Items of a turn: messages, commands, file changes, tool calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Union

from .wire import Json

ActionStatus = Literal["inProgress", "completed", "failed", "declined"]


@dataclass(frozen=True, kw_only=True)
class UserMessageItem:
    id: str
    content: list[Json]
    type: Literal["userMessage"] = "userMessage"


@dataclass(frozen=True, kw_only=True)
class AgentMessageItem:
    id: str
    text: str
    phase: Literal["commentary", "final_answer"] | None = None
    type: Literal["agentMessage"] = "agentMessage"


@dataclass(frozen=True, kw_only=True)
class PlanItem:
    id: str
    text: str
    type: Literal["plan"] = "plan"


@dataclass(frozen=True, kw_only=True)
class ReasoningItem:
    id: str
    summary: list[str] = field(default_factory=list)
    content: list[str] = field(default_factory=list)
    type: Literal["reasoning"] = "reasoning"


@dataclass(frozen=True, kw_only=True)
class CommandExecutionItem:
    id: str
    command: str
    cwd: str
    status: ActionStatus
    aggregated_output: str | None = None
    exit_code: int | None = None
    duration_ms: int | None = None
    type: Literal["commandExecution"] = "commandExecution"


@dataclass(frozen=True, kw_only=True)
class FileChange:
    path: str
    diff: str
    kind: Json


@dataclass(frozen=True, kw_only=True)
class FileChangeItem:
    id: str
    changes: list[FileChange]
    status: ActionStatus
    type: Literal["fileChange"] = "fileChange"


@dataclass(frozen=True, kw_only=True)
class McpToolCallItem:
    id: str
    server: str
    tool: str
    status: ActionStatus
    arguments: Any = None
    result: Json | None = None
    error: Json | None = None
    duration_ms: int | None = None
    type: Literal["mcpToolCall"] = "mcpToolCall"


@dataclass(frozen=True, kw_only=True)
class AgentState:
    status: str
    message: str | None = None


@dataclass(frozen=True, kw_only=True)
class CollabAgentToolCallItem:
    id: str
    tool: str
    status: ActionStatus
    sender_thread_id: str
    receiver_thread_ids: list[str]
    prompt: str | None = None
    agents_states: dict[str, AgentState] = field(default_factory=dict)
    type: Literal["collabAgentToolCall"] = "collabAgentToolCall"


@dataclass(frozen=True, kw_only=True)
class WebSearchItem:
    id: str
    query: str
    action: Json | None = None
    type: Literal["webSearch"] = "webSearch"


@dataclass(frozen=True, kw_only=True)
class ImageViewItem:
    id: str
    path: str
    type: Literal["imageView"] = "imageView"


@dataclass(frozen=True, kw_only=True)
class OtherItem:
    """An item of a type that this version has no class for, unchanged."""

    id: str
    type: str
    data: Json

    @classmethod
    def from_wire(cls, wire: Json) -> OtherItem:
        return cls(id=str(wire.get("id", "")), type=str(wire.get("type", "")), data=wire)


ThreadItem = Union[
    UserMessageItem,
    AgentMessageItem,
    PlanItem,
    ReasoningItem,
    CommandExecutionItem,
    FileChangeItem,
    McpToolCallItem,
    CollabAgentToolCallItem,
    WebSearchItem,
    ImageViewItem,
    OtherItem,
]
