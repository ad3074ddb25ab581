"""Threads, models and accounts."""

from __future__ import annotations

import json

import pytest

from agentcli import InvalidRequestError, Sandbox, TurnFailedError
from harness import Harness, message


def test_threads_are_listed_read_named_archived_and_unarchived(harness: Harness) -> None:
    harness.script(message("Done."))
    with harness.client() as client:
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


def test_a_fork_begins_with_the_conversation_of_its_origin(harness: Harness) -> None:
    harness.script(message("First."), message("Second."))
    with harness.client() as client:
        thread = client.thread_start()
        thread.run("one")
        fork = client.thread_fork(thread.id)
        assert fork.id != thread.id
        fork.run("two")
    assert "First." in json.dumps(harness.requests()[-1])


def test_options_reach_the_thread(harness: Harness) -> None:
    harness.script(message("Done."))
    with harness.client() as client:
        thread = client.thread_start(
            model="scripted-mini",
            sandbox=Sandbox.workspace_write,
            cwd=harness.repository,
            config={"model_reasoning_effort": "low"},
            developer_instructions="Rhyme.",
            ephemeral=True,
        )
        assert thread.settings.model == "scripted-mini"
        assert thread.settings.cwd == str(harness.repository)
        assert thread.settings.sandbox["type"] == "workspaceWrite"
        thread.run("work", effort="high")
    [request] = harness.requests()
    assert request["model"] == "scripted-mini"
    assert request["reasoning"]["effort"] == "high"
    assert "Rhyme." in json.dumps(request)
    assert not list(harness.home.glob("sessions/**/*.jsonl"))


def test_a_conversation_is_compacted(harness: Harness) -> None:
    harness.script(message("First."), message("A summary."), message("Second."))
    with harness.client() as client:
        thread = client.thread_start()
        thread.run("one")
        thread.compact()
        assert thread.run("two").final_response == "Second."
    assert "A summary." in json.dumps(harness.requests()[-1])


def test_a_failed_compaction_is_raised(harness: Harness) -> None:
    harness.script(message("First."), {"status": 400, "body": {"error": {"message": "No summary today"}}})
    with harness.client() as client:
        thread = client.thread_start()
        thread.run("one")
        with pytest.raises(TurnFailedError, match="No summary today"):
            thread.compact()


def test_models_are_listed(harness: Harness) -> None:
    with harness.client() as client:
        models = client.models(include_hidden=True).data
    assert models and all(model.id for model in models)
    assert sum(model.is_default for model in models) <= 1


def test_a_key_is_saved_until_logout(harness: Harness) -> None:
    with harness.client() as client:
        client.logout()
        assert client.account().account is None
        client.login_api_key("key-of-the-test")
        account = client.account().account
        assert account is not None and account.type == "apiKey"
        client.logout()
        assert client.account().account is None


def test_an_unknown_thread_is_refused(harness: Harness) -> None:
    with harness.client() as client, pytest.raises(InvalidRequestError):
        client.thread_resume("00000000-0000-7000-8000-000000000000")


def test_an_unknown_option_is_refused(harness: Harness) -> None:
    with harness.client() as client, pytest.raises(TypeError, match="sandbocks"):
        client.thread_start(sandbocks="read-only")  # type: ignore[call-arg]
