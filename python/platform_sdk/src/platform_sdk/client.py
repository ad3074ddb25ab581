"""The platform for ordinary code: every call blocks until its response has arrived."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from .agents import Agents
from .bridge import Bridge, open_bridge
from .bridge_agents import BridgeAgents
from .bridge_process import launch_bridge, shared_bridge
from .cloud_agents import CloudAgents
from .connection import Connection, Request
from .shapes import Me, Model, Repository
from .clock import Clock
from .stop_signal import StopSignal
from .wire import Json, decode

if TYPE_CHECKING:
    from typing_extensions import Self


class Client:
    """The key is `api_key` or PLATFORM_API_KEY, the address `base_url` or PLATFORM_BACKEND_URL.

    `timeout` limits how long the platform may send nothing, in seconds. Local agents run in a bridge, which starts with
    the first of them and ends with this process."""

    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout: float = 60,
        max_retries: int = 2,
        clock: Clock | None = None,
    ) -> None:
        connection = Connection(
            api_key=api_key, base_url=base_url, timeout_s=timeout, max_retries=max_retries, clock=clock or Clock()
        )
        self._limits = (timeout, max_retries)
        self._connection: Connection | None = connection
        credentials = {"apiKey": connection.key, "backendUrl": connection.origin}
        self._open(
            Agents(
                CloudAgents(connection, self),
                lambda: BridgeAgents(shared_bridge(), self, credentials),
                lambda key: self._with_key(key).agents,
            ),
            lambda resource: connection.request(
                Request(operation=_OPERATIONS[resource], method="GET", path=f"/v1/{resource}"), StopSignal()
            ),
        )

    @classmethod
    def launch_bridge(
        cls,
        *,
        workspace: str | os.PathLike[str] | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        program: str | os.PathLike[str] | None = None,
    ) -> Self:
        """A client with a bridge of its own, which works in `workspace` and ends with the client or this process.

        The program of the bridge is `program`, PLATFORM_SDK_BRIDGE or `platform-sdk` on PATH."""
        return cls._over(launch_bridge(workspace=workspace, api_key=api_key, base_url=base_url, program=program))

    @classmethod
    def connect(cls, base_url: str, auth_token: str) -> Self:
        """A client for a running bridge, with the key of the bridge."""
        return cls._over(open_bridge(base_url, auth_token))

    @classmethod
    def _without_key(cls) -> Self:
        """A client for the shared bridge, which its `close` leaves running."""
        client = cls._over(shared_bridge())
        client._close = lambda: None
        return client

    @classmethod
    def _over(cls, bridge: Bridge, credentials: Json | None = None) -> Self:
        client = cls.__new__(cls)
        client._limits = (60, 2)
        client._connection = None
        backend = BridgeAgents(bridge, client, credentials or {})
        client._open(
            Agents(backend, lambda: backend, lambda key: cls._over(bridge, {"apiKey": key}).agents),
            lambda resource: bridge.call(
                f"SdkPlatformService/{_METHODS[resource]}", {"options": credentials or {}}, StopSignal()
            ),
            bridge.close,
        )
        return client

    def _open(
        self, agents: Agents, get: Callable[[str], Json], close: Callable[[], None] = lambda: None
    ) -> None:
        self.agents = agents
        self.models = Models(get)
        self.repositories = Repositories(get)
        self._get = get
        self._close = close

    def with_options(self, *, timeout: float | None = None, max_retries: int | None = None) -> Self:
        """The same platform with another timeout or number of retries. A bridge has its own."""
        if self._connection is None:
            return self
        return self._with_key(self._connection.key, timeout=timeout, max_retries=max_retries)

    def _with_key(self, key: str, *, timeout: float | None = None, max_retries: int | None = None) -> Self:
        assert self._connection is not None
        own_timeout, own_retries = self._limits
        return type(self)(
            api_key=key,
            base_url=self._connection.origin,
            timeout=own_timeout if timeout is None else timeout,
            max_retries=own_retries if max_retries is None else max_retries,
            clock=self._connection.clock,
        )

    def me(self) -> Me:
        return decode(Me, self._get("me"))

    def close(self) -> None:
        """Ends the bridge that this client launched, if any."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


_OPERATIONS = {"me": "me", "models": "models.list", "repositories": "repositories.list"}
_METHODS = {"me": "Me", "models": "ListModels", "repositories": "ListRepositories"}


class Models:
    def __init__(self, get: Callable[[str], Json]) -> None:
        self._get = get

    def list(self) -> list[Model]:
        return [decode(Model, item) for item in self._get("models")["items"]]


class Repositories:
    """The repositories that the platform has in its configuration."""

    def __init__(self, get: Callable[[str], Json]) -> None:
        self._get = get

    def list(self) -> list[Repository]:
        return [decode(Repository, item) for item in self._get("repositories")["items"]]
