"""Ids of the platform. An invalid one is refused before a request is sent."""

from __future__ import annotations

import re

from .errors import ConfigurationError

_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


def check_agent_id(id: str, operation: str) -> str:
    return _check(id, f"bc-{_UUID}", "bc-<uuid>", operation)


def check_run_id(id: str, operation: str) -> str:
    return _check(id, f"run-{_UUID}", "run-<uuid>", operation)


def _check(id: str, pattern: str, shape: str, operation: str) -> str:
    if re.fullmatch(pattern, id, re.IGNORECASE):
        return id.lower()
    message = f"Invalid id {id!r}: expected {shape}."
    raise ConfigurationError(message, code="invalid_id", operation=operation)


def is_cloud_agent_id(id: str) -> bool:
    """Local ids begin with `agent-`. Anything else counts as a cloud id, which the platform refuses if it is invalid."""
    return not id.lower().startswith("agent-")
