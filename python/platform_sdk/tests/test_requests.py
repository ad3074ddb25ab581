"""Requests to the platform, and the errors of failed ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import platform_sdk
from platform_sdk import Agent, AgentOptions, Client, CloudAgentOptions, CloudRepository, CustomTool
from platform_sdk import HttpMcpServerConfig, LocalAgentOptions, McpAuth, ModelSelection, Platform, SDKImage
from platform_sdk import SendOptions, StdioMcpServerConfig, SubagentDefinition, UserMessage
from platform_sdk import errors
from scripted_platform import AGENT_ID, RUN_ID, RUN_PATH, Responder, Request, Response, ScriptedPlatform
from scripted_platform import frame, json_response, disconnect, error_response, wire_run

MODELS = json_response({"items": [{"id": "large", "displayName": "Large", "aliases": ["big"]}]})
CREATED = json_response({"agent": {"id": AGENT_ID}, "run": wire_run()})
RUNS = f"POST /v1/agents/{AGENT_ID}/runs"


def test_the_first_prompt_creates_the_agent_and_later_ones_are_runs() -> None:
    options = AgentOptions(
        agent_id=AGENT_ID,
        model="big",
        name="Fixer",
        mode="plan",
        mcp_servers={
            "docs": HttpMcpServerConfig(url="https://docs.example", headers={"a": "b"}),
            "files": StdioMcpServerConfig(command="serve", args=["x"]),
        },
        agents={"reader": SubagentDefinition(description="Reads", prompt="Read.", model="inherit")},
        cloud=CloudAgentOptions(
            repos=[CloudRepository(url="https://host/o/r", starting_ref="main")],
            auto_create_pr=True,
            metadata={"team_name": "a"},
            record_runs=True,
        ),
    )
    with ScriptedPlatform(
        {"GET /v1/models": MODELS, "POST /v1/agents": CREATED, RUNS: json_response({"run": wire_run()})}
    ) as platform:
        agent = platform.client().agents.create(options)
        agent.send(UserMessage(text="Fix it", images=[SDKImage.url_image("https://host/i.png")]))
        agent.send("And now?", SendOptions(model=ModelSelection(id="large"), env_vars={"A": "1"}))
        agent.send("And then?")
    first, second, third = platform.requests[1:]
    servers = [
        {"name": "docs", "type": "http", "url": "https://docs.example", "headers": {"a": "b"}},
        {"name": "files", "type": "stdio", "command": "serve", "args": ["x"]},
    ]
    assert first.body == {
        "agentId": AGENT_ID,
        "prompt": {"text": "Fix it", "images": [{"url": "https://host/i.png"}]},
        "model": {"id": "big"},
        "name": "Fixer",
        "mode": "plan",
        "mcpServers": servers,
        "customSubagents": [{"name": "reader", "description": "Reads", "prompt": "Read.", "model": "inherit"}],
        "repos": [{"url": "https://host/o/r", "startingRef": "main"}],
        "autoCreatePR": True,
        "metadata": {"team_name": "a"},
        "recordRuns": True,
    }
    rest = {"mcpServers": servers, "model": {"id": "large"}}
    assert second.body == {"prompt": {"text": "And now?"}, "envVars": {"A": "1"}, **rest}
    assert third.body == {"prompt": {"text": "And then?"}, **rest}
    assert first.headers["authorization"] == "Bearer plt_test"
    assert first.headers["x-platform-client-type"] == "sdk"
    assert len({request.headers["idempotency-key"] for request in platform.requests[1:]}) == 3


def test_the_platform_chooses_the_id_of_an_agent_with_variables() -> None:
    with ScriptedPlatform({"POST /v1/agents": CREATED}) as platform:
        cloud = CloudAgentOptions(env_vars={"TOKEN_NAME": "t"})
        agent = platform.client().agents.create(cloud=cloud)
        with pytest.raises(errors.ConfigurationError):
            agent.agent_id
        agent.send("Go")
        assert platform.requests[0].body == {"prompt": {"text": "Go"}, "envVars": {"TOKEN_NAME": "t"}}
        assert agent.agent_id == AGENT_ID
        with pytest.raises(errors.ConfigurationError, match="cannot be used with"):
            platform.client().agents.create(agent_id=AGENT_ID, cloud=cloud)


def test_the_same_prompt_after_a_lost_response_is_the_same_request() -> None:
    def flaky(request: Request, count: int) -> Response:
        return disconnect(request, count) if count < 3 else CREATED(request, count)

    with ScriptedPlatform({"POST /v1/agents": flaky}) as platform:
        agent = platform.client().agents.create(agent_id=AGENT_ID)
        with pytest.raises(errors.NetworkError) as raised:
            agent.send("Go")
        assert raised.value.is_retryable
        assert agent.send("Go").id == RUN_ID
    assert platform.clock.waits == [0.5, 1.0]
    assert len({request.headers["idempotency-key"] for request in platform.requests}) == 1


def test_another_prompt_after_a_lost_response_goes_to_the_created_agent() -> None:
    def created(request: Request, count: int) -> Response:
        return disconnect(request, count) if count < 3 else error_response(409, "agent_id_conflict")(request, count)

    with ScriptedPlatform({"POST /v1/agents": created, RUNS: json_response({"run": wire_run()})}) as platform:
        agent = platform.client().agents.create(agent_id=AGENT_ID)
        with pytest.raises(errors.NetworkError):
            agent.send("Go")
        agent.send("Go on")
    assert platform.requests[-1].body == {"prompt": {"text": "Go on"}}


def test_an_unlisted_model_is_refused_if_the_list_is_available() -> None:
    with ScriptedPlatform({"GET /v1/models": MODELS}) as platform:
        with pytest.raises(errors.ConfigurationError, match="Unknown model huge"):
            platform.client().agents.create(model="huge")
    for failure in (error_response(401, "unauthorized"), error_response(429, "rate_limited"), disconnect):
        with ScriptedPlatform({"GET /v1/models": failure}) as platform:
            platform.client().agents.create(model="huge")


@pytest.mark.parametrize(
    ("status", "code", "kind", "message"),
    [
        (401, "unauthorized", errors.AuthenticationError, "refused: unauthorized"),
        (429, "rate_limited", errors.RateLimitError, "refused: rate_limited"),
        (409, "agent_busy", errors.AgentBusyError, "[agent_busy] refused: agent_busy"),
        (404, "agent_not_found", errors.AgentNotFoundError, "[agent_not_found] refused: agent_not_found"),
        (400, "validation_error", errors.BadRequestError, "[validation_error] refused: validation_error"),
        (403, "forbidden", errors.PermissionDeniedError, "[forbidden] refused: forbidden"),
        (503, "unavailable", errors.InternalServerError, "[unavailable] refused: unavailable"),
        (409, "agent_archived", errors.ConfigurationError, "[agent_archived] refused: agent_archived"),
        (404, "run_not_found", errors.NotFoundError, "[run_not_found] refused: run_not_found"),
        (413, "payload_too_large", errors.UnknownAgentError, "[payload_too_large] refused: payload_too_large"),
    ],
)
def test_statuses_have_error_classes(status: int, code: str, kind: type[Any], message: str) -> None:
    with ScriptedPlatform({"GET /v1/me": error_response(status, code)}) as platform:
        with pytest.raises(kind) as raised:
            platform.client().me()
    facts = raised.value.to_dict()
    assert type(raised.value) is kind
    assert {**facts, "message": message, "code": code, "status": status, "request_id": "req-1"} == facts
    assert (facts["endpoint"], facts["operation"]) == ("GET /v1/me", "me")


def test_an_unconnected_account_is_an_error_with_a_help_url() -> None:
    body = {"code": "integration_not_connected", "message": "Connect.", "helpUrl": "https://x/y", "provider": "github"}
    with ScriptedPlatform({"POST /v1/agents": json_response(body, 400)}) as platform:
        with pytest.raises(errors.IntegrationNotConnectedError) as raised:
            platform.client().agents.create().send("Go")
    assert (raised.value.help_url, raised.value.provider) == ("https://x/y", "github")


def test_a_request_that_is_not_idempotent_is_not_retried() -> None:
    with ScriptedPlatform({f"POST {RUN_PATH}/cancel": error_response(503, "unavailable")}) as platform:
        with pytest.raises(errors.NetworkError):
            platform.client().agents.cancel_run(RUN_ID, agent_id=AGENT_ID)
    assert len(platform.requests) == 1


def test_without_a_key_no_request_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLATFORM_API_KEY", raising=False)
    with pytest.raises(errors.AuthenticationError, match="No API key found"):
        Agent.create()
    with pytest.raises(errors.AuthenticationError, match="api_key is empty"):
        Agent.create(api_key="")
    with pytest.raises(errors.ConfigurationError, match="Invalid platform URL"):
        Agent.create(api_key="plt_a", base_url="ftp://x")


def test_wait_returns_after_the_observers_have_run_in_order() -> None:
    updates = [
        {"type": "step-started", "stepId": 1},
        {"type": "text-delta", "text": "Hi"},
        {"type": "step-completed", "stepId": 1, "stepDurationMs": 1},
    ]
    text = "".join(frame("interaction_update", update, f"1-{number}") for number, update in enumerate(updates))
    text += frame("result", {"runId": RUN_ID, "status": "FINISHED", "text": "Hi"}, "1-9")
    stream = f"GET {RUN_PATH}/stream"
    observed: list[object] = []
    with ScriptedPlatform(
        {"POST /v1/agents": CREATED, stream: lambda request, count: Response(body=text.encode())}
    ) as platform:
        agent = platform.client().agents.create(agent_id=AGENT_ID)
        observers = SendOptions(
            on_delta=lambda update: observed.append(update.type), on_step=lambda step: observed.append(step.text)
        )
        run = agent.send("Go", observers, idempotency_key="k-1")
        run.wait()
        assert platform.requests[0].headers["idempotency-key"] == "k-1"
        step = {"type": "assistantMessage", "message": {"text": "Hi"}}
        turn = {"type": "agentConversationTurn", "turn": {"steps": [step]}}
        assert json.loads(run.conversation_json()) == [turn]
    assert observed == ["step-started", "text-delta", "step-completed", "Hi"]


def test_a_generated_id_that_is_taken_is_replaced_once() -> None:
    def conflict(request: Request, count: int) -> Response:
        created = json_response({"agent": {"id": request.body["agentId"]}, "run": wire_run()})
        return error_response(409, "agent_id_conflict")(request, count) if count == 0 else created(request, count)

    with ScriptedPlatform({"POST /v1/agents": conflict}) as platform:
        agent = platform.client().agents.create()
        first = agent.agent_id
        assert agent.list_artifacts() == []
        agent.send("Go")
    assert [request.body["agentId"] for request in platform.requests] == [first, agent.agent_id]
    assert first != agent.agent_id
    with ScriptedPlatform({"POST /v1/agents": error_response(409, "agent_id_conflict")}) as platform:
        with pytest.raises(errors.ConfigurationError):
            platform.client().agents.create(agent_id=AGENT_ID).send("Go")
    assert len(platform.requests) == 1


def test_agents_and_usage_have_the_names_of_this_package(monkeypatch: pytest.MonkeyPatch) -> None:
    times = {"createdAt": "2026-01-01T00:00:00.000Z", "updatedAt": "2026-01-01T00:00:01.000Z"}
    agent = {"id": AGENT_ID, "name": "Fixer", "status": "ARCHIVED", "url": "u", "repos": [{"url": "r"}], **times}
    usage = {"inputTokens": 1, "outputTokens": 2, "cacheReadTokens": 3, "cacheWriteTokens": 4, "totalTokens": 10}
    responders = {
        f"GET /v1/agents/{AGENT_ID}": json_response(agent),
        "GET /v1/agents": json_response({"items": [agent]}),
        f"GET /v1/agents/{AGENT_ID}/usage": json_response({"totalUsage": usage, "runs": [{"id": RUN_ID, "usage": usage}]}),
        f"GET {RUN_PATH}": json_response(wire_run(status="FINISHED", result="Hi")),
    }
    with ScriptedPlatform(responders) as platform:
        monkeypatch.setenv("PLATFORM_BACKEND_URL", platform.url)
        info = Agent.get(AGENT_ID, api_key="plt_test")
        assert (info.name, info.summary, info.archived, info.status) == ("Fixer", "Fixer", True, None)
        assert (info.repos, info.last_modified) == (["r"], times["updatedAt"])
        page = Agent.list(client=platform.client())
        assert (list(page), page.has_next_page()) == ([info], False)
        used = platform.client().agents.resume(AGENT_ID).get_usage(run_id=RUN_ID)
        assert (used.usage.total_tokens, used.runs[0].run_id) == (10, RUN_ID)
        result = Agent.get_run(RUN_ID, agent_id=AGENT_ID, client=platform.client()).wait()
    assert (result.agent_id, result.run_id, result.error_code) == (AGENT_ID, RUN_ID, None)


def test_a_saved_login_is_used_without_another_key(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PLATFORM_SDK_HOME", str(tmp_path))
    monkeypatch.delenv("PLATFORM_API_KEY", raising=False)
    monkeypatch.delenv("PLATFORM_BACKEND_URL", raising=False)
    with ScriptedPlatform({"GET /v1/me": json_response({"apiKeyName": "k", "createdAt": ""})}) as platform:
        login = {"version": 1, "backendUrl": platform.url, "apiKey": "plt_saved", "createdAtMs": 0}
        tmp_path.joinpath("auth.json").write_text(json.dumps(login))
        Platform.me()
        assert platform.requests[0].headers["authorization"] == "Bearer plt_saved"
        with pytest.raises(errors.AuthenticationError):
            Client(base_url="http://127.0.0.1:9")
        tmp_path.joinpath("auth.json").write_text(json.dumps({**login, "apiKeyExpiresAtMs": 1}))
        with pytest.raises(errors.AuthenticationError):
            Platform.me()


def test_options_may_be_mappings_with_python_or_wire_names() -> None:
    options = {
        "agentId": AGENT_ID,
        "mcp_servers": {"docs": {"url": "https://docs.example"}, "files": {"command": "serve"}},
        "cloud": {"repos": [{"url": "u", "starting_ref": "main"}, {"url": "v"}], "autoCreatePR": True},
    }
    with ScriptedPlatform({"POST /v1/agents": CREATED, RUNS: json_response({"run": wire_run()})}) as platform:
        agent = platform.client().agents.create(options)
        agent.send({"text": "Go", "images": [{"url": "i"}]}, {"mode": "plan", "cloud": {"envVars": {"A": "1"}}})
        platform.client().agents.create(agent_id=AGENT_ID, cloud={"metadata": {"a": "b"}}, api_key="plt_other").send("Go")
        with pytest.raises(errors.ConfigurationError, match="has no member repositories"):
            platform.client().agents.create(cloud={"repositories": []})
    servers = [
        {"name": "docs", "type": "http", "url": "https://docs.example"},
        {"name": "files", "type": "stdio", "command": "serve"},
    ]
    assert platform.requests[0].body == {
        "agentId": AGENT_ID,
        "prompt": {"text": "Go", "images": [{"url": "i"}]},
        "mode": "plan",
        "mcpServers": servers,
        "repos": [{"url": "u", "startingRef": "main"}, {"url": "v"}],
        "autoCreatePR": True,
        "runEnvVars": {"A": "1"},
    }
    assert platform.requests[1].body["metadata"] == {"a": "b"}
    assert platform.requests[1].headers["authorization"] == "Bearer plt_other"


def test_options_may_be_positional() -> None:
    assert CloudRepository("u", "main", "p").pr_url == "p"
    assert LocalAgentOptions("shop").cwd == "shop"
    assert HttpMcpServerConfig("u", {"a": "b"}, McpAuth("id")).auth == McpAuth(client_id="id")
    assert StdioMcpServerConfig("serve", ["x"], {"A": "1"}).args == ["x"]
    assert SDKImage.data_image("aGk=", "image/png") == SDKImage.from_data(b"hi", "image/png")
    assert CustomTool(execute=lambda args, context: context.tool_call_id).description is None
    with pytest.raises(errors.ConfigurationError, match="needs execute"):
        CustomTool("Adds")


def test_a_refused_prompt_does_not_change_the_model_of_the_agent() -> None:
    def busy(request: Request, count: int) -> Response:
        return (error_response(409, "agent_busy") if count == 0 else json_response({"run": wire_run()}))(request, count)

    with ScriptedPlatform({"POST /v1/agents": CREATED, RUNS: busy}) as platform:
        agent = platform.client().agents.create(agent_id=AGENT_ID)
        run = agent.send("Go")
        with pytest.raises(errors.AgentBusyError):
            agent.send("More", {"model": "large"})
        assert agent.model is None
        agent.send("More")
    assert platform.requests[-1].body == {"prompt": {"text": "More"}}
    assert run.supports("cancel") and not run.supports("fly")  # type: ignore[arg-type]


def test_every_name_in_all_exists() -> None:
    assert all(hasattr(platform_sdk, name) for name in platform_sdk.__all__)


def test_with_options_changes_only_the_new_client() -> None:
    disconnect_twice: Responder = lambda request, count: disconnect(request, count) if count < 2 else json_response({"items": []})(request, count)
    with ScriptedPlatform({"GET /v1/models": disconnect_twice}) as platform:
        client = platform.client()
        with pytest.raises(errors.NetworkError):
            client.with_options(timeout=5, max_retries=0).models.list()
        assert client.models.list() == []
        assert client.agents.resume(AGENT_ID).client is client
