"""Agents on the platform: a handle for one, and operations by id."""

from __future__ import annotations

import builtins
import uuid
from typing import TYPE_CHECKING, Any

from .agent_backend import ListOptions
from .agents import Agent
from .body import selected
from .connection import Connection, Request
from .errors import AuthenticationError, ConfigurationError, NetworkError, RateLimitError
from .ids import check_agent_id, check_run_id
from .images import UserMessage
from .messages import AgentMessage
from .options import AgentOptions, SendOptions
from .pages import Page
from .prompt_sender import PromptSender
from .run_backend import CloudRunBackend, run_path
from .run_core import RunCore
from .runs import Run
from .shapes import AgentInfo, AgentUsage, Artifact, Model, ModelSelection
from .stop_signal import StopSignal
from .wire import Json, decode

if TYPE_CHECKING:
    from .client import Client


class CloudAgent(Agent):
    """The first prompt creates it, later ones are runs of the same conversation."""

    def __init__(
        self,
        connection: Connection,
        options: AgentOptions,
        *,
        client: Client,
        agent_id: str | None,
        is_created: bool = False,
    ) -> None:
        super().__init__(client)
        self._connection = connection
        self._sender = PromptSender(connection, options, self._stop, agent_id=agent_id, is_created=is_created)

    @property
    def agent_id(self) -> str:
        return self._sender.agent_id

    @property
    def model(self) -> ModelSelection | str | None:
        return self._sender.model

    def _send(self, message: str | UserMessage, send: SendOptions) -> Run:
        self._stop.check()
        if send.local:
            raise ConfigurationError("local is only for local agents. Leave it out.", code="invalid_option", operation="agent.send")
        run = self._sender.send(message, send)
        backend = CloudRunBackend(self._connection, self.agent_id, run["id"])
        return Run(RunCore(run, backend, self._stop, model=selected(self.model), observers=send))

    def list_artifacts(self) -> list[Artifact]:
        if not self._sender.is_created:
            return []
        path = f"/v1/agents/{self.agent_id}/artifacts"
        response = self._connection.request(Request(operation="artifacts.list", method="GET", path=path), self._stop)
        return [decode(Artifact, item) for item in response["items"]]

    def download_artifact(self, path: str) -> bytes:
        """The link may lead to another server, so the key is not sent."""
        operation = "artifacts.download"
        if not self._sender.is_created:
            message = "The agent does not exist yet. The first send creates it."
            raise ConfigurationError(message, code="agent_not_created", operation=operation)
        link_path = f"/v1/agents/{self.agent_id}/artifacts/download"
        request = Request(operation=operation, method="GET", path=link_path, query={"path": path})
        return self._connection.download(self._connection.request(request, self._stop)["url"], operation, self._stop)

    def reload(self) -> None:
        """Checks that the agent still exists. The handle of a cloud agent has no state to reload."""
        if self._sender.is_created:
            self.client.agents.get(self.agent_id)


