"""The bridge as something to ask: its methods by name, with JSON in and JSON out."""

from __future__ import annotations

import contextlib
import http.client
import json
from collections.abc import Callable, Iterator
from typing import Any

from . import errors
from .connection import exchange
from .errors import ConfigurationError, NetworkError, PlatformSdkError
from .follow import Ended, Followed, Late
from .frame import read_frame
from .sse import read_events
from .surroundings import Stop
from .tool_callback import ToolCallback
from .wire import Json


class Bridge:
    """`close` ends what this process has launched for it."""

    def __init__(self, url: str, token: str, *, is_alive: Callable[[], bool], end: Callable[[], None]) -> None:
        self._url = url
        self._token = token
        self._end = end
        self.is_alive = is_alive
        self.tools = ToolCallback()

    def ask(self, method: str, params: Json, stop: Stop) -> Json:
        with self._call(method, params, stop) as answer:
            value: Json = json.loads(answer.read())
            return value

    def download(self, method: str, params: Json, stop: Stop) -> bytes:
        with self._call(method, params, stop) as answer:
            return answer.read()

    def follow(self, params: Json, stop: Stop) -> Iterator[Followed]:
        """A run from its first frame to its end."""
        with self._call("SdkAgentService/FollowRun", params, stop) as answer:
            for event in read_events(iter(lambda: answer.read1(65_536), b"")):
                if event.event == "failed":
                    raise _error(json.loads(event.data))
                if event.event == "ended":
                    ended = json.loads(event.data)
                    yield Ended(ended["run"], ended["why"])
                elif event.event == "late":
                    yield Late()
                elif frame := read_frame(event):
                    yield frame

    def close(self) -> None:
        self.tools.close()
        self._end()

    @contextlib.contextmanager
    def _call(self, method: str, params: Json, stop: Stop) -> Iterator[http.client.HTTPResponse]:
        """The bridge asks the platform with patience of its own, so that here is none to lose."""
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        try:
            url = f"{self._url}/sdk.v1.{method}"
            with exchange(url, "POST", headers, json.dumps(params).encode(), None, stop) as answer:
                if answer.status != 200:
                    raise _error(json.loads(answer.read()).get("error"))
                yield answer
        except PlatformSdkError:
            stop.check()
            raise
        except (OSError, http.client.HTTPException, ValueError) as error:
            stop.check()
            message = f"The bridge at {self._url} gave no answer: {error or type(error).__name__}. Launch another one."
            raise NetworkError(message, code="bridge_gone", endpoint=method) from error


def open_bridge(url: str, token: str) -> Bridge:
    """One that somebody else has launched."""
    if not url.startswith(("http://127.0.0.1:", "http://localhost:", "http://[::1]:")):
        message = f"{url!r} is no bridge: one listens on this machine's loopback."
        raise ConfigurationError(message, code="invalid_option", operation="Client.connect")
    return Bridge(url.rstrip("/"), token, is_alive=lambda: True, end=lambda: None)


def _error(told: Any) -> PlatformSdkError:
    """By the name it has in every language."""
    facts = told if isinstance(told, dict) else {}
    kind = getattr(errors, str(facts.get("name")), None)
    known = kind if isinstance(kind, type) and issubclass(kind, PlatformSdkError) else PlatformSdkError
    names = {"code": "code", "status": "status", "is_retryable": "isRetryable", "endpoint": "endpoint"}
    names |= {"request_id": "requestId", "operation": "operation", "help_url": "helpUrl", "provider": "provider"}
    given = {name: facts[wire] for name, wire in names.items() if facts.get(wire) is not None}
    return errors.narrowed(known, facts.get("status"))(str(facts.get("message") or "The bridge failed without a reason."), **given)
