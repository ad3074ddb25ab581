"""Responses of the platform: agents, runs, artifacts, models, keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

RunStatus = Literal["running", "finished", "error", "cancelled", "expired"]
RunOperation = Literal["stream", "wait", "cancel", "conversation"]


@dataclass(frozen=True, kw_only=True)
class Me:
    """The key and its owner; service accounts have no user."""

    api_key_name: str
    created_at: str
    user_id: int | None = None
    user_email: str | None = None
    user_first_name: str | None = None
    user_last_name: str | None = None


@dataclass(frozen=True, kw_only=True)
class Model:
    id: str
    display_name: str
    description: str | None = None
    aliases: list[str] = field(default_factory=list)
    parameters: list[dict[str, Any]] = field(default_factory=list)
    variants: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Repository:
    url: str


@dataclass(frozen=True)
class ModelParameter:
    id: str
    value: str


@dataclass(frozen=True)
class ModelSelection:
    id: str
    params: Sequence[ModelParameter] | None = None


@dataclass(frozen=True)
class AgentRepository:
    url: str
    starting_ref: str | None = None
    pr_url: str | None = None


@dataclass(frozen=True)
class AgentEnvironment:
    type: Literal["cloud", "pool", "machine"] = "cloud"
    name: str | None = None


@dataclass(frozen=True, kw_only=True)
class AgentInfo:
    """`status` is that of the last run, None if the agent is archived. Local agents have a `cwd` and no `url`."""

    agent_id: str
    name: str
    summary: str
    created_at: str
    last_modified: str
    status: Literal["running", "finished", "error"] | None = None
    archived: bool = False
    runtime: Literal["cloud", "local"] = "cloud"
    url: str | None = None
    cwd: str | None = None
    env: AgentEnvironment | None = None
    repos: list[str] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)
    latest_run_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """`path` is relative and begins with artifacts/."""

    path: str
    size_bytes: int
    updated_at: str


@dataclass(frozen=True, kw_only=True)
class TokenUsage:
    """Reasoning tokens are part of the output tokens, so the total counts them once."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    total_tokens: int
    reasoning_tokens: int | None = None


@dataclass(frozen=True, kw_only=True)
class Cost:
    raw_cost_cents: float
    charged_cents: float


@dataclass(frozen=True, kw_only=True)
class RunUsage:
    id: str
    usage: TokenUsage
    usage_uuid: str | None = None
    cost: Cost | None = None

    @property
    def run_id(self) -> str:
        return self.id


@dataclass(frozen=True, kw_only=True)
class AgentUsage:
    """`cost` is None if a price is unknown. Runs come newest first."""

    total_usage: TokenUsage
    runs: list[RunUsage]
    cost: Cost | None = None

    @property
    def usage(self) -> TokenUsage:
        return self.total_usage


@dataclass(frozen=True, kw_only=True)
class RunError:
    message: str
    code: str | None = None


@dataclass(frozen=True, kw_only=True)
class RunBranch:
    """`repo_url` has no scheme: host/owner/name."""

    repo_url: str
    branch: str | None = None
    pr_url: str | None = None


@dataclass(frozen=True, kw_only=True)
class RunGit:
    """Branches and pull requests of the agent."""

    branches: list[RunBranch]


@dataclass(frozen=True, kw_only=True)
class RunResult:
    id: str
    agent_id: str
    status: RunStatus
    request_id: str | None = None
    created_at: str | None = None
    result: str | None = None
    error: RunError | None = None
    model: ModelSelection | None = None
    duration_ms: int | None = None
    usage: TokenUsage | None = None
    git: RunGit | None = None

    @property
    def run_id(self) -> str:
        return self.id

    @property
    def error_code(self) -> str | None:
        return self.error.code if self.error else None

    @property
    def error_message(self) -> str | None:
        return self.error.message if self.error else None
