"""The platform as something to ask: requests with the caller's key, answers as values, all else as an error."""

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
from .surroundings import Clock, Stop
from .version import __version__
from .wire import Json

_DEFAULT_URL = "http://127.0.0.1:7420"
_RETRY_S = (0.5, 1.0)
_LONGEST_RETRY_S = 10.0


@dataclass(frozen=True, kw_only=True)
class Request:
    operation: str
    """The call of this package, for errors."""
    method: Literal["GET", "POST", "DELETE"]
    path: str
    query: Mapping[str, object] | None = None
    body: Json | None = None
    idempotency_key: str | None = None
    """Makes asking again safe: what was asked is done once."""
    last_event_id: str | None = None
    retry: Literal["transient", "never"] = "transient"

    @property
    def endpoint(self) -> str:
        return f"{self.method} {self.path}"


class Connection:
    def __init__(
        self, *, api_key: str | None, base_url: str | None, timeout_s: float, max_retries: int, clock: Clock
    ) -> None:
        self.origin, key = _access(api_key, base_url)
        if not key:
            which = "There is no API key." if api_key is None else "api_key is empty."
            advice = "Make one with `platform keys create` and pass it as api_key or in PLATFORM_API_KEY."
            raise AuthenticationError(f"{which} {advice}", code="unauthorized")
        self.key = key
        self._timeout_s = timeout_s
        self._retry_s = _RETRY_S[:max_retries]
        self.clock = clock

    def ask(self, request: Request, stop: Stop) -> Json:
        """The answer, which is a JSON object."""
        for delay_s in self._retry_s if request.retry == "transient" else ():
            try:
                return self._once(request, stop)
            except PlatformSdkError as error:
                pause_s = _pause_after(error, request, delay_s)
                if pause_s is None:
                    raise
                self.clock.wait(pause_s, stop)
        return self._once(request, stop)

    def stream(self, request: Request, stop: Stop) -> Iterator[bytes]:
        """The bytes of an event stream. Ends, or raises, where the connection does."""
        with _named(request, stop), self._exchange(request, "text/event-stream", stop) as answer:
            while chunk := answer.read1(65_536):
                yield chunk

    def download(self, url: str, operation: str, stop: Stop) -> bytes:
        """What lies at an address that needs no key."""
        request = Request(operation=operation, method="GET", path="of a link")
        with _named(request, stop), exchange(url, "GET", {}, None, self._timeout_s, stop) as answer:
            return _checked(answer, request).read()

    def _once(self, request: Request, stop: Stop) -> Json:
        with _named(request, stop), self._exchange(request, "application/json", stop) as answer:
            value = json.loads(answer.read())
            if not isinstance(value, dict):
                raise ValueError("the answer is no JSON object")
            return value

    @contextlib.contextmanager
    def _exchange(self, request: Request, accept: str, stop: Stop) -> Iterator[http.client.HTTPResponse]:
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
        with exchange(url, request.method, headers, body, self._timeout_s, stop) as answer:
            yield _checked(answer, request)


def known_key(base_url: str | None) -> str | None:
    """The key of calls that name none."""
    return _access(None, base_url)[1]


def _access(api_key: str | None, base_url: str | None) -> tuple[str, str | None]:
    """Where the platform is, and as whom it is asked: what is given, the environment, a login that was kept."""
    given = api_key if api_key is not None else os.environ.get("PLATFORM_API_KEY") or None
    login = read_login() if given is None else None
    address = base_url or os.environ.get("PLATFORM_BACKEND_URL") or (login.base_url if login else None)
    origin = _origin(address or _DEFAULT_URL)
    return origin, login.api_key if login and login.base_url == origin else given


@contextlib.contextmanager
def exchange(
    url: str, method: str, headers: Mapping[str, str], body: bytes | None, timeout_s: float | None, stop: Stop
) -> Iterator[http.client.HTTPResponse]:
    """One request; the connection is closed behind it, and broken off when `stop` comes."""
    place = urlsplit(url)
    opened = http.client.HTTPSConnection if place.scheme == "https" else http.client.HTTPConnection
    connection = opened(place.netloc, timeout=timeout_s)
    path = f"{place.path or '/'}{f'?{place.query}' if place.query else ''}"
    try:
        stop.check()
        connection.connect()
        # Kept aside: the connection lets go of its socket once the answer has begun.
        take_back = stop.on_set(_breaker(connection.sock))
        try:
            connection.request(method, path, body=body, headers=dict(headers))
            with connection.getresponse() as answer:
                yield answer
        finally:
            take_back()
    finally:
        connection.close()


def _breaker(opened: socket.socket) -> Callable[[], None]:
    def break_off() -> None:
        # One that is closed already needs no breaking.
        with contextlib.suppress(OSError):
            opened.shutdown(socket.SHUT_RDWR)

    return break_off


@contextlib.contextmanager
def _named(request: Request, stop: Stop) -> Iterator[None]:
    """Errors of sockets and of reading become ours, with what was being attempted."""
    try:
        yield
    except PlatformSdkError:
        stop.check()
        raise
    except (OSError, http.client.HTTPException, ValueError) as error:
        stop.check()
        advice = "Check PLATFORM_BACKEND_URL and that the platform runs."
        kind = APITimeoutError if isinstance(error, TimeoutError) else NetworkError
        raise kind(
            f"{request.endpoint} got no answer: {error or type(error).__name__}. {advice}",
            code="network",
            is_retryable=True,
            endpoint=request.endpoint,
            operation=request.operation,
        ) from error


def _checked(answer: http.client.HTTPResponse, request: Request) -> http.client.HTTPResponse:
    if 200 <= answer.status < 300:
        return answer
    raise error_from(
        answer.status,
        answer.read().decode("utf-8", "replace"),
        retry_after=answer.headers.get("Retry-After"),
        request_id=answer.headers.get("X-Request-ID"),
        endpoint=request.endpoint,
        operation=request.operation,
    )


def _pause_after(error: PlatformSdkError, request: Request, delay_s: float) -> float | None:
    """None where asking again would not help, or could do the thing twice."""
    if not isinstance(error, (NetworkError, RateLimitError)):
        return None
    if request.method == "POST" and request.idempotency_key is None:
        return None
    asked_s = error.retry_after_s if isinstance(error, RateLimitError) else None
    wished_s = delay_s if asked_s is None else asked_s
    return wished_s if wished_s <= _LONGEST_RETRY_S else None


def _query(query: Mapping[str, object] | None) -> str:
    given = {name: _text(value) for name, value in (query or {}).items() if value is not None}
    return f"?{urlencode(given)}" if given else ""


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _origin(url: str) -> str:
    if re.match(r"https?://[^/]", url):
        return url.rstrip("/")
    raise ConfigurationError(f"{url!r} is no address of a platform. Set PLATFORM_BACKEND_URL.", code="invalid_option")
