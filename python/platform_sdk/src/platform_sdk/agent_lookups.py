"""What one does with agents by id without a client of one's own: class methods of `Agent`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .client import Client
    from .runs import Run
    from .shapes import AgentInfo, Page


class AgentLookups:
    """`client` is asked where it is given, else one for `api_key` or PLATFORM_API_KEY."""

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
        agents = client_for(client, api_key, is_local=runtime == "local").agents
        return agents.list(
            limit=limit, cursor=cursor, pr_url=pr_url, include_archived=include_archived, runtime=runtime, cwd=cwd
        )

    @classmethod
    def get(cls, agent_id: str, *, client: Client | None = None, api_key: str | None = None) -> AgentInfo:
        return _client_of(agent_id, client, api_key).agents.get(agent_id)

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
        return _client_of(agent_id, client, api_key).agents.list_runs(agent_id, limit=limit, cursor=cursor)

    @classmethod
    def get_run(
        cls, run_id: str, *, agent_id: str, client: Client | None = None, api_key: str | None = None
    ) -> Run:
        return _client_of(agent_id, client, api_key).agents.get_run(run_id, agent_id=agent_id)

    @classmethod
    def cancel_run(
        cls, run_id: str, *, agent_id: str, client: Client | None = None, api_key: str | None = None
    ) -> None:
        _client_of(agent_id, client, api_key).agents.cancel_run(run_id, agent_id=agent_id)

    @classmethod
    def archive_agent(cls, agent_id: str, *, client: Client | None = None, api_key: str | None = None) -> None:
        _client_of(agent_id, client, api_key).agents.archive(agent_id)

    @classmethod
    def unarchive_agent(cls, agent_id: str, *, client: Client | None = None, api_key: str | None = None) -> None:
        _client_of(agent_id, client, api_key).agents.unarchive(agent_id)

    @classmethod
    def delete_agent(cls, agent_id: str, *, client: Client | None = None, api_key: str | None = None) -> None:
        _client_of(agent_id, client, api_key).agents.delete(agent_id)


def client_for(
    client: Client | None, api_key: str | None, base_url: str | None = None, *, is_local: bool
) -> Client:
    """Local agents that ask a provider of their own need no key of the platform."""
    from .client import Client as Opened
    from .connection import known_key

    if client is not None:
        return client
    if is_local and api_key is None and known_key(base_url) is None:
        return Opened._without_key()
    return Opened(api_key=api_key, base_url=base_url)


def _client_of(agent_id: str, client: Client | None, api_key: str | None) -> Client:
    from .ids import is_cloud_agent_id

    return client_for(client, api_key, is_local=not is_cloud_agent_id(agent_id))
