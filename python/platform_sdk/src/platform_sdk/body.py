"""Request bodies from options. Members that are None are left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .encode import encode
from .images import UserMessage
from .options import AgentOptions, CloudAgentOptions, McpServerConfig, SendOptions, SubagentDefinition
from .shapes import ModelSelection
from .wire import Json


def create_body(agent_id: str | None, message: str | UserMessage, options: AgentOptions, send: SendOptions) -> Json:
    """The first prompt creates the agent. Its options override those of the agent."""
    cloud = options.cloud or CloudAgentOptions()
    return _present(
        agentId=agent_id,
        prompt=_prompt(message),
        model=_model(send.model or options.model),
        name=options.name,
        mode=send.mode or options.mode,
        **encode(replace(cloud, env_vars=cloud.env_vars or None)),
        runEnvVars=_copy(send.variables),
        mcpServers=_servers(send.mcp_servers, options.mcp_servers),
        customSubagents=_subagents(options.agents),
    )


def run_body(message: str | UserMessage, options: AgentOptions, send: SendOptions) -> Json:
    """Repeats the servers of the agent: a run has only those that it is sent with."""
    return _present(
        prompt=_prompt(message),
        mcpServers=_servers(send.mcp_servers, options.mcp_servers),
        mode=send.mode,
        model=_model(send.model),
        envVars=_copy(send.variables),
    )


def selected(model: ModelSelection | str | None) -> ModelSelection | None:
    return ModelSelection(model) if isinstance(model, str) else model


def _prompt(message: str | UserMessage) -> Json:
    return {"text": message} if isinstance(message, str) else encode(message)


def _model(model: ModelSelection | str | None) -> Json | None:
    return {"id": model} if isinstance(model, str) else encode(model)


def _servers(*choices: Mapping[str, McpServerConfig] | None) -> list[Json] | None:
    servers = next((choice for choice in choices if choice is not None), None)
    return None if servers is None else [{"name": name, **encode(server)} for name, server in servers.items()]


def _subagents(agents: Mapping[str, SubagentDefinition] | None) -> list[Json] | None:
    if agents is None:
        return None
    return [{"name": name, **encode(replace(agent, mcp_servers=None))} for name, agent in agents.items()]


def _copy(variables: Mapping[str, str] | None) -> dict[str, str] | None:
    return None if variables is None else dict(variables)


def _present(**members: Any) -> Json:
    return {name: value for name, value in members.items() if value is not None}
