"""Fixtures of the suite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import MODEL_SERVER, PROGRAM, Harness


def pytest_configure() -> None:
    for built in (MODEL_SERVER, PROGRAM.parent.parent / "dist/agentcli.cjs"):
        if not built.exists():
            raise pytest.UsageError(f"{built} not found. Build it: node scripts/build.mjs")


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    opened = Harness(tmp_path)
    yield opened
    opened.close()
