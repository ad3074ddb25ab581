"""Everything this package raises of its own accord, as one tree."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


class PlatformSdkError(Exception):
    """`code` is the platform's, or one of ours: `network`, `invalid_option`, `closed`."""

    def __init__(
        self,
        message: str,
        *,
        code: str = "unknown",
        status: int | None = None,
        is_retryable: bool = False,
        endpoint: str | None = None,
        request_id: str | None = None,
        operation: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status
        self.is_retryable = is_retryable
        self.endpoint = endpoint
        self.request_id = request_id
        self.operation = operation

    @property
    def status_code(self) -> int | None:
        return self.status

    def to_dict(self) -> dict[str, Any]:
        """For logs. Without the cause, which may hold what was sent."""
        return {"name": type(self).__name__, **self.__dict__}


PlatformSDKError = PlatformSdkError


class PlatformAgentError(PlatformSdkError):
    """Whatever goes wrong with an agent or a run."""


class AuthenticationError(PlatformAgentError):
    """The key is missing, wrong or expired."""


class RateLimitError(PlatformAgentError):
    """Too many requests; the same one may succeed later."""

    def __init__(self, message: str, *, retry_after_s: float | None = None, **facts: Any) -> None:
        super().__init__(message, **facts)
        self.retry_after_s = retry_after_s

    @property
    def retry_after(self) -> str | None:
        """As the platform said it."""
        return None if self.retry_after_s is None else f"{self.retry_after_s:g}"


class ConfigurationError(PlatformAgentError):
    """The request cannot succeed as it is."""


class BadRequestError(ConfigurationError):
    """400: something in the request is wrong."""


class NotFoundError(ConfigurationError):
    """404: there is no such thing, or none that this key may see."""


class AgentNotFoundError(NotFoundError):
    """There is no agent of this id, or none that this key may see."""


class IntegrationNotConnectedError(ConfigurationError):
    """An account must be connected first; `help_url` is where."""

    def __init__(self, message: str, *, help_url: str, provider: str, **facts: Any) -> None:
        super().__init__(message, **facts)
        self.help_url = help_url
        self.provider = provider


class UnsupportedRunOperationError(ConfigurationError):
    """What this run cannot do any more; `run.unsupported_reason` says why."""


class AgentBusyError(PlatformAgentError):
    """The agent has a run under way. Asking again helps only once that run is over."""


class NetworkError(PlatformAgentError):
    """No answer, half of one, or one that says the platform is in trouble."""


class APITimeoutError(NetworkError):
    """Nothing came for longer than anybody waits."""


class InternalServerError(NetworkError):
    """500 or more: the platform is in trouble."""


class UnknownAgentError(PlatformAgentError):
    """The platform refused for a reason that has no class of its own."""


class PermissionDeniedError(UnknownAgentError):
    """403: this key may not do that."""


def narrowed(kind: type[PlatformSdkError], status: int | None) -> type[PlatformSdkError]:
    """The class for this status, where the one that all languages have is divided further here."""
    if kind is NetworkError and (status or 0) >= 500:
        return InternalServerError
    narrower: dict[tuple[type[PlatformSdkError], int | None], type[PlatformSdkError]] = {
        (ConfigurationError, 400): BadRequestError,
        (ConfigurationError, 404): NotFoundError,
        (UnknownAgentError, 403): PermissionDeniedError,
    }
    return narrower.get((kind, status), kind)


def error_from(
    status: int, body: str, *, retry_after: str | None, request_id: str | None, endpoint: str, operation: str
) -> PlatformSdkError:
    """An answer that is no success, as the error that fits it."""
    problem = _read_problem(body)
    code = problem.get("code")
    said = problem.get("message") or f"The platform answered {status} to {endpoint}."
    explained = f"[{code}] {said}" if code else said
    facts: dict[str, Any] = {
        "code": code or "unknown",
        "status": status,
        "endpoint": endpoint,
        "request_id": request_id,
        "operation": operation,
    }
    help_url, provider = problem.get("helpUrl"), problem.get("provider")
    if code == "agent_busy":
        return AgentBusyError(explained, **facts)
    if code == "integration_not_connected" and help_url and provider:
        return IntegrationNotConnectedError(explained, help_url=help_url, provider=provider, **facts)
    if status == 401:
        return AuthenticationError(said, **facts)
    if status == 429:
        return RateLimitError(said, is_retryable=True, retry_after_s=_seconds(retry_after), **facts)
    if code == "agent_not_found":
        return AgentNotFoundError(explained, **facts)
    if status in (400, 404, 409):
        return narrowed(ConfigurationError, status)(explained, **facts)
    if status >= 500:
        return InternalServerError(explained, is_retryable=True, **facts)
    return narrowed(UnknownAgentError, status)(explained, **facts)


def _read_problem(text: str) -> dict[str, str]:
    """Takes `{error: {code, message}}`, a flat `{code, message}`, and the `{error: "Reason", message}` of proxies."""
    try:
        body = json.loads(text)
    except ValueError:
        return {}
    if not isinstance(body, Mapping):
        return {}
    inner = body.get("error")
    merged = {**body, **inner} if isinstance(inner, Mapping) else dict(body)
    names = ("code", "message", "helpUrl", "provider")
    return {name: merged[name] for name in names if isinstance(merged.get(name), str)}


def _seconds(retry_after: str | None) -> float | None:
    try:
        seconds = float(retry_after or "")
    except ValueError:
        return None
    return seconds if seconds >= 0 else None
