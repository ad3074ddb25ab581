"""Agents through the bridge: a handle on one, and what one does with them by id."""

from __future__ import annotations

import builtins
import contextlib
import os
import uuid
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from .agent_calls import ListWish
from .agents import Agent
from .body import selected
from .bridge import Bridge
from .bridge_body import agent_body, send_body
from .errors import ConfigurationError, NetworkError
from .follow import Followed
from .images import UserMessage
from .messages import AgentMessage, message_from
from .options import AgentOptions, CustomTool, SendOptions
from .runs import Run
from .shapes import AgentInfo, AgentUsage, Artifact, ModelSelection, Page
from .surroundings import Stop
from .tool_callback import described
from .wire import Json, decode, encode

if TYPE_CHECKING:
    from .client import Client

_STATUSES = {"running": "RUNNING", "finished": "FINISHED", "cancelled": "CANCELLED", "error": "ERROR"}


class BridgePlace:
    def __init__(self, bridge: Bridge, params: Json) -> None:
        self._bridge = bridge
        self._params = params

    def follow(self, stop: Stop) -> Iterator[Followed]:
        return self._bridge.follow(self._params, stop)

    def cancel(self, stop: Stop) -> None:
        self._bridge.ask("SdkAgentService/CancelRun", self._params, stop)


class BridgeAgent(Agent):
    def __init__(self, calls: BridgeAgents, handle: str, options: AgentOptions, *, agent_id: str | None) -> None:
        super().__init__(calls.client)
        self._calls = calls
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
        params = {"message": encode(message), **self._calls.with_tools(body, tools, self._offers)}
        run = self._ask("Send", params)
        self._model = send.model or self._model
        self._agent_id = run["agentId"]
        return self._calls.run(run, self._stop, model=selected(self._model), observers=send)

    def list_artifacts(self) -> list[Artifact]:
        return [decode(Artifact, item) for item in self._ask("ListArtifacts", {})["items"]]

    def download_artifact(self, path: str) -> bytes:
        params = {"agent": self._handle, "path": path}
        return self._calls.bridge.download("SdkAgentService/DownloadArtifact", params, self._stop)

    def reload(self) -> None:
        self._ask("ReloadAgent", {})

    def close(self) -> None:
        super().close()
        # A bridge that is gone has closed it already.
        with contextlib.suppress(NetworkError, ConfigurationError):
            self._calls.ask("CloseAgent", {"agent": self._handle})
        for name in self._offers:
            self._calls.bridge.tools.withdraw(name)

    def _ask(self, method: str, params: Json) -> Json:
        return self._calls.bridge.ask(f"SdkAgentService/{method}", {"agent": self._handle, **params}, self._stop)


