"""Sends the prompts of an agent: the first creates it, later ones are runs. A lost response repeats nothing."""

from __future__ import annotations

import uuid
from dataclasses import replace

from .body import create_body, run_body
from .connection import Connection, Request
from .errors import ConfigurationError, PlatformAgentError
from .images import UserMessage
from .options import AgentOptions, SendOptions
from .shapes import ModelSelection
from .stop_signal import StopSignal
from .wire import Json


class PromptSender:
    def __init__(
        self, connection: Connection, options: AgentOptions, stop: StopSignal, *, agent_id: str | None, is_created: bool
    ) -> None:
        self._connection = connection
        self._options = options
        self._stop = stop
        self._agent_id = agent_id
        self.is_created = is_created
        # Only an id that was generated here may be replaced after a conflict.
        self._is_id_fixed = is_created or agent_id is None or options.agent_id is not None
        self.model = options.model
        # The model of an earlier prompt applies to later ones; the platform does not store it.
        self._prompt_model: ModelSelection | str | None = None
        self._first_request: tuple[Json, str] | None = None

    @property
    def agent_id(self) -> str:
        if self._agent_id is None:
            message = "An agent with env_vars gets its id from the platform with the first send."
            raise ConfigurationError(message, code="agent_not_created", operation="agent.agent_id")
        return self._agent_id

    def send(self, message: str | UserMessage, send: SendOptions) -> Json:
        """Returns the new run."""
        run = self._follow_up(message, send) if self.is_created else self._create(message, send)
        if send.model:
            self.model = self._prompt_model = send.model
        return run

    def _create(self, message: str | UserMessage, send: SendOptions) -> Json:
        body = create_body(self._agent_id, message, self._options, send)
        # Sent again after a lost response, the same prompt is the same request: the platform executes it once.
        repeated_key = self._first_request[1] if self._first_request and self._first_request[0] == body else None
        key = send.idempotency_key or self._options.idempotency_key or repeated_key or f"sdk-create-{uuid.uuid4()}"
        is_retry = self._first_request is not None
        self._first_request = (body, key)
        request = Request(operation="agents.create", method="POST", path="/v1/agents", body=body, idempotency_key=key)
        try:
            response = self._connection.request(request, self._stop)
        except PlatformAgentError as error:
            if error.code != "agent_id_conflict":
                raise
            if is_retry:
                # An earlier prompt created the agent, and its response was lost.
                self.is_created = True
                return self._follow_up(message, send)
            if self._is_id_fixed:
                raise
            self._agent_id, self._is_id_fixed, self._first_request = f"bc-{uuid.uuid4()}", True, None
            return self._create(message, send)
        self._agent_id = _created_id(response, self._agent_id)
        self.is_created = True
        run: Json = response["run"]
        return run

    def _follow_up(self, message: str | UserMessage, send: SendOptions) -> Json:
        body = run_body(message, self._options, replace(send, model=send.model or self._prompt_model))
        key = send.idempotency_key or f"sdk-run-{uuid.uuid4()}"
        path = f"/v1/agents/{self.agent_id}/runs"
        request = Request(operation="agent.send", method="POST", path=path, body=body, idempotency_key=key)
        run: Json = self._connection.request(request, self._stop)["run"]
        return run


def _created_id(response: Json, requested: str | None) -> str:
    agent = response.get("agent")
    id = agent.get("id") if isinstance(agent, dict) else None
    if isinstance(id, str) and requested in (None, id):
        return id
    message = f"The platform created agent {id} in place of {requested}."
    raise PlatformAgentError(message, code="agent_id_mismatch", operation="agents.create")
