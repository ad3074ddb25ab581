"""The exceptions of this package, as one tree."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


class PlatformSdkError(Exception):
    """`code` comes from the platform or from this package: `network`, `invalid_option`, `closed`."""

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
        """For logs. Leaves out the cause, which may contain the request."""
        return {"name": type(self).__name__, **self.__dict__}


PlatformSDKError = PlatformSdkError


class PlatformAgentError(PlatformSdkError):
    """Any failure of an agent or a run."""


class AuthenticationError(PlatformAgentError):
    """The key is missing, wrong or expired."""


class RateLimitError(PlatformAgentError):
    """Too many requests; the same one may succeed later."""

    def __init__(self, message: str, *, retry_after_s: float | None = None, **details: Any) -> None:
        super().__init__(message, **details)
        self.retry_after_s = retry_after_s

    @property
    def retry_after(self) -> str | None:
        """The Retry-After header, in seconds."""
        return None if self.retry_after_s is None else f"{self.retry_after_s:g}"


class ConfigurationError(PlatformAgentError):
    """The request is invalid: it cannot succeed unchanged."""


class BadRequestError(ConfigurationError):
    """400: the request is invalid."""


class NotFoundError(ConfigurationError):
    """404: not found, or not visible with this key."""


class AgentNotFoundError(NotFoundError):
    """No agent has this id, or it is not visible with this key."""


class IntegrationNotConnectedError(ConfigurationError):
    """An account must be connected first, at `help_url`."""

    def __init__(self, message: str, *, help_url: str, provider: str, **details: Any) -> None:
        super().__init__(message, **details)
        self.help_url = help_url
        self.provider = provider


class UnsupportedRunOperationError(ConfigurationError):
    """The run no longer supports this; `run.unsupported_reason` says why."""


class AgentBusyError(PlatformAgentError):
    """The agent has an active run. A retry succeeds only after that run is over."""


class NetworkError(PlatformAgentError):
    """No response, an incomplete one, or a server error of the platform."""


class APITimeoutError(NetworkError):
    """The platform sent nothing within the timeout."""


class InternalServerError(NetworkError):
    """500 or higher: the platform failed."""


class UnknownAgentError(PlatformAgentError):
    """The platform refused the request for a reason without a class of its own."""


class PermissionDeniedError(UnknownAgentError):
    """403: the key does not allow this."""


def narrow(kind: type[PlatformSdkError], status: int | None) -> type[PlatformSdkError]:
    """The subclass for this status: Python has more classes than the other languages."""
    if kind is NetworkError and (status or 0) >= 500:
        return InternalServerError
    subclasses: dict[tuple[type[PlatformSdkError], int | None], type[PlatformSdkError]] = {
        (ConfigurationError, 400): BadRequestError,
        (ConfigurationError, 404): NotFoundError,
        (UnknownAgentError, 403): PermissionDeniedError,
    }
    return subclasses.get((kind, status), kind)


def error_from(
    status: int, body: str, *, retry_after: str | None, request_id: str | None, endpoint: str, operation: str
) -> PlatformSdkError:
    """Builds the error for an unsuccessful response."""
    fields = _read_error(body)
    code = fields.get("code")
    message = fields.get("message") or f"The platform responded with status {status} to {endpoint}."
    message_with_code = f"[{code}] {message}" if code else message
    details: dict[str, Any] = {
        "code": code or "unknown",
        "status": status,
        "endpoint": endpoint,
        "request_id": request_id,
        "operation": operation,
    }
    help_url, provider = fields.get("helpUrl"), fields.get("provider")
    if code == "agent_busy":
        return AgentBusyError(message_with_code, **details)
    if code == "integration_not_connected" and help_url and provider:
        return IntegrationNotConnectedError(message_with_code, help_url=help_url, provider=provider, **details)
    if status == 401:
        return AuthenticationError(message, **details)
    if status == 429:
        return RateLimitError(message, is_retryable=True, retry_after_s=_seconds(retry_after), **details)
    if code == "agent_not_found":
        return AgentNotFoundError(message_with_code, **details)
    if status in (400, 404, 409):
        return narrow(ConfigurationError, status)(message_with_code, **details)
    if status >= 500:
        return InternalServerError(message_with_code, is_retryable=True, **details)
    return narrow(UnknownAgentError, status)(message_with_code, **details)


def _read_error(text: str) -> dict[str, str]:
    """Accepts `{error: {code, message}}`, a flat `{code, message}`, and the `{error: "Reason", message}` of proxies."""
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


def unexpected_value(details: str) -> PlatformAgentError:
    return PlatformAgentError(f"The platform {details}", code="protocol")
