"""What one does with agents by id without a client of one's own, for asyncio: class methods of `AsyncAgent`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from .agent_lookups import client_for
from .ids import is_cloud_agent_id
from .threads import in_thread

if TYPE_CHECKING:
    from .async_client import AsyncClient
    from .async_runs import AsyncPage, AsyncRun
    from .shapes import AgentInfo


class AsyncAgentLookups:
    """Each call is awaited."""

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
        agents = (await _opened(client, api_key, is_local=runtime == "local")).agents
        return await agents.list(
            limit=limit, cursor=cursor, pr_url=pr_url, include_archived=include_archived, runtime=runtime, cwd=cwd
        )

    @classmethod
    async def get(cls, agent_id: str, *, client: AsyncClient | None = None, api_key: str | None = None) -> AgentInfo:
        return await (await _client_of(agent_id, client, api_key)).agents.get(agent_id)

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
        return await (await _client_of(agent_id, client, api_key)).agents.list_runs(agent_id, limit=limit, cursor=cursor)

    @classmethod
    async def get_run(
        cls, run_id: str, *, agent_id: str, client: AsyncClient | None = None, api_key: str | None = None
    ) -> AsyncRun:
        return await (await _client_of(agent_id, client, api_key)).agents.get_run(run_id, agent_id=agent_id)

    @classmethod
    async def cancel_run(
        cls, run_id: str, *, agent_id: str, client: AsyncClient | None = None, api_key: str | None = None
    ) -> None:
        await (await _client_of(agent_id, client, api_key)).agents.cancel_run(run_id, agent_id=agent_id)

    @classmethod
    async def archive_agent(cls, agent_id: str, *, client: AsyncClient | None = None, api_key: str | None = None) -> None:
        await (await _client_of(agent_id, client, api_key)).agents.archive(agent_id)

    @classmethod
    async def unarchive_agent(cls, agent_id: str, *, client: AsyncClient | None = None, api_key: str | None = None) -> None:
        await (await _client_of(agent_id, client, api_key)).agents.unarchive(agent_id)

    @classmethod
    async def delete_agent(cls, agent_id: str, *, client: AsyncClient | None = None, api_key: str | None = None) -> None:
        await (await _client_of(agent_id, client, api_key)).agents.delete(agent_id)


async def _opened(client: AsyncClient | None, api_key: str | None, *, is_local: bool) -> AsyncClient:
    from .async_client import AsyncClient as Opened

    return client or Opened._around(await in_thread(lambda: client_for(None, api_key, is_local=is_local)))


async def _client_of(agent_id: str, client: AsyncClient | None, api_key: str | None) -> AsyncClient:
    return await _opened(client, api_key, is_local=not is_cloud_agent_id(agent_id))
