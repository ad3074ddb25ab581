"""The stage of the story as a child process: a platform, a scripted model, and a door that can be slammed."""

from __future__ import annotations

import json
import shutil
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

HOUSE = Path(__file__).resolve().parents[3]
STORY: dict[str, Any] = json.loads((HOUSE / "e2e/platform-sdk-story.json").read_text())


class Stage:
    def __init__(self) -> None:
        node = shutil.which("node")
        assert node, "node is not on PATH; it runs the platform and the scripted model."
        program = HOUSE / "e2e/platform-sdk-stage.mjs"
        self._process = subprocess.Popen(
            [node, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "The stage did not start. Build what it needs: node scripts/build.mjs"
        told = json.loads(line)
        self.url: str = told["url"]
        self.key: str = told["key"]
        self._control: str = told["controlUrl"]

    def cut(self) -> None:
        """Breaks every connection to the platform."""
        with urllib.request.urlopen(f"{self._control}/cut", data=b"") as answer:
            answer.read()

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
