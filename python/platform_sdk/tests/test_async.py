"""The same with asyncio: calls that are awaited, streams that can be left."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from platform_sdk import AsyncAgent, AsyncClient, AsyncRun, InteractionUpdate, PlatformSdkError, SDKMessage, SendOptions
from scripted_platform import AGENT_ID, RUN_ID, RUN_PATH, Answer, Reply, ScriptedPlatform
from scripted_platform import frame, give, wire_run
from test_follow import WORDS, whole

STREAM = f"GET {RUN_PATH}/stream"
CREATED = give({"agent": {"id": AGENT_ID}, "run": wire_run()})


def held(text: str) -> Answer:
    return lambda asked, count: Reply(body=text.encode(), hold=True)


async def opened(platform: ScriptedPlatform, options: SendOptions | None = None) -> tuple[AsyncAgent, AsyncRun]:
    client = AsyncClient(api_key="plt_test", base_url=platform.url, clock=platform.clock)
    agent = await client.agents.create(agent_id=AGENT_ID)
    return agent, await agent.send("Go", options)


def test_a_run_is_streamed_and_waited_for() -> None:
    async def story(platform: ScriptedPlatform) -> None:
        agent, run = await opened(platform)
        assert "".join([text async for text in run.iter_text()]) == "".join(WORDS)
        assert (await run.wait()).status == "finished"
        assert await run.text() == "".join(WORDS)
        assert agent.agent_id == AGENT_ID

    with ScriptedPlatform({"POST /v1/agents": CREATED, STREAM: whole}) as platform:
        asyncio.run(story(platform))


def test_agents_and_runs_are_found_by_id_and_observers_may_be_coroutines() -> None:
    async def story(platform: ScriptedPlatform) -> None:
        told: list[str] = []

        async def tell(update: InteractionUpdate) -> None:
            await asyncio.sleep(0)
            told.append(update.type)

        agent, run = await opened(platform, SendOptions(on_delta=tell))
        await run.wait()
        assert told
        found = await AsyncAgent.get_run(RUN_ID, agent_id=AGENT_ID, client=agent.client)
        assert (found.run_id, await found.steer("faster")) == (RUN_ID, "revert_to_followup")
        page = await AsyncAgent.list_runs(AGENT_ID, client=agent.client)
        assert [one.id for one in page] == [RUN_ID] and not page.has_next_page()

    runs = give({"items": [wire_run()]})
    found = {f"GET {RUN_PATH}": give(wire_run()), f"GET /v1/agents/{AGENT_ID}/runs": runs}
    update = frame("interaction_update", {"type": "text-delta", "text": "Hi"}, "0-1")
    ending = frame("result", {"runId": RUN_ID, "status": "FINISHED"}, "0-2")
    stream: Answer = lambda asked, count: Reply(body=(update + ending).encode())
    with ScriptedPlatform({"POST /v1/agents": CREATED, STREAM: stream, **found}) as platform:
        asyncio.run(story(platform))


def test_many_streams_run_at_once() -> None:
    async def story(platform: ScriptedPlatform) -> None:
        _, run = await opened(platform)

        async def text() -> str:
            return "".join([piece async for piece in run.iter_text()])

        assert await asyncio.gather(*[text() for _ in range(40)]) == ["".join(WORDS)] * 40

    with ScriptedPlatform({"POST /v1/agents": CREATED, STREAM: whole}) as platform:
        asyncio.run(story(platform))


def test_a_stream_that_is_left_lets_go_of_its_connection() -> None:
    async def story(platform: ScriptedPlatform) -> None:
        _, run = await opened(platform)
        stream: Any = run.stream()
        kinds = []
        async for message in stream:
            kinds.append(message.type)
            if message.type == "status":
                break
        await stream.aclose()
        assert kinds == ["system", "status"]

    with ScriptedPlatform(
        {"POST /v1/agents": CREATED, STREAM: held(frame("status", {"runId": RUN_ID, "status": "RUNNING"}))}
    ) as platform:
        asyncio.run(story(platform))


def test_giving_up_the_wait_and_closing_the_agent_end_what_waits() -> None:
    async def story(platform: ScriptedPlatform) -> None:
        agent, run = await opened(platform)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(run.wait(), 0.05)
        messages: list[SDKMessage] = []

        async def read() -> None:
            async for message in run.stream():
                messages.append(message)
                if message.type == "status":
                    await agent.close()

        with pytest.raises(PlatformSdkError) as raised:
            await read()
        assert raised.value.code == "closed"

    with ScriptedPlatform(
        {"POST /v1/agents": CREATED, STREAM: held(frame("status", {"runId": RUN_ID, "status": "RUNNING"}))}
    ) as platform:
        asyncio.run(story(platform))


def test_observers_are_told_in_the_loop() -> None:
    async def story(platform: ScriptedPlatform) -> None:
        told: list[str] = []

        def note(update: dict[str, Any]) -> None:
            asyncio.get_running_loop()
            told.append(update["type"])

        _, run = await opened(platform, SendOptions(on_delta=note))
        await run.wait()
        assert told == ["step-started", *["text-delta"] * len(WORDS)]

    with ScriptedPlatform({"POST /v1/agents": CREATED, STREAM: whole}) as platform:
        asyncio.run(story(platform))
