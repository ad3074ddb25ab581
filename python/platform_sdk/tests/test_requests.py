"""What goes over the wire, and what failures become."""

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
from scripted_platform import AGENT_ID, RUN_ID, RUN_PATH, Answer, Asked, Reply, ScriptedPlatform
from scripted_platform import frame, give, lost, problem, wire_run

MODELS = give({"items": [{"id": "large", "displayName": "Large", "aliases": ["big"]}]})
CREATED = give({"agent": {"id": AGENT_ID}, "run": wire_run()})
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
        ),
    )
    with ScriptedPlatform(
        {"GET /v1/models": MODELS, "POST /v1/agents": CREATED, RUNS: give({"run": wire_run()})}
    ) as platform:
        agent = platform.client().agents.create(options)
        agent.send(UserMessage(text="Fix it", images=[SDKImage.url_image("https://host/i.png")]))
        agent.send("And now?", SendOptions(model=ModelSelection(id="large"), env_vars={"A": "1"}))
        agent.send("And then?")
    first, second, third = platform.asked[1:]
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
    }
    rest = {"mcpServers": servers, "model": {"id": "large"}}
    assert second.body == {"prompt": {"text": "And now?"}, "envVars": {"A": "1"}, **rest}
    assert third.body == {"prompt": {"text": "And then?"}, **rest}
    assert first.headers["authorization"] == "Bearer plt_test"
    assert first.headers["x-platform-client-type"] == "sdk"
    assert len({asked.headers["idempotency-key"] for asked in platform.asked[1:]}) == 3


def test_an_agent_with_variables_gets_its_id_from_the_platform() -> None:
    with ScriptedPlatform({"POST /v1/agents": CREATED}) as platform:
        cloud = CloudAgentOptions(env_vars={"TOKEN_NAME": "t"})
        agent = platform.client().agents.create(cloud=cloud)
        with pytest.raises(errors.ConfigurationError):
            agent.agent_id
        agent.send("Go")
        assert platform.asked[0].body == {"prompt": {"text": "Go"}, "envVars": {"TOKEN_NAME": "t"}}
        assert agent.agent_id == AGENT_ID
        with pytest.raises(errors.ConfigurationError, match="exclude each other"):
            platform.client().agents.create(agent_id=AGENT_ID, cloud=cloud)


def test_the_same_prompt_after_a_lost_answer_is_the_same_request() -> None:
    def flaky(asked: Asked, count: int) -> Reply:
        return lost(asked, count) if count < 3 else CREATED(asked, count)

    with ScriptedPlatform({"POST /v1/agents": flaky}) as platform:
        agent = platform.client().agents.create(agent_id=AGENT_ID)
        with pytest.raises(errors.NetworkError) as raised:
            agent.send("Go")
        assert raised.value.is_retryable
        assert agent.send("Go").id == RUN_ID
    assert platform.clock.waits == [0.5, 1.0]
    assert len({asked.headers["idempotency-key"] for asked in platform.asked}) == 1


def test_another_prompt_after_a_lost_answer_goes_to_the_agent_that_was_made() -> None:
    def made(asked: Asked, count: int) -> Reply:
        return lost(asked, count) if count < 3 else problem(409, "agent_id_conflict")(asked, count)

    with ScriptedPlatform({"POST /v1/agents": made, RUNS: give({"run": wire_run()})}) as platform:
        agent = platform.client().agents.create(agent_id=AGENT_ID)
        with pytest.raises(errors.NetworkError):
            agent.send("Go")
        agent.send("Go on")
    assert platform.asked[-1].body == {"prompt": {"text": "Go on"}}


def test_a_model_that_is_not_listed_is_refused_unless_the_list_cannot_be_had() -> None:
    with ScriptedPlatform({"GET /v1/models": MODELS}) as platform:
        with pytest.raises(errors.ConfigurationError, match="There is no model huge"):
            platform.client().agents.create(model="huge")
    for failure in (problem(401, "unauthorized"), problem(429, "rate_limited"), lost):
        with ScriptedPlatform({"GET /v1/models": failure}) as platform:
            platform.client().agents.create(model="huge")


@pytest.mark.parametrize(
    ("status", "code", "kind", "message"),
    [
        (401, "unauthorized", errors.AuthenticationError, "no: unauthorized"),
        (429, "rate_limited", errors.RateLimitError, "no: rate_limited"),
        (409, "agent_busy", errors.AgentBusyError, "[agent_busy] no: agent_busy"),
        (404, "agent_not_found", errors.AgentNotFoundError, "[agent_not_found] no: agent_not_found"),
        (400, "validation_error", errors.BadRequestError, "[validation_error] no: validation_error"),
        (403, "forbidden", errors.PermissionDeniedError, "[forbidden] no: forbidden"),
        (503, "unavailable", errors.InternalServerError, "[unavailable] no: unavailable"),
        (409, "agent_archived", errors.ConfigurationError, "[agent_archived] no: agent_archived"),
        (404, "run_not_found", errors.NotFoundError, "[run_not_found] no: run_not_found"),
        (413, "payload_too_large", errors.UnknownAgentError, "[payload_too_large] no: payload_too_large"),
    ],
)
def test_statuses_have_classes(status: int, code: str, kind: type[Any], message: str) -> None:
    with ScriptedPlatform({"GET /v1/me": problem(status, code)}) as platform:
        with pytest.raises(kind) as raised:
            platform.client().me()
    facts = raised.value.to_dict()
    assert type(raised.value) is kind
    assert {**facts, "message": message, "code": code, "status": status, "request_id": "req-1"} == facts
    assert (facts["endpoint"], facts["operation"]) == ("GET /v1/me", "me")