class CloudAgents:
    def __init__(self, connection: Connection, client: Client) -> None:
        self._connection = connection
        self._client = client
        self._stop = StopSignal()

    def create(self, options: AgentOptions) -> Agent:
        agent_id = _id_for(options)
        if options.model:
            self._check_model(selected(options.model))
        return CloudAgent(self._connection, options, client=self._client, agent_id=agent_id)

    def resume(self, agent_id: str, options: AgentOptions) -> Agent:
        id = check_agent_id(agent_id, "Agent.resume")
        return CloudAgent(self._connection, options, client=self._client, agent_id=id, is_created=True)

    def list(self, options: ListOptions) -> Page[AgentInfo]:
        query = {
            "limit": options.limit,
            "prUrl": options.pr_url,
            "includeArchived": options.include_archived,
            "source": options.source,
        }

        def read(cursor: str | None) -> Page[AgentInfo]:
            response = self._get("agents.list", "/v1/agents", {**query, "cursor": cursor})
            return Page([_info(item) for item in response["items"]], response.get("nextCursor"), read)

        return read(options.cursor)

    def get(self, agent_id: str) -> AgentInfo:
        return _info(self._get("agents.get", f"/v1/agents/{check_agent_id(agent_id, 'agents.get')}"))

    def list_runs(self, agent_id: str, limit: int | None, cursor: str | None) -> Page[Run]:
        path = f"/v1/agents/{check_agent_id(agent_id, 'agents.list_runs')}/runs"

        def read(cursor: str | None) -> Page[Run]:
            response = self._get("runs.list", path, {"limit": limit, "cursor": cursor})
            return Page([self._run(item) for item in response["items"]], response.get("nextCursor"), read)

        return read(cursor)

    def get_run(self, run_id: str, agent_id: str) -> Run:
        return self._run(self._get("runs.get", _checked_path(run_id, agent_id, "agents.get_run")))

    def cancel_run(self, run_id: str, agent_id: str) -> None:
        self._post("runs.cancel", f"{_checked_path(run_id, agent_id, 'agents.cancel_run')}/cancel")

    def archive(self, agent_id: str) -> None:
        self._post("agents.archive", f"/v1/agents/{check_agent_id(agent_id, 'agents.archive')}/archive")

    def unarchive(self, agent_id: str) -> None:
        self._post("agents.unarchive", f"/v1/agents/{check_agent_id(agent_id, 'agents.unarchive')}/unarchive")

    def delete(self, agent_id: str) -> None:
        path = f"/v1/agents/{check_agent_id(agent_id, 'agents.delete')}"
        request = Request(operation="agents.delete", method="DELETE", path=path, retry="never")
        self._connection.request(request, self._stop)

    def list_messages(self, agent_id: str) -> builtins.list[AgentMessage]:
        message = "Only local agents list their messages. Use run.conversation()."
        raise ConfigurationError(message, code="unsupported", operation="agents.list_messages")

    def get_usage(self, agent_id: str, run_id: str | None) -> AgentUsage:
        path = f"/v1/agents/{check_agent_id(agent_id, 'agents.get_usage')}/usage"
        run = None if run_id is None else check_run_id(run_id, "agents.get_usage")
        return decode(AgentUsage, self._get("usage.read", path, {"runId": run}))

    def _run(self, wire: Json) -> Run:
        return Run(RunCore(wire, CloudRunBackend(self._connection, wire["agentId"], wire["id"]), self._stop))

    def _get(self, operation: str, path: str, query: dict[str, Any] | None = None) -> Json:
        return self._connection.request(Request(operation=operation, method="GET", path=path, query=query), self._stop)

    def _post(self, operation: str, path: str) -> None:
        self._connection.request(Request(operation=operation, method="POST", path=path), self._stop)

    def _check_model(self, selection: ModelSelection | None) -> None:
        """Skips the check if the list is not available: the platform checks again."""
        request = Request(operation="models.list", method="GET", path="/v1/models", retry="never")
        try:
            models = [decode(Model, item) for item in self._connection.request(request, self._stop)["items"]]
        except (NetworkError, AuthenticationError, RateLimitError):
            return
        model_id = selection.id if selection else None
        if not any(model_id == model.id or model_id in model.aliases for model in models):
            names = ", ".join(model.id for model in models)
            message = f"Unknown model {model_id}. Available: {names}."
            raise ConfigurationError(message, code="invalid_model", operation="Agent.create")


def _id_for(options: AgentOptions) -> str | None:
    """None if the platform must choose the id: it seals variables under a key that it creates with the id."""
    if not (options.cloud and options.cloud.env_vars):
        return check_agent_id(options.agent_id, "Agent.create") if options.agent_id else f"bc-{uuid.uuid4()}"
    if options.agent_id is None:
        return None
    message = "agent_id cannot be used with cloud.env_vars. Leave out agent_id."
    raise ConfigurationError(message, code="invalid_option", operation="Agent.create")


def _checked_path(run_id: str, agent_id: str, operation: str) -> str:
    return run_path(check_agent_id(agent_id, operation), check_run_id(run_id, operation))


def _info(wire: Json) -> AgentInfo:
    name = wire.get("name") or ""
    renamed = {
        "agentId": wire["id"],
        "name": name,
        "summary": name,
        "status": {"ACTIVE": "running", "IDLE": "finished"}.get(wire["status"]),
        "archived": wire["status"] == "ARCHIVED",
        "lastModified": wire["updatedAt"],
        "repos": [repository["url"] for repository in wire.get("repos") or []],
    }
    return decode(AgentInfo, {**wire, **renamed})
