"""Agents, wherever they are: a handle on one, and what one does with them by id."""

from __future__ import annotations

import builtins
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Protocol

from .agent_lookups import AgentLookups, client_for
from .errors import ConfigurationError, PlatformAgentError
from .ids import is_cloud_agent_id
from .images import Message
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
        options: AgentOptions | None = None,
        *,
        client: Client | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        **fields: Unpack[AgentFields],
    ) -> Agent:
        """Makes sure of the model and nothing else: the first `send` creates the agent."""
        chosen, key = _apart(options or AgentOptions(**fields), api_key)
        return client_for(client, key, base_url, is_local=_is_local(chosen)).agents.create(chosen)

    @classmethod
    def resume(
        cls,
        agent_id: str,
        options: AgentOptions | None = None,
        *,
        client: Client | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
    ) -> Agent:
        """A handle on an agent that is there. The platform is not asked."""
        chosen, key = _apart(options or AgentOptions(), api_key)
        is_local = not is_cloud_agent_id(agent_id)
        return client_for(client, key, base_url, is_local=is_local).agents.resume(agent_id, chosen)

    @classmethod
    def prompt(
        cls,
        message: Message,
        options: AgentOptions | None = None,
        *,
        client: Client | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        **fields: Unpack[AgentFields],
    ) -> RunResult:
        """One agent, one prompt, to its end."""
        chosen, key = _apart(options or AgentOptions(**fields), api_key)
        return client_for(client, key, base_url, is_local=_is_local(chosen)).agents.prompt(message, chosen)

    @property
    @abstractmethod
    def agent_id(self) -> str:
        """Raises before the first `send` of an agent with env_vars: the platform chooses its id."""

    @property
    @abstractmethod
    def model(self) -> ModelSelection | str | None: ...

    def send(
        self, message: Message, options: SendOptions | None = None, *, idempotency_key: str | None = None
    ) -> Run:
        """Raises AgentBusyError while a run is under way."""
        send = options or SendOptions()
        return self._send(message, send if idempotency_key is None else replace(send, idempotency_key=idempotency_key))

    @abstractmethod
    def _send(self, message: Message, send: SendOptions) -> Run: ...

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


@dataclass(frozen=True, kw_only=True)
class ListWish:
    limit: int | None = None
    cursor: str | None = None
    pr_url: str | None = None
    include_archived: bool | None = None
    source: str | None = None
    runtime: Literal["cloud", "local"] = "cloud"
    cwd: str | os.PathLike[str] | None = None


class AgentCalls(Protocol):
    """What one can do with agents in one place."""

    def create(self, options: AgentOptions) -> Agent: ...
    def resume(self, agent_id: str, options: AgentOptions) -> Agent: ...
    def list(self, wish: ListWish) -> Page[AgentInfo]: ...
    def get(self, agent_id: str) -> AgentInfo: ...
    def list_runs(self, agent_id: str, limit: int | None, cursor: str | None) -> Page[Run]: ...
    def get_run(self, run_id: str, agent_id: str) -> Run: ...
    def cancel_run(self, run_id: str, agent_id: str) -> None: ...
    def archive(self, agent_id: str) -> None: ...
    def unarchive(self, agent_id: str) -> None: ...
    def delete(self, agent_id: str) -> None: ...
    def get_usage(self, agent_id: str, run_id: str | None) -> AgentUsage: ...
    def list_messages(self, agent_id: str) -> builtins.list[AgentMessage]: ...


class Agents:
    """What one does with agents by id. Those of this machine are told by their options and ids."""

    def __init__(self, cloud: AgentCalls, local: Callable[[], AgentCalls]) -> None:
        self._cloud = cloud
        self._local = local

    def create(self, options: AgentOptions | None = None, **fields: Unpack[AgentFields]) -> Agent:
        chosen = options or AgentOptions(**fields)
        return (self._local() if _is_local(chosen) else self._cloud).create(chosen)

    def resume(self, agent_id: str, options: AgentOptions | None = None) -> Agent:
        return self._of(agent_id).resume(agent_id, options or AgentOptions())

    def prompt(
        self, message: Message, options: AgentOptions | None = None, **fields: Unpack[AgentFields]
    ) -> RunResult:
        with self.create(options, **fields) as agent:
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


def _is_local(options: AgentOptions) -> bool:
    if options.api_key is not None:
        raise _invalid("api_key is for Agent.create. A client has its own.")
    if options.local and options.cloud:
        raise _invalid("local and cloud exclude each other. An agent runs in one place.")
    for name in ("tools", "disallowed_tools", "system_prompt"):
        if not options.local and getattr(options, name) is not None:
            raise _invalid(f"{name} is for local agents. Leave it out, or pass local.")
    return options.local is not None


def _apart(options: AgentOptions, api_key: str | None) -> tuple[AgentOptions, str | None]:
    """Options, and the key that came with them or beside them."""
    return replace(options, api_key=None), options.api_key if api_key is None else api_key


def _invalid(message: str) -> ConfigurationError:
    return ConfigurationError(message, code="invalid_option", operation="Agent.create")