class BridgeAgents:
    """`known` is how to reach the platform, where it is not the bridge's own way."""

    def __init__(self, bridge: Bridge, client: Client, known: Json) -> None:
        self.bridge = bridge
        self.client = client
        self._known = known
        self._stop = Stop()

    def create(self, options: AgentOptions) -> Agent:
        id = options.agent_id or _new_id(options)
        return self._handle("CreateAgent", {}, options, id)

    def resume(self, agent_id: str, options: AgentOptions) -> Agent:
        return self._handle("ResumeAgent", {"agentId": agent_id}, options, agent_id)

    def list(self, wish: ListWish) -> Page[AgentInfo]:
        filters = {"limit": wish.limit, "prUrl": wish.pr_url, "includeArchived": wish.include_archived}
        filters |= {"source": wish.source, "runtime": wish.runtime}
        if wish.runtime == "local":
            filters["cwd"] = os.path.abspath(wish.cwd or ".")

        def read(cursor: str | None) -> Page[AgentInfo]:
            answer = self.ask("ListAgents", {}, {**filters, "cursor": cursor})
            return Page([_info(item) for item in answer["items"]], answer.get("nextCursor"), read)

        return read(wish.cursor)

    def get(self, agent_id: str) -> AgentInfo:
        return _info(self.ask("GetAgent", {"agentId": agent_id}))

    def list_runs(self, agent_id: str, limit: int | None, cursor: str | None) -> Page[Run]:
        def read(cursor: str | None) -> Page[Run]:
            answer = self.ask("ListRuns", {"agentId": agent_id}, {"limit": limit, "cursor": cursor})
            runs = [self.run(item, self._stop) for item in answer["items"]]
            return Page(runs, answer.get("nextCursor"), read)

        return read(cursor)

    def get_run(self, run_id: str, agent_id: str) -> Run:
        return self.run(self.ask("GetRun", {"agentId": agent_id, "runId": run_id}), self._stop)

    def cancel_run(self, run_id: str, agent_id: str) -> None:
        self.ask("CancelRun", {"agentId": agent_id, "runId": run_id})

    def archive(self, agent_id: str) -> None:
        self.ask("ArchiveAgent", {"agentId": agent_id})

    def unarchive(self, agent_id: str) -> None:
        self.ask("UnarchiveAgent", {"agentId": agent_id})

    def delete(self, agent_id: str) -> None:
        self.ask("DeleteAgent", {"agentId": agent_id})

    def get_usage(self, agent_id: str, run_id: str | None) -> AgentUsage:
        return decode(AgentUsage, self.ask("GetUsage", {"agentId": agent_id}, {"runId": run_id}))

    def list_messages(self, agent_id: str) -> builtins.list[AgentMessage]:
        return [message_from(item) for item in self.ask("ListMessages", {"agentId": agent_id})["items"]]

    def run(
        self, wire: Json, stop: Stop, *, model: ModelSelection | None = None, observers: SendOptions | None = None
    ) -> Run:
        """The bridge says how a run stands in this package's words; a run here keeps the platform's."""
        params = {"agentId": wire["agentId"], "runId": wire["id"], "options": self._known}
        known = {**wire, "status": _STATUSES.get(wire["status"], "ERROR"), "createdAt": _time(wire["createdAt"])}
        given = model or (decode(ModelSelection, wire["model"]) if wire.get("model") else None)
        return Run(known, BridgePlace(self.bridge, params), stop, model=given, observers=observers)

    def ask(self, method: str, params: Json, options: Mapping[str, Any] | None = None) -> Json:
        given = {name: value for name, value in (options or {}).items() if value is not None}
        return self.bridge.ask(f"SdkAgentService/{method}", {**params, "options": {**given, **self._known}}, self._stop)

    def with_tools(self, body: Json, tools: Mapping[str, CustomTool] | None, offers: builtins.list[str]) -> Json:
        """Options with tools that the bridge can have carried out here."""
        if tools is None:
            return {"options": body}
        name, callback = self.bridge.tools.offer(tools)
        offers.append(name)
        local = {**body.get("local", {}), "customTools": described(tools)}
        return {"options": {**body, "local": local}, "toolCallback": callback}

    def _handle(self, method: str, params: Json, options: AgentOptions, agent_id: str | None) -> Agent:
        body = {**agent_body(options, agent_id if method == "CreateAgent" else None), **self._known}
        offers: builtins.list[str] = []
        tools = options.local.custom_tools if options.local else None
        given = self.with_tools(body, tools, offers)
        handle = self.bridge.ask(f"SdkAgentService/{method}", {**params, **given}, self._stop)["agent"]
        agent = BridgeAgent(self, handle, options, agent_id=agent_id)
        agent._offers += offers
        return agent


def _new_id(options: AgentOptions) -> str | None:
    """None where the platform has to choose."""
    if options.local is not None:
        return f"agent-{uuid.uuid4()}"
    return None if options.cloud and options.cloud.env_vars else f"bc-{uuid.uuid4()}"


def _info(wire: Json) -> AgentInfo:
    times = {name: _time(wire[name]) for name in ("createdAt", "lastModified")}
    return decode(AgentInfo, {**wire, **times})


def _time(milliseconds: int) -> str:
    """As the platform writes it; the bridge counts from 1970."""
    moment = datetime.fromtimestamp(milliseconds / 1000, timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
