"""Ids as the platform writes them. A wrong one is refused here, with words that say what it should be."""

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
    message = f"{id!r} is no id of this kind: it must look like {shape}."
    raise ConfigurationError(message, code="invalid_id", operation=operation)


def is_cloud_agent_id(id: str) -> bool:
    """Local ones begin with another word; whatever is no id at all is refused as one of the platform's."""
    return not id.lower().startswith("agent-")
