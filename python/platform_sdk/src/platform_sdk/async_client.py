"""The same for asyncio: every call is awaited, and giving up an await ends what it waited for."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING

from .agents import Agent
from .async_runs import AsyncPage, AsyncRun
from .client import Client
from .options import AgentFields, AgentOptions, Message, ModelSelection, SendOptions
from .shapes import AgentInfo, AgentUsage, Artifact, Me, Model, Repository, RunResult
from .surroundings import Clock
from .threads import call_in_loop, in_thread

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class AsyncAgent:
    """The first prompt creates it, later ones are runs of the same conversation."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    @classmethod
    async def create(
        cls,
        options: AgentOptions | None = None,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        **fields: Unpack[AgentFields],
    ) -> AsyncAgent:
        return await AsyncClient(api_key=api_key, base_url=base_url).agents.create(options, **fields)

    @classmethod
    async def resume(
        cls,
        agent_id: str,
        options: AgentOptions | None = None,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
    ) -> AsyncAgent:
        return await AsyncClient(api_key=api_key, base_url=base_url).agents.resume(agent_id, options)

    @classmethod
    async def prompt(
        cls,
        message: Message,
        options: AgentOptions | None = None,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        **fields: Unpack[AgentFields],
    ) -> RunResult:
        return await AsyncClient(api_key=api_key, base_url=base_url).agents.prompt(message, options, **fields)

    @property
    def agent_id(self) -> str:
        return self._agent.agent_id

    @property
    def model(self) -> ModelSelection | str | None:
        return self._agent.model

    async def send(self, message: Message, options: SendOptions | None = None) -> AsyncRun:
        """Raises AgentBusyError while a run is under way. Observers are told in the loop."""
        send = _told_in_loop(options or SendOptions())
        return AsyncRun(await in_thread(lambda: self._agent.send(message, send)))

    async def list_artifacts(self) -> list[Artifact]:
        return await in_thread(self._agent.list_artifacts)

    async def download_artifact(self, path: str) -> bytes:
        return await in_thread(lambda: self._agent.download_artifact(path))

    async def get_usage(self) -> AgentUsage:
        return await in_thread(self._agent.get_usage)

    async def archive(self) -> None:
        await in_thread(self._agent.archive)

    async def unarchive(self) -> None:
        await in_thread(self._agent.unarchive)

    async def delete(self) -> None:
        await in_thread(self._agent.delete)

    async def reload(self) -> None:
        await in_thread(self._agent.reload)

    async def close(self) -> None:
        self._agent.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._agent.close()


class AsyncAgents:
    """What one does with agents by id."""

    def __init__(self, client: Client) -> None:
        self._agents = client.agents

    async def create(self, options: AgentOptions | None = None, **fields: Unpack[AgentFields]) -> AsyncAgent:
        return AsyncAgent(await in_thread(lambda: self._agents.create(options, **fields)))

    async def resume(self, agent_id: str, options: AgentOptions | None = None) -> AsyncAgent:
        return AsyncAgent(self._agents.resume(agent_id, options))

    async def prompt(
        self, message: Message, options: AgentOptions | None = None, **fields: Unpack[AgentFields]
    ) -> RunResult:
        async with await self.create(options, **fields) as agent:
            return await (await agent.send(message)).wait()

    async def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        pr_url: str | None = None,
        include_archived: bool | None = None,
        source: str | None = None,
    ) -> AsyncPage[AgentInfo]:
        """Newest first."""
        page = await in_thread(
            lambda: self._agents.list(
                limit=limit, cursor=cursor, pr_url=pr_url, include_archived=include_archived, source=source
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

    async def get_usage(self, agent_id: str, *, run_id: str | None = None) -> AgentUsage:
        return await in_thread(lambda: self._agents.get_usage(agent_id, run_id=run_id))


class AsyncClient:
    """The key from `api_key` or PLATFORM_API_KEY, the address from `base_url` or PLATFORM_BACKEND_URL."""

    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout_s: float = 60,
        max_retries: int = 2,
        clock: Clock | None = None,
    ) -> None:
        self._client = Client(
            api_key=api_key, base_url=base_url, timeout_s=timeout_s, max_retries=max_retries, clock=clock
        )
        self.agents = AsyncAgents(self._client)
        self.models = AsyncModels(self._client)
        self.repositories = AsyncRepositories(self._client)

    async def me(self) -> Me:
        return await in_thread(self._client.me)


class AsyncModels:
    def __init__(self, client: Client) -> None:
        self._models = client.models

    async def list(self) -> list[Model]:
        return await in_thread(self._models.list)


class AsyncRepositories:
    """Those the platform knows by itself."""

    def __init__(self, client: Client) -> None:
        self._repositories = client.repositories

    async def list(self) -> list[Repository]:
        return await in_thread(self._repositories.list)


def _told_in_loop(send: SendOptions) -> SendOptions:
    loop = asyncio.get_running_loop()
    return replace(
        send,
        on_delta=send.on_delta and call_in_loop(send.on_delta, loop),
        on_step=send.on_step and call_in_loop(send.on_step, loop),
    )
