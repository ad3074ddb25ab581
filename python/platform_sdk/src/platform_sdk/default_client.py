"""The client of class methods that are called without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .connection import default_key
from .ids import is_cloud_agent_id
from .threads import in_thread

if TYPE_CHECKING:
    from .async_client import AsyncClient
    from .client import Client


def open_client(
    client: Client | None, api_key: str | None, base_url: str | None = None, *, is_local: bool
) -> Client:
    """Local agents with a model provider of their own need no key of the platform."""
    from .client import Client as New

    if client is not None:
        return client
    if is_local and api_key is None and default_key(base_url) is None:
        return New._without_key()
    return New(api_key=api_key, base_url=base_url)


def open_client_for_agent(agent_id: str, client: Client | None, api_key: str | None) -> Client:
    return open_client(client, api_key, is_local=not is_cloud_agent_id(agent_id))


async def open_async_client(client: AsyncClient | None, api_key: str | None, *, is_local: bool) -> AsyncClient:
    from .async_client import AsyncClient as New

    return client or New._wrap(await in_thread(lambda: open_client(None, api_key, is_local=is_local)))


async def open_async_client_for_agent(agent_id: str, client: AsyncClient | None, api_key: str | None) -> AsyncClient:
    return await open_async_client(client, api_key, is_local=not is_cloud_agent_id(agent_id))
