"""Agents, wherever they are: a handle on one, and what one does with them by id."""

from __future__ import annotations

import builtins
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from .agent_calls import AgentCalls, ListWish
from .agent_lookups import AgentLookups, client_for
from .errors import PlatformAgentError
from .ids import is_cloud_agent_id
from .chosen import apart, is_local
from .given import taken
from .images import Message, UserMessage
from .options import AgentFields, AgentOptions, SendOptions
from .shapes import ModelSelection
from .surroundings import Stop

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from .client import Client
    from .messages import AgentMessage
    from .runs import Run
    from .shapes import AgentInfo, AgentUsage, Artifact, Page, RunResult


class Agent(AgentLookups, ABC):
    """The first prompt creates it, later ones are runs of the same conversation."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._stop = Stop()

    @classmethod
    def create(
        cls,
        options: AgentOptions | Mapping[str, Any] | None = None,
        *,
        client: Client | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        **fields: Unpack[AgentFields],
    ) -> Agent:
        """Makes sure of the model and nothing else: the first `send` creates the agent."""
        chosen, key = apart(options, fields, api_key)
        return client_for(client, key, base_url, is_local=is_local(chosen)).agents.create(chosen)

    @classmethod
    def resume(
        cls,
        agent_id: str,
        options: AgentOptions | Mapping[str, Any] | None = None,
        *,
        client: Client | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
    ) -> Agent:
        """A handle on an agent that is there. The platform is not asked."""
        chosen, key = apart(options, {}, api_key)
        here = not is_cloud_agent_id(agent_id)
        return client_for(client, key, base_url, is_local=here).agents.resume(agent_id, chosen)

    @classmethod
    def prompt(
        cls,
        message: Message,
        options: AgentOptions | Mapping[str, Any] | None = None,
        *,
        client: Client | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        **fields: Unpack[AgentFields],
    ) -> RunResult:
        """One agent, one prompt, to its end."""
        chosen, key = apart(options, fields, api_key)
        return client_for(client, key, base_url, is_local=is_local(chosen)).agents.prompt(message, chosen)

    @property
    @abstractmethod
    def agent_id(self) -> str:
        """Raises before the first `send` of an agent with env_vars: the platform chooses its id."""

    @property
    @abstractmethod
    def model(self) -> ModelSelection | str | None: ...

    def send(
        self, message: Message, options: SendOptions | Mapping[str, Any] | None = None, *, idempotency_key: str | None = None
    ) -> Run:
        """Raises AgentBusyError while a run is under way."""
        send = taken(SendOptions, options)
        said = message if isinstance(message, str) else taken(UserMessage, message)
        return self._send(said, send if idempotency_key is None else replace(send, idempotency_key=idempotency_key))

    @abstractmethod
    def _send(self, message: str | UserMessage, send: SendOptions) -> Run: ...

    @abstractmethod
    def list_artifacts(self) -> list[Artifact]: ...

    @abstractmethod
    def download_artifact(self, path: str) -> bytes: ...

    @abstractmethod
    def reload(self) -> None: ...

    def list_messages(self) -> list[AgentMessage]:
        """The whole conversation of a local agent, oldest first."""
        return self.client.agents.list_messages(self.agent_id)

    def get_usage(self, *, run_id: str | None = None) -> AgentUsage:
        return self.client.agents.get_usage(self.agent_id, run_id=run_id)

    def archive(self) -> None:
        self.client.agents.archive(self.agent_id)

    def unarchive(self) -> None:
        self.client.agents.unarchive(self.agent_id)

    def delete(self) -> None:
        self.client.agents.delete(self.agent_id)

    def close(self) -> None:
        """Ends whatever follows runs of this handle. A cloud agent and its runs go on, a local one rests."""
        self._stop.set(
            PlatformAgentError("This agent was closed. Get a new handle with Agent.resume.", code="closed")
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Agents:
    """What one does with agents by id. Those of this machine are told by their options and ids."""

    def __init__(self, cloud: AgentCalls, local: Callable[[], AgentCalls], owned_by: Callable[[str], Agents]) -> None:
        self._cloud = cloud
        self._local = local
        self._owned_by = owned_by

    def create(
        self,
        options: AgentOptions | Mapping[str, Any] | None = None,
        *,
        api_key: str | None = None,
        **fields: Unpack[AgentFields],
    ) -> Agent:
        """`api_key` goes before the client's, for this agent."""
        chosen, key = apart(options, fields, api_key)
        if key is not None:
            return self._owned_by(key).create(chosen)
        return (self._local() if is_local(chosen) else self._cloud).create(chosen)

    def resume(self, agent_id: str, options: AgentOptions | Mapping[str, Any] | None = None) -> Agent:
        chosen, key = apart(options, {}, None)
        if key is not None:
            return self._owned_by(key).resume(agent_id, chosen)
        return self._of(agent_id).resume(agent_id, chosen)

    def prompt(
        self,
        message: Message,
        options: AgentOptions | Mapping[str, Any] | None = None,
        *,
        api_key: str | None = None,
        **fields: Unpack[AgentFields],
    ) -> RunResult:
        with self.create(options, api_key=api_key, **fields) as agent:
            return agent.send(message).wait()

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        pr_url: str | None = None,
        include_archived: bool | None = None,
        source: str | None = None,
        runtime: Literal["cloud", "local"] = "cloud",
        cwd: str | os.PathLike[str] | None = None,
    ) -> Page[AgentInfo]:
        """Newest first. Local ones are those that work in `cwd`."""
        wish = ListWish(
            limit=limit,
            cursor=cursor,
            pr_url=pr_url,
            include_archived=include_archived,
            source=source,
            runtime=runtime,
            cwd=cwd,
        )
        return (self._local() if runtime == "local" else self._cloud).list(wish)

    def get(self, agent_id: str) -> AgentInfo:
        return self._of(agent_id).get(agent_id)

    def list_runs(self, agent_id: str, *, limit: int | None = None, cursor: str | None = None) -> Page[Run]:
        """Newest first."""
        return self._of(agent_id).list_runs(agent_id, limit, cursor)

    def get_run(self, run_id: str, *, agent_id: str) -> Run:
        return self._of(agent_id).get_run(run_id, agent_id)

    def cancel_run(self, run_id: str, *, agent_id: str) -> None:
        self._of(agent_id).cancel_run(run_id, agent_id)

    def archive(self, agent_id: str) -> None:
        """Ends its run, and it takes no more prompts. A second time changes nothing."""
        self._of(agent_id).archive(agent_id)

    def unarchive(self, agent_id: str) -> None:
        self._of(agent_id).unarchive(agent_id)

    def delete(self, agent_id: str) -> None:
        """For good, with its conversation and its files."""
        self._of(agent_id).delete(agent_id)

    def get_usage(self, agent_id: str, *, run_id: str | None = None) -> AgentUsage:
        return self._of(agent_id).get_usage(agent_id, run_id)

    def list_messages(self, agent_id: str) -> builtins.list[AgentMessage]:
        """The whole conversation of a local agent, oldest first."""
        return self._of(agent_id).list_messages(agent_id)

    def _of(self, agent_id: str) -> AgentCalls:
        return self._cloud if is_cloud_agent_id(agent_id) else self._local()
