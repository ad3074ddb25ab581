"""`Platform`: the owner of the key, models and repositories, without a client."""

from __future__ import annotations

from .async_client import AsyncClient
from .client import Client
from .shapes import Me, Model, Repository


class _Models:
    def list(self, *, client: Client | None = None, api_key: str | None = None) -> list[Model]:
        return (client or Client(api_key=api_key)).models.list()


class _Repositories:
    def list(self, *, client: Client | None = None, api_key: str | None = None) -> list[Repository]:
        return (client or Client(api_key=api_key)).repositories.list()


class Platform:
    models = _Models()
    repositories = _Repositories()

    @classmethod
    def me(cls, *, client: Client | None = None, api_key: str | None = None) -> Me:
        return (client or Client(api_key=api_key)).me()


class _AsyncModels:
    async def list(self, *, api_key: str | None = None) -> list[Model]:
        return await AsyncClient(api_key=api_key).models.list()


class _AsyncRepositories:
    async def list(self, *, api_key: str | None = None) -> list[Repository]:
        return await AsyncClient(api_key=api_key).repositories.list()


class AsyncPlatform:
    models = _AsyncModels()
    repositories = _AsyncRepositories()

    @classmethod
    async def me(cls, *, api_key: str | None = None) -> Me:
        return await AsyncClient(api_key=api_key).me()
