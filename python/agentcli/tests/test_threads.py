"""Threads, models and accounts beyond turns."""

from __future__ import annotations

import json

import pytest

from agentcli import InvalidRequestError, Sandbox, TurnFailedError
from desk import Desk, say


def test_threads_are_listed_read_named_archived_and_brought_back(desk: Desk) -> None:
    desk.answers(say("Done."))
    with desk.client() as client:
        thread = client.thread_start()
        thread.run("remember me")
        thread.set_name("nightly")
        [listed] = client.thread_list(limit=10).data
        assert (listed.id, listed.name) == (thread.id, "nightly")
        assert "remember me" in listed.preview
        [turn] = thread.read(include_turns=True).turns
        assert turn.status == "completed"
        assert thread.read().turns == []
        client.thread_archive(thread.id)
        assert client.thread_list().data == []
        assert [info.id for info in client.thread_list(archived=True).data] == [thread.id]
        assert client.thread_unarchive(thread.id).id == thread.id
        assert len(client.thread_list().data) == 1


def test_a_fork_begins_with_what_the_other_said(desk: Desk) -> None:
    desk.answers(say("First."), say("Second."))
    with desk.client() as client:
        thread = client.thread_start()
        thread.run("one")
        fork = client.thread_fork(thread.id)
        assert fork.id != thread.id
        fork.run("two")
    assert "First." in json.dumps(desk.requests()[-1])


def test_options_reach_the_thread(desk: Desk) -> None:
    desk.answers(say("Done."))
    with desk.client() as client:
        thread = client.thread_start(
            model="scripted-mini",
            sandbox=Sandbox.workspace_write,
            cwd=desk.repository,
            config={"model_reasoning_effort": "low"},
            developer_instructions="Rhyme.",
            ephemeral=True,
        )
        assert thread.settings.model == "scripted-mini"
        assert thread.settings.cwd == str(desk.repository)
        assert thread.settings.sandbox["type"] == "workspaceWrite"
        thread.run("work", effort="high")
    [request] = desk.requests()
    assert request["model"] == "scripted-mini"
    assert request["reasoning"]["effort"] == "high"
    assert "Rhyme." in json.dumps(request)
    assert not list(desk.home.glob("sessions/**/*.jsonl"))


def test_a_conversation_is_compacted(desk: Desk) -> None:
    desk.answers(say("First."), say("A summary."), say("Second."))
    with desk.client() as client:
        thread = client.thread_start()
        thread.run("one")
        thread.compact()
        assert thread.run("two").final_response == "Second."
    assert "A summary." in json.dumps(desk.requests()[-1])


def test_a_compaction_that_fails_is_raised(desk: Desk) -> None:
    desk.answers(say("First."), {"status": 400, "body": {"error": {"message": "No summary today"}}})
    with desk.client() as client:
        thread = client.thread_start()
        thread.run("one")
        with pytest.raises(TurnFailedError, match="No summary today"):
            thread.compact()


def test_models_are_listed(desk: Desk) -> None:
    with desk.client() as client:
        models = client.models(include_hidden=True).data
    assert models and all(model.id for model in models)
    assert sum(model.is_default for model in models) <= 1


def test_a_key_is_kept_and_forgotten(desk: Desk) -> None:
    with desk.client() as client:
        client.logout()
        assert client.account().account is None
        client.login_api_key("key-of-the-test")
        account = client.account().account
        assert account is not None and account.type == "apiKey"
        client.logout()
        assert client.account().account is None


def test_an_unknown_thread_is_refused(desk: Desk) -> None:
    with desk.client() as client, pytest.raises(InvalidRequestError):
        client.thread_resume("00000000-0000-7000-8000-000000000000")


def test_an_option_that_does_not_exist_is_refused(desk: Desk) -> None:
    with desk.client() as client, pytest.raises(TypeError, match="sandbocks"):
        client.thread_start(sandbocks="read-only")  # type: ignore[call-arg]
