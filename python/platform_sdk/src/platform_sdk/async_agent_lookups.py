"""Class methods of `AsyncAgent` that find agents by id. `agent_lookups.py` is generated from this file: npm run generate."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from .default_client import open_async_client, open_async_client_for_agent

if TYPE_CHECKING:
    from .async_client import AsyncClient
    from .async_pages import AsyncPage
    from .async_runs import AsyncRun
    from .shapes import AgentInfo


class AsyncAgentLookups:
    """Each call uses `client`, else a new one with `api_key` or PLATFORM_API_KEY."""

    @classmethod
    async def list(
        cls,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        pr_url: str | None = None,
        include_archived: bool | None = None,
        runtime: Literal["cloud", "local"] = "cloud",
        cwd: str | os.PathLike[str] | None = None,
        client: AsyncClient | None = None,
        api_key: str | None = None,
    ) -> AsyncPage[AgentInfo]:
        opened = await open_async_client(client, api_key, is_local=runtime == "local")
        return await opened.agents.list(
            limit=limit, cursor=cursor, pr_url=pr_url, include_archived=include_archived, runtime=runtime, cwd=cwd
        )

    @classmethod
    async def get(cls, agent_id: str, *, client: AsyncClient | None = None, api_key: str | None = None) -> AgentInfo:
        opened = await open_async_client_for_agent(agent_id, client, api_key)
        return await opened.agents.get(agent_id)

    @classmethod
    async def list_runs(
        cls,
        agent_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        client: AsyncClient | None = None,
        api_key: str | None = None,
    ) -> AsyncPage[AsyncRun]:
        opened = await open_async_client_for_agent(agent_id, client, api_key)
        return await opened.agents.list_runs(agent_id, limit=limit, cursor=cursor)

    @classmethod
    async def get_run(
        cls, run_id: str, *, agent_id: str, client: AsyncClient | None = None, api_key: str | None = None
    ) -> AsyncRun:
        opened = await open_async_client_for_agent(agent_id, client, api_key)
        return await opened.agents.get_run(run_id, agent_id=agent_id)

    @classmethod
    async def cancel_run(
        cls, run_id: str, *, agent_id: str, client: AsyncClient | None = None, api_key: str | None = None
    ) -> None:
        opened = await open_async_client_for_agent(agent_id, client, api_key)
        await opened.agents.cancel_run(run_id, agent_id=agent_id)

    @classmethod
    async def archive_agent(
        cls, agent_id: str, *, client: AsyncClient | None = None, api_key: str | None = None
    ) -> None:
        opened = await open_async_client_for_agent(agent_id, client, api_key)
        await opened.agents.archive(agent_id)

    @classmethod
    async def unarchive_agent(
        cls, agent_id: str, *, client: AsyncClient | None = None, api_key: str | None = None
    ) -> None:
        opened = await open_async_client_for_agent(agent_id, client, api_key)
        await opened.agents.unarchive(agent_id)

    @classmethod
    async def delete_agent(
        cls, agent_id: str, *, client: AsyncClient | None = None, api_key: str | None = None
    ) -> None:
        opened = await open_async_client_for_agent(agent_id, client, api_key)
        await opened.agents.delete(agent_id)
