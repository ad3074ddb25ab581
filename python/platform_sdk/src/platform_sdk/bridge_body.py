"""Options as the bridge takes them, with the names of the TypeScript SDK. Members that are None are left out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .encode import encode
from .options import AgentOptions, LocalAgentOptions, SendOptions, SubagentDefinition
from .shapes import ModelSelection
from .wire import Json


def agent_body(options: AgentOptions, agent_id: str | None) -> Json:
    return _present(
        agentId=agent_id,
        model=_model(options.model),
        name=options.name,
        mode=options.mode,
        cloud=encode(options.cloud),
        local=_local(options.local),
        mcpServers=encode(options.mcp_servers),
        agents=_subagents(options.agents),
        idempotencyKey=options.idempotency_key,
        tools=encode(options.tools),
        disallowedTools=encode(options.disallowed_tools),
        systemPrompt=options.system_prompt,
    )


def send_body(send: SendOptions) -> Json:
    return _present(
        model=_model(send.model),
        mcpServers=encode(send.mcp_servers),
        mode=send.mode,
        cloud=None if send.variables is None else {"envVars": dict(send.variables)},
        local=None if send.local is None else _present(force=send.local.force),
        idempotencyKey=send.idempotency_key,
    )


def _local(local: LocalAgentOptions | None) -> Json | None:
    """Resolves paths in this process: the bridge may run in another directory."""
    if local is None:
        return None
    body: Json = encode(replace(local, cwd=None, dirs=None, custom_tools=None))
    cwd = os.path.abspath(local.cwd) if local.cwd is not None else os.getcwd()
    dirs = None if local.dirs is None else [os.path.abspath(path) for path in local.dirs]
    return _present(**body, cwd=cwd, dirs=dirs)


def _model(model: ModelSelection | str | None) -> Json | None:
    return {"id": model} if isinstance(model, str) else encode(model)


def _subagents(agents: Mapping[str, SubagentDefinition] | None) -> Json | None:
    if agents is None:
        return None
    return {name: {**encode(agent), **_subagent_model(agent.model)} for name, agent in agents.items()}


def _subagent_model(model: ModelSelection | str | None) -> Json:
    return {"model": {"id": model}} if isinstance(model, str) and model != "inherit" else {}


def _present(**members: Any) -> Json:
    return {name: value for name, value in members.items() if value is not None}
