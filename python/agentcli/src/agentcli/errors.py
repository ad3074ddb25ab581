"""Everything this package raises of its own accord, as one tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .turns import TurnResult


class ClientError(Exception):
    """Whatever goes wrong between this process and agentcli."""


class LaunchError(ClientError):
    """The program could not be started, or did not answer as an app server."""


class TransportClosedError(ClientError):
    """The program is gone, in the middle of something or before it."""

    def __init__(
        self, message: str, *, exit_code: int | None = None, signal: str | None = None, stderr_tail: str = ""
    ) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.signal = signal
        self.stderr_tail = stderr_tail


class ProtocolError(ClientError):
    """The program said what does not belong to the protocol."""


class TurnFailedError(ClientError, RuntimeError):
    """A turn ended as failed; `result` has what was done until then."""

    def __init__(self, message: str, result: TurnResult) -> None:
        super().__init__(message)
        self.result = result


class JsonRpcError(ClientError):
    """A request was refused."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(f"{message} (code {code})")
        self.code = code
        self.message = message
        self.data = data


class ClientRpcError(JsonRpcError):
    """A request was refused with one of the codes of the protocol."""


class ParseError(ClientRpcError):
    """The request was not JSON."""


class InvalidRequestError(ClientRpcError):
    """Not a request, or not one for now: an unknown thread, no turn to interrupt."""


class MethodNotFoundError(ClientRpcError):
    """The program does not have this method."""


class InvalidParamsError(ClientRpcError):
    """The values of the request do not do."""


class InternalRpcError(ClientRpcError):
    """The program failed at the request."""


class ServerBusyError(ClientRpcError):
    """Too many requests at once; the same request may succeed later."""


class RetryLimitExceededError(ServerBusyError):
    """Tried as often as allowed, and still too busy."""


_BY_CODE: dict[int, type[ClientRpcError]] = {
    -32700: ParseError,
    -32600: InvalidRequestError,
    -32601: MethodNotFoundError,
    -32602: InvalidParamsError,
    -32603: InternalRpcError,
    -32001: ServerBusyError,
}


def rpc_error(code: int, message: str, data: object = None) -> JsonRpcError:
    """The class of the tree that fits the code."""
    if -32099 <= code <= -32000 and "server_overloaded" in str(data):
        return ServerBusyError(code, message, data)
    return _BY_CODE.get(code, JsonRpcError)(code, message, data)
