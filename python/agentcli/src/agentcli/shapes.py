"""Responses of the app server: threads, turns, models, accounts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from .items import ThreadItem
from .wire import Json

TurnStatus = Literal["inProgress", "completed", "interrupted", "failed"]


@dataclass(frozen=True, kw_only=True)
class Metadata:
    """The response to `initialize`."""

    user_agent: str
    agent_home: str
    platform_family: str
    platform_os: str


@dataclass(frozen=True, kw_only=True)
class TurnErrorInfo:
    message: str
    error_info: Any = None
    additional_details: str | None = None


@dataclass(frozen=True, kw_only=True)
class TurnInfo:
    id: str
    status: TurnStatus
    items: list[ThreadItem] = field(default_factory=list)
    items_view: str = "notLoaded"
    error: TurnErrorInfo | None = None
    started_at: int | None = None
    completed_at: int | None = None
    duration_ms: int | None = None


@dataclass(frozen=True, kw_only=True)
class ThreadStatus:
    type: str
    active_flags: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class GitInfo:
    sha: str | None = None
    branch: str | None = None
    origin_url: str | None = None


@dataclass(frozen=True, kw_only=True)
class ThreadInfo:
    id: str
    preview: str
    ephemeral: bool
    model_provider: str
    created_at: int
    updated_at: int
    status: ThreadStatus
    cwd: str
    cli_version: str
    forked_from_id: str | None = None
    parent_thread_id: str | None = None
    path: str | None = None
    source: Any = None
    git_info: GitInfo | None = None
    name: str | None = None
    turns: list[TurnInfo] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class ThreadSettings:
    """The settings that a thread was opened with."""

    thread: ThreadInfo
    model: str
    model_provider: str
    cwd: str
    approval_policy: Any
    sandbox: Json
    instruction_sources: list[str] = field(default_factory=list)
    reasoning_effort: str | None = None


@dataclass(frozen=True, kw_only=True)
class ThreadPage:
    data: list[ThreadInfo]
    next_cursor: str | None = None
    backwards_cursor: str | None = None


@dataclass(frozen=True, kw_only=True)
class ReasoningEffort:
    reasoning_effort: str
    description: str


@dataclass(frozen=True, kw_only=True)
class ModelInfo:
    id: str
    model: str
    display_name: str
    description: str
    hidden: bool
    is_default: bool
    default_reasoning_effort: str
    supported_reasoning_efforts: list[ReasoningEffort] = field(default_factory=list)
    input_modalities: list[str] | None = None


@dataclass(frozen=True, kw_only=True)
class ModelPage:
    data: list[ModelInfo]
    next_cursor: str | None = None


@dataclass(frozen=True, kw_only=True)
class Account:
    type: str
    email: str | None = None
    plan_type: str | None = None


@dataclass(frozen=True, kw_only=True)
class AccountStatus:
    """`account` is None if no account is logged in."""

    requires_openai_auth: bool
    account: Account | None = None


@dataclass(frozen=True, kw_only=True)
class TokenCounts:
    total_tokens: int
    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    reasoning_output_tokens: int
    cache_write_input_tokens: int = 0


@dataclass(frozen=True, kw_only=True)
class TokenUsage:
    """`total` counts the whole thread, `last` the newest model request."""

    total: TokenCounts
    last: TokenCounts
    model_context_window: int | None = None
