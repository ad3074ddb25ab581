"""The environment of one test: a repository, an agent home that uses a scripted model, and the built program."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentcli import AsyncClient, Client, ClientConfig

REPOSITORY = Path(__file__).resolve().parents[3]
PROGRAM = REPOSITORY / "packages/cli/bin/agentcli.cjs"
MODEL_SERVER = REPOSITORY / "packages/testkit/dist/model-server.cjs"

Reply = dict[str, Any]


def message(text: str, **more: Any) -> Reply:
    return {"messages": [text], **more}


def call(name: str, **arguments: Any) -> Reply:
    return {"calls": [{"name": name, "arguments": arguments}]}


@dataclass
class Harness:
    root: Path
    servers: list[subprocess.Popen[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.home.mkdir()
        self.repository.mkdir()
        (self.repository / "README.md").write_text("# Sample\n")
        for arguments in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message=First"]):
            subprocess.run(["git", *_GIT, *arguments], cwd=self.repository, check=True)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def repository(self) -> Path:
        return self.root / "repository"

    def script(self, *replies: Reply) -> Harness:
        """Starts a model that sends these replies, one per request."""
        script = self.root / "script.json"
        script.write_text(json.dumps(replies))
        server = subprocess.Popen(
            [_node(), str(MODEL_SERVER), "--script", str(script), "--log", str(self._log)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.servers.append(server)
        assert server.stdout is not None
        url = server.stdout.readline().removeprefix("listening on ").strip()
        (self.home / "config.toml").write_text(_CONFIG.format(url=url))
        return self

    def config(self, **more: Any) -> ClientConfig:
        env = {"AGENT_HOME": str(self.home), "HOME": str(self.home), "SHELL": "/bin/bash", **more.pop("env", {})}
        return ClientConfig(agent_bin=PROGRAM, cwd=self.repository, env=env, **more)

    def client(self, **more: Any) -> Client:
        return Client(self.config(), **more)

    def async_client(self, **more: Any) -> AsyncClient:
        return AsyncClient(self.config(), **more)

    def requests(self) -> list[Any]:
        """The requests that the model received, oldest first."""
        return [json.loads(line)["body"] for line in self._log.read_text().splitlines()] if self._log.exists() else []

    def close(self) -> None:
        for server in self.servers:
            assert server.stdin is not None and server.stdout is not None
            server.stdin.close()
            server.wait()
            server.stdout.close()

    @property
    def _log(self) -> Path:
        return self.root / "requests.jsonl"


def processes_in(directory: Path) -> list[int]:
    """Processes whose working directory is in `directory`."""
    pids = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.readlink(f"/proc/{entry}/cwd").startswith(str(directory)):
                pids.append(int(entry))
        except OSError:
            continue  # The process has ended since the directory was listed.
    return pids


def children_of(parent: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def _node() -> str:
    node = shutil.which("node")
    assert node, "node is not on PATH. Install Node: it runs the program and the scripted model."
    return node


_GIT = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
_CONFIG = """model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
base_url = "{url}"
wire_api = "responses"
retry_base_ms = 1
"""
