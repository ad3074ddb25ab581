"""The same stories, awaited."""

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
from desk import Desk, call, say
from test_ends import program_pid


def test_turns_run_stream_and_share_their_context(desk: Desk) -> None:
    desk.answers(say("First."), say("A summary."), say("Second."))

    async def story() -> list[str]:
        async with desk.async_client() as client:
            thread = await client.thread_start()
            first = await thread.run("one")
            await thread.compact()
            seen = [note.method async for note in (await thread.turn("two")).stream()]
            return [first.final_response or "", seen[-1], (await thread.read()).id, thread.id]

    first, last, read, thread_id = asyncio.run(story())
    assert (first, last, read) == ("First.", "turn/completed", thread_id)


def test_the_program_starts_with_the_first_call(desk: Desk) -> None:
    async def story() -> str:
        client = desk.async_client()
        try:
            await asyncio.gather(client.models(), client.account())
            return (await client.metadata()).agent_home
        finally:
            await client.close()

    assert asyncio.run(story()) == str(desk.home)


def test_more_turns_than_threads_of_the_executor_go_on_at_once(desk: Desk) -> None:
    count = 40
    desk.answers(*[say(f"Answer {number}.", when={"bodyIncludes": f"ask {number}."}) for number in range(count)])

    async def story() -> list[str | None]:
        async with desk.async_client() as client:
            threads = [await client.thread_start() for _ in range(count)]
            results = await asyncio.gather(*(thread.run(f"ask {index}.") for index, thread in enumerate(threads)))
            return [result.final_response for result in results]

    assert asyncio.run(story()) == [f"Answer {number}." for number in range(count)]


def test_a_turn_is_interrupted(desk: Desk) -> None:
    desk.answers(call("exec_command", cmd="sleep 1000"), say("Done."))

    async def story() -> str:
        async with desk.async_client() as client:
            turn = await (await client.thread_start()).turn("wait")
            async for note in turn.stream():
                if isinstance(note.payload, ItemStarted) and isinstance(note.payload.item, CommandExecutionItem):
                    await turn.interrupt()
                if isinstance(note.payload, TurnCompleted):
                    return note.payload.turn.status
        return "lost"

    assert asyncio.run(story()) == "interrupted"


@pytest.mark.parametrize(("decision", "exists"), [(Decision.accept, True), (Decision.decline, False)])
def test_a_coroutine_may_decide(desk: Desk, decision: Decision, exists: bool) -> None:
    target = desk.root / "target.txt"
    command = {"cmd": f"touch {target}", "sandbox_permissions": "require_escalated", "justification": "a test"}
    desk.answers(call("exec_command", **command), say("Done."))

    async def decide(_request: ApprovalRequest) -> Decision:
        await asyncio.sleep(0)
        return decision

    async def story() -> None:
        async with desk.async_client(approvals=decide) as client:
            await (await client.thread_start()).run("write")

    asyncio.run(story())
    assert target.exists() is exists


def test_a_program_that_is_not_there_is_reported(tmp_path: Path) -> None:
    async def story() -> None:
        async with AsyncClient(ClientConfig(agent_bin=tmp_path / "nowhere")):
            pass

    with pytest.raises(LaunchError):
        asyncio.run(story())


def test_a_program_that_dies_in_mid_turn_is_an_error(desk: Desk) -> None:
    desk.answers(call("exec_command", cmd="sleep 1000"), say("Done."))

    async def story() -> None:
        import os
        import signal

        async with desk.async_client() as client:
            turn = await (await client.thread_start()).turn("wait")
            async for note in turn.stream():
                if isinstance(note.payload, ItemStarted) and isinstance(note.payload.item, CommandExecutionItem):
                    os.kill(program_pid(), signal.SIGKILL)

    with pytest.raises(TransportClosedError, match="SIGKILL"):
        asyncio.run(story())
