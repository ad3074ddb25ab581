"""Agents on this machine: the real bridge, a scripted model."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local_harness import ADD, BRIDGE, LocalHarness, add_tool, call, is_running, message
from platform_sdk import Agent, AgentNotFoundError, AssistantMessage, AsyncClient, AuthenticationError, Client
from platform_sdk import ConfigurationError, CustomToolContext, LocalAgentOptions, LocalSendOptions, PlatformSdkError
from platform_sdk import SendOptions
from platform_fixture import PlatformFixture


@pytest.fixture
def harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalHarness]:
    opened = LocalHarness(tmp_path, monkeypatch)
    yield opened
    opened.close()


def test_a_local_agent_uses_a_model_of_the_platform(harness: LocalHarness) -> None:
    platform = PlatformFixture()
    try:
        local = LocalAgentOptions(cwd=harness.workspace)
        with Agent.create(model="practice", local=local, api_key=platform.key, base_url=platform.url) as agent:
            assert agent.agent_id.startswith("agent-")
            run = agent.send("Create hello.txt containing hi")
            assert run.wait().status == "finished"
        assert (harness.workspace / "hello.txt").read_text().strip() == "hi"
        with pytest.raises(ConfigurationError) as raised:
            Agent.create(model="nothing", local=local, api_key=platform.key, base_url=platform.url)
        assert raised.value.code == "invalid_model"
    finally:
        platform.close()


def test_an_agent_with_its_own_provider_needs_no_key(harness: LocalHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLATFORM_API_KEY")
    assert Agent.prompt("Go", harness.options(harness.model(message("Done.")))).result == "Done."


@pytest.mark.parametrize("path", [".", "", "tools:"])
def test_a_bridge_of_the_working_directory_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    for directory in (tmp_path, tmp_path / "tools"):
        directory.mkdir(exist_ok=True)
        for name in ("platform-sdk", "node"):
            (directory / name).write_text("#!/bin/sh\n")
            (directory / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", path)
    monkeypatch.delenv("PLATFORM_SDK_BRIDGE", raising=False)
    with pytest.raises(ConfigurationError, match="platform-sdk not found on PATH"):
        Client.launch_bridge()
    monkeypatch.setenv("PLATFORM_SDK_BRIDGE", "platform-sdk")
    with pytest.raises(ConfigurationError, match="platform-sdk not found on PATH. Correct PLATFORM_SDK_BRIDGE"):
        Client.launch_bridge()
    monkeypatch.setenv("PLATFORM_SDK_BRIDGE", str(BRIDGE))
    with pytest.raises(ConfigurationError, match="node not found on PATH"):
        Client.launch_bridge()


def test_the_model_calls_custom_tools(harness: LocalHarness) -> None:
    async def later(args: dict[str, Any]) -> object:
        await asyncio.sleep(0)
        return {"sum": args["a"] + args["b"]}

    def fail(args: dict[str, Any]) -> object:
        raise ValueError("the abacus broke")

    model = harness.model(call(ADD, a=2, b=3), message("Five."), call(ADD, a=1, b=1), message("Two."), call(ADD, a=0, b=0), message("Oh."))
    updates: list[str] = []
    steps: list[str] = []
    options = harness.options(model, add=add_tool(lambda args: f"sum {args['a'] + args['b']}"))
    with Client.launch_bridge() as client, client.agents.create(options) as agent:
        run = agent.send(
            "Add",
            SendOptions(on_delta=lambda update: updates.append(update["type"]), on_step=lambda step: steps.append(step.type)),
        )
        messages = list(run.stream())
        assert run.text() == "Five."
        assert model.last_tool_output().endswith("\nsum 5")
        assert [message.type for message in messages].count("tool_call") == 2
        assert "tool-call-completed" in updates and "toolCall" in steps
        for execute, expected in ((later, '"sum":2'), (fail, "the abacus broke")):
            again = LocalSendOptions(custom_tools={"add": add_tool(execute)})
            assert agent.send("Again", SendOptions(local=again)).wait().status == "finished"
            assert expected in model.last_tool_output()


def test_a_conversation_is_stored_and_can_be_resumed(harness: LocalHarness) -> None:
    model = harness.model(message("One."), message("Two."))
    with Client.launch_bridge(workspace=harness.workspace) as client:
        agent = client.agents.create(harness.options(model))
        assert agent.send("First").wait().result == "One."
        agent.close()
        resumed = client.agents.resume(agent.agent_id, harness.options(model))
        assert resumed.send("Second").text() == "Two."
        assert [message.text for message in resumed.list_messages()] == ["First", "One.", "Second", "Two."]
        info = client.agents.get(agent.agent_id)
        assert (info.runtime, info.cwd, info.status) == ("local", os.path.realpath(harness.workspace), "finished")
        assert info.created_at.endswith("Z") and info.created_at <= info.last_modified
        listed = client.agents.list(runtime="local", cwd=harness.workspace)
        assert [one.agent_id for one in listed.auto_paging_iter()] == [agent.agent_id]
        runs = client.agents.list_runs(agent.agent_id).items
        assert [run.result for run in runs] == ["Two.", "One."]
        assert resumed.get_usage().total_usage.total_tokens > 0
        assert json.loads(runs[-1].conversation_json())[0]["turn"]["userMessage"] == {"text": "First"}
        resumed.delete()
        with pytest.raises(AgentNotFoundError):
            client.agents.get(agent.agent_id)


def test_another_reader_can_resume_from_the_offset_of_an_event(harness: LocalHarness) -> None:
    model = harness.model(call("exec_command", cmd="true"), message("Done."))
    with Client.launch_bridge() as client, client.agents.create(harness.options(model)) as agent:
        run = agent.send("Go")
        live = list(run.events())
        again = list(client.agents.get_run(run.id, agent_id=agent.agent_id).events())
        assert live[-1].kind == "result" and live[-1].result and live[-1].result.result == "Done."
        assert [(one.offset, one.kind) for one in again if one.offset] == [(one.offset, one.kind) for one in live if one.offset]
        text = next(one for one in live if isinstance(one.message, AssistantMessage))
        rest = list(run.observe(after_offset=text.offset))
        assert rest and all(one.offset > text.offset for one in rest)
        assert rest[-1].kind == "result"


def test_cancelling_a_run_or_closing_its_agent_ends_its_processes(harness: LocalHarness) -> None:
    sleep = "echo $$ > pid; sleep 600"
    model = harness.model(call("exec_command", cmd=sleep), call("exec_command", cmd=sleep))
    with Client.launch_bridge() as client:
        for end in ("cancel", "close"):
            agent = client.agents.create(harness.options(model))
            run = agent.send("Sleep")
            pid = wait_for_pid(harness.workspace / "pid")
            if end == "cancel":
                run.cancel()
                assert run.wait().status == "cancelled"
            agent.close()
            wait_until(lambda: not is_running(pid))
            (harness.workspace / "pid").unlink()
        with pytest.raises(PlatformSdkError) as raised:
            agent.send("More")
        assert raised.value.code == "closed"


def wait_for_pid(path: Path) -> int:
    wait_until(lambda: path.exists() and path.read_text().strip() != "")
    return int(path.read_text())


def wait_until(condition: Any) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "timed out"
        time.sleep(0.01)


def test_a_client_can_connect_to_a_running_bridge(harness: LocalHarness) -> None:
    platform = PlatformFixture()
    try:
        with Client.launch_bridge(api_key=platform.key, base_url=platform.url) as launched:
            bridge: Any = launched.agents._cloud
            url, token = bridge.bridge._url, bridge.bridge._token
            client = Client.connect(base_url=url, auth_token=token)
            assert client.me().api_key_name == "story"
            assert "practice" in [model.id for model in client.models.list()]
            cloud = client.agents.create(model="practice")
            assert cloud.send("Create a.txt containing a").wait().status == "finished"
            assert client.agents.get(cloud.agent_id).runtime == "cloud"
            with pytest.raises(ConfigurationError):
                Client.connect(base_url=url, auth_token="wrong").me()
        with pytest.raises(ConfigurationError):
            Client.connect(base_url="http://example.com", auth_token="x")
        with Client.launch_bridge(api_key="plt_wrong", base_url=platform.url) as client, pytest.raises(AuthenticationError):
            client.me()
    finally:
        platform.close()


def test_coroutine_tools_are_awaited_on_the_event_loop(harness: LocalHarness) -> None:
    model = harness.model(call(ADD, a=2, b=3), message("Five."))

    async def scenario() -> None:
        loop = asyncio.get_running_loop()

        async def execute(args: dict[str, Any], context: CustomToolContext) -> object:
            assert asyncio.get_running_loop() is loop and context.tool_call_id
            return args["a"] + args["b"]

        async with await AsyncClient.launch_bridge() as client:
            async with await client.agents.create(harness.options(model, add=add_tool(execute))) as agent:
                run = await agent.send("Add")
                events = [event async for event in run.events()]
                assert events[-1].result and events[-1].result.result == "Five."
                assert [event.kind async for event in run.observe(after_offset=events[-2].offset)] == ["result"]
                assert json.loads(await run.conversation_json())
                assert [message.text for message in await agent.list_messages()] == ["Add", "Five."]

    asyncio.run(scenario())
    assert model.last_tool_output().endswith("\n5")


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"PLATFORM_SDK_BRIDGE": "", "PATH": "/nowhere"}, "platform-sdk not found on PATH"),
        ({"PLATFORM_SDK_BRIDGE": "/nowhere/bridge.mjs"}, "Bridge not found at /nowhere"),
        ({"PATH": "/nowhere"}, "node not found on PATH"),
    ],
)
def test_a_missing_program_is_named(
    harness: LocalHarness, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], message: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=message):
        Client.launch_bridge()


def test_a_bridge_that_does_not_start_is_reported_with_its_stderr(harness: LocalHarness, tmp_path: Path) -> None:
    broken = tmp_path / "broken.mjs"
    broken.write_text("console.error('out of order'); process.exit(3)")
    with pytest.raises(ConfigurationError, match="out of order"):
        Client.launch_bridge(program=broken)


def test_the_bridge_ends_with_the_process_that_launched_it(harness: LocalHarness) -> None:
    program = (
        "from platform_sdk.bridge_process import shared_bridge\n"
        "import sys, time\n"
        "bridge = shared_bridge()\n"
        "print(bridge.is_alive.__self__._process.pid, flush=True)\n"
        "time.sleep(600) if sys.argv[1] == 'killed' else None\n"
    )
    for exit in ("return", "killed"):
        command = [sys.executable, "-c", program, exit]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert child.stdout is not None
        pid = int(child.stdout.readline())
        if exit == "killed":
            assert is_running(pid)
            child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        wait_until(lambda: not is_running(pid))


def test_only_the_bridge_may_call_tools(harness: LocalHarness) -> None:
    from http.client import HTTPConnection

    from platform_sdk.tool_callback import ToolCallback

    callback = ToolCallback()
    called = threading.Event()
    name, access = callback.offer({"add": add_tool(lambda args: called.set())})
    host = access["url"].split("/")[2]

    def post(token: str, path: str) -> int:
        connection = HTTPConnection(host)
        body = json.dumps({"name": "add", "args": {}})
        connection.request("POST", path, body, {"Authorization": f"Bearer {token}"})
        status = connection.getresponse().status
        connection.close()
        return status

    assert post("wrong", f"/{name}") == 401
    assert post(access["token"], "/other") == 404
    assert not called.is_set()
    assert post(access["token"], f"/{name}") == 200
    callback.withdraw(name)
    assert post(access["token"], f"/{name}") == 404
    callback.close()


def test_local_and_cloud_exclude_each_other() -> None:
    client = Client(api_key="plt_test")
    with pytest.raises(ConfigurationError, match="local agents"):
        client.agents.create(model="m", tools=["shell"])
    with pytest.raises(ConfigurationError, match="local agents"):
        client.agents.resume("bc-00000000-0000-4000-8000-000000000001").send("x", SendOptions(local=LocalSendOptions()))
    assert BRIDGE.exists()
