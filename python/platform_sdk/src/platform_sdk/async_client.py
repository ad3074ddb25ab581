"""The platform for asyncio: every call is awaited, and giving up an await ends what it waited for."""

from __future__ import annotations

import os
from types import TracebackType
from typing import TYPE_CHECKING

from .async_agents import AsyncAgents
from .client import Client
from .shapes import Me, Model, Repository
from .surroundings import Clock
from .threads import in_thread

if TYPE_CHECKING:
    from typing_extensions import Self


class AsyncClient:
    """The key from `api_key` or PLATFORM_API_KEY, the address from `base_url` or PLATFORM_BACKEND_URL."""

    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout: float = 60,
        max_retries: int = 2,
        clock: Clock | None = None,
    ) -> None:
        self._open(
            Client(api_key=api_key, base_url=base_url, timeout=timeout, max_retries=max_retries, clock=clock)
        )

    def _open(self, client: Client) -> None:
        self._client = client
        self.agents = AsyncAgents(client)
        self.models = AsyncModels(client)
        self.repositories = AsyncRepositories(client)

    @classmethod
    def _around(cls, client: Client) -> Self:
        wrapped = cls.__new__(cls)
        wrapped._open(client)
        return wrapped

    @classmethod
    async def launch_bridge(
        cls,
        *,
        workspace: str | os.PathLike[str] | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        program: str | os.PathLike[str] | None = None,
    ) -> Self:
        """A client over a bridge of its own, which works in `workspace` and ends with the client or this process."""
        client = await in_thread(
            lambda: Client.launch_bridge(workspace=workspace, api_key=api_key, base_url=base_url, program=program)
        )
        return cls._around(client)

    @classmethod
    def connect(cls, base_url: str, auth_token: str) -> Self:
        """A client over a bridge that is there; its key is the bridge's."""
        return cls._around(Client.connect(base_url=base_url, auth_token=auth_token))

    def with_options(self, *, timeout: float | None = None, max_retries: int | None = None) -> Self:
        """The same platform, asked with other patience. A bridge has its own."""
        return self._around(self._client.with_options(timeout=timeout, max_retries=max_retries))

    async def close(self) -> None:
        """Ends the bridge that the client launched."""
        await in_thread(self._client.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

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
