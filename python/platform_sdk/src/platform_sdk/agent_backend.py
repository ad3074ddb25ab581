"""The operations on agents, which the platform and the bridge implement."""

from __future__ import annotations

import builtins
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from .agents import Agent
    from .messages import AgentMessage
    from .options import AgentOptions
    from .pages import Page
    from .runs import Run
    from .shapes import AgentInfo, AgentUsage


@dataclass(frozen=True, kw_only=True)
class ListOptions:
    limit: int | None = None
    cursor: str | None = None
    pr_url: str | None = None
    include_archived: bool | None = None
    source: str | None = None
    runtime: Literal["cloud", "local"] = "cloud"
    cwd: str | os.PathLike[str] | None = None


class AgentBackend(Protocol):
    def create(self, options: AgentOptions) -> Agent: ...
    def resume(self, agent_id: str, options: AgentOptions) -> Agent: ...
    def list(self, options: ListOptions) -> Page[AgentInfo]: ...
    def get(self, agent_id: str) -> AgentInfo: ...
    def list_runs(self, agent_id: str, limit: int | None, cursor: str | None) -> Page[Run]: ...
    def get_run(self, run_id: str, agent_id: str) -> Run: ...
    def cancel_run(self, run_id: str, agent_id: str) -> None: ...
    def archive(self, agent_id: str) -> None: ...
    def unarchive(self, agent_id: str) -> None: ...
    def delete(self, agent_id: str) -> None: ...
    def get_usage(self, agent_id: str, run_id: str | None) -> AgentUsage: ...
    def list_messages(self, agent_id: str) -> builtins.list[AgentMessage]: ...
