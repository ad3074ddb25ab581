"""Turns as users run them, against the real program and a scripted model."""

from __future__ import annotations

import base64
import json
import threading
import time

import pytest

from agentcli import (
    AgentMessageItem,
    CommandExecutionItem,
    Delta,
    ImageInput,
    ItemStarted,
    LocalImageInput,
    OtherItem,
    Sandbox,
    TextInput,
    TurnCompleted,
    TurnFailedError,
)
from harness import Harness, call, message, processes_in

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def test_a_run_returns_items_final_response_and_usage(harness: Harness) -> None:
    harness.script(call("exec_command", cmd="echo hi"), message("Done.", usage={"inputTokens": 7, "outputTokens": 3}))
    with harness.client() as client:
        result = client.thread_start(sandbox=Sandbox.read_only).run("say hi")
    assert result.status == "completed"
    assert result.final_response == "Done."
    command = next(item for item in result.items if isinstance(item, CommandExecutionItem))
    assert (command.aggregated_output, command.exit_code, command.status) == ("hi\n", 0, "completed")
    assert not [item for item in result.items if isinstance(item, OtherItem)]
    assert result.usage is not None and result.usage.last.output_tokens == 3


def test_a_stream_has_every_notification_and_ends_with_the_turn(harness: Harness) -> None:
    harness.script(message("A long answer.", deltas=3))
    with harness.client() as client:
        seen = list(client.thread_start().turn("talk").stream())
    assert seen[-1].method == "turn/completed"
    assert isinstance(seen[-1].payload, TurnCompleted)
    deltas = [note.payload.delta for note in seen if isinstance(note.payload, Delta)]
    assert "".join(deltas) == "A long answer."
    methods = [note.method for note in seen]
    assert methods.index("turn/started") < methods.index("item/completed") < methods.index("turn/completed")


def test_turns_of_a_thread_share_their_context(harness: Harness) -> None:
    harness.script(message("First."), message("Second."))
    with harness.client() as client:
        thread = client.thread_start()
        thread.run("one")
        assert thread.run("two").final_response == "Second."
    sent = json.dumps(harness.requests()[-1])
    assert all(text in sent for text in ("one", "First.", "two"))


def test_another_process_can_resume_a_thread(harness: Harness) -> None:
    harness.script(message("First."), message("Second."))
    with harness.client() as client:
        thread = client.thread_start()
        thread.run("one")
    with harness.client() as client:
        resumed = client.thread_resume(thread.id)
        assert resumed.id == thread.id
        assert resumed.run("two").final_response == "Second."
    assert "First." in json.dumps(harness.requests()[-1])


def test_images_are_sent_to_the_model(harness: Harness) -> None:
    harness.script(message("A dot."))
    image = harness.root / "dot.png"
    image.write_bytes(base64.b64decode(PIXEL))
    url = f"data:image/png;base64,{PIXEL}"
    with harness.client() as client:
        client.thread_start().run([TextInput("What is it?"), LocalImageInput(image), ImageInput(url)])
    assert json.dumps(harness.requests()[0]).count(url) == 2


def test_an_output_schema_applies_to_one_turn(harness: Harness) -> None:
    schema = {
        "type": "object",
        "properties": {"verdict": {"type": "string"}, "note": {"type": "string"}},
        "required": ["verdict"],
        "additionalProperties": False,
    }
    harness.script(message('{"verdict":"pass","note":null}'), message("Plain."))
    with harness.client() as client:
        thread = client.thread_start()
        judged = thread.run("judge", output_schema=schema)
        assert judged.final_response is not None and json.loads(judged.final_response) == {"verdict": "pass"}
        assert thread.run("talk").final_response == "Plain."
    first, second = harness.requests()
    assert first["text"]["format"]["type"] == "json_schema"
    assert "format" not in second.get("text", {})


def test_the_sandbox_of_a_turn_applies_to_later_turns(harness: Harness) -> None:
    patch = "*** Begin Patch\n*** Add File: {}.txt\n+made\n*** End Patch"
    harness.script(
        call("exec_command", cmd="touch one.txt"),
        message("No."),
        call("exec_command", cmd="touch two.txt"),
        message("Yes."),
        call("apply_patch", input=patch.format("three")),
        message("Yes."),
    )
    with harness.client() as client:
        thread = client.thread_start(sandbox=Sandbox.read_only)
        for prompt, sandbox in (("one", None), ("two", Sandbox.workspace_write), ("three", None)):
            thread.run(prompt, sandbox=sandbox)
    assert [(harness.repository / f"{name}.txt").exists() for name in ("one", "two", "three")] == [False, True, True]


def test_a_failed_turn_is_raised_with_its_result(harness: Harness) -> None:
    harness.script(call("exec_command", cmd="echo hi"), {"status": 401, "body": {"error": {"message": "Wrong key"}}})
    with harness.client() as client, pytest.raises(TurnFailedError, match="Wrong key") as raised:
        client.thread_start().run("work")
    assert isinstance(raised.value, RuntimeError)
    assert raised.value.result.error is not None and raised.value.result.error.error_info == "unauthorized"
    assert any(isinstance(item, CommandExecutionItem) for item in raised.value.result.items)


def test_a_failed_command_is_an_item_and_not_an_error(harness: Harness) -> None:
    harness.script(call("exec_command", cmd="exit 3"), message("It failed."))
    with harness.client() as client:
        result = client.thread_start().run("try")
    assert [item.exit_code for item in result.items if isinstance(item, CommandExecutionItem)] == [3]


def test_an_interrupted_turn_ends_its_commands(harness: Harness) -> None:
    harness.script(call("exec_command", cmd="sleep 1000"), message("Here again."))
    with harness.client() as client:
        thread = client.thread_start()
        turn = thread.turn("wait")
        for notification in turn.stream():
            if isinstance(notification.payload, ItemStarted) and isinstance(
                notification.payload.item, CommandExecutionItem
            ):
                turn.interrupt()
            if isinstance(notification.payload, TurnCompleted):
                assert notification.payload.turn.status == "interrupted"
        assert thread.run("again").final_response == "Here again."
    wait_until(lambda: not processes_in(harness.repository))


def test_a_turn_can_be_steered(harness: Harness) -> None:
    harness.script(call("exec_command", cmd="until [ -e go ]; do sleep 0.02; done"), message("Understood."))
    with harness.client() as client:
        turn = client.thread_start().turn("wait")
        for notification in turn.stream():
            payload = notification.payload
            if isinstance(payload, ItemStarted) and isinstance(payload.item, CommandExecutionItem):
                turn.steer("and be brief")
                (harness.repository / "go").touch()
    assert "and be brief" in json.dumps(harness.requests()[-1])


def test_several_threads_run_concurrently(harness: Harness) -> None:
    harness.script(*[message(f"Answer {number}.", when={"bodyIncludes": f"ask {number}"}) for number in range(4)])
    answers: dict[int, str | None] = {}
    with harness.client() as client:

        def work(number: int) -> None:
            answers[number] = client.thread_start().run(f"ask {number}").final_response

        workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert answers == {number: f"Answer {number}." for number in range(4)}


def test_messages_of_the_agent_are_items(harness: Harness) -> None:
    harness.script(message("Done."))
    with harness.client() as client:
        items = client.thread_start().run("work").items
    assert [item.text for item in items if isinstance(item, AgentMessageItem)] == ["Done."]


def wait_until(condition: object) -> None:
    """Returns when the condition holds; the time limit of the suite ends one that never does."""
    assert callable(condition)
    while not condition():
        time.sleep(0.02)
