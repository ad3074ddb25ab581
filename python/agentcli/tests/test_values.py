"""Conversion of values, errors and retries, without a program."""

from __future__ import annotations

import asyncio
import random
import string
from typing import Any

import pytest

import agentcli
from agentcli import (
    ApprovalMode,
    InvalidParamsError,
    JsonRpcError,
    MethodNotFoundError,
    ProtocolError,
    RetryLimitExceededError,
    Sandbox,
    ServerBusyError,
    ThreadInfo,
    is_retryable_error,
    retry_on_overload,
    retry_on_overload_async,
)
from agentcli.errors import rpc_error
from agentcli.inputs import wire_input
from agentcli.notifications import _BY_METHOD, read_notification
from agentcli.options import thread_params, turn_params
from agentcli.wire import camel, decode


def test_a_sandbox_preset_is_a_mode_for_threads_and_a_policy_for_turns() -> None:
    assert thread_params({"sandbox": Sandbox.full_access}, None) == {"sandbox": "danger-full-access"}
    assert turn_params({"sandbox": Sandbox.read_only}) == {"sandboxPolicy": {"type": "readOnly"}}
    assert turn_params({"approval_mode": ApprovalMode.deny_all}) == {"approvalPolicy": "never"}
    assert thread_params({}, ApprovalMode.auto_review) == {
        "approvalPolicy": "on-request",
        "approvalsReviewer": "auto_review",
    }


def test_options_that_are_none_are_left_out() -> None:
    assert turn_params({"model": None, "effort": "low"}) == {"effort": "low"}


def test_an_invalid_input_is_refused() -> None:
    with pytest.raises(TypeError, match="Invalid input 3"):
        wire_input([3])  # type: ignore[list-item]


def test_a_missing_member_is_named() -> None:
    with pytest.raises(ProtocolError, match="ThreadInfo without preview"):
        decode(ThreadInfo, {"id": "x"})
    with pytest.raises(ProtocolError, match="where ThreadInfo was expected"):
        decode(ThreadInfo, [])


def test_any_json_is_read_or_is_a_protocol_error() -> None:
    source = random.Random(7)
    keys = ["id", "turn", "item", "type", "threadId", "turnId", "itemId", "delta", "status", "plan", "tokenUsage"]

    def value(depth: int) -> Any:
        kind = source.randrange(7 if depth < 4 else 5)
        if kind == 5:
            return [value(depth + 1) for _ in range(source.randrange(3))]
        if kind == 6:
            return {source.choice(keys): value(depth + 1) for _ in range(source.randrange(6))}
        return [None, True, source.random(), source.choice(string.printable), source.choice(["agentMessage", "x"])][kind]

    for _ in range(5000):
        params = {key: value(0) for key in source.sample(keys, 6)}
        try:
            read_notification(source.choice([*_BY_METHOD, "other"]), params)
        except ProtocolError:
            continue


def test_names_become_camel_case() -> None:
    assert [camel(name) for name in ("id", "thread_id", "cached_input_tokens")] == [
        "id",
        "threadId",
        "cachedInputTokens",
    ]


@pytest.mark.parametrize(
    ("code", "data", "kind"),
    [
        (-32601, None, MethodNotFoundError),
        (-32602, None, InvalidParamsError),
        (-32001, None, ServerBusyError),
        (-32050, {"reason": "server_overloaded"}, ServerBusyError),
        (-32050, None, JsonRpcError),
    ],
)
def test_error_codes_have_exception_classes(code: int, data: object, kind: type[JsonRpcError]) -> None:
    error = rpc_error(code, "no", data)
    assert type(error) is kind
    assert (error.code, error.message, error.data) == (code, "no", data)


def busy(times: int) -> Any:
    """An operation that fails as busy so many times."""
    failures = iter([True] * times)

    def operation() -> str:
        if next(failures, False):
            raise ServerBusyError(-32001, "Server overloaded; retry later.")
        return "done"

    return operation


def test_a_busy_server_is_retried() -> None:
    assert retry_on_overload(busy(2), initial_delay_s=0) == "done"
    with pytest.raises(RetryLimitExceededError) as raised:
        retry_on_overload(busy(3), initial_delay_s=0)
    assert not is_retryable_error(raised.value)
    assert is_retryable_error(ServerBusyError(-32001, ""))


def test_a_busy_server_is_retried_with_asyncio() -> None:
    operation = busy(2)

    async def attempt() -> str:
        return str(operation())

    assert asyncio.run(retry_on_overload_async(attempt, initial_delay_s=0)) == "done"


def test_every_name_in_all_exists() -> None:
    assert all(hasattr(agentcli, name) for name in agentcli.__all__)
    tree = {"ClientError", "JsonRpcError", "ClientRpcError", "TransportClosedError", "RetryLimitExceededError"}
    assert tree <= set(agentcli.__all__)
