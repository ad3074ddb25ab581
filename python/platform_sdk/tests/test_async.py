"""The client for asyncio."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from platform_sdk import AsyncAgent, AsyncClient, AsyncRun, InteractionUpdate, PlatformSdkError, SDKMessage, SendOptions
from scripted_platform import AGENT_ID, RUN_ID, RUN_PATH, Responder, Response, ScriptedPlatform
from scripted_platform import frame, json_response, wire_run
from test_follow import WORDS, whole

STREAM = f"GET {RUN_PATH}/stream"
CREATED = json_response({"agent": {"id": AGENT_ID}, "run": wire_run()})


def held(text: str) -> Responder:
    return lambda request, count: Response(body=text.encode(), hold=True)


async def send(platform: ScriptedPlatform, options: SendOptions | None = None) -> tuple[AsyncAgent, AsyncRun]:
    client = AsyncClient(api_key="plt_test", base_url=platform.url, clock=platform.clock)
    agent = await client.agents.create(agent_id=AGENT_ID)
    return agent, await agent.send("Go", options)


def test_a_run_is_streamed_and_awaited() -> None:
    async def scenario(platform: ScriptedPlatform) -> None:
        agent, run = await send(platform)
        assert "".join([text async for text in run.iter_text()]) == "".join(WORDS)
        assert (await run.wait()).status == "finished"
        assert await run.text() == "".join(WORDS)
        assert agent.agent_id == AGENT_ID

    with ScriptedPlatform({"POST /v1/agents": CREATED, STREAM: whole}) as platform:
        asyncio.run(scenario(platform))


def test_agents_and_runs_are_found_by_id_and_observers_may_be_coroutines() -> None:
    async def scenario(platform: ScriptedPlatform) -> None:
        updates: list[str] = []

        async def observe(update: InteractionUpdate) -> None:
            await asyncio.sleep(0)
            updates.append(update.type)

        agent, run = await send(platform, SendOptions(on_delta=observe))
        await run.wait()
        assert updates
        same = await AsyncAgent.get_run(RUN_ID, agent_id=AGENT_ID, client=agent.client)
        assert (same.run_id, await same.steer("faster")) == (RUN_ID, "revert_to_followup")
        page = await AsyncAgent.list_runs(AGENT_ID, client=agent.client)
        assert [one.id for one in page] == [RUN_ID] and not page.has_next_page()

    runs = json_response({"items": [wire_run()]})
    by_id = {f"GET {RUN_PATH}": json_response(wire_run()), f"GET /v1/agents/{AGENT_ID}/runs": runs}
    update = frame("interaction_update", {"type": "text-delta", "text": "Hi"}, "0-1")
    ending = frame("result", {"runId": RUN_ID, "status": "FINISHED"}, "0-2")
    stream: Responder = lambda request, count: Response(body=(update + ending).encode())
    with ScriptedPlatform({"POST /v1/agents": CREATED, STREAM: stream, **by_id}) as platform:
        asyncio.run(scenario(platform))


def test_many_streams_run_concurrently() -> None:
    async def scenario(platform: ScriptedPlatform) -> None:
        _, run = await send(platform)

        async def text() -> str:
            return "".join([piece async for piece in run.iter_text()])

        assert await asyncio.gather(*[text() for _ in range(40)]) == ["".join(WORDS)] * 40

    with ScriptedPlatform({"POST /v1/agents": CREATED, STREAM: whole}) as platform:
        asyncio.run(scenario(platform))


def test_leaving_a_stream_closes_its_connection() -> None:
    async def scenario(platform: ScriptedPlatform) -> None:
        _, run = await send(platform)
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
        asyncio.run(scenario(platform))


def test_cancelling_a_wait_and_closing_the_agent_end_the_call() -> None:
    async def scenario(platform: ScriptedPlatform) -> None:
        agent, run = await send(platform)
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
        asyncio.run(scenario(platform))


def test_observers_are_called_on_the_event_loop() -> None:
    async def scenario(platform: ScriptedPlatform) -> None:
        updates: list[str] = []

        def observe(update: dict[str, Any]) -> None:
            asyncio.get_running_loop()
            updates.append(update["type"])

        _, run = await send(platform, SendOptions(on_delta=observe))
        await run.wait()
        assert updates == ["step-started", *["text-delta"] * len(WORDS)]

    with ScriptedPlatform({"POST /v1/agents": CREATED, STREAM: whole}) as platform:
        asyncio.run(scenario(platform))
