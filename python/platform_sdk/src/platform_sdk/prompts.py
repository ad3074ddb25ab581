"""Prompts on their way to an agent: the first creates it, later ones are runs. A lost answer makes nothing twice."""

from __future__ import annotations

import uuid
from dataclasses import replace

from .body import create_body, run_body
from .connection import Connection, Request
from .errors import ConfigurationError, PlatformAgentError
from .images import UserMessage
from .options import AgentOptions, SendOptions
from .shapes import ModelSelection
from .surroundings import Stop
from .wire import Json


class Prompts:
    def __init__(
        self, connection: Connection, options: AgentOptions, stop: Stop, *, agent_id: str | None, is_created: bool
    ) -> None:
        self._connection = connection
        self._options = options
        self._stop = stop
        self._agent_id = agent_id
        self.is_created = is_created
        # An id that was not chosen here stays what it is.
        self._is_given = is_created or agent_id is None or options.agent_id is not None
        self.model = options.model
        # What a prompt changed for all that follow, and the platform does not keep.
        self._chosen_model: ModelSelection | str | None = None
        self._begun: tuple[Json, str] | None = None

    @property
    def agent_id(self) -> str:
        if self._agent_id is None:
            message = "An agent with env_vars gets its id from the platform with the first send."
            raise ConfigurationError(message, code="agent_not_created", operation="agent.agent_id")
        return self._agent_id

    def deliver(self, message: str | UserMessage, send: SendOptions) -> Json:
        """The run it makes."""
        run = self._follow_up(message, send) if self.is_created else self._create(message, send)
        if send.model:
            self.model = self._chosen_model = send.model
        return run

    def _create(self, message: str | UserMessage, send: SendOptions) -> Json:
        body = create_body(self._agent_id, message, self._options, send)
        # The same prompt after a lost answer is the same request: the platform answers it as the first time.
        repeated = self._begun[1] if self._begun and self._begun[0] == body else None
        key = send.idempotency_key or self._options.idempotency_key or repeated or f"sdk-create-{uuid.uuid4()}"
        is_second = self._begun is not None
        self._begun = (body, key)
        request = Request(operation="agents.create", method="POST", path="/v1/agents", body=body, idempotency_key=key)
        try:
            answer = self._connection.ask(request, self._stop)
        except PlatformAgentError as error:
            if error.code != "agent_id_conflict":
                raise
            if is_second:
                # An earlier prompt did create it, and only its answer was lost.
                self.is_created = True
                return self._follow_up(message, send)
            if self._is_given:
                raise
            self._agent_id, self._is_given, self._begun = f"bc-{uuid.uuid4()}", True, None
            return self._create(message, send)
        self._agent_id = _created_id(answer, self._agent_id)
        self.is_created = True
        run: Json = answer["run"]
        return run

    def _follow_up(self, message: str | UserMessage, send: SendOptions) -> Json:
        body = run_body(message, self._options, replace(send, model=send.model or self._chosen_model))
        key = send.idempotency_key or f"sdk-run-{uuid.uuid4()}"
        path = f"/v1/agents/{self.agent_id}/runs"
        request = Request(operation="agent.send", method="POST", path=path, body=body, idempotency_key=key)
        run: Json = self._connection.ask(request, self._stop)["run"]
        return run


def _created_id(answer: Json, wished: str | None) -> str:
    agent = answer.get("agent")
    id = agent.get("id") if isinstance(agent, dict) else None
    if isinstance(id, str) and wished in (None, id):
        return id
    message = f"The platform answered with the mismatched agent id {id} for {wished}."
    raise PlatformAgentError(message, code="agent_id_mismatch", operation="agents.create")
