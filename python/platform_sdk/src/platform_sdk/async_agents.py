"""Agents for asyncio: every call is awaited, and giving up an await ends what it waited for."""

from __future__ import annotations

import builtins
import os
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from .agents import Agent
from .async_lookups import AsyncAgentLookups
from .async_runs import AsyncPage, AsyncRun
from .client import Client
from .images import Message
from .in_loop import called_in_loop, told_in_loop
from .messages import AgentMessage
from .options import AgentFields, AgentOptions, SendOptions
from .shapes import AgentInfo, AgentUsage, Artifact, ModelSelection, RunResult
from .threads import in_thread

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from .async_client import AsyncClient


class AsyncAgent(AsyncAgentLookups):
    """The first prompt creates it, later ones are runs of the same conversation."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    @classmethod
    async def create(
        cls,
        options: AgentOptions | Mapping[str, Any] | None = None,
        *,
        client: AsyncClient | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        **fields: Unpack[AgentFields],
    ) -> AsyncAgent:
        chosen, inner = called_in_loop(options, fields), client._client if client else None
        return cls(await in_thread(lambda: Agent.create(chosen, client=inner, api_key=api_key, base_url=base_url)))

    @classmethod
    async def resume(
        cls,
        agent_id: str,
        options: AgentOptions | Mapping[str, Any] | None = None,
        *,
        client: AsyncClient | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
    ) -> AsyncAgent:
        chosen, inner = called_in_loop(options), client._client if client else None
        return cls(await in_thread(lambda: Agent.resume(agent_id, chosen, client=inner, api_key=api_key, base_url=base_url)))

    @classmethod
    async def prompt(
        cls,
        message: Message,
        options: AgentOptions | Mapping[str, Any] | None = None,
        *,
        client: AsyncClient | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        **fields: Unpack[AgentFields],
    ) -> RunResult:
        async with await cls.create(options, client=client, api_key=api_key, base_url=base_url, **fields) as agent:
            return await (await agent.send(message)).wait()

    @property
    def client(self) -> AsyncClient:
        from .async_client import AsyncClient

        return AsyncClient._around(self._agent.client)

    @property
    def agent_id(self) -> str:
        return self._agent.agent_id

    @property
    def model(self) -> ModelSelection | str | None:
        return self._agent.model

    async def send(
        self, message: Message, options: SendOptions | Mapping[str, Any] | None = None, *, idempotency_key: str | None = None
    ) -> AsyncRun:
        """Raises AgentBusyError while a run is under way. Observers are told in the loop."""
        send = told_in_loop(options)
        return AsyncRun(await in_thread(lambda: self._agent.send(message, send, idempotency_key=idempotency_key)))

    async def list_messages(self) -> list[AgentMessage]:
        """The whole conversation of a local agent, oldest first."""
        return await in_thread(self._agent.list_messages)

    async def list_artifacts(self) -> list[Artifact]:
        return await in_thread(self._agent.list_artifacts)

    async def download_artifact(self, path: str) -> bytes:
        return await in_thread(lambda: self._agent.download_artifact(path))

    async def get_usage(self, *, run_id: str | None = None) -> AgentUsage:
        return await in_thread(lambda: self._agent.get_usage(run_id=run_id))

    async def archive(self) -> None:
        await in_thread(self._agent.archive)

    async def unarchive(self) -> None:
        await in_thread(self._agent.unarchive)

    async def delete(self) -> None:
        await in_thread(self._agent.delete)

    async def reload(self) -> None:
        await in_thread(self._agent.reload)

    async def close(self) -> None:
        await in_thread(self._agent.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class AsyncAgents:
    """What one does with agents by id."""

    def __init__(self, client: Client) -> None:
        self._agents = client.agents

    async def create(
        self,
        options: AgentOptions | Mapping[str, Any] | None = None,
        *,
        api_key: str | None = None,
        **fields: Unpack[AgentFields],
    ) -> AsyncAgent:
        """Tools that are coroutine functions are awaited in the loop."""
        chosen = called_in_loop(options, fields)
        return AsyncAgent(await in_thread(lambda: self._agents.create(chosen, api_key=api_key)))

    async def resume(self, agent_id: str, options: AgentOptions | Mapping[str, Any] | None = None) -> AsyncAgent:
        chosen = called_in_loop(options)
        return AsyncAgent(await in_thread(lambda: self._agents.resume(agent_id, chosen)))

    async def prompt(
        self,
        message: Message,
        options: AgentOptions | Mapping[str, Any] | None = None,
        *,
        api_key: str | None = None,
        **fields: Unpack[AgentFields],
    ) -> RunResult:
        async with await self.create(options, api_key=api_key, **fields) as agent:
            return await (await agent.send(message)).wait()

    async def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        pr_url: str | None = None,
        include_archived: bool | None = None,
        source: str | None = None,
        runtime: Literal["cloud", "local"] = "cloud",
        cwd: str | os.PathLike[str] | None = None,
    ) -> AsyncPage[AgentInfo]:
        """Newest first. Local ones are those that work in `cwd`."""
        page = await in_thread(
            lambda: self._agents.list(
                limit=limit,
                cursor=cursor,
                pr_url=pr_url,
                include_archived=include_archived,
                source=source,
                runtime=runtime,
                cwd=cwd,
            )
        )
        return AsyncPage(page, lambda info: info)

    async def get(self, agent_id: str) -> AgentInfo:
        return await in_thread(lambda: self._agents.get(agent_id))

    async def list_runs(self, agent_id: str, *, limit: int | None = None, cursor: str | None = None) -> AsyncPage[AsyncRun]:
        """Newest first."""
        page = await in_thread(lambda: self._agents.list_runs(agent_id, limit=limit, cursor=cursor))
        return AsyncPage(page, AsyncRun)

    async def get_run(self, run_id: str, *, agent_id: str) -> AsyncRun:
        return AsyncRun(await in_thread(lambda: self._agents.get_run(run_id, agent_id=agent_id)))

    async def cancel_run(self, run_id: str, *, agent_id: str) -> None:
        await in_thread(lambda: self._agents.cancel_run(run_id, agent_id=agent_id))

    async def archive(self, agent_id: str) -> None:
        await in_thread(lambda: self._agents.archive(agent_id))

    async def unarchive(self, agent_id: str) -> None:
        await in_thread(lambda: self._agents.unarchive(agent_id))

    async def delete(self, agent_id: str) -> None:
        await in_thread(lambda: self._agents.delete(agent_id))

    async def list_messages(self, agent_id: str) -> builtins.list[AgentMessage]:
        """The whole conversation of a local agent, oldest first."""
        return await in_thread(lambda: self._agents.list_messages(agent_id))

    async def get_usage(self, agent_id: str, *, run_id: str | None = None) -> AgentUsage:
        return await in_thread(lambda: self._agents.get_usage(agent_id, run_id=run_id))
