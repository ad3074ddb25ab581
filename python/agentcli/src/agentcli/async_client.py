"""The client for asyncio: the same calls, awaited."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING

from .async_threads import AsyncOperations
from .config import ClientConfig
from .connection import Connection
from .errors import start_timeout
from .event_loop import await_on
from .options import ApprovalMode
from .server_requests import ApprovalCallback, Callbacks, ElicitationCallback, ServerRequests, UserInputCallback
from .shapes import Metadata
from .wire import decode

if TYPE_CHECKING:
    from typing_extensions import Self


class AsyncClient(AsyncOperations):
    """Starts the program with `async with`, or with the first call. Callbacks may be coroutine functions."""

    def __init__(
        self,
        config: ClientConfig | None = None,
        *,
        approvals: ApprovalCallback | None = None,
        user_input: UserInputCallback | None = None,
        elicitations: ElicitationCallback | None = None,
    ) -> None:
        super().__init__(ApprovalMode.ask if approvals else ApprovalMode.auto_review)
        self._config = config or ClientConfig()
        self._callbacks = Callbacks(approvals=approvals, user_input=user_input, elicitations=elicitations)
        self._starting: asyncio.Task[tuple[Connection, Metadata]] | None = None

    async def __aenter__(self) -> Self:
        await self._started()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        if self._starting is None:
            return
        try:
            connection, _ = await self._starting
        except Exception:
            return  # Raised by the call that started the program, which left nothing running.
        await asyncio.to_thread(connection.close)

    async def metadata(self) -> Metadata:
        return (await self._started())[1]

    async def _connect(self) -> Connection:
        return (await self._started())[0]

    async def _started(self) -> tuple[Connection, Metadata]:
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        return await asyncio.shield(self._starting)

    async def _start(self) -> tuple[Connection, Metadata]:
        requests = ServerRequests(self._callbacks, await_on(asyncio.get_running_loop()))
        connection = Connection(self._config, requests)
        try:
            response = asyncio.wrap_future(connection.initialize(self._config))
            return connection, decode(Metadata, await asyncio.wait_for(response, self._config.start_timeout_s))
        except asyncio.TimeoutError:
            await asyncio.to_thread(connection.close)
            raise start_timeout(self._config.start_timeout_s) from None
        except BaseException:
            await asyncio.to_thread(connection.close)
            raise
