"""The platform for ordinary code: every call waits for its answer."""

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
from .surroundings import Clock, Stop
from .wire import Json, decode

if TYPE_CHECKING:
    from typing_extensions import Self


class Client:
    """The key from `api_key` or PLATFORM_API_KEY, the address from `base_url` or PLATFORM_BACKEND_URL.

    `timeout` is the longest silence of the platform, in seconds. Local agents run through a bridge, which is launched
    when the first is asked for and ends with this process."""

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
        self._patience = (timeout, max_retries)
        self._connection: Connection | None = connection
        known = {"apiKey": connection.key, "backendUrl": connection.origin}
        self._open(
            Agents(
                CloudAgents(connection, self),
                lambda: BridgeAgents(shared_bridge(), self, known),
                lambda key: self._with_key(key).agents,
            ),
            lambda place: connection.ask(Request(operation=_OPERATIONS[place], method="GET", path=f"/v1/{place}"), Stop()),
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
        """A client over a bridge of its own, which works in `workspace` and ends with the client or this process.

        The bridge is `program`, PLATFORM_SDK_BRIDGE or `platform-sdk` on PATH."""
        return cls._over(launch_bridge(workspace=workspace, api_key=api_key, base_url=base_url, program=program))

    @classmethod
    def connect(cls, base_url: str, auth_token: str) -> Self:
        """A client over a bridge that is there; its key is the bridge's."""
        return cls._over(open_bridge(base_url, auth_token))

    @classmethod
    def _without_key(cls) -> Self:
        """Over the bridge that all share; closing it is nobody's."""
        client = cls._over(shared_bridge())
        client._close = lambda: None
        return client

    @classmethod
    def _over(cls, bridge: Bridge, known: Json | None = None) -> Self:
        client = cls.__new__(cls)
        client._patience = (60, 2)
        client._connection = None
        calls = BridgeAgents(bridge, client, known or {})
        client._open(
            Agents(calls, lambda: calls, lambda key: cls._over(bridge, {"apiKey": key}).agents),
            lambda place: bridge.ask(f"SdkPlatformService/{_METHODS[place]}", {"options": known or {}}, Stop()),
            bridge.close,
        )
        return client

    def _open(
        self, agents: Agents, ask: Callable[[str], Json], close: Callable[[], None] = lambda: None
    ) -> None:
        self.agents = agents
        self.models = Models(ask)
        self.repositories = Repositories(ask)
        self._ask = ask
        self._close = close

    def with_options(self, *, timeout: float | None = None, max_retries: int | None = None) -> Self:
        """The same platform, asked with other patience. A bridge has its own."""
        if self._connection is None:
            return self
        return self._with_key(self._connection.key, timeout=timeout, max_retries=max_retries)

    def _with_key(self, key: str, *, timeout: float | None = None, max_retries: int | None = None) -> Self:
        assert self._connection is not None
        known_timeout, known_retries = self._patience
        return type(self)(
            api_key=key,
            base_url=self._connection.origin,
            timeout=known_timeout if timeout is None else timeout,
            max_retries=known_retries if max_retries is None else max_retries,
            clock=self._connection.clock,
        )

    def me(self) -> Me:
        return decode(Me, self._ask("me"))

    def close(self) -> None:
        """Ends the bridge that the client launched."""
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
    def __init__(self, ask: Callable[[str], Json]) -> None:
        self._ask = ask

    def list(self) -> list[Model]:
        return [decode(Model, item) for item in self._ask("models")["items"]]


class Repositories:
    """Those the platform knows by itself."""

    def __init__(self, ask: Callable[[str], Json]) -> None:
        self._ask = ask

    def list(self) -> list[Repository]:
        return [decode(Repository, item) for item in self._ask("repositories")["items"]]
