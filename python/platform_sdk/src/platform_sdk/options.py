"""Options of agents and of single prompts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict, Union

from .conversation import ConversationStep, InteractionUpdate
from .errors import ConfigurationError
from .shapes import AgentEnvironment, AgentRepository, ModelSelection


AgentMode = Literal["agent", "plan"]
CloudRepository = AgentRepository
CloudEnvironment = AgentEnvironment


@dataclass(frozen=True)
class CloudAgentOptions:
    """With `env_vars` the platform chooses the agent's id, which is known after the first `send`. With `record_runs`
    each run leaves a recording for `agentcli replay`: the artifact `artifacts/recordings/RUN.jsonl`."""

    env: AgentEnvironment | None = None
    repos: Sequence[CloudRepository] | None = None
    work_on_current_branch: bool | None = None
    auto_create_pr: bool | None = None
    skip_reviewer_request: bool | None = None
    open_as_platform_github_app: bool | None = None
    env_vars: Mapping[str, str] | None = None
    metadata: Mapping[str, str] | None = None
    record_runs: bool | None = None


SettingSource = Literal["project", "user", "team", "mdm", "plugins", "all"]


def _missing_function() -> None:
    """The default of `execute`, which is required."""


@dataclass(frozen=True)
class CustomToolContext:
    tool_call_id: str | None = None


@dataclass(frozen=True)
class CustomTool:
    """A function of this program that the model may call with arguments that satisfy `input_schema`.

    `execute` may be a coroutine function, and may take a CustomToolContext as its second argument. A result that is
    not text is sent as JSON; a mapping with a list `content` is sent unchanged. The model sees what it raises."""

    description: str | None = None
    input_schema: Mapping[str, Any] | None = None
    execute: Callable[..., object] = field(default=_missing_function)
    output_schema: Mapping[str, Any] | None = field(default=None, kw_only=True)
    annotations: Mapping[str, Any] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.execute is _missing_function:
            raise ConfigurationError("A custom tool needs execute. Pass the function to call.", code="invalid_option", operation="CustomTool")


@dataclass(frozen=True, kw_only=True)
class LocalProvider:
    """A model provider in place of the platform. `api_key_env` names the environment variable with the key."""

    base_url: str
    wire_api: Literal["responses", "chat"] | None = None
    api_key: str | None = None
    api_key_env: str | None = None
    headers: Mapping[str, str] | None = None


@dataclass(frozen=True)
class SandboxLimits:
    """Memory and `/tmp` as sizes such as `512m` or `4g`. Without them: no memory limit, 4,096 processes, `4g`."""

    memory: str | None = None
    processes: int | None = None
    tmp: str | None = None


@dataclass(frozen=True)
class SandboxOptions:
    enabled: bool
    limits: SandboxLimits | None = None


@dataclass(frozen=True)
class LocalAgentOptions:
    """The agent works on this machine, in `cwd`, through the bridge. Without a sandbox its commands have the same
    access as this process."""

    cwd: str | os.PathLike[str] | None = None
    dirs: Sequence[str | os.PathLike[str]] | None = None
    setting_sources: Sequence[SettingSource] | None = None
    sandbox_options: SandboxOptions | None = None
    auto_review: bool | None = None
    """Refused: local agents have no reviewer."""
    custom_tools: Mapping[str, CustomTool] | None = None
    enable_agent_retries: bool | None = None
    provider: LocalProvider | None = None


@dataclass(frozen=True)
class LocalSendOptions:
    """`force` ends an active run; `custom_tools` replace those of the agent for this run."""

    force: bool | None = None
    custom_tools: Mapping[str, CustomTool] | None = None


@dataclass(frozen=True)
class McpAuth:
    client_id: str
    client_secret: str | None = None
    scopes: Sequence[str] | None = None


@dataclass(frozen=True)
class HttpMcpServerConfig:
    url: str
    headers: Mapping[str, str] | None = None
    auth: McpAuth | None = None
    type: Literal["http", "sse"] = "http"


@dataclass(frozen=True)
class StdioMcpServerConfig:
    command: str
    args: Sequence[str] | None = None
    env: Mapping[str, str] | None = None
    cwd: str | None = None
    """For local agents. On the platform a server runs in the repository."""
    type: Literal["stdio"] = "stdio"


@dataclass(frozen=True)
class SseMcpServerConfig(HttpMcpServerConfig):
    """For local agents."""

    type: Literal["http", "sse"] = "sse"


McpServerConfig = Union[HttpMcpServerConfig, StdioMcpServerConfig]


@dataclass(frozen=True)
class SubagentDefinition:
    description: str
    prompt: str
    model: ModelSelection | str | None = None
    """A selection, a model id, or `inherit`."""
    mcp_servers: Sequence[str] | None = None
    """Names of the agent's servers."""


@dataclass(frozen=True, kw_only=True)
class AgentOptions:
    model: ModelSelection | str | None = None
    """Default: that of the platform. A model that the platform does not list is refused at once."""
    api_key: str | None = None
    """Overrides the key of the client for this agent."""
    name: str | None = None
    mode: AgentMode | None = None
    cloud: CloudAgentOptions | None = None
    local: LocalAgentOptions | None = None
    """Not together with `cloud`. A local agent needs a model."""
    mcp_servers: Mapping[str, McpServerConfig] | None = None
    agents: Mapping[str, SubagentDefinition] | None = None
    agent_id: str | None = None
    """`bc-<uuid>`, so that creating it twice creates one agent; `agent-<uuid>` for a local one. Not together with
    `env_vars`."""
    idempotency_key: str | None = None
    tools: Sequence[str] | None = None
    """Local only: the allowed tools, by their names in messages."""
    disallowed_tools: Sequence[str] | None = None
    """Local only: denied tools, also if `tools` lists them."""
    system_prompt: str | None = None
    """Local only: replaces the built-in instructions."""


class AgentFields(TypedDict, total=False):
    """The members of AgentOptions, for calls that take them by name."""

    model: ModelSelection | Mapping[str, Any] | str | None
    name: str | None
    mode: AgentMode | None
    cloud: CloudAgentOptions | Mapping[str, Any] | None
    local: LocalAgentOptions | Mapping[str, Any] | None
    mcp_servers: Mapping[str, McpServerConfig | Mapping[str, Any]] | None
    agents: Mapping[str, SubagentDefinition | Mapping[str, Any]] | None
    agent_id: str | None
    idempotency_key: str | None
    tools: Sequence[str] | None
    disallowed_tools: Sequence[str] | None
    system_prompt: str | None


@dataclass(frozen=True)
class CloudSendOptions:
    env_vars: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class SendOptions:
    """`model` and `mode` also apply to later prompts; `mcp_servers` and variables to this run only."""

    model: ModelSelection | str | None = None
    mcp_servers: Mapping[str, McpServerConfig] | None = None
    mode: AgentMode | None = None
    env_vars: Mapping[str, str] | None = None
    """The same as `cloud.env_vars`."""
    cloud: CloudSendOptions | None = None
    local: LocalSendOptions | None = None
    idempotency_key: str | None = None
    on_step: Callable[[ConversationStep], object] | None = None
    """Called with each complete step, in a thread of its own. `wait` raises what it raises."""
    on_delta: Callable[[InteractionUpdate], object] | None = None
    """Called with every update of the stream, in order."""

    @property
    def variables(self) -> Mapping[str, str] | None:
        return self.cloud.env_vars if self.cloud and self.cloud.env_vars is not None else self.env_vars
