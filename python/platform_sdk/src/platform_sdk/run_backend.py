"""Where a run is read and cancelled: on the platform. `bridge_agents.py` has the one for the bridge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from .connection import Connection, Request
from .follow import FollowEvent, RunSource, follow_run
from .stop_signal import StopSignal


class RunBackend(Protocol):
    def follow(self, stop: StopSignal) -> Iterator[FollowEvent]:
        """Yields every event from the first frame to the result, as it happens."""

    def cancel(self, stop: StopSignal) -> None: ...


class CloudRunBackend:
    def __init__(self, connection: Connection, agent_id: str, run_id: str) -> None:
        self._connection = connection
        self._path = run_path(agent_id, run_id)

    def follow(self, stop: StopSignal) -> Iterator[FollowEvent]:
        source = RunSource(
            open=lambda last_event_id, stop: self._connection.stream(
                Request(operation="run.stream", method="GET", path=f"{self._path}/stream", last_event_id=last_event_id),
                stop,
            ),
            read=lambda stop: self._connection.request(
                Request(operation="run.read", method="GET", path=self._path, retry="never"), stop
            ),
        )
        return follow_run(source, self._connection.clock, stop)

    def cancel(self, stop: StopSignal) -> None:
        self._connection.request(Request(operation="run.cancel", method="POST", path=f"{self._path}/cancel"), stop)


def run_path(agent_id: str, run_id: str) -> str:
    return f"/v1/agents/{agent_id}/runs/{run_id}"
