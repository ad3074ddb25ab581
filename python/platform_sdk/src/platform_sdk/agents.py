"""Agents of the platform: a handle on one, and what one does with them by id."""

from __future__ import annotations

import uuid
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .body import model_id
from .connection import Connection, Request
from .errors import AuthenticationError, ConfigurationError, NetworkError, PlatformAgentError, RateLimitError
from .ids import check_agent_id, check_run_id
from .options import AgentFields, AgentOptions, Message, ModelSelection, SendOptions
from .prompts import Prompts
from .runs import Run, run_path
from .shapes import AgentInfo, AgentUsage, Artifact, Model, Page, RunResult
from .surroundings import Clock, Stop
from .wire import Json, decode

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class Agent:
    """The first prompt creates it, later ones are runs of the same conversation."""

    def __init__(
        self, connection: Connection, options: AgentOptions, *, agent_id: str | None, is_created: bool = False
    ) -> None:
        self._connection = connection
        self._stop = Stop()
        self._prompts = Prompts(connection, options, self._stop, agent_id=agent_id, is_created=is_created)

    @classmethod
    def create(
        cls,
        options: AgentOptions | None = None,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        **fields: Unpack[AgentFields],
    ) -> Agent:
        """Makes sure of the model and nothing else: the first `send` creates the agent."""
        return Agents(connect(api_key, base_url)).create(options, **fields)

    @classmethod
    def resume(
        cls,
        agent_id: str,
        options: AgentOptions | None = None,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
    ) -> Agent:
        """A handle on an agent that is there. Asks nothing."""
        return Agents(connect(api_key, base_url)).resume(agent_id, options)

    @classmethod
    def prompt(
        cls,
        message: Message,
        options: AgentOptions | None = None,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        **fields: Unpack[AgentFields],
    ) -> RunResult:
        """One agent, one prompt, to its end."""
        return Agents(connect(api_key, base_url)).prompt(message, options, **fields)

    @property
    def agent_id(self) -> str:
        """Raises before the first `send` of an agent with env_vars: the platform chooses its id."""
        return self._prompts.agent_id

    @property
    def model(self) -> ModelSelection | str | None:
        return self._prompts.model

    def send(self, message: Message, options: SendOptions | None = None) -> Run:
        """Raises AgentBusyError while a run is under way."""
        self._stop.check()
        send = options or SendOptions()
        run = self._prompts.deliver(message, send)
        return Run(run, self._connection, self._stop, model=model_id(self.model), observers=send)

    def list_artifacts(self) -> list[Artifact]:
        path = f"/v1/agents/{self.agent_id}/artifacts"
        answer = self._connection.ask(Request(operation="artifacts.list", method="GET", path=path), self._stop)
        return [decode(Artifact, item) for item in answer["items"]]

    def download_artifact(self, path: str) -> bytes:
        """The link may lead to another server, so the key is not sent along."""
        operation = "artifacts.download"
        place = f"/v1/agents/{self.agent_id}/artifacts/download"
        request = Request(operation=operation, method="GET", path=place, query={"path": path})
        return self._connection.download(self._connection.ask(request, self._stop)["url"], operation, self._stop)

    def get_usage(self) -> AgentUsage:
        return self._by_id().get_usage(self.agent_id)

    def archive(self) -> None:
        self._by_id().archive(self.agent_id)

    def unarchive(self) -> None:
        self._by_id().unarchive(self.agent_id)

    def delete(self) -> None:
        self._by_id().delete(self.agent_id)

    def reload(self) -> None:
        """Makes sure that the agent is still there. A cloud agent keeps nothing here that could be out of date."""
        if self._prompts.is_created:
            self._by_id().get(self.agent_id)

    def close(self) -> None:
        """Ends whatever follows runs of this handle. The agent and its runs go on."""
        self._stop.set(
            PlatformAgentError("This agent was closed. Get a new handle with Agent.resume.", code="closed")
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _by_id(self) -> Agents:
        return Agents(self._connection, self._stop)


class Agents:
    """What one does with agents by id."""

    def __init__(self, connection: Connection, stop: Stop | None = None) -> None:
        self._connection = connection
        self._stop = stop or Stop()

    def create(self, options: AgentOptions | None = None, **fields: Unpack[AgentFields]) -> Agent:
        chosen = options or AgentOptions(**fields)
        agent_id = _id_for(chosen)
        if chosen.model:
            self._check_model(model_id(chosen.model))
        return Agent(self._connection, chosen, agent_id=agent_id)

    def resume(self, agent_id: str, options: AgentOptions | None = None) -> Agent:
        id = check_agent_id(agent_id, "Agent.resume")
        return Agent(self._connection, options or AgentOptions(), agent_id=id, is_created=True)

    def prompt(
        self, message: Message, options: AgentOptions | None = None, **fields: Unpack[AgentFields]
    ) -> RunResult:
        with self.create(options, **fields) as agent:
            return agent.send(message).wait()

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        pr_url: str | None = None,
        include_archived: bool | None = None,
        source: str | None = None,
    ) -> Page[AgentInfo]:
        """Newest first."""
        query = {"limit": limit, "prUrl": pr_url, "includeArchived": include_archived, "source": source}

        def read(cursor: str | None) -> Page[AgentInfo]:
            answer = self._get("agents.list", "/v1/agents", {**query, "cursor": cursor})
            return Page([_info(item) for item in answer["items"]], answer.get("nextCursor"), read)

        return read(cursor)

    def get(self, agent_id: str) -> AgentInfo:
        return _info(self._get("agents.get", f"/v1/agents/{check_agent_id(agent_id, 'agents.get')}"))

    def list_runs(self, agent_id: str, *, limit: int | None = None, cursor: str | None = None) -> Page[Run]:
        """Newest first."""
        path = f"/v1/agents/{check_agent_id(agent_id, 'agents.list_runs')}/runs"

        def read(cursor: str | None) -> Page[Run]:
            answer = self._get("runs.list", path, {"limit": limit, "cursor": cursor})
            return Page([self._run(item) for item in answer["items"]], answer.get("nextCursor"), read)

        return read(cursor)

    def get_run(self, run_id: str, *, agent_id: str) -> Run:
        return self._run(self._get("runs.get", _checked_path(run_id, agent_id, "agents.get_run")))

    def cancel_run(self, run_id: str, *, agent_id: str) -> None:
        self._post("runs.cancel", f"{_checked_path(run_id, agent_id, 'agents.cancel_run')}/cancel")

    def archive(self, agent_id: str) -> None:
        """Ends its run, and it takes no more prompts. A second time changes nothing."""
        self._post("agents.archive", f"/v1/agents/{check_agent_id(agent_id, 'agents.archive')}/archive")

    def unarchive(self, agent_id: str) -> None:
        self._post("agents.unarchive", f"/v1/agents/{check_agent_id(agent_id, 'agents.unarchive')}/unarchive")

    def delete(self, agent_id: str) -> None:
        """For good, with its conversation and its files."""
        path = f"/v1/agents/{check_agent_id(agent_id, 'agents.delete')}"
        request = Request(operation="agents.delete", method="DELETE", path=path, retry="never")
        self._connection.ask(request, self._stop)

    def get_usage(self, agent_id: str, *, run_id: str | None = None) -> AgentUsage:
        path = f"/v1/agents/{check_agent_id(agent_id, 'agents.get_usage')}/usage"
        run = None if run_id is None else check_run_id(run_id, "agents.get_usage")
        return decode(AgentUsage, self._get("usage.read", path, {"runId": run}))

    def _run(self, wire: Json) -> Run:
        return Run(wire, self._connection, self._stop)

    def _get(self, operation: str, path: str, query: dict[str, Any] | None = None) -> Json:
        return self._connection.ask(Request(operation=operation, method="GET", path=path, query=query), self._stop)

    def _post(self, operation: str, path: str) -> None:
        self._connection.ask(Request(operation=operation, method="POST", path=path), self._stop)

    def _check_model(self, wished: str | None) -> None:
        """What cannot be asked now is left to the platform, which checks again."""
        request = Request(operation="models.list", method="GET", path="/v1/models", retry="never")
        try:
            models = [decode(Model, item) for item in self._connection.ask(request, self._stop)["items"]]
        except (NetworkError, AuthenticationError, RateLimitError):
            return
        if not any(wished == model.id or wished in model.aliases for model in models):
            names = ", ".join(model.id for model in models)
            message = f"There is no model {wished}. There are: {names}."
            raise ConfigurationError(message, code="invalid_model", operation="Agent.create")


def connect(
    api_key: str | None, base_url: str | None, *, timeout_s: float = 60, max_retries: int = 2, clock: Clock | None = None
) -> Connection:
    return Connection(
        api_key=api_key, base_url=base_url, timeout_s=timeout_s, max_retries=max_retries, clock=clock or Clock()
    )


def _id_for(options: AgentOptions) -> str | None:
    """None where the platform has to choose: variables are sealed under a key that is made with the id."""
    if not (options.cloud and options.cloud.env_vars):
        return check_agent_id(options.agent_id, "Agent.create") if options.agent_id else f"bc-{uuid.uuid4()}"
    if options.agent_id is None:
        return None
    message = "agent_id and cloud.env_vars exclude each other. Leave out agent_id."
    raise ConfigurationError(message, code="invalid_option", operation="Agent.create")


def _checked_path(run_id: str, agent_id: str, operation: str) -> str:
    return run_path(check_agent_id(agent_id, operation), check_run_id(run_id, operation))


def _info(wire: Json) -> AgentInfo:
    return decode(AgentInfo, {**wire, "agentId": wire["id"], "status": str(wire["status"]).lower()})
