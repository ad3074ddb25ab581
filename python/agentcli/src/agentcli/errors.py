"""The exceptions of this package, as one tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .turns import TurnResult


class ClientError(Exception):
    """Any failure between this process and agentcli."""


class LaunchError(ClientError):
    """The program could not be started, or did not respond as an app server."""


class TransportClosedError(ClientError):
    """The program has ended, or the client was closed."""

    def __init__(
        self, message: str, *, exit_code: int | None = None, signal: str | None = None, stderr_tail: str = ""
    ) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.signal = signal
        self.stderr_tail = stderr_tail


class ProtocolError(ClientError):
    """The program sent something that the protocol does not allow."""


class TurnFailedError(ClientError, RuntimeError):
    """A turn failed; `result` has what was done until then."""

    def __init__(self, message: str, result: TurnResult) -> None:
        super().__init__(message)
        self.result = result


class JsonRpcError(ClientError):
    """A request failed."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(f"{message} (code {code})")
        self.code = code
        self.message = message
        self.data = data


class ClientRpcError(JsonRpcError):
    """A request failed with an error code of the protocol."""


class ParseError(ClientRpcError):
    """The request was not JSON."""


class InvalidRequestError(ClientRpcError):
    """The request is malformed or not possible now: an unknown thread, no turn to interrupt."""


class MethodNotFoundError(ClientRpcError):
    """The program has no such method."""


class InvalidParamsError(ClientRpcError):
    """The parameters of the request are invalid."""


class InternalRpcError(ClientRpcError):
    """The program failed while it handled the request."""


class ServerBusyError(ClientRpcError):
    """Too many concurrent requests; the same request may succeed later."""


class RetryLimitExceededError(ServerBusyError):
    """The program was still too busy at the last attempt."""


_BY_CODE: dict[int, type[ClientRpcError]] = {
    -32700: ParseError,
    -32600: InvalidRequestError,
    -32601: MethodNotFoundError,
    -32602: InvalidParamsError,
    -32603: InternalRpcError,
    -32001: ServerBusyError,
}


def rpc_error(code: int, message: str, data: object = None) -> JsonRpcError:
    """Builds the exception for an error code."""
    if -32099 <= code <= -32000 and "server_overloaded" in str(data):
        return ServerBusyError(code, message, data)
    return _BY_CODE.get(code, JsonRpcError)(code, message, data)


def unexpected_value(details: str) -> ProtocolError:
    return ProtocolError(f"agentcli {details}")


def start_timeout(timeout_s: float) -> LaunchError:
    return LaunchError(
        f"agentcli did not respond within {timeout_s} s. "
        "Check that agent_bin is agentcli, or raise start_timeout_s."
    )
