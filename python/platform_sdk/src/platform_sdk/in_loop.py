"""Functions of a program that uses asyncio, called where its loop runs."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .chosen import merged
from .given import taken
from .options import AgentFields, AgentOptions, CustomTool, SendOptions
from .threads import await_in_loop, call_in_loop


def told_in_loop(given: SendOptions | Mapping[str, Any] | None) -> SendOptions:
    send = taken(SendOptions, given)
    loop = asyncio.get_running_loop()
    return replace(
        send,
        on_delta=send.on_delta and call_in_loop(send.on_delta, loop),
        on_step=send.on_step and call_in_loop(send.on_step, loop),
        local=send.local and replace(send.local, custom_tools=_tools_in_loop(send.local.custom_tools, loop)),
    )


def called_in_loop(given: AgentOptions | Mapping[str, Any] | None, fields: AgentFields | None = None) -> AgentOptions:
    options = merged(given, fields or {})
    if not options.local:
        return options
    tools = _tools_in_loop(options.local.custom_tools, asyncio.get_running_loop())
    return replace(options, local=replace(options.local, custom_tools=tools))


def _tools_in_loop(
    tools: Mapping[str, CustomTool] | None, loop: asyncio.AbstractEventLoop
) -> Mapping[str, CustomTool] | None:
    """Others are carried out in threads, where they may wait."""
    if tools is None:
        return None
    return {
        name: replace(tool, execute=await_in_loop(tool.execute, loop))
        if inspect.iscoroutinefunction(tool.execute)
        else tool
        for name, tool in tools.items()
    }

