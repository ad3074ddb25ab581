"""Streams that break: every message once, in order, whatever the network does."""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import pytest

from platform_sdk import AssistantMessage, AuthenticationError, ConfigurationError, Run, StatusMessage
from platform_sdk import UnsupportedRunOperationError
from scripted_platform import AGENT_ID, RUN_ID, RUN_PATH, Answer, Asked, Reply, ScriptedPlatform
from scripted_platform import frame, give, lost, problem, wire_run

RUNS = int(os.environ.get("FUZZ_RUNS", "200")) // 4
WORDS = ["One ", "two ", "three ", "four."]
STATUS = frame("status", {"runId": RUN_ID, "status": "RUNNING"})


def said(text: str, id: str) -> str:
    return frame("assistant", {"text": text}, id) + frame("interaction_update", {"type": "text-delta", "text": text}, id)


GROUPS = {
    "9-0": frame("interaction_update", {"type": "step-started", "stepId": 1}, "9-0"),
    **{f"9-{number}": said(word, f"9-{number}") for number, word in enumerate(WORDS, 1)},
    "9-9": frame("result", {"runId": RUN_ID, "status": "FINISHED", "text": "".join(WORDS), "durationMs": 7}, "9-9")
    + frame("done", {}, "9-9"),
}


def stream_after(asked: Asked) -> bytes:
    """What the platform sends to somebody who goes on behind an id."""
    last = asked.headers.get("last-event-id")
    ids = list(GROUPS)
    rest = ids if last is None else ids[ids.index(last) + 1 :]
    return (STATUS + "".join(GROUPS[id] for id in rest)).encode()


def whole(asked: Asked, count: int) -> Reply:
    return Reply(body=stream_after(asked))


def followed(stream: Answer, read: Answer = give(wire_run())) -> tuple[ScriptedPlatform, Callable[[], Run]]:
    platform = ScriptedPlatform({f"GET {RUN_PATH}": read, f"GET {RUN_PATH}/stream": stream})
    return platform, lambda: platform.client().agents.get_run(RUN_ID, agent_id=AGENT_ID)


def text_of(run: Run) -> str:
    return "".join(message.text for message in run.stream() if isinstance(message, AssistantMessage))


def test_wherever_connections_break_each_message_comes_once() -> None:
    source = random.Random(9)
    for _ in range(RUNS):
        lengths = [source.randrange(700) for _ in range(source.randrange(6))]

        def broken(asked: Asked, count: int, lengths: list[int] = lengths) -> Reply:
            return Reply(body=stream_after(asked)[: lengths[count]], cut=True) if count < len(lengths) else whole(asked, 0)

        platform, open_run = followed(broken)
        with platform:
            run = open_run()
            messages = list(run.stream())
        assert "".join(one.text for one in messages if isinstance(one, AssistantMessage)) == "".join(WORDS)
        assert [one.status for one in messages if isinstance(one, StatusMessage)] == ["RUNNING", "FINISHED"]
        assert (run.status, run.result, run.duration_ms) == ("finished", "".join(WORDS), 7)


def test_a_stream_that_stays_away_is_tried_again_and_then_the_run_is_asked_for() -> None:
    def read(asked: Asked, count: int) -> Reply:
        return give(wire_run() if count < 9 else wire_run(status="FINISHED", result="Done."))(asked, count)

    platform, open_run = followed(lost, read)
    with platform:
        assert open_run().text() == "Done."
    assert platform.clock.waits == [1, 2, 4, 8, 16, 30, 15, 15]


def test_an_id_that_is_not_known_any_more_means_from_the_start_and_still_nothing_twice() -> None:
    def forgetful(asked: Asked, count: int) -> Reply:
        if count == 0:
            return Reply(body=stream_after(asked)[:600], cut=True)
        return problem(400, "invalid_last_event_id")(asked, 0) if "last-event-id" in asked.headers else whole(asked, 0)

    platform, open_run = followed(forgetful)
    with platform:
        assert text_of(open_run()) == "".join(WORDS)


def test_a_stream_that_is_no_longer_kept_leaves_the_result_and_no_conversation() -> None:
    ended = wire_run(status="ERROR", error={"message": "It broke.", "code": "internal"})
    platform, open_run = followed(problem(410, "stream_expired"), give(ended))
    with platform:
        run = open_run()
        assert list(run.stream())[-1] == StatusMessage(
            agent_id=AGENT_ID, run_id=RUN_ID, status="ERROR", message="It broke."
        )
        assert not run.supports("conversation") and run.supports("wait")
        with pytest.raises(UnsupportedRunOperationError):
            run.conversation()


def test_an_error_that_cannot_mend_is_raised_and_any_other_is_a_broken_stream() -> None:
    def told(code: str) -> Answer:
        text = (STATUS + frame("error", {"code": code, "message": "No."})).encode()
        return lambda asked, count: Reply(body=text) if count == 0 else whole(asked, count)

    platform, open_run = followed(told("unauthorized"))
    with platform, pytest.raises(AuthenticationError):
        text_of(open_run())
    platform, open_run = followed(told("internal"))
    with platform:
        assert text_of(open_run()) == "".join(WORDS)
    platform, open_run = followed(problem(404, "run_not_found"))
    with platform, pytest.raises(ConfigurationError):
        open_run().wait()
    assert platform.clock.waits == []


def test_nobody_waits_longer_than_two_hours() -> None:
    platform, open_run = followed(lost)
    with platform:
        result = open_run().wait()
    assert result.status == "error" and result.error is not None
    assert result.error.message == "Timed out waiting for the cloud run to finish."
    assert platform.clock.now() >= 2 * 60 * 60


def test_events_can_be_gone_on_with_from_any_place() -> None:
    with ScriptedPlatform({"POST /v1/agents": give({"agent": {"id": AGENT_ID}, "run": wire_run()}), f"GET {RUN_PATH}/stream": whole}) as platform:
        run = platform.client().agents.create(agent_id=AGENT_ID).send("Go")
        events = list(run.events())
        assert [event.offset for event in events] == sorted(event.offset for event in events)
        assert events[-1].result and events[-1].result.status == "finished"
        for seen in events:
            behind = [event.offset for event in run.observe(after_offset=seen.offset)]
            assert behind == [event.offset for event in events if event.offset > seen.offset]
