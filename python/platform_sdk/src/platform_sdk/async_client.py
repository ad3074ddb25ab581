"""The platform for asyncio: every call is awaited, and cancelling an await ends the call."""

from __future__ import annotations

import os
from types import TracebackType
from typing import TYPE_CHECKING

from .async_agents import AsyncAgents
from .client import Client, Models, Repositories
from .clock import Clock
from .threads import Wrapper, awaited, in_thread

if TYPE_CHECKING:
    from typing_extensions import Self


class AsyncModels(Wrapper[Models]):
    list = awaited(Models.list)


class AsyncRepositories(Wrapper[Repositories]):
    """The repositories that the platform has in its configuration."""

    list = awaited(Repositories.list)


class AsyncClient(Wrapper[Client]):
    """The key is `api_key` or PLATFORM_API_KEY, the address `base_url` or PLATFORM_BACKEND_URL."""

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
        super().__init__(client)
        self.agents = AsyncAgents(client.agents)
        self.models = AsyncModels(client.models)
        self.repositories = AsyncRepositories(client.repositories)

    @classmethod
    def _wrap(cls, client: Client) -> Self:
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
        """A client with a bridge of its own, which works in `workspace` and ends with the client or this process."""
        client = await in_thread(
            lambda: Client.launch_bridge(workspace=workspace, api_key=api_key, base_url=base_url, program=program)
        )
        return cls._wrap(client)

    @classmethod
    def connect(cls, base_url: str, auth_token: str) -> Self:
        """A client for a running bridge, with the key of the bridge."""
        return cls._wrap(Client.connect(base_url=base_url, auth_token=auth_token))

    def with_options(self, *, timeout: float | None = None, max_retries: int | None = None) -> Self:
        """The same platform with another timeout or number of retries. A bridge has its own."""
        return self._wrap(self._blocking.with_options(timeout=timeout, max_retries=max_retries))

    me = awaited(Client.me)
    close = awaited(Client.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
