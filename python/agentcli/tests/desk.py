"""A user's desk for one test: a repository, an agent home pointed at a scripted model, and the built program."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentcli import AsyncClient, Client, ClientConfig

HOUSE = Path(__file__).resolve().parents[3]
PROGRAM = HOUSE / "packages/cli/bin/agentcli.cjs"
MODEL_SERVER = HOUSE / "packages/testkit/dist/model-server.cjs"

Reply = dict[str, Any]


def say(message: str, **more: Any) -> Reply:
    return {"messages": [message], **more}


def call(name: str, **arguments: Any) -> Reply:
    return {"calls": [{"name": name, "arguments": arguments}]}


@dataclass
class Desk:
    root: Path
    servers: list[subprocess.Popen[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.home.mkdir()
        self.repository.mkdir()
        (self.repository / "README.md").write_text("# Sample\n")
        for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message=First"]):
            subprocess.run(["git", *_GIT, *words], cwd=self.repository, check=True)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def repository(self) -> Path:
        return self.root / "repository"

    def answers(self, *replies: Reply) -> Desk:
        """What the model says, one reply per request."""
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
        """What the model was asked, oldest first."""
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


def working_in(directory: Path) -> list[int]:
    """Processes whose working directory is there."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.readlink(f"/proc/{entry}/cwd").startswith(str(directory)):
                found.append(int(entry))
        except OSError:
            continue  # It ended while we were looking.
    return found


def children_of(parent: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def _node() -> str:
    found = shutil.which("node")
    assert found, "node is not on PATH; it runs the program and the scripted model."
    return found


_GIT = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
_CONFIG = """model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
base_url = "{url}"
wire_api = "responses"
retry_base_ms = 1
"""
