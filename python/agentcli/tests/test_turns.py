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
from desk import Desk, call, say, working_in

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def test_a_run_gives_back_items_final_response_and_usage(desk: Desk) -> None:
    desk.answers(call("exec_command", cmd="echo hi"), say("Done.", usage={"inputTokens": 7, "outputTokens": 3}))
    with desk.client() as client:
        result = client.thread_start(sandbox=Sandbox.read_only).run("say hi")
    assert result.status == "completed"
    assert result.final_response == "Done."
    command = next(item for item in result.items if isinstance(item, CommandExecutionItem))
    assert (command.aggregated_output, command.exit_code, command.status) == ("hi\n", 0, "completed")
    assert not [item for item in result.items if isinstance(item, OtherItem)]
    assert result.usage is not None and result.usage.last.output_tokens == 3


def test_a_stream_tells_of_everything_and_ends_with_the_turn(desk: Desk) -> None:
    desk.answers(say("A long answer.", deltas=3))
    with desk.client() as client:
        seen = list(client.thread_start().turn("talk").stream())
    assert seen[-1].method == "turn/completed"
    assert isinstance(seen[-1].payload, TurnCompleted)
    deltas = [note.payload.delta for note in seen if isinstance(note.payload, Delta)]
    assert "".join(deltas) == "A long answer."
    methods = [note.method for note in seen]
    assert methods.index("turn/started") < methods.index("item/completed") < methods.index("turn/completed")


def test_turns_of_a_thread_share_their_context(desk: Desk) -> None:
    desk.answers(say("First."), say("Second."))
    with desk.client() as client:
        thread = client.thread_start()
        thread.run("one")
        assert thread.run("two").final_response == "Second."
    sent = json.dumps(desk.requests()[-1])
    assert all(text in sent for text in ("one", "First.", "two"))


def test_a_thread_is_resumed_by_another_process(desk: Desk) -> None:
    desk.answers(say("First."), say("Second."))
    with desk.client() as client:
        thread = client.thread_start()
        thread.run("one")
    with desk.client() as client:
        resumed = client.thread_resume(thread.id)
        assert resumed.id == thread.id
        assert resumed.run("two").final_response == "Second."
    assert "First." in json.dumps(desk.requests()[-1])


def test_pictures_are_shown(desk: Desk) -> None:
    desk.answers(say("A dot."))
    picture = desk.root / "dot.png"
    picture.write_bytes(base64.b64decode(PIXEL))
    url = f"data:image/png;base64,{PIXEL}"
    with desk.client() as client:
        client.thread_start().run([TextInput("What is it?"), LocalImageInput(picture), ImageInput(url)])
    assert json.dumps(desk.requests()[0]).count(url) == 2


def test_an_output_schema_shapes_the_final_response_of_its_turn_only(desk: Desk) -> None:
    schema = {
        "type": "object",
        "properties": {"verdict": {"type": "string"}, "note": {"type": "string"}},
        "required": ["verdict"],
        "additionalProperties": False,
    }
    desk.answers(say('{"verdict":"pass","note":null}'), say("Plain."))
    with desk.client() as client:
        thread = client.thread_start()
        judged = thread.run("judge", output_schema=schema)
        assert judged.final_response is not None and json.loads(judged.final_response) == {"verdict": "pass"}
        assert thread.run("talk").final_response == "Plain."
    first, second = desk.requests()
    assert first["text"]["format"]["type"] == "json_schema"
    assert "format" not in second.get("text", {})


def test_a_sandbox_given_to_a_turn_holds_for_later_turns(desk: Desk) -> None:
    patch = "*** Begin Patch\n*** Add File: {}.txt\n+made\n*** End Patch"
    desk.answers(
        call("exec_command", cmd="touch one.txt"),
        say("No."),
        call("exec_command", cmd="touch two.txt"),
        say("Yes."),
        call("apply_patch", input=patch.format("three")),
        say("Yes."),
    )
    with desk.client() as client:
        thread = client.thread_start(sandbox=Sandbox.read_only)
        for prompt, sandbox in (("one", None), ("two", Sandbox.workspace_write), ("three", None)):
            thread.run(prompt, sandbox=sandbox)
    assert [(desk.repository / f"{name}.txt").exists() for name in ("one", "two", "three")] == [False, True, True]


def test_a_failed_turn_is_raised_with_what_was_done(desk: Desk) -> None:
    desk.answers(call("exec_command", cmd="echo hi"), {"status": 401, "body": {"error": {"message": "Wrong key"}}})
    with desk.client() as client, pytest.raises(TurnFailedError, match="Wrong key") as raised:
        client.thread_start().run("work")
    assert isinstance(raised.value, RuntimeError)
    assert raised.value.result.error is not None and raised.value.result.error.error_info == "unauthorized"
    assert any(isinstance(item, CommandExecutionItem) for item in raised.value.result.items)


def test_a_failing_command_is_an_item_and_no_error(desk: Desk) -> None:
    desk.answers(call("exec_command", cmd="exit 3"), say("It failed."))
    with desk.client() as client:
        result = client.thread_start().run("try")
    assert [item.exit_code for item in result.items if isinstance(item, CommandExecutionItem)] == [3]


def test_an_interrupted_turn_ends_its_commands_and_comes_back(desk: Desk) -> None:
    desk.answers(call("exec_command", cmd="sleep 1000"), say("Here again."))
    with desk.client() as client:
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
    until(lambda: not working_in(desk.repository))


def test_more_can_be_said_while_the_agent_works(desk: Desk) -> None:
    desk.answers(call("exec_command", cmd="until [ -e go ]; do sleep 0.02; done"), say("Understood."))
    with desk.client() as client:
        turn = client.thread_start().turn("wait")
        for notification in turn.stream():
            payload = notification.payload
            if isinstance(payload, ItemStarted) and isinstance(payload.item, CommandExecutionItem):
                turn.steer("and be brief")
                (desk.repository / "go").touch()
    assert "and be brief" in json.dumps(desk.requests()[-1])


def test_several_threads_work_at_once(desk: Desk) -> None:
    desk.answers(*[say(f"Answer {number}.", when={"bodyIncludes": f"ask {number}"}) for number in range(4)])
    answers: dict[int, str | None] = {}
    with desk.client() as client:

        def work(number: int) -> None:
            answers[number] = client.thread_start().run(f"ask {number}").final_response

        workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert answers == {number: f"Answer {number}." for number in range(4)}


def test_messages_of_a_turn_are_items(desk: Desk) -> None:
    desk.answers(say("Done."))
    with desk.client() as client:
        items = client.thread_start().run("work").items
    assert [item.text for item in items if isinstance(item, AgentMessageItem)] == ["Done."]


def until(condition: object) -> None:
    """Settles when the condition holds; one that never does runs into the time limit of the suite."""
    assert callable(condition)
    while not condition():
        time.sleep(0.02)
