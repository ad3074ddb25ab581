"""The client for ordinary code: every call blocks until its response has arrived."""

from __future__ import annotations

from concurrent.futures import TimeoutError as FutureTimeoutError
from types import TracebackType
from typing import TYPE_CHECKING

from .config import ClientConfig
from .connection import Connection
from .errors import start_timeout
from .options import ApprovalMode
from .server_requests import ApprovalCallback, Callbacks, ElicitationCallback, ServerRequests, UserInputCallback
from .shapes import Metadata
from .threads import Operations
from .wire import decode

if TYPE_CHECKING:
    from typing_extensions import Self


class Client(Operations):
    """Starts the program at once; `close`, or the end of a `with` block, ends it and all its turns.

    `approvals` decides about what the sandbox does not allow; without it every request is declined.
    """

    def __init__(
        self,
        config: ClientConfig | None = None,
        *,
        approvals: ApprovalCallback | None = None,
        user_input: UserInputCallback | None = None,
        elicitations: ElicitationCallback | None = None,
    ) -> None:
        super().__init__(ApprovalMode.ask if approvals else ApprovalMode.auto_review)
        config = config or ClientConfig()
        callbacks = Callbacks(approvals=approvals, user_input=user_input, elicitations=elicitations)
        self._connection = Connection(config, ServerRequests(callbacks))
        self._metadata = self._initialize(config)

    def _initialize(self, config: ClientConfig) -> Metadata:
        try:
            return decode(Metadata, self._connection.initialize(config).result(config.start_timeout_s))
        except FutureTimeoutError:
            self.close()
            raise start_timeout(config.start_timeout_s) from None
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

    def _connect(self) -> Connection:
        return self._connection
