"""What was asked of an agent, in whichever way it was said: options, members by name, a key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .errors import ConfigurationError
from .given import taken
from .options import AgentFields, AgentOptions


def is_local(options: AgentOptions) -> bool:
    if options.local and options.cloud:
        raise _invalid("local and cloud exclude each other. An agent runs in one place.")
    for name in ("tools", "disallowed_tools", "system_prompt"):
        if not options.local and getattr(options, name) is not None:
            raise _invalid(f"{name} is for local agents. Leave it out, or pass local.")
    return options.local is not None


def merged(given: AgentOptions | Mapping[str, Any] | None, fields: AgentFields) -> AgentOptions:
    """A member that is given in both ways counts as it is given by name."""
    beside = taken(AgentOptions, fields)
    return replace(taken(AgentOptions, given), **{name: getattr(beside, name) for name in fields})


def apart(
    given: AgentOptions | Mapping[str, Any] | None, fields: AgentFields, api_key: str | None
) -> tuple[AgentOptions, str | None]:
    """Options, and the key that came with them or beside them."""
    options = merged(given, fields)
    return replace(options, api_key=None), options.api_key if api_key is None else api_key


def _invalid(message: str) -> ConfigurationError:
    return ConfigurationError(message, code="invalid_option", operation="Agent.create")