def test_an_account_that_is_not_connected_says_where_to_connect_it() -> None:
    body = {"code": "integration_not_connected", "message": "Connect.", "helpUrl": "https://x/y", "provider": "github"}
    with ScriptedPlatform({"POST /v1/agents": give(body, 400)}) as platform:
        with pytest.raises(errors.IntegrationNotConnectedError) as raised:
            platform.client().agents.create().send("Go")
    assert (raised.value.help_url, raised.value.provider) == ("https://x/y", "github")


def test_what_could_happen_twice_is_asked_once() -> None:
    with ScriptedPlatform({f"POST {RUN_PATH}/cancel": problem(503, "unavailable")}) as platform:
        with pytest.raises(errors.NetworkError):
            platform.client().agents.cancel_run(RUN_ID, agent_id=AGENT_ID)
    assert len(platform.asked) == 1


def test_without_a_key_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLATFORM_API_KEY", raising=False)
    with pytest.raises(errors.AuthenticationError, match="There is no API key"):
        Agent.create()
    with pytest.raises(errors.AuthenticationError, match="api_key is empty"):
        Agent.create(api_key="")
    with pytest.raises(errors.ConfigurationError, match="no address of a platform"):
        Agent.create(api_key="plt_a", base_url="ftp://x")


def test_updates_and_steps_are_told_in_order_and_waiting_waits_for_them() -> None:
    updates = [
        {"type": "step-started", "stepId": 1},
        {"type": "text-delta", "text": "Hi"},
        {"type": "step-completed", "stepId": 1, "stepDurationMs": 1},
    ]
    text = "".join(frame("interaction_update", update, f"1-{number}") for number, update in enumerate(updates))
    text += frame("result", {"runId": RUN_ID, "status": "FINISHED", "text": "Hi"}, "1-9")
    stream = f"GET {RUN_PATH}/stream"
    told: list[object] = []
    with ScriptedPlatform(
        {"POST /v1/agents": CREATED, stream: lambda asked, count: Reply(body=text.encode())}
    ) as platform:
        agent = platform.client().agents.create(agent_id=AGENT_ID)
        observers = SendOptions(
            on_delta=lambda update: told.append(update.type), on_step=lambda step: told.append(step.text)
        )
        run = agent.send("Go", observers, idempotency_key="k-1")
        run.wait()
        assert platform.asked[0].headers["idempotency-key"] == "k-1"
        step = {"type": "assistantMessage", "message": {"text": "Hi"}}
        turn = {"type": "agentConversationTurn", "turn": {"steps": [step]}}
        assert json.loads(run.conversation_json()) == [turn]
    assert told == ["step-started", "text-delta", "step-completed", "Hi"]


def test_an_id_of_ours_that_somebody_else_has_is_given_up_for_another_one_once() -> None:
    def conflict(asked: Asked, count: int) -> Reply:
        created = give({"agent": {"id": asked.body["agentId"]}, "run": wire_run()})
        return problem(409, "agent_id_conflict")(asked, count) if count == 0 else created(asked, count)

    with ScriptedPlatform({"POST /v1/agents": conflict}) as platform:
        agent = platform.client().agents.create()
        first = agent.agent_id
        assert agent.list_artifacts() == []
        agent.send("Go")
    assert [asked.body["agentId"] for asked in platform.asked] == [first, agent.agent_id]
    assert first != agent.agent_id
    with ScriptedPlatform({"POST /v1/agents": problem(409, "agent_id_conflict")}) as platform:
        with pytest.raises(errors.ConfigurationError):
            platform.client().agents.create(agent_id=AGENT_ID).send("Go")
    assert len(platform.asked) == 1


def test_agents_and_usage_are_shown_under_the_names_of_this_package(monkeypatch: pytest.MonkeyPatch) -> None:
    times = {"createdAt": "2026-01-01T00:00:00.000Z", "updatedAt": "2026-01-01T00:00:01.000Z"}
    told = {"id": AGENT_ID, "name": "Fixer", "status": "ARCHIVED", "url": "u", "repos": [{"url": "r"}], **times}
    usage = {"inputTokens": 1, "outputTokens": 2, "cacheReadTokens": 3, "cacheWriteTokens": 4, "totalTokens": 10}
    answers = {
        f"GET /v1/agents/{AGENT_ID}": give(told),
        "GET /v1/agents": give({"items": [told]}),
        f"GET /v1/agents/{AGENT_ID}/usage": give({"totalUsage": usage, "runs": [{"id": RUN_ID, "usage": usage}]}),
        f"GET {RUN_PATH}": give(wire_run(status="FINISHED", result="Hi")),
    }
    with ScriptedPlatform(answers) as platform:
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


