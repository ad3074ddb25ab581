"""The client for ordinary code: every call waits for its answer."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from concurrent.futures import TimeoutError as FutureTimeoutError
from types import TracebackType
from typing import TYPE_CHECKING

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


class Client:
    """Starts the program at once; `close`, or the end of a `with` block, ends it and all its turns.

    `approvals` is asked about what the sandbox does not allow; without it the answer is no.
    """

    def __init__(
        self,
        config: ClientConfig | None = None,
        *,
        approvals: ApprovalCallback | None = None,
        user_input: UserInputCallback | None = None,
        elicitations: ElicitationCallback | None = None,
    ) -> None:
        config = config or ClientConfig()
        self._default_mode = ApprovalMode.ask if approvals else ApprovalMode.auto_review
        callbacks = Callbacks(approvals=approvals, user_input=user_input, elicitations=elicitations)
        self._connection = Connection(config, Questions(callbacks))
        self._metadata = self._initialize(config)

    def _initialize(self, config: ClientConfig) -> Metadata:
        try:
            return decode(Metadata, self._connection.initialize(config).result(config.start_timeout_s))
        except FutureTimeoutError:
            self.close()
            raise LaunchError(
                f"agentcli did not answer within {config.start_timeout_s} s. "
                "Check that agent_bin is agentcli, or raise start_timeout_s."
            ) from None
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    @property
    def metadata(self) -> Metadata:
        return self._metadata

    def thread_start(self, **options: Unpack[ThreadOptions]) -> Thread:
        return self._open("thread/start", thread_params(options, self._default_mode))

    def thread_resume(self, thread_id: str, **options: Unpack[ThreadOptions]) -> Thread:
        return self._open("thread/resume", {"threadId": thread_id, **thread_params(options, self._resumed_mode)})

    def thread_fork(self, thread_id: str, **options: Unpack[ThreadOptions]) -> Thread:
        """A new thread that begins with what the other said and did."""
        return self._open("thread/fork", {"threadId": thread_id, **thread_params(options, self._resumed_mode)})

    def thread_list(self, **options: Unpack[ListOptions]) -> ThreadPage:
        return decode(ThreadPage, self._call("thread/list", list_params(options)))

    def thread_archive(self, thread_id: str) -> None:
        self._call("thread/archive", {"threadId": thread_id})

    def thread_unarchive(self, thread_id: str) -> ThreadInfo:
        return decode(ThreadInfo, self._call("thread/unarchive", {"threadId": thread_id})["thread"])

    def models(self, *, include_hidden: bool = False) -> ModelPage:
        return decode(ModelPage, self._call("model/list", {"includeHidden": include_hidden}))

    def account(self, *, refresh_token: bool = False) -> AccountStatus:
        return decode(AccountStatus, self._call("account/read", {"refreshToken": refresh_token}))

    def login_api_key(self, api_key: str) -> None:
        """Keeps the key in the agent home, for later runs too."""
        self._call("account/login/start", {"type": "apiKey", "apiKey": api_key})

    def logout(self) -> None:
        self._call("account/logout", {})

    @property
    def _resumed_mode(self) -> ApprovalMode | None:
        return self._default_mode if self._default_mode is ApprovalMode.ask else None

    def _open(self, method: str, params: Json) -> Thread:
        return Thread(self._connection, decode(ThreadSettings, self._call(method, params)))

    def _call(self, method: str, params: Json) -> Json:
        return self._connection.request(method, params).result()


class Thread:
    """One conversation. Its turns share their context."""

    def __init__(self, connection: Connection, settings: ThreadSettings) -> None:
        self._connection = connection
        self.settings = settings

    @property
    def id(self) -> str:
        return self.settings.thread.id

    def run(self, input: Input, **options: Unpack[TurnOptions]) -> TurnResult:
        """One turn to its end."""
        return self.turn(input, **options).run()

    def turn(self, input: Input, **options: Unpack[TurnOptions]) -> TurnHandle:
        """Starts a turn and comes back at once."""
        messages: queue.SimpleQueue[Message] = queue.SimpleQueue()
        params = {"threadId": self.id, "input": wire_input(input), **turn_params(options)}
        answer = self._connection.start_turn(params, messages.put).result()
        return TurnHandle(self._connection, self.id, str(answer["turn"]["id"]), messages)

    def read(self, *, include_turns: bool = False) -> ThreadInfo:
        params = {"threadId": self.id, "includeTurns": include_turns}
        return decode(ThreadInfo, self._connection.request("thread/read", params).result()["thread"])

    def set_name(self, name: str) -> None:
        self._connection.request("thread/name/set", {"threadId": self.id, "name": name}).result()

    def compact(self) -> None:
        """Replaces the older part of the conversation by a summary."""
        messages: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._connection.start_compaction(self.id, messages.put).result()
        TurnHandle(self._connection, self.id, "", messages).run()


class TurnHandle:
    """A turn under way. Read it once, with `stream` or with `run`."""

    def __init__(
        self, connection: Connection, thread_id: str, turn_id: str, messages: queue.SimpleQueue[Message]
    ) -> None:
        self._connection = connection
        self._messages = messages
        self.thread_id = thread_id
        self.id = turn_id

    def stream(self) -> Iterator[Notification]:
        """What happens, as it happens; the last is a TurnCompleted."""
        while True:
            message = self._messages.get()
            if isinstance(message, BaseException):
                raise message
            yield message
            if isinstance(message.payload, TurnCompleted):
                return

    def run(self) -> TurnResult:
        gatherer = TurnGatherer()
        for notification in self.stream():
            gatherer.add(notification)
        return gatherer.result()

    def steer(self, input: Input) -> None:
        """Says more to the agent while it works."""
        params = {"threadId": self.thread_id, "expectedTurnId": self.id, "input": wire_input(input)}
        self._connection.request("turn/steer", params).result()

    def interrupt(self) -> None:
        """The turn then ends with status `interrupted`."""
        self._connection.request("turn/interrupt", {"threadId": self.thread_id, "turnId": self.id}).result()
