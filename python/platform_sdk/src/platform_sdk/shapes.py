"""What the platform tells about agents, runs, files, models and keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

T = TypeVar("T")

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


@dataclass(frozen=True, kw_only=True)
class Repository:
    url: str


@dataclass(frozen=True, kw_only=True)
class AgentRepository:
    url: str
    starting_ref: str | None = None
    pr_url: str | None = None


@dataclass(frozen=True, kw_only=True)
class AgentEnvironment:
    type: Literal["cloud", "pool", "machine"]
    name: str | None = None


@dataclass(frozen=True, kw_only=True)
class AgentInfo:
    """`idle` takes prompts; so does `active`, once its run is over. Local ones have a `cwd` and no `url`."""

    agent_id: str
    status: Literal["active", "idle", "archived"]
    created_at: str
    updated_at: str
    runtime: Literal["cloud", "local"] = "cloud"
    url: str | None = None
    cwd: str | None = None
    name: str | None = None
    env: AgentEnvironment | None = None
    repos: list[AgentRepository] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)
    latest_run_id: str | None = None
    work_on_current_branch: bool | None = None
    auto_create_pr: bool | None = None
    skip_reviewer_request: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """`path` is relative and begins with artifacts/."""

    path: str
    size_bytes: int
    updated_at: str


@dataclass(frozen=True, kw_only=True)
class TokenUsage:
    """The total has the reasoning within the output, not a second time."""

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


@dataclass(frozen=True, kw_only=True)
class AgentUsage:
    """`cost` is None where a price is not known. Runs come newest first."""

    total_usage: TokenUsage
    runs: list[RunUsage]
    cost: Cost | None = None


@dataclass(frozen=True, kw_only=True)
class RunError:
    message: str
    code: str | None = None


@dataclass(frozen=True, kw_only=True)
class RunBranch:
    """`repo_url` is without scheme: host/owner/name."""

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
    status: RunStatus
    request_id: str | None = None
    result: str | None = None
    error: RunError | None = None
    model: str | None = None
    duration_ms: int | None = None
    usage: TokenUsage | None = None
    git: RunGit | None = None


@dataclass(frozen=True)
class Page(Generic[T]):
    """`next_cursor` is None on the last page."""

    items: list[T]
    next_cursor: str | None
    _read_next: Callable[[str], Page[T]] = field(repr=False, compare=False)

    def auto_paging_iter(self) -> Iterator[T]:
        """The items of this page and of all behind it."""
        page = self
        while True:
            yield from page.items
            if page.next_cursor is None:
                return
            page = page._read_next(page.next_cursor)