def test_a_login_that_was_kept_is_used_where_nothing_else_is_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PLATFORM_SDK_HOME", str(tmp_path))
    monkeypatch.delenv("PLATFORM_API_KEY", raising=False)
    monkeypatch.delenv("PLATFORM_BACKEND_URL", raising=False)
    with ScriptedPlatform({"GET /v1/me": give({"apiKeyName": "k", "createdAt": ""})}) as platform:
        login = {"version": 1, "backendUrl": platform.url, "apiKey": "plt_kept", "createdAtMs": 0}
        tmp_path.joinpath("auth.json").write_text(json.dumps(login))
        Platform.me()
        assert platform.asked[0].headers["authorization"] == "Bearer plt_kept"
        with pytest.raises(errors.AuthenticationError):
            Client(base_url="http://127.0.0.1:9")
        tmp_path.joinpath("auth.json").write_text(json.dumps({**login, "apiKeyExpiresAtMs": 1}))
        with pytest.raises(errors.AuthenticationError):
            Platform.me()


def test_options_may_be_mappings_with_the_names_of_python_or_of_the_wire() -> None:
    options = {
        "agentId": AGENT_ID,
        "mcp_servers": {"docs": {"url": "https://docs.example"}, "files": {"command": "serve"}},
        "cloud": {"repos": [{"url": "u", "starting_ref": "main"}, {"url": "v"}], "autoCreatePR": True},
    }
    with ScriptedPlatform({"POST /v1/agents": CREATED, RUNS: give({"run": wire_run()})}) as platform:
        agent = platform.client().agents.create(options)
        agent.send({"text": "Go", "images": [{"url": "i"}]}, {"mode": "plan", "cloud": {"envVars": {"A": "1"}}})
        platform.client().agents.create(agent_id=AGENT_ID, cloud={"metadata": {"a": "b"}}, api_key="plt_other").send("Go")
        with pytest.raises(errors.ConfigurationError, match="has no member repositories"):
            platform.client().agents.create(cloud={"repositories": []})
    servers = [
        {"name": "docs", "type": "http", "url": "https://docs.example"},
        {"name": "files", "type": "stdio", "command": "serve"},
    ]
    assert platform.asked[0].body == {
        "agentId": AGENT_ID,
        "prompt": {"text": "Go", "images": [{"url": "i"}]},
        "mode": "plan",
        "mcpServers": servers,
        "repos": [{"url": "u", "startingRef": "main"}, {"url": "v"}],
        "autoCreatePR": True,
        "runEnvVars": {"A": "1"},
    }
    assert platform.asked[1].body["metadata"] == {"a": "b"}
    assert platform.asked[1].headers["authorization"] == "Bearer plt_other"


def test_options_may_be_given_in_order() -> None:
    assert CloudRepository("u", "main", "p").pr_url == "p"
    assert LocalAgentOptions("shop").cwd == "shop"
    assert HttpMcpServerConfig("u", {"a": "b"}, McpAuth("id")).auth == McpAuth(client_id="id")
    assert StdioMcpServerConfig("serve", ["x"], {"A": "1"}).args == ["x"]
    assert SDKImage.data_image("aGk=", "image/png") == SDKImage.from_data(b"hi", "image/png")
    assert CustomTool(execute=lambda args, context: context.tool_call_id).description is None
    with pytest.raises(errors.ConfigurationError, match="needs execute"):
        CustomTool("Adds")


def test_a_model_that_was_refused_with_its_prompt_is_not_the_agents() -> None:
    def busy(asked: Asked, count: int) -> Reply:
        return (problem(409, "agent_busy") if count == 0 else give({"run": wire_run()}))(asked, count)

    with ScriptedPlatform({"POST /v1/agents": CREATED, RUNS: busy}) as platform:
        agent = platform.client().agents.create(agent_id=AGENT_ID)
        run = agent.send("Go")
        with pytest.raises(errors.AgentBusyError):
            agent.send("More", {"model": "large"})
        assert agent.model is None
        agent.send("More")
    assert platform.asked[-1].body == {"prompt": {"text": "More"}}
    assert run.supports("cancel") and not run.supports("fly")  # type: ignore[arg-type]


def test_the_package_exports_what_it_says() -> None:
    assert all(hasattr(platform_sdk, name) for name in platform_sdk.__all__)


def test_other_patience_is_for_the_client_that_was_asked_for_it() -> None:
    lost_twice: Answer = lambda asked, count: lost(asked, count) if count < 2 else give({"items": []})(asked, count)
    with ScriptedPlatform({"GET /v1/models": lost_twice}) as platform:
        client = platform.client()
        with pytest.raises(errors.NetworkError):
            client.with_options(timeout=5, max_retries=0).models.list()
        assert client.models.list() == []
        assert client.agents.resume(AGENT_ID).client is client
