"""Threads, turns, models and accounts for asyncio. `threads.py` is generated from this file: npm run generate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from .connection import Connection
from .event_loop import MessageQueue, wait
from .inputs import Input, wire_input
from .notifications import Notification, TurnCompleted
from .options import ApprovalMode, ListOptions, ThreadOptions, TurnOptions, list_params, thread_params, turn_params
from .shapes import AccountStatus, ModelPage, ThreadInfo, ThreadPage, ThreadSettings
from .turns import TurnCollector, TurnResult
from .wire import Json, decode

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncOperations(ABC):
    """What a client can ask of the program."""

    def __init__(self, default_mode: ApprovalMode) -> None:
        self._default_mode = default_mode

    @abstractmethod
    async def _connect(self) -> Connection:
        """Returns the connection to the program, which runs and has been initialized."""

    async def thread_start(self, **options: Unpack[ThreadOptions]) -> AsyncThread:
        return await self._open("thread/start", thread_params(options, self._default_mode))

    async def thread_resume(self, thread_id: str, **options: Unpack[ThreadOptions]) -> AsyncThread:
        params = thread_params(options, self._resumed_mode)
        return await self._open("thread/resume", {"threadId": thread_id, **params})

    async def thread_fork(self, thread_id: str, **options: Unpack[ThreadOptions]) -> AsyncThread:
        """Starts a new thread that begins with the conversation of another."""
        params = thread_params(options, self._resumed_mode)
        return await self._open("thread/fork", {"threadId": thread_id, **params})

    async def thread_list(self, **options: Unpack[ListOptions]) -> ThreadPage:
        return decode(ThreadPage, await self._call("thread/list", list_params(options)))

    async def thread_archive(self, thread_id: str) -> None:
        await self._call("thread/archive", {"threadId": thread_id})

    async def thread_unarchive(self, thread_id: str) -> ThreadInfo:
        response = await self._call("thread/unarchive", {"threadId": thread_id})
        return decode(ThreadInfo, response["thread"])

    async def models(self, *, include_hidden: bool = False) -> ModelPage:
        return decode(ModelPage, await self._call("model/list", {"includeHidden": include_hidden}))

    async def account(self, *, refresh_token: bool = False) -> AccountStatus:
        return decode(AccountStatus, await self._call("account/read", {"refreshToken": refresh_token}))

    async def login_api_key(self, api_key: str) -> None:
        """Saves the key in the agent home, for later runs too."""
        await self._call("account/login/start", {"type": "apiKey", "apiKey": api_key})

    async def logout(self) -> None:
        await self._call("account/logout", {})

    @property
    def _resumed_mode(self) -> ApprovalMode | None:
        """None leaves the mode as the thread has it."""
        return self._default_mode if self._default_mode is ApprovalMode.ask else None

    async def _open(self, method: str, params: Json) -> AsyncThread:
        connection = await self._connect()
        return AsyncThread(connection, decode(ThreadSettings, await self._call(method, params)))

    async def _call(self, method: str, params: Json) -> Json:
        connection = await self._connect()
        return await wait(connection.request(method, params))


class AsyncThread:
    """One conversation. Its turns share their context."""

    def __init__(self, connection: Connection, settings: ThreadSettings) -> None:
        self._connection = connection
        self.settings = settings

    @property
    def id(self) -> str:
        return self.settings.thread.id

    async def run(self, input: Input, **options: Unpack[TurnOptions]) -> TurnResult:
        """Runs one turn and waits for its end."""
        handle = await self.turn(input, **options)
        return await handle.run()

    async def turn(self, input: Input, **options: Unpack[TurnOptions]) -> AsyncTurnHandle:
        """Starts a turn and returns at once."""
        messages = MessageQueue()
        params = {"threadId": self.id, "input": wire_input(input), **turn_params(options)}
        response = await wait(self._connection.start_turn(params, messages.put))
        return AsyncTurnHandle(self._connection, self.id, str(response["turn"]["id"]), messages)

    async def read(self, *, include_turns: bool = False) -> ThreadInfo:
        params = {"threadId": self.id, "includeTurns": include_turns}
        response = await wait(self._connection.request("thread/read", params))
        return decode(ThreadInfo, response["thread"])

    async def set_name(self, name: str) -> None:
        await wait(self._connection.request("thread/name/set", {"threadId": self.id, "name": name}))

    async def compact(self) -> None:
        """Replaces the older part of the conversation with a summary."""
        messages = MessageQueue()
        await wait(self._connection.start_compaction(self.id, messages.put))
        await AsyncTurnHandle(self._connection, self.id, "", messages).run()


class AsyncTurnHandle:
    """A turn in progress. Read it once, with `stream` or with `run`."""

    def __init__(self, connection: Connection, thread_id: str, turn_id: str, messages: MessageQueue) -> None:
        self._connection = connection
        self._messages = messages
        self.thread_id = thread_id
        self.id = turn_id

    async def stream(self) -> AsyncIterator[Notification]:
        """Yields notifications as they arrive; the last is a TurnCompleted."""
        while True:
            message = await self._messages.get()
            if isinstance(message, BaseException):
                raise message
            yield message
            if isinstance(message.payload, TurnCompleted):
                return

    async def run(self) -> TurnResult:
        collector = TurnCollector()
        async for notification in self.stream():
            collector.add(notification)
        return collector.result()

    async def steer(self, input: Input) -> None:
        """Sends more input while the agent works."""
        params = {"threadId": self.thread_id, "expectedTurnId": self.id, "input": wire_input(input)}
        await wait(self._connection.request("turn/steer", params))

    async def interrupt(self) -> None:
        """Ends the turn with status `interrupted`."""
        await wait(self._connection.request("turn/interrupt", {"threadId": self.thread_id, "turnId": self.id}))
