"""Agents for asyncio: every call is awaited, and cancelling an await ends the call."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .agents import Agent, Agents
from .async_agent_lookups import AsyncAgentLookups
from .async_pages import page_of_agents, page_of_runs
from .async_runs import AsyncRun
from .event_loop import on_event_loop, tools_on_event_loop
from .images import Message
from .options import AgentFields, AgentOptions, SendOptions
from .shapes import ModelSelection, RunResult
from .threads import Wrapper, awaited, awaited_as, in_thread

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from .async_client import AsyncClient


class AsyncAgent(AsyncAgentLookups, Wrapper[Agent]):
    """The first prompt creates it, later ones are runs of the same conversation."""

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
        """Checks the model and nothing else: the first `send` creates the agent."""
        merged, inner = tools_on_event_loop(options, fields), client._blocking if client else None
        return cls(await in_thread(lambda: Agent.create(merged, client=inner, api_key=api_key, base_url=base_url)))

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
        """A handle for an existing agent. Sends no request to the platform."""
        merged, inner = tools_on_event_loop(options), client._blocking if client else None
        return cls(await in_thread(lambda: Agent.resume(agent_id, merged, client=inner, api_key=api_key, base_url=base_url)))

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
        """Creates an agent, sends one prompt and waits for its end."""
        async with await cls.create(options, client=client, api_key=api_key, base_url=base_url, **fields) as agent:
            return await (await agent.send(message)).wait()

    @property
    def client(self) -> AsyncClient:
        from .async_client import AsyncClient

        return AsyncClient._wrap(self._blocking.client)

    @property
    def agent_id(self) -> str:
        return self._blocking.agent_id

    @property
    def model(self) -> ModelSelection | str | None:
        return self._blocking.model

    async def send(
        self, message: Message, options: SendOptions | Mapping[str, Any] | None = None, *, idempotency_key: str | None = None
    ) -> AsyncRun:
        """Raises AgentBusyError while a run is active. Observers are called on the event loop."""
        send = on_event_loop(options)
        return AsyncRun(await in_thread(lambda: self._blocking.send(message, send, idempotency_key=idempotency_key)))

    list_messages = awaited(Agent.list_messages)
    list_artifacts = awaited(Agent.list_artifacts)
    download_artifact = awaited(Agent.download_artifact)
    get_usage = awaited(Agent.get_usage)
    archive = awaited(Agent.archive)
    unarchive = awaited(Agent.unarchive)
    delete = awaited(Agent.delete)
    reload = awaited(Agent.reload)
    close = awaited(Agent.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class AsyncAgents(Wrapper[Agents]):
    """Agents by id."""

    async def create(
        self,
        options: AgentOptions | Mapping[str, Any] | None = None,
        *,
        api_key: str | None = None,
        **fields: Unpack[AgentFields],
    ) -> AsyncAgent:
        """Tools that are coroutine functions are awaited on the event loop."""
        merged = tools_on_event_loop(options, fields)
        return AsyncAgent(await in_thread(lambda: self._blocking.create(merged, api_key=api_key)))

    async def resume(self, agent_id: str, options: AgentOptions | Mapping[str, Any] | None = None) -> AsyncAgent:
        merged = tools_on_event_loop(options)
        return AsyncAgent(await in_thread(lambda: self._blocking.resume(agent_id, merged)))

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

    list = awaited_as(page_of_agents, Agents.list)
    get = awaited(Agents.get)
    list_runs = awaited_as(page_of_runs, Agents.list_runs)
    get_run = awaited_as(AsyncRun, Agents.get_run)
    cancel_run = awaited(Agents.cancel_run)
    archive = awaited(Agents.archive)
    unarchive = awaited(Agents.unarchive)
    delete = awaited(Agents.delete)
    list_messages = awaited(Agents.list_messages)
    get_usage = awaited(Agents.get_usage)
