"""Callbacks of an asyncio program, called on its event loop."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from .coerce import coerce
from .merge_options import merge_options
from .options import AgentFields, AgentOptions, CustomTool, SendOptions

T = TypeVar("T")


def on_event_loop(options: SendOptions | Mapping[str, Any] | None) -> SendOptions:
    """Send options whose observers and coroutine tools run on the loop of the caller."""
    send = coerce(SendOptions, options)
    loop = asyncio.get_running_loop()
    return replace(
        send,
        on_delta=send.on_delta and _call_on(loop, send.on_delta),
        on_step=send.on_step and _call_on(loop, send.on_step),
        local=send.local and replace(send.local, custom_tools=_tools_on(loop, send.local.custom_tools)),
    )


def tools_on_event_loop(
    options: AgentOptions | Mapping[str, Any] | None, fields: AgentFields | None = None
) -> AgentOptions:
    """Agent options whose coroutine tools run on the loop of the caller."""
    merged = merge_options(options, fields or {})
    if not merged.local:
        return merged
    tools = _tools_on(asyncio.get_running_loop(), merged.local.custom_tools)
    return replace(merged, local=replace(merged.local, custom_tools=tools))


def _tools_on(
    loop: asyncio.AbstractEventLoop, tools: Mapping[str, CustomTool] | None
) -> Mapping[str, CustomTool] | None:
    """Only coroutine functions run on the loop. Others run in threads, where they may block."""
    if tools is None:
        return None
    return {
        name: replace(tool, execute=_await_on(loop, tool.execute))
        if inspect.iscoroutinefunction(tool.execute)
        else tool
        for name, tool in tools.items()
    }


def _call_on(loop: asyncio.AbstractEventLoop, function: Callable[[T], object]) -> Callable[[T], None]:
    """For use in a thread: calls the function on the loop, waits for it, and raises what it raises."""

    async def call(value: T) -> None:
        result = function(value)
        if inspect.isawaitable(result):
            await result

    return lambda value: asyncio.run_coroutine_threadsafe(call(value), loop).result()


def _await_on(
    loop: asyncio.AbstractEventLoop, function: Callable[..., Coroutine[Any, Any, object]]
) -> Callable[..., object]:
    @functools.wraps(function)
    def call(*values: object) -> object:
        return asyncio.run_coroutine_threadsafe(function(*values), loop).result()

    return call
