"""The client for asyncio."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agentcli import (
    ApprovalRequest,
    AsyncClient,
    ClientConfig,
    CommandExecutionItem,
    Decision,
    ItemStarted,
    LaunchError,
    TransportClosedError,
    TurnCompleted,
)
from harness import Harness, call, message
from test_process import server_pid


def test_turns_run_stream_and_share_their_context(harness: Harness) -> None:
    harness.script(message("First."), message("A summary."), message("Second."))

    async def scenario() -> list[str]:
        async with harness.async_client() as client:
            thread = await client.thread_start()
            first = await thread.run("one")
            await thread.compact()
            seen = [note.method async for note in (await thread.turn("two")).stream()]
            return [first.final_response or "", seen[-1], (await thread.read()).id, thread.id]

    first, last, read, thread_id = asyncio.run(scenario())
    assert (first, last, read) == ("First.", "turn/completed", thread_id)


def test_the_program_starts_with_the_first_call(harness: Harness) -> None:
    async def scenario() -> str:
        client = harness.async_client()
        try:
            await asyncio.gather(client.models(), client.account())
            return (await client.metadata()).agent_home
        finally:
            await client.close()

    assert asyncio.run(scenario()) == str(harness.home)


def test_more_turns_run_at_once_than_the_executor_has_threads(harness: Harness) -> None:
    count = 40
    harness.script(*[message(f"Answer {number}.", when={"bodyIncludes": f"ask {number}."}) for number in range(count)])

    async def scenario() -> list[str | None]:
        async with harness.async_client() as client:
            threads = [await client.thread_start() for _ in range(count)]
            results = await asyncio.gather(*(thread.run(f"ask {index}.") for index, thread in enumerate(threads)))
            return [result.final_response for result in results]

    assert asyncio.run(scenario()) == [f"Answer {number}." for number in range(count)]


def test_a_turn_can_be_interrupted(harness: Harness) -> None:
    harness.script(call("exec_command", cmd="sleep 1000"), message("Done."))

    async def scenario() -> str:
        async with harness.async_client() as client:
            turn = await (await client.thread_start()).turn("wait")
            async for note in turn.stream():
                if isinstance(note.payload, ItemStarted) and isinstance(note.payload.item, CommandExecutionItem):
                    await turn.interrupt()
                if isinstance(note.payload, TurnCompleted):
                    return note.payload.turn.status
        return "no end of turn"

    assert asyncio.run(scenario()) == "interrupted"


@pytest.mark.parametrize(("decision", "exists"), [(Decision.accept, True), (Decision.decline, False)])
def test_an_approvals_callback_may_be_a_coroutine(harness: Harness, decision: Decision, exists: bool) -> None:
    target = harness.root / "target.txt"
    command = {"cmd": f"touch {target}", "sandbox_permissions": "require_escalated", "justification": "a test"}
    harness.script(call("exec_command", **command), message("Done."))

    async def decide(_request: ApprovalRequest) -> Decision:
        await asyncio.sleep(0)
        return decision

    async def scenario() -> None:
        async with harness.async_client(approvals=decide) as client:
            await (await client.thread_start()).run("write")

    asyncio.run(scenario())
    assert target.exists() is exists


def test_a_missing_program_is_a_launch_error(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with AsyncClient(ClientConfig(agent_bin=tmp_path / "nowhere")):
            pass

    with pytest.raises(LaunchError):
        asyncio.run(scenario())


def test_a_program_that_dies_during_a_turn_is_an_error(harness: Harness) -> None:
    harness.script(call("exec_command", cmd="sleep 1000"), message("Done."))

    async def scenario() -> None:
        import os
        import signal

        async with harness.async_client() as client:
            turn = await (await client.thread_start()).turn("wait")
            async for note in turn.stream():
                if isinstance(note.payload, ItemStarted) and isinstance(note.payload.item, CommandExecutionItem):
                    os.kill(server_pid(), signal.SIGKILL)

    with pytest.raises(TransportClosedError, match="SIGKILL"):
        asyncio.run(scenario())
