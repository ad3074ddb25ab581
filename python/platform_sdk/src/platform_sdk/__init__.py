"""Drive the platform's agents from Python: agents, runs, streams, artifacts, usage. See docs/platform-sdk.md."""

from .account import AsyncPlatform, Platform
from .agents import Agent, Agents
from .async_agents import AsyncAgent, AsyncAgents
from .async_client import AsyncClient
from .async_pages import AsyncPage
from .async_runs import AsyncRun
from .client import Client
from .conversation import AgentConversationTurn, ConversationStep, ConversationText, ConversationTurn, InteractionUpdate
from .errors import (
    AgentBusyError,
    AgentNotFoundError,
    APITimeoutError,
    AuthenticationError,
    BadRequestError,
    ConfigurationError,
    IntegrationNotConnectedError,
    InternalServerError,
    NetworkError,
    NotFoundError,
    PermissionDeniedError,
    PlatformAgentError,
    PlatformSdkError,
    PlatformSDKError,
    RateLimitError,
    UnknownAgentError,
    UnsupportedRunOperationError,
)
from .images import Message, SDKImage, SDKImageDimension, UserMessage
from .messages import (
    AgentMessage,
    AssistantMessage,
    MessageContent,
    PromptMessage,
    RequestMessage,
    SDKMessage,
    StatusMessage,
    SystemMessage,
    TaskMessage,
    TextBlock,
    ThinkingMessage,
    ToolCallMessage,
    UsageMessage,
)
from .options import (
    AgentOptions,
    CloudAgentOptions,
    CloudEnvironment,
    CloudRepository,
    CloudSendOptions,
    CustomTool,
    CustomToolContext,
    HttpMcpServerConfig,
    LocalAgentOptions,
    LocalProvider,
    LocalSendOptions,
    McpAuth,
    McpServerConfig,
    SandboxLimits,
    SandboxOptions,
    SendOptions,
    SettingSource,
    SseMcpServerConfig,
    StdioMcpServerConfig,
    SubagentDefinition,
)
from .pages import Page
from .run_core import RunEvent
from .runs import Run
from .shapes import (
    AgentEnvironment,
    AgentInfo,
    AgentUsage,
    Artifact,
    Cost,
    Me,
    Model,
    ModelParameter,
    ModelSelection,
    Repository,
    RunBranch,
    RunError,
    RunGit,
    RunOperation,
    RunResult,
    RunStatus,
    RunUsage,
    TokenUsage,
)
from .version import __version__

# Aliases that programs import.
PlatformClient = Client
AsyncPlatformClient = AsyncClient
AgentDefinition = SubagentDefinition
ModelParameterValue = ModelParameter
ListResult = Page
AsyncListResult = AsyncPage
RunStreamEvent = RunEvent
RunGitInfo = RunGit
RunGitBranchInfo = RunBranch
UsageCost = Cost
SDKAgentInfo = AgentInfo
SDKArtifact = SdkArtifact = Artifact
SDKModel = Model
SDKRepository = Repository
SDKUser = Me
SDKUserMessage = UserMessage
SDKUserMessageEvent = PromptMessage
SDKAssistantMessage = AssistantMessage
SDKSystemMessage = SystemMessage
SDKRequestMessage = RequestMessage
SDKThinkingMessage = ThinkingMessage
SDKToolUseMessage = ToolCallMessage
SDKTaskMessage = TaskMessage
SDKUsageMessage = UsageMessage
SDKStatusMessage = StatusMessage

__all__ = [
    "APITimeoutError",
    "Agent",
    "AgentBusyError",
    "AgentConversationTurn",
    "AgentDefinition",
    "AgentEnvironment",
    "AgentInfo",
    "AgentMessage",
    "AgentNotFoundError",
    "AgentOptions",
    "AgentUsage",
    "Agents",
    "Artifact",
    "AssistantMessage",
    "AsyncAgent",
    "AsyncAgents",
    "AsyncClient",
    "AsyncListResult",
    "AsyncPage",
    "AsyncPlatform",
    "AsyncPlatformClient",
    "AsyncRun",
    "AuthenticationError",
    "BadRequestError",
    "Client",
    "CloudAgentOptions",
    "CloudEnvironment",
    "CloudRepository",
    "CloudSendOptions",
    "ConfigurationError",
    "ConversationStep",
    "ConversationText",
    "ConversationTurn",
    "Cost",
    "CustomTool",
    "CustomToolContext",
    "HttpMcpServerConfig",
    "IntegrationNotConnectedError",
    "InteractionUpdate",
    "InternalServerError",
    "ListResult",
    "LocalAgentOptions",
    "LocalProvider",
    "LocalSendOptions",
    "McpAuth",
    "McpServerConfig",
    "Me",
    "Message",
    "MessageContent",
    "Model",
    "ModelParameter",
    "ModelParameterValue",
    "ModelSelection",
    "NetworkError",
    "NotFoundError",
    "Page",
    "PermissionDeniedError",
    "Platform",
    "PlatformAgentError",
    "PlatformClient",
    "PlatformSDKError",
    "PlatformSdkError",
    "PromptMessage",
    "RateLimitError",
    "Repository",
    "RequestMessage",
    "Run",
    "RunBranch",
    "RunError",
    "RunEvent",
    "RunGit",
    "RunGitBranchInfo",
    "RunGitInfo",
    "RunOperation",
    "RunResult",
    "RunStatus",
    "RunStreamEvent",
    "RunUsage",
    "SDKAgentInfo",
    "SDKArtifact",
    "SdkArtifact",
    "SDKAssistantMessage",
    "SDKImage",
    "SDKImageDimension",
    "SDKMessage",
    "SDKModel",
    "SDKRepository",
    "SDKRequestMessage",
    "SDKStatusMessage",
    "SDKSystemMessage",
    "SDKTaskMessage",
    "SDKThinkingMessage",
    "SDKToolUseMessage",
    "SDKUsageMessage",
    "SDKUser",
    "SDKUserMessage",
    "SDKUserMessageEvent",
    "SandboxLimits",
    "SandboxOptions",
    "SendOptions",
    "SettingSource",
    "SseMcpServerConfig",
    "StatusMessage",
    "StdioMcpServerConfig",
    "SubagentDefinition",
    "SystemMessage",
    "TaskMessage",
    "TextBlock",
    "ThinkingMessage",
    "TokenUsage",
    "ToolCallMessage",
    "UnknownAgentError",
    "UnsupportedRunOperationError",
    "UsageCost",
    "UsageMessage",
    "UserMessage",
    "__version__",
]
