"""The client for asyncio: the same calls, awaited."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .config import ClientConfig
from .connection import Connection, Message
from .errors import LaunchError
from .inputs import Input, wire_input
from .notifications import Notification, TurnCompleted
from .options import ApprovalMode, ListOptions, ThreadOptions, TurnOptions, list_params, thread_params, turn_params
from .questions import ApprovalCallback, Callbacks, ElicitationCallback, Questions, UserInputCallback
from .shapes import AccountStatus, Metadata, ModelPage, ThreadInfo, ThreadPage, ThreadSettings
from .turns import TurnGatherer, TurnResult
from .wire import Json, decode

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class AsyncClient:
    """Starts the program with `async with`, or with the first call. Callbacks may be coroutine functions."""

    def __init__(
        self,
        config: ClientConfig | None = None,
        *,
        approvals: ApprovalCallback | None = None,
        user_input: UserInputCallback | None = None,
        elicitations: ElicitationCallback | None = None,
    ) -> None:
        self._config = config or ClientConfig()
        self._default_mode = ApprovalMode.ask if approvals else ApprovalMode.auto_review
        self._callbacks = Callbacks(approvals=approvals, user_input=user_input, elicitations=elicitations)
        self._opening: asyncio.Task[tuple[Connection, Metadata]] | None = None

    async def __aenter__(self) -> Self:
        await self._open_connection()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        if self._opening is None:
            return
        try:
            connection, _ = await self._opening
        except Exception:
            return  # It was told to whoever opened it, and nothing was left running.
        await asyncio.to_thread(connection.close)

    async def metadata(self) -> Metadata:
        return (await self._open_connection())[1]

    async def thread_start(self, **options: Unpack[ThreadOptions]) -> AsyncThread:
        return await self._open("thread/start", thread_params(options, self._default_mode))

    async def thread_resume(self, thread_id: str, **options: Unpack[ThreadOptions]) -> AsyncThread:
        params = thread_params(options, self._resumed_mode)
        return await self._open("thread/resume", {"threadId": thread_id, **params})

    async def thread_fork(self, thread_id: str, **options: Unpack[ThreadOptions]) -> AsyncThread:
        """A new thread that begins with what the other said and did."""
        params = thread_params(options, self._resumed_mode)
        return await self._open("thread/fork", {"threadId": thread_id, **params})

    async def thread_list(self, **options: Unpack[ListOptions]) -> ThreadPage:
        return decode(ThreadPage, await self._call("thread/list", list_params(options)))

    async def thread_archive(self, thread_id: str) -> None:
        await self._call("thread/archive", {"threadId": thread_id})

    async def thread_unarchive(self, thread_id: str) -> ThreadInfo:
        return decode(ThreadInfo, (await self._call("thread/unarchive", {"threadId": thread_id}))["thread"])

    async def models(self, *, include_hidden: bool = False) -> ModelPage:
        return decode(ModelPage, await self._call("model/list", {"includeHidden": include_hidden}))

    async def account(self, *, refresh_token: bool = False) -> AccountStatus:
        return decode(AccountStatus, await self._call("account/read", {"refreshToken": refresh_token}))

    async def login_api_key(self, api_key: str) -> None:
        """Keeps the key in the agent home, for later runs too."""
        await self._call("account/login/start", {"type": "apiKey", "apiKey": api_key})

    async def logout(self) -> None:
        await self._call("account/logout", {})

    @property
    def _resumed_mode(self) -> ApprovalMode | None:
        return self._default_mode if self._default_mode is ApprovalMode.ask else None

    async def _open(self, method: str, params: Json) -> AsyncThread:
        connection, _ = await self._open_connection()
        return AsyncThread(connection, decode(ThreadSettings, await self._call(method, params)))

    async def _call(self, method: str, params: Json) -> Json:
        connection, _ = await self._open_connection()
        return await asyncio.wrap_future(connection.request(method, params))

    async def _open_connection(self) -> tuple[Connection, Metadata]:
        if self._opening is None:
            self._opening = asyncio.create_task(self._connect())
        return await asyncio.shield(self._opening)

    async def _connect(self) -> tuple[Connection, Metadata]:
        connection = Connection(self._config, Questions(self._callbacks, _waiter(asyncio.get_running_loop())))
        try:
            answer = asyncio.wrap_future(connection.initialize(self._config))
            return connection, decode(Metadata, await asyncio.wait_for(answer, self._config.start_timeout_s))
        except asyncio.TimeoutError:
            await asyncio.to_thread(connection.close)
            raise LaunchError(
                f"agentcli did not answer within {self._config.start_timeout_s} s. "
                "Check that agent_bin is agentcli, or raise start_timeout_s."
            ) from None
        except BaseException:
            await asyncio.to_thread(connection.close)
            raise


class AsyncThread:
    """One conversation. Its turns share their context."""

    def __init__(self, connection: Connection, settings: ThreadSettings) -> None:
        self._connection = connection
        self.settings = settings

    @property
    def id(self) -> str:
        return self.settings.thread.id

    async def run(self, input: Input, **options: Unpack[TurnOptions]) -> TurnResult:
        """One turn to its end."""
        return await (await self.turn(input, **options)).run()

    async def turn(self, input: Input, **options: Unpack[TurnOptions]) -> AsyncTurnHandle:
        """Starts a turn and comes back at once."""
        messages: asyncio.Queue[Message] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        params = {"threadId": self.id, "input": wire_input(input), **turn_params(options)}
        started = self._connection.start_turn(params, partial(_hand_over, loop, messages))
        answer = await asyncio.wrap_future(started)
        return AsyncTurnHandle(self._connection, self.id, str(answer["turn"]["id"]), messages)

    async def read(self, *, include_turns: bool = False) -> ThreadInfo:
        params = {"threadId": self.id, "includeTurns": include_turns}
        answer = await asyncio.wrap_future(self._connection.request("thread/read", params))
        return decode(ThreadInfo, answer["thread"])

    async def set_name(self, name: str) -> None:
        params = {"threadId": self.id, "name": name}
        await asyncio.wrap_future(self._connection.request("thread/name/set", params))

    async def compact(self) -> None:
        """Replaces the older part of the conversation by a summary."""
        messages: asyncio.Queue[Message] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        sink = partial(_hand_over, loop, messages)
        await asyncio.wrap_future(self._connection.start_compaction(self.id, sink))
        await AsyncTurnHandle(self._connection, self.id, "", messages).run()


class AsyncTurnHandle:
    """A turn under way. Read it once, with `stream` or with `run`."""

    def __init__(
        self, connection: Connection, thread_id: str, turn_id: str, messages: asyncio.Queue[Message]
    ) -> None:
        self._connection = connection
        self._messages = messages
        self.thread_id = thread_id
        self.id = turn_id

    async def stream(self) -> AsyncIterator[Notification]:
        """What happens, as it happens; the last is a TurnCompleted."""
        while True:
            message = await self._messages.get()
            if isinstance(message, BaseException):
                raise message
            yield message
            if isinstance(message.payload, TurnCompleted):
                return

    async def run(self) -> TurnResult:
        gatherer = TurnGatherer()
        async for notification in self.stream():
            gatherer.add(notification)
        return gatherer.result()

    async def steer(self, input: Input) -> None:
        """Says more to the agent while it works."""
        params = {"threadId": self.thread_id, "expectedTurnId": self.id, "input": wire_input(input)}
        await asyncio.wrap_future(self._connection.request("turn/steer", params))

    async def interrupt(self) -> None:
        """The turn then ends with status `interrupted`."""
        params = {"threadId": self.thread_id, "turnId": self.id}
        await asyncio.wrap_future(self._connection.request("turn/interrupt", params))


def _hand_over(loop: asyncio.AbstractEventLoop, messages: asyncio.Queue[Message], message: Message) -> None:
    try:
        loop.call_soon_threadsafe(messages.put_nowait, message)
    except RuntimeError:
        return  # The loop is closed: nobody waits for the turn any more.


def _waiter(loop: asyncio.AbstractEventLoop) -> Any:
    """What a callback gives back, waited for in the loop where it is a coroutine."""

    async def settle(value: Awaitable[Any]) -> Any:
        return await value

    def wait(value: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(settle(value), loop).result() if inspect.isawaitable(value) else value

    return wait
