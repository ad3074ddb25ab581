"""The platform for ordinary code: every call waits for its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .agents import Agents, connect
from .connection import Connection, Request
from .shapes import Me, Model, Repository
from .surroundings import Clock, Stop
from .wire import decode

if TYPE_CHECKING:
    from typing_extensions import Self


class Client:
    """The key from `api_key` or PLATFORM_API_KEY, the address from `base_url` or PLATFORM_BACKEND_URL."""

    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout_s: float = 60,
        max_retries: int = 2,
        clock: Clock | None = None,
    ) -> None:
        self._given = (api_key, base_url, clock)
        self._connection = connect(api_key, base_url, timeout_s=timeout_s, max_retries=max_retries, clock=clock)
        self.agents = Agents(self._connection)
        self.models = Models(self._connection)
        self.repositories = Repositories(self._connection)

    def with_options(self, *, timeout_s: float = 60, max_retries: int = 2) -> Self:
        """The same platform, asked with other patience."""
        api_key, base_url, clock = self._given
        return type(self)(api_key=api_key, base_url=base_url, timeout_s=timeout_s, max_retries=max_retries, clock=clock)

    def me(self) -> Me:
        return decode(Me, self._connection.ask(Request(operation="me", method="GET", path="/v1/me"), Stop()))


class Models:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self) -> list[Model]:
        answer = self._connection.ask(Request(operation="models.list", method="GET", path="/v1/models"), Stop())
        return [decode(Model, item) for item in answer["items"]]


class Repositories:
    """Those the platform knows by itself."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self) -> list[Repository]:
        request = Request(operation="repositories.list", method="GET", path="/v1/repositories")
        return [decode(Repository, item) for item in self._connection.ask(request, Stop())["items"]]
