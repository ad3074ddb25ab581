"""A platform with a scripted model as a child process. Its connections can be cut."""

from __future__ import annotations

import json
import shutil
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[3]
SCENARIO: dict[str, Any] = json.loads((REPOSITORY / "e2e/sdk/platform-scenario.json").read_text())


class PlatformFixture:
    def __init__(self) -> None:
        node = shutil.which("node")
        assert node, "node is not on PATH. Install Node: it runs the platform and the scripted model."
        program = REPOSITORY / "e2e/sdk/platform-fixture.mjs"
        self._process = subprocess.Popen(
            [node, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "The platform did not start. Build it: node scripts/build.mjs"
        ready = json.loads(line)
        self.url: str = ready["url"]
        self.key: str = ready["key"]
        self._control: str = ready["controlUrl"]

    def cut(self) -> None:
        """Breaks every connection to the platform."""
        with urllib.request.urlopen(f"{self._control}/cut", data=b"") as response:
            response.read()

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
