"""Fixtures of the suite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from desk import MODEL_SERVER, PROGRAM, Desk


def pytest_configure() -> None:
    for built in (MODEL_SERVER, PROGRAM.parent.parent / "dist/agentcli.cjs"):
        if not built.exists():
            raise pytest.UsageError(f"{built} is missing. Build it: node scripts/build.mjs")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    place = Desk(tmp_path)
    yield place
    place.close()
