"""Values between Python and the wire, errors and retries: what needs no program."""

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


def test_presets_are_modes_for_threads_and_policies_for_turns() -> None:
    assert thread_params({"sandbox": Sandbox.full_access}, None) == {"sandbox": "danger-full-access"}
    assert turn_params({"sandbox": Sandbox.read_only}) == {"sandboxPolicy": {"type": "readOnly"}}
    assert turn_params({"approval_mode": ApprovalMode.deny_all}) == {"approvalPolicy": "never"}
    assert thread_params({}, ApprovalMode.auto_review) == {
        "approvalPolicy": "on-request",
        "approvalsReviewer": "auto_review",
    }


def test_what_is_none_is_left_out() -> None:
    assert turn_params({"model": None, "effort": "low"}) == {"effort": "low"}


def test_a_word_that_is_no_input_is_refused() -> None:
    with pytest.raises(TypeError, match="no input"):
        wire_input([3])  # type: ignore[list-item]


def test_a_member_that_is_missing_is_named() -> None:
    with pytest.raises(ProtocolError, match="ThreadInfo without preview"):
        decode(ThreadInfo, {"id": "x"})
    with pytest.raises(ProtocolError, match="where ThreadInfo was expected"):
        decode(ThreadInfo, [])


def test_nothing_that_is_json_breaks_the_reader_but_a_protocol_error() -> None:
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


def test_names_change_their_case() -> None:
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
def test_codes_have_classes(code: int, data: object, kind: type[JsonRpcError]) -> None:
    error = rpc_error(code, "no", data)
    assert type(error) is kind
    assert (error.code, error.message, error.data) == (code, "no", data)


def busy(times: int) -> Any:
    """An operation that is refused so many times."""
    left = iter([True] * times)

    def operation() -> str:
        if next(left, False):
            raise ServerBusyError(-32001, "Server overloaded; retry later.")
        return "done"

    return operation


def test_what_is_refused_as_too_much_is_tried_again() -> None:
    assert retry_on_overload(busy(2), initial_delay_s=0) == "done"
    with pytest.raises(RetryLimitExceededError) as raised:
        retry_on_overload(busy(3), initial_delay_s=0)
    assert not is_retryable_error(raised.value)
    assert is_retryable_error(ServerBusyError(-32001, ""))


def test_so_it_is_awaited() -> None:
    operation = busy(2)

    async def attempt() -> str:
        return str(operation())

    assert asyncio.run(retry_on_overload_async(attempt, initial_delay_s=0)) == "done"


def test_the_package_exports_what_it_says() -> None:
    assert all(hasattr(agentcli, name) for name in agentcli.__all__)
    tree = {"ClientError", "JsonRpcError", "ClientRpcError", "TransportClosedError", "RetryLimitExceededError"}
    assert tree <= set(agentcli.__all__)
