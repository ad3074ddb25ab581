"""The environment of a test with local agents: the built bridge, scripted models, a workspace and a home."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from platform_sdk import AgentOptions, CustomTool, LocalAgentOptions, LocalProvider
from platform_fixture import REPOSITORY

BRIDGE = REPOSITORY / "packages/platform-sdk/bin/platform-sdk.mjs"
ADD = "mcp__custom_user_tools__add"


def message(text: str) -> Any:
    return {"messages": [text]}


def call(name: str, **args: object) -> Any:
    return {"calls": [{"name": name, "arguments": args}]}


class ScriptedModel:
    def __init__(self, directory: Path, replies: list[Any]) -> None:
        node = shutil.which("node")
        assert node, "node is not on PATH. Install Node: it runs the bridge and the scripted model."
        script, self._log = directory / "script.json", directory / "requests.jsonl"
        script.write_text(json.dumps({"replies": replies, "repeat": "last"}))
        program = REPOSITORY / "packages/testkit/dist/model-server.cjs"
        command = [node, str(program), "--script", str(script), "--log", str(self._log)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.startswith("listening on "), "The scripted model did not start. Build it: node scripts/build.mjs"
        self.url = line.removeprefix("listening on ").strip()

    def last_tool_output(self) -> str:
        bodies = [json.loads(line)["body"] for line in self._log.read_text().splitlines()]
        outputs = [item["output"] for item in bodies[-1]["input"] if item.get("type") == "function_call_output"]
        return str(outputs[-1])

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.terminate()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()


class LocalHarness:
    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.workspace = directory / "workspace"
        self._directory = directory
        self._models: list[ScriptedModel] = []
        self.workspace.mkdir()
        # Shells of the agents would read the profile of the user who runs the tests.
        monkeypatch.setenv("HOME", str(directory))
        monkeypatch.setenv("PLATFORM_SDK_BRIDGE", str(BRIDGE))
        monkeypatch.setenv("PLATFORM_SDK_HOME", str(directory / "sdk"))
        monkeypatch.setenv("PLATFORM_API_KEY", "plt_test")

    def model(self, *replies: Any) -> ScriptedModel:
        directory = self._directory / f"model-{len(self._models)}"
        directory.mkdir()
        model = ScriptedModel(directory, list(replies))
        self._models.append(model)
        return model

    def options(self, model: ScriptedModel, **tools: CustomTool) -> AgentOptions:
        provider = LocalProvider(base_url=model.url)
        local = LocalAgentOptions(cwd=self.workspace, provider=provider, custom_tools=tools or None)
        return AgentOptions(model="scripted", local=local)

    def close(self) -> None:
        for model in self._models:
            model.close()


def add_tool(execute: Any) -> CustomTool:
    number = {"type": "number"}
    schema = {"type": "object", "properties": {"a": number, "b": number}, "required": ["a", "b"]}
    return CustomTool("Adds two numbers", schema, execute)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    # A zombie has ended and only waits for its parent.
    return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
