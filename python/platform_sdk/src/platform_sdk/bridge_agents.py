"""Agents through the bridge: a handle for one, and operations by id."""

from __future__ import annotations

import builtins
import contextlib
import os
import uuid
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from .agent_backend import ListOptions
from .agents import Agent
from .body import selected
from .bridge import Bridge
from .bridge_body import agent_body, send_body
from .encode import encode
from .errors import ConfigurationError, NetworkError
from .follow import FollowEvent
from .images import UserMessage
from .messages import AgentMessage, message_from
from .options import AgentOptions, CustomTool, SendOptions
from .pages import Page
from .run_core import RunCore
from .runs import Run
from .shapes import AgentInfo, AgentUsage, Artifact, ModelSelection
from .stop_signal import StopSignal
from .tool_callback import describe
from .wire import Json, decode

if TYPE_CHECKING:
    from .client import Client

_STATUSES = {"running": "RUNNING", "finished": "FINISHED", "cancelled": "CANCELLED", "error": "ERROR"}


class BridgeRunBackend:
    def __init__(self, bridge: Bridge, params: Json) -> None:
        self._bridge = bridge
        self._params = params

    def follow(self, stop: StopSignal) -> Iterator[FollowEvent]:
        return self._bridge.follow(self._params, stop)

    def cancel(self, stop: StopSignal) -> None:
        self._bridge.call("SdkAgentService/CancelRun", self._params, stop)


class BridgeAgent(Agent):
    def __init__(self, backend: BridgeAgents, handle: str, options: AgentOptions, *, agent_id: str | None) -> None:
        super().__init__(backend.client)
        self._backend = backend
        self._handle = handle
        self._model = options.model
        self._agent_id = agent_id
        self._offers: list[str] = []

    @property
    def agent_id(self) -> str:
        if self._agent_id is None:
            message = "An agent with env_vars gets its id from the platform with the first send."
            raise ConfigurationError(message, code="agent_not_created", operation="agent.agent_id")
        return self._agent_id

    @property
    def model(self) -> ModelSelection | str | None:
        return self._model

    def _send(self, message: str | UserMessage, send: SendOptions) -> Run:
        self._stop.check()
        body = send_body(send)
        tools = send.local.custom_tools if send.local else None
        params = {"message": encode(message), **self._backend.with_tools(body, tools, self._offers)}
        run = self._call("Send", params)
        self._model = send.model or self._model
        self._agent_id = run["agentId"]
        return self._backend.run(run, self._stop, model=selected(self._model), observers=send)

    def list_artifacts(self) -> list[Artifact]:
        return [decode(Artifact, item) for item in self._call("ListArtifacts", {})["items"]]

    def download_artifact(self, path: str) -> bytes:
        params = {"agent": self._handle, "path": path}
        return self._backend.bridge.download("SdkAgentService/DownloadArtifact", params, self._stop)

    def reload(self) -> None:
        self._call("ReloadAgent", {})

    def close(self) -> None:
        super().close()
        # A bridge that has ended has already closed the agent.
        with contextlib.suppress(NetworkError, ConfigurationError):
            self._backend.call("CloseAgent", {"agent": self._handle})
        for name in self._offers:
            self._backend.bridge.tools.withdraw(name)

    def _call(self, method: str, params: Json) -> Json:
        return self._backend.bridge.call(f"SdkAgentService/{method}", {"agent": self._handle, **params}, self._stop)


