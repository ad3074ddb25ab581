"""Agent options from an object, from members by name, and from a key beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .coerce import coerce
from .errors import ConfigurationError
from .options import AgentFields, AgentOptions


def is_local(options: AgentOptions) -> bool:
    if options.local and options.cloud:
        raise _invalid("Pass local or cloud, not both.")
    for name in ("tools", "disallowed_tools", "system_prompt"):
        if not options.local and getattr(options, name) is not None:
            raise _invalid(f"{name} is only for local agents. Leave it out, or pass local.")
    return options.local is not None


def merge_options(options: AgentOptions | Mapping[str, Any] | None, fields: AgentFields) -> AgentOptions:
    """A member that is passed by name overrides the one in `options`."""
    overrides = coerce(AgentOptions, fields)
    return replace(coerce(AgentOptions, options), **{name: getattr(overrides, name) for name in fields})


def split_key(
    options: AgentOptions | Mapping[str, Any] | None, fields: AgentFields, api_key: str | None
) -> tuple[AgentOptions, str | None]:
    """The merged options without a key, and the key: `api_key`, else the one in the options."""
    merged = merge_options(options, fields)
    return replace(merged, api_key=None), merged.api_key if api_key is None else api_key


def _invalid(message: str) -> ConfigurationError:
    return ConfigurationError(message, code="invalid_option", operation="Agent.create")
