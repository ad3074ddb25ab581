"""Runs e2e/sdk/platform-scenario.json with this SDK: one method per call."""

from __future__ import annotations

from typing import Any

from platform_sdk import (
    Agent,
    AgentOptions,
    AssistantMessage,
    Client,
    CloudAgentOptions,
    InteractionUpdate,
    PromptMessage,
    Run,
    SDKMessage,
    SendOptions,
    StatusMessage,
    ThinkingMessage,
    ToolCallMessage,
    UsageMessage,
)
from platform_sdk import errors
from platform_sdk.encode import encode
from platform_fixture import PlatformFixture

Step = dict[str, Any]


class ScenarioRunner:
    """Returns the result of a step as JSON, the same in every language."""

    def __init__(self, platform: PlatformFixture) -> None:
        self._platform = platform
        self._agents: dict[str, Agent] = {}
        self._runs: dict[str, Run] = {}
        self._outputs: dict[str, list[str]] = {}

    def run(self, step: Step) -> Any:
        return encode(getattr(self, step["call"])(step))

    def me(self, step: Step) -> Any:
        return self._client(step).me()

    def models(self, step: Step) -> Any:
        return [model.id for model in self._client(step).models.list()]

    def repositories(self, step: Step) -> Any:
        return self._client(step).repositories.list()

    def create(self, step: Step) -> None:
        self._agents[step["agent"]] = self._client(step).agents.create(options_of(step))

    def resume(self, step: Step) -> None:
        self._agents[step["agent"]] = self._client(step).agents.resume(self._agents[step["of"]].agent_id)

    def send(self, step: Step) -> Any:
        output = self._outputs.setdefault(step["run"], [])

        def collect(update: InteractionUpdate) -> None:
            if update.type == "shell-output-delta":
                output.append(update.event["value"]["data"])

        observer = collect if step.get("observe") else None
        options = SendOptions(idempotency_key=step.get("idempotencyKey"), on_delta=observer)
        run = self._agents[step["agent"]].send(step["text"], options)
        self._runs[step["run"]] = run
        return {"status": run.status}

    def stream(self, step: Step) -> Any:
        messages: list[SDKMessage] = []
        texts = 0
        for message in self._runs[step["run"]].stream():
            messages.append(message)
            texts += isinstance(message, AssistantMessage)
            if isinstance(message, AssistantMessage) and texts == step.get("cutAfterText"):
                self._platform.cut()
            if texts and texts == step.get("leaveAfterText"):
                break
        return summary(messages)

    def output(self, step: Step) -> Any:
        return "".join(self._outputs[step["run"]])

    def wait(self, step: Step) -> Any:
        return self._runs[step["run"]].wait()

    def cancel(self, step: Step) -> None:
        self._runs[step["run"]].cancel()

    def steer(self, step: Step) -> Any:
        return self._runs[step["run"]].steer(step["text"])

    def conversation(self, step: Step) -> Any:
        return [
            {
                "user": turn.user_message,
                "steps": [f"toolCall {one.tool_call['type']}" if one.tool_call else one.type for one in turn.steps],
            }
            for turn in self._runs[step["run"]].conversation()
        ]

    def artifacts(self, step: Step) -> Any:
        return self._agents[step["agent"]].list_artifacts()

    def download(self, step: Step) -> Any:
        return self._agents[step["agent"]].download_artifact(step["path"]).decode()

    def usage(self, step: Step) -> Any:
        usage = self._agents[step["agent"]].get_usage()
        return {"runs": len(usage.runs), "oldest": usage.runs[-1].usage, "total": usage.usage}

    def prompt(self, step: Step) -> Any:
        return self._client(step).agents.prompt(step["text"], options_of(step))

    def getAgent(self, step: Step) -> Any:
        return self._client(step).agents.get(self._agents[step["agent"]].agent_id)

    def listAgents(self, step: Step) -> Any:
        return [agent.name for agent in self._client(step).agents.list(limit=2).auto_paging_iter()]

    def getRun(self, step: Step) -> Any:
        agent_id = self._agents[step["agent"]].agent_id
        return self._client(step).agents.get_run(self._runs[step["run"]].id, agent_id=agent_id).wait()

    def listRuns(self, step: Step) -> Any:
        names = {run.id: name for name, run in reversed(self._runs.items())}
        pages = self._client(step).agents.list_runs(self._agents[step["agent"]].agent_id, limit=2)
        return [names[run.id] for run in pages.auto_paging_iter()]

    def sameRun(self, step: Step) -> Any:
        return len({self._runs[name].id for name in step["runs"]}) == 1

    def archive(self, step: Step) -> None:
        self._agents[step["agent"]].archive()

    def unarchive(self, step: Step) -> None:
        self._agents[step["agent"]].unarchive()

    def delete(self, step: Step) -> None:
        self._agents[step["agent"]].delete()

    def _client(self, step: Step) -> Client:
        return Client(api_key=step.get("key", self._platform.key), base_url=self._platform.url)


def options_of(step: Step) -> AgentOptions:
    options = step.get("options", {})
    return AgentOptions(
        model=options.get("model"),
        name=options.get("name"),
        agent_id=options.get("agentId"),
        cloud=CloudAgentOptions(metadata=options.get("metadata"), env_vars=options.get("envVars")),
    )


def summary(messages: list[SDKMessage]) -> Any:
    """A stream in short."""
    usages = [message.usage for message in messages if isinstance(message, UsageMessage)]
    statuses = [message.status for message in messages if isinstance(message, StatusMessage)]
    return {
        "types": list(dict.fromkeys(message.type for message in messages)),
        "user": "".join(message.text for message in messages if isinstance(message, PromptMessage)),
        "text": "".join(message.text for message in messages if isinstance(message, AssistantMessage)),
        "thinking": "".join(message.text for message in messages if isinstance(message, ThinkingMessage)),
        "tools": [f"{message.name} {message.status}" for message in messages if isinstance(message, ToolCallMessage)],
        "usage": usages[-1] if usages else None,
        "lastStatus": statuses[-1],
    }


def describe(error: Exception) -> Any:
    """The class that all languages have: Python has subclasses of some."""
    names = {"code": "code", "status": "status", "is_retryable": "isRetryable"}
    subclasses = {errors.BadRequestError, errors.NotFoundError, errors.PermissionDeniedError, errors.InternalServerError}
    kind = next(kind for kind in type(error).__mro__ if kind not in subclasses)
    return {"error": kind.__name__, **{wire: getattr(error, name, None) for name, wire in names.items()}}
