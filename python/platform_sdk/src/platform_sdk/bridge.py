"""Calls of the bridge: methods by name, JSON in and JSON out."""

from __future__ import annotations

import contextlib
import http.client
import json
from collections.abc import Callable, Iterator
from typing import Any

from . import errors
from .connection import exchange
from .errors import ConfigurationError, NetworkError, PlatformSdkError
from .follow import RunEnded, FollowEvent, FollowTimeout
from .frame import read_frame
from .sse import read_events
from .stop_signal import StopSignal
from .tool_callback import ToolCallback
from .wire import Json


class Bridge:
    """`close` ends the bridge if this process launched it."""

    def __init__(self, url: str, token: str, *, is_alive: Callable[[], bool], end: Callable[[], None]) -> None:
        self._url = url
        self._token = token
        self._end = end
        self.is_alive = is_alive
        self.tools = ToolCallback()

    def call(self, method: str, params: Json, stop: StopSignal) -> Json:
        with self._post(method, params, stop) as response:
            value: Json = json.loads(response.read())
            return value

    def download(self, method: str, params: Json, stop: StopSignal) -> bytes:
        with self._post(method, params, stop) as response:
            return response.read()

    def follow(self, params: Json, stop: StopSignal) -> Iterator[FollowEvent]:
        """Yields the events of a run from its first frame to its end."""
        with self._post("SdkAgentService/FollowRun", params, stop) as response:
            for event in read_events(iter(lambda: response.read1(65_536), b"")):
                if event.event == "failed":
                    raise _error(json.loads(event.data))
                if event.event == "ended":
                    ended = json.loads(event.data)
                    yield RunEnded(ended["run"], ended["why"])
                elif event.event == "late":
                    yield FollowTimeout()
                elif frame := read_frame(event):
                    yield frame

    def close(self) -> None:
        self.tools.close()
        self._end()

    @contextlib.contextmanager
    def _post(self, method: str, params: Json, stop: StopSignal) -> Iterator[http.client.HTTPResponse]:
        """No timeout: the bridge has timeouts and retries of its own."""
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        try:
            url = f"{self._url}/sdk.v1.{method}"
            with exchange(url, "POST", headers, json.dumps(params).encode(), None, stop) as response:
                if response.status != 200:
                    raise _error(json.loads(response.read()).get("error"))
                yield response
        except PlatformSdkError:
            stop.check()
            raise
        except (OSError, http.client.HTTPException, ValueError) as error:
            stop.check()
            message = f"No valid response from the bridge at {self._url}: {error or type(error).__name__}. Launch a new one."
            raise NetworkError(message, code="bridge_gone", endpoint=method) from error


def open_bridge(url: str, token: str) -> Bridge:
    """A bridge that another process has launched."""
    if not url.startswith(("http://127.0.0.1:", "http://localhost:", "http://[::1]:")):
        message = f"Invalid bridge URL {url!r}: expected a loopback address such as http://127.0.0.1:<port>."
        raise ConfigurationError(message, code="invalid_option", operation="Client.connect")
    return Bridge(url.rstrip("/"), token, is_alive=lambda: True, end=lambda: None)


def _error(wire: Any) -> PlatformSdkError:
    """The class with the name that the error has in every language."""
    fields = wire if isinstance(wire, dict) else {}
    kind = getattr(errors, str(fields.get("name")), None)
    error_class = kind if isinstance(kind, type) and issubclass(kind, PlatformSdkError) else PlatformSdkError
    names = {"code": "code", "status": "status", "is_retryable": "isRetryable", "endpoint": "endpoint"}
    names |= {"request_id": "requestId", "operation": "operation", "help_url": "helpUrl", "provider": "provider"}
    details = {name: fields[key] for name, key in names.items() if fields.get(key) is not None}
    message = str(fields.get("message") or "The bridge failed without a message.")
    return errors.narrow(error_class, fields.get("status"))(message, **details)
