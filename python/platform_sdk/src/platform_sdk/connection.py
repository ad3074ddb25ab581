"""HTTP requests to the platform with the caller's key: responses as JSON, failures as exceptions."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit

from .errors import APITimeoutError, AuthenticationError, ConfigurationError, NetworkError, PlatformSdkError
from .errors import RateLimitError, error_from
from .login import read_login
from .clock import Clock
from .stop_signal import StopSignal
from .version import __version__
from .wire import Json

_DEFAULT_URL = "http://127.0.0.1:7420"
_RETRY_DELAYS_S = (0.5, 1.0)
_MAX_RETRY_DELAY_S = 10.0


@dataclass(frozen=True, kw_only=True)
class Request:
    operation: str
    """The call of this package, shown in errors."""
    method: Literal["GET", "POST", "DELETE"]
    path: str
    query: Mapping[str, object] | None = None
    body: Json | None = None
    idempotency_key: str | None = None
    """Makes a retry safe: the platform executes the request once."""
    last_event_id: str | None = None
    retry: Literal["transient", "never"] = "transient"

    @property
    def endpoint(self) -> str:
        return f"{self.method} {self.path}"


class Connection:
    def __init__(
        self, *, api_key: str | None, base_url: str | None, timeout_s: float, max_retries: int, clock: Clock
    ) -> None:
        self.origin, key = _credentials(api_key, base_url)
        if not key:
            problem = "No API key found." if api_key is None else "api_key is empty."
            advice = "Create one with `platform keys create` and pass it as api_key or in PLATFORM_API_KEY."
            raise AuthenticationError(f"{problem} {advice}", code="unauthorized")
        self.key = key
        self._timeout_s = timeout_s
        self._retry_delays_s = _RETRY_DELAYS_S[:max_retries]
        self.clock = clock

    def request(self, request: Request, stop: StopSignal) -> Json:
        """Returns the response, a JSON object. Retries where that is safe."""
        for delay_s in self._retry_delays_s if request.retry == "transient" else ():
            try:
                return self._once(request, stop)
            except PlatformSdkError as error:
                pause_s = _retry_delay(error, request, delay_s)
                if pause_s is None:
                    raise
                self.clock.wait(pause_s, stop)
        return self._once(request, stop)

    def stream(self, request: Request, stop: StopSignal) -> Iterator[bytes]:
        """Yields the bytes of an event stream. Ends or raises when the connection does."""
        with _translate_errors(request, stop), self._exchange(request, "text/event-stream", stop) as response:
            while chunk := response.read1(65_536):
                yield chunk

    def download(self, url: str, operation: str, stop: StopSignal) -> bytes:
        """Downloads from a URL without sending the key."""
        request = Request(operation=operation, method="GET", path="artifact link")
        with _translate_errors(request, stop), exchange(url, "GET", {}, None, self._timeout_s, stop) as response:
            return _checked(response, request).read()

    def _once(self, request: Request, stop: StopSignal) -> Json:
        with _translate_errors(request, stop), self._exchange(request, "application/json", stop) as response:
            value = json.loads(response.read())
            if not isinstance(value, dict):
                raise ValueError("the response is not a JSON object")
            return value

    @contextlib.contextmanager
    def _exchange(self, request: Request, accept: str, stop: StopSignal) -> Iterator[http.client.HTTPResponse]:
        headers = {
            "Authorization": f"Bearer {self.key}",
            "Accept": accept,
            "User-Agent": f"platform-sdk-python/{__version__}",
            "X-Platform-Client-Type": "sdk",
            "X-Platform-Client-Version": f"sdk-python-{__version__}",
        }
        if request.body is not None:
            headers["Content-Type"] = "application/json"
        if request.idempotency_key is not None:
            headers["Idempotency-Key"] = request.idempotency_key
        if request.last_event_id is not None:
            headers["Last-Event-ID"] = request.last_event_id
        body = None if request.body is None else json.dumps(request.body).encode()
        url = f"{self.origin}{request.path}{_query(request.query)}"
        with exchange(url, request.method, headers, body, self._timeout_s, stop) as response:
            yield _checked(response, request)


def default_key(base_url: str | None) -> str | None:
    """The key of calls without `api_key`."""
    return _credentials(None, base_url)[1]


def _credentials(api_key: str | None, base_url: str | None) -> tuple[str, str | None]:
    """Origin and key of the platform: from the arguments, else the environment, else a saved login."""
    key = api_key if api_key is not None else os.environ.get("PLATFORM_API_KEY") or None
    login = read_login() if key is None else None
    address = base_url or os.environ.get("PLATFORM_BACKEND_URL") or (login.base_url if login else None)
    origin = _origin(address or _DEFAULT_URL)
    return origin, login.api_key if login and login.base_url == origin else key


@contextlib.contextmanager
def exchange(
    url: str, method: str, headers: Mapping[str, str], body: bytes | None, timeout_s: float | None, stop: StopSignal
) -> Iterator[http.client.HTTPResponse]:
    """Sends one request on a connection of its own, which `stop` breaks."""
    parts = urlsplit(url)
    open_connection = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = open_connection(parts.netloc, timeout=timeout_s)
    path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
    try:
        stop.check()
        connection.connect()
        # The connection drops its reference to the socket when the response starts.
        unsubscribe = stop.on_set(_shut_down(connection.sock))
        try:
            connection.request(method, path, body=body, headers=dict(headers))
            with connection.getresponse() as response:
                yield response
        finally:
            unsubscribe()
    finally:
        connection.close()


def _shut_down(opened: socket.socket) -> Callable[[], None]:
    def shut_down() -> None:
        # It may already be closed.
        with contextlib.suppress(OSError):
            opened.shutdown(socket.SHUT_RDWR)

    return shut_down


@contextlib.contextmanager
def _translate_errors(request: Request, stop: StopSignal) -> Iterator[None]:
    """Turns socket and parse errors into NetworkError with the endpoint."""
    try:
        yield
    except PlatformSdkError:
        stop.check()
        raise
    except (OSError, http.client.HTTPException, ValueError) as error:
        stop.check()
        advice = "Check PLATFORM_BACKEND_URL and that the platform is running."
        kind = APITimeoutError if isinstance(error, TimeoutError) else NetworkError
        raise kind(
            f"{request.endpoint} got no valid response: {error or type(error).__name__}. {advice}",
            code="network",
            is_retryable=True,
            endpoint=request.endpoint,
            operation=request.operation,
        ) from error


def _checked(response: http.client.HTTPResponse, request: Request) -> http.client.HTTPResponse:
    if 200 <= response.status < 300:
        return response
    raise error_from(
        response.status,
        response.read().decode("utf-8", "replace"),
        retry_after=response.headers.get("Retry-After"),
        request_id=response.headers.get("X-Request-ID"),
        endpoint=request.endpoint,
        operation=request.operation,
    )


def _retry_delay(error: PlatformSdkError, request: Request, delay_s: float) -> float | None:
    """None if a retry would not help, or could execute the request twice."""
    if not isinstance(error, (NetworkError, RateLimitError)):
        return None
    if request.method == "POST" and request.idempotency_key is None:
        return None
    retry_after_s = error.retry_after_s if isinstance(error, RateLimitError) else None
    pause_s = delay_s if retry_after_s is None else retry_after_s
    return pause_s if pause_s <= _MAX_RETRY_DELAY_S else None


def _query(query: Mapping[str, object] | None) -> str:
    present = {name: _text(value) for name, value in (query or {}).items() if value is not None}
    return f"?{urlencode(present)}" if present else ""


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _origin(url: str) -> str:
    if re.match(r"https?://[^/]", url):
        return url.rstrip("/")
    raise ConfigurationError(f"Invalid platform URL {url!r}: expected http:// or https://. Set PLATFORM_BACKEND_URL.", code="invalid_option")
