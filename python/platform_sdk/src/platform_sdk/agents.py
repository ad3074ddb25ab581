"""Agents on the platform or on this machine: a handle for one, and operations by id."""

from __future__ import annotations

import builtins
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from .agent_backend import AgentBackend, ListOptions
from .agent_lookups import AgentLookups
from .coerce import coerce
from .default_client import open_client
from .errors import PlatformAgentError
from .ids import is_cloud_agent_id
from .images import Message, UserMessage
from .merge_options import is_local, split_key
from .options import AgentFields, AgentOptions, SendOptions
from .shapes import ModelSelection
from .stop_signal import StopSignal

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from .client import Client
    from .messages import AgentMessage
    from .runs import Run
    from .pages import Page
    from .shapes import AgentInfo, AgentUsage, Artifact, RunResult


class Agent(AgentLookups, ABC):
    """The first prompt creates it, later ones are runs of the same conversation."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._stop = StopSignal()

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
        """Checks the model and nothing else: the first `send` creates the agent."""
        merged, key = split_key(options, fields, api_key)
        return open_client(client, key, base_url, is_local=is_local(merged)).agents.create(merged)

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
        """A handle for an existing agent. Sends no request to the platform."""
        merged, key = split_key(options, {}, api_key)
        is_here = not is_cloud_agent_id(agent_id)
        return open_client(client, key, base_url, is_local=is_here).agents.resume(agent_id, merged)

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
        """Creates an agent, sends one prompt and waits for its end."""
        merged, key = split_key(options, fields, api_key)
        return open_client(client, key, base_url, is_local=is_local(merged)).agents.prompt(message, merged)

    @property
    @abstractmethod
    def agent_id(self) -> str:
        """Raises before the first `send` of an agent with env_vars, whose id the platform chooses."""

    @property
    @abstractmethod
    def model(self) -> ModelSelection | str | None: ...

    def send(
        self, message: Message, options: SendOptions | Mapping[str, Any] | None = None, *, idempotency_key: str | None = None
    ) -> Run:
        """Raises AgentBusyError while a run is active."""
        send = coerce(SendOptions, options)
        prompt = message if isinstance(message, str) else coerce(UserMessage, message)
        return self._send(prompt, send if idempotency_key is None else replace(send, idempotency_key=idempotency_key))

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
        """Ends all waits on runs of this handle. Runs of a cloud agent continue; those of a local agent are cancelled."""
        self._stop.set(
            PlatformAgentError("This agent handle is closed. Get a new one with Agent.resume.", code="closed")
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Agents:
    """Agents by id. Their options and ids tell local agents from cloud agents."""

    def __init__(self, cloud: AgentBackend, local: Callable[[], AgentBackend], with_key: Callable[[str], Agents]) -> None:
        self._cloud = cloud
        self._local = local
        self._with_key = with_key

    def create(
        self,
        options: AgentOptions | Mapping[str, Any] | None = None,
        *,
        api_key: str | None = None,
        **fields: Unpack[AgentFields],
    ) -> Agent:
        """`api_key` overrides the key of the client for this agent."""
        merged, key = split_key(options, fields, api_key)
        if key is not None:
            return self._with_key(key).create(merged)
        return (self._local() if is_local(merged) else self._cloud).create(merged)

    def resume(self, agent_id: str, options: AgentOptions | Mapping[str, Any] | None = None) -> Agent:
        merged, key = split_key(options, {}, None)
        if key is not None:
            return self._with_key(key).resume(agent_id, merged)
        return self._backend_of(agent_id).resume(agent_id, merged)

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
        """Newest first. With runtime `local`: agents that work in `cwd`."""
        options = ListOptions(
            limit=limit,
            cursor=cursor,
            pr_url=pr_url,
            include_archived=include_archived,
            source=source,
            runtime=runtime,
            cwd=cwd,
        )
        return (self._local() if runtime == "local" else self._cloud).list(options)

    def get(self, agent_id: str) -> AgentInfo:
        return self._backend_of(agent_id).get(agent_id)

    def list_runs(self, agent_id: str, *, limit: int | None = None, cursor: str | None = None) -> Page[Run]:
        """Newest first."""
        return self._backend_of(agent_id).list_runs(agent_id, limit, cursor)

    def get_run(self, run_id: str, *, agent_id: str) -> Run:
        return self._backend_of(agent_id).get_run(run_id, agent_id)

    def cancel_run(self, run_id: str, *, agent_id: str) -> None:
        self._backend_of(agent_id).cancel_run(run_id, agent_id)

    def archive(self, agent_id: str) -> None:
        """Cancels its run; it accepts no more prompts. Archiving it again changes nothing."""
        self._backend_of(agent_id).archive(agent_id)

    def unarchive(self, agent_id: str) -> None:
        self._backend_of(agent_id).unarchive(agent_id)

    def delete(self, agent_id: str) -> None:
        """Permanently, with its conversation and its files."""
        self._backend_of(agent_id).delete(agent_id)

    def get_usage(self, agent_id: str, *, run_id: str | None = None) -> AgentUsage:
        return self._backend_of(agent_id).get_usage(agent_id, run_id)

    def list_messages(self, agent_id: str) -> builtins.list[AgentMessage]:
        """The whole conversation of a local agent, oldest first."""
        return self._backend_of(agent_id).list_messages(agent_id)

    def _backend_of(self, agent_id: str) -> AgentBackend:
        return self._cloud if is_cloud_agent_id(agent_id) else self._local()
