# Generated from python/platform_sdk/src/platform_sdk/async_agent_lookups.py by npm run generate. Do not edit.
"""Class methods of `Agent` that find agents by id."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from .default_client import open_client, open_client_for_agent

if TYPE_CHECKING:
    from .client import Client
    from .pages import Page
    from .runs import Run
    from .shapes import AgentInfo


class AgentLookups:
    """Each call uses `client`, else a new one with `api_key` or PLATFORM_API_KEY."""

    @classmethod
    def list(
        cls,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        pr_url: str | None = None,
        include_archived: bool | None = None,
        runtime: Literal["cloud", "local"] = "cloud",
        cwd: str | os.PathLike[str] | None = None,
        client: Client | None = None,
        api_key: str | None = None,
    ) -> Page[AgentInfo]:
        opened = open_client(client, api_key, is_local=runtime == "local")
        return opened.agents.list(
            limit=limit, cursor=cursor, pr_url=pr_url, include_archived=include_archived, runtime=runtime, cwd=cwd
        )

    @classmethod
    def get(cls, agent_id: str, *, client: Client | None = None, api_key: str | None = None) -> AgentInfo:
        opened = open_client_for_agent(agent_id, client, api_key)
        return opened.agents.get(agent_id)

    @classmethod
    def list_runs(
        cls,
        agent_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        client: Client | None = None,
        api_key: str | None = None,
    ) -> Page[Run]:
        opened = open_client_for_agent(agent_id, client, api_key)
        return opened.agents.list_runs(agent_id, limit=limit, cursor=cursor)

    @classmethod
    def get_run(
        cls, run_id: str, *, agent_id: str, client: Client | None = None, api_key: str | None = None
    ) -> Run:
        opened = open_client_for_agent(agent_id, client, api_key)
        return opened.agents.get_run(run_id, agent_id=agent_id)

    @classmethod
    def cancel_run(
        cls, run_id: str, *, agent_id: str, client: Client | None = None, api_key: str | None = None
    ) -> None:
        opened = open_client_for_agent(agent_id, client, api_key)
        opened.agents.cancel_run(run_id, agent_id=agent_id)

    @classmethod
    def archive_agent(
        cls, agent_id: str, *, client: Client | None = None, api_key: str | None = None
    ) -> None:
        opened = open_client_for_agent(agent_id, client, api_key)
        opened.agents.archive(agent_id)

    @classmethod
    def unarchive_agent(
        cls, agent_id: str, *, client: Client | None = None, api_key: str | None = None
    ) -> None:
        opened = open_client_for_agent(agent_id, client, api_key)
        opened.agents.unarchive(agent_id)

    @classmethod
    def delete_agent(
        cls, agent_id: str, *, client: Client | None = None, api_key: str | None = None
    ) -> None:
        opened = open_client_for_agent(agent_id, client, api_key)
        opened.agents.delete(agent_id)