class BridgeAgents:
    """`credentials` override those of the bridge."""

    def __init__(self, bridge: Bridge, client: Client, credentials: Json) -> None:
        self.bridge = bridge
        self.client = client
        self._credentials = credentials
        self._stop = StopSignal()

    def create(self, options: AgentOptions) -> Agent:
        id = options.agent_id or _new_id(options)
        return self._open("CreateAgent", {}, options, id)

    def resume(self, agent_id: str, options: AgentOptions) -> Agent:
        return self._open("ResumeAgent", {"agentId": agent_id}, options, agent_id)

    def list(self, options: ListOptions) -> Page[AgentInfo]:
        filters = {"limit": options.limit, "prUrl": options.pr_url, "includeArchived": options.include_archived}
        filters |= {"source": options.source, "runtime": options.runtime}
        if options.runtime == "local":
            filters["cwd"] = os.path.abspath(options.cwd or ".")

        def read(cursor: str | None) -> Page[AgentInfo]:
            response = self.call("ListAgents", {}, {**filters, "cursor": cursor})
            return Page([_info(item) for item in response["items"]], response.get("nextCursor"), read)

        return read(options.cursor)

    def get(self, agent_id: str) -> AgentInfo:
        return _info(self.call("GetAgent", {"agentId": agent_id}))

    def list_runs(self, agent_id: str, limit: int | None, cursor: str | None) -> Page[Run]:
        def read(cursor: str | None) -> Page[Run]:
            response = self.call("ListRuns", {"agentId": agent_id}, {"limit": limit, "cursor": cursor})
            runs = [self.run(item, self._stop) for item in response["items"]]
            return Page(runs, response.get("nextCursor"), read)

        return read(cursor)

    def get_run(self, run_id: str, agent_id: str) -> Run:
        return self.run(self.call("GetRun", {"agentId": agent_id, "runId": run_id}), self._stop)

    def cancel_run(self, run_id: str, agent_id: str) -> None:
        self.call("CancelRun", {"agentId": agent_id, "runId": run_id})

    def archive(self, agent_id: str) -> None:
        self.call("ArchiveAgent", {"agentId": agent_id})

    def unarchive(self, agent_id: str) -> None:
        self.call("UnarchiveAgent", {"agentId": agent_id})

    def delete(self, agent_id: str) -> None:
        self.call("DeleteAgent", {"agentId": agent_id})

    def get_usage(self, agent_id: str, run_id: str | None) -> AgentUsage:
        return decode(AgentUsage, self.call("GetUsage", {"agentId": agent_id}, {"runId": run_id}))

    def list_messages(self, agent_id: str) -> builtins.list[AgentMessage]:
        return [message_from(item) for item in self.call("ListMessages", {"agentId": agent_id})["items"]]

    def run(
        self, wire: Json, stop: StopSignal, *, model: ModelSelection | None = None, observers: SendOptions | None = None
    ) -> Run:
        """The bridge sends the status as this package shows it; a run here needs the wire status of the platform."""
        params = {"agentId": wire["agentId"], "runId": wire["id"], "options": self._credentials}
        run = {**wire, "status": _STATUSES.get(wire["status"], "ERROR"), "createdAt": _time(wire["createdAt"])}
        selection = model or (decode(ModelSelection, wire["model"]) if wire.get("model") else None)
        return Run(RunCore(run, BridgeRunBackend(self.bridge, params), stop, model=selection, observers=observers))

    def call(self, method: str, params: Json, options: Mapping[str, Any] | None = None) -> Json:
        present = {name: value for name, value in (options or {}).items() if value is not None}
        body = {**params, "options": {**present, **self._credentials}}
        return self.bridge.call(f"SdkAgentService/{method}", body, self._stop)

    def with_tools(self, body: Json, tools: Mapping[str, CustomTool] | None, offers: builtins.list[str]) -> Json:
        """Options with tools that the bridge can call in this process."""
        if tools is None:
            return {"options": body}
        name, callback = self.bridge.tools.offer(tools)
        offers.append(name)
        local = {**body.get("local", {}), "customTools": describe(tools)}
        return {"options": {**body, "local": local}, "toolCallback": callback}

    def _open(self, method: str, params: Json, options: AgentOptions, agent_id: str | None) -> Agent:
        body = {**agent_body(options, agent_id if method == "CreateAgent" else None), **self._credentials}
        offers: builtins.list[str] = []
        tools = options.local.custom_tools if options.local else None
        request = self.with_tools(body, tools, offers)
        handle = self.bridge.call(f"SdkAgentService/{method}", {**params, **request}, self._stop)["agent"]
        agent = BridgeAgent(self, handle, options, agent_id=agent_id)
        agent._offers += offers
        return agent


def _new_id(options: AgentOptions) -> str | None:
    """None if the platform must choose the id."""
    if options.local is not None:
        return f"agent-{uuid.uuid4()}"
    return None if options.cloud and options.cloud.env_vars else f"bc-{uuid.uuid4()}"


def _info(wire: Json) -> AgentInfo:
    times = {name: _time(wire[name]) for name in ("createdAt", "lastModified")}
    return decode(AgentInfo, {**wire, **times})


def _time(milliseconds: int) -> str:
    """RFC 3339 as on the platform; the bridge sends milliseconds since 1970."""
    moment = datetime.fromtimestamp(milliseconds / 1000, timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
