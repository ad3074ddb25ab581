"""Streams over broken connections: every message once and in order."""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import pytest

from platform_sdk import AssistantMessage, AuthenticationError, ConfigurationError, Run, StatusMessage
from platform_sdk import UnsupportedRunOperationError
from scripted_platform import AGENT_ID, RUN_ID, RUN_PATH, Responder, Request, Response, ScriptedPlatform
from scripted_platform import frame, json_response, disconnect, error_response, wire_run

RUNS = int(os.environ.get("FUZZ_RUNS", "200")) // 4
WORDS = ["One ", "two ", "three ", "four."]
STATUS = frame("status", {"runId": RUN_ID, "status": "RUNNING"})


def text_frames(text: str, id: str) -> str:
    return frame("assistant", {"text": text}, id) + frame("interaction_update", {"type": "text-delta", "text": text}, id)


GROUPS = {
    "9-0": frame("interaction_update", {"type": "step-started", "stepId": 1}, "9-0"),
    **{f"9-{number}": text_frames(word, f"9-{number}") for number, word in enumerate(WORDS, 1)},
    "9-9": frame("result", {"runId": RUN_ID, "status": "FINISHED", "text": "".join(WORDS), "durationMs": 7}, "9-9")
    + frame("done", {}, "9-9"),
}


def stream_after(request: Request) -> bytes:
    """What the platform sends to a client that resumes after an id."""
    last = request.headers.get("last-event-id")
    ids = list(GROUPS)
    rest = ids if last is None else ids[ids.index(last) + 1 :]
    return (STATUS + "".join(GROUPS[id] for id in rest)).encode()


def whole(request: Request, count: int) -> Response:
    return Response(body=stream_after(request))


def open_platform(stream: Responder, read: Responder = json_response(wire_run())) -> tuple[ScriptedPlatform, Callable[[], Run]]:
    platform = ScriptedPlatform({f"GET {RUN_PATH}": read, f"GET {RUN_PATH}/stream": stream})
    return platform, lambda: platform.client().agents.get_run(RUN_ID, agent_id=AGENT_ID)


def text_of(run: Run) -> str:
    return "".join(message.text for message in run.stream() if isinstance(message, AssistantMessage))


def test_each_message_comes_once_wherever_connections_break() -> None:
    source = random.Random(9)
    for _ in range(RUNS):
        lengths = [source.randrange(700) for _ in range(source.randrange(6))]

        def broken(request: Request, count: int, lengths: list[int] = lengths) -> Response:
            return Response(body=stream_after(request)[: lengths[count]], cut=True) if count < len(lengths) else whole(request, 0)

        platform, open_run = open_platform(broken)
        with platform:
            run = open_run()
            messages = list(run.stream())
        assert "".join(one.text for one in messages if isinstance(one, AssistantMessage)) == "".join(WORDS)
        assert [one.status for one in messages if isinstance(one, StatusMessage)] == ["RUNNING", "FINISHED"]
        assert (run.status, run.result, run.duration_ms) == ("finished", "".join(WORDS), 7)


def test_without_a_stream_the_run_is_polled() -> None:
    def read(request: Request, count: int) -> Response:
        return json_response(wire_run() if count < 9 else wire_run(status="FINISHED", result="Done."))(request, count)

    platform, open_run = open_platform(disconnect, read)
    with platform:
        assert open_run().text() == "Done."
    assert platform.clock.waits == [1, 2, 4, 8, 16, 30, 15, 15]


def test_an_unknown_event_id_restarts_the_stream_without_duplicates() -> None:
    def without_events(request: Request, count: int) -> Response:
        if count == 0:
            return Response(body=stream_after(request)[:600], cut=True)
        return error_response(400, "invalid_last_event_id")(request, 0) if "last-event-id" in request.headers else whole(request, 0)

    platform, open_run = open_platform(without_events)
    with platform:
        assert text_of(open_run()) == "".join(WORDS)


def test_an_expired_stream_has_a_result_and_no_conversation() -> None:
    ended = wire_run(status="ERROR", error={"message": "It broke.", "code": "internal"})
    platform, open_run = open_platform(error_response(410, "stream_expired"), json_response(ended))
    with platform:
        run = open_run()
        assert list(run.stream())[-1] == StatusMessage(
            agent_id=AGENT_ID, run_id=RUN_ID, status="ERROR", message="It broke."
        )
        assert not run.supports("conversation") and run.supports("wait")
        with pytest.raises(UnsupportedRunOperationError):
            run.conversation()


def test_a_final_error_is_raised_and_any_other_reconnects() -> None:
    def failing(code: str) -> Responder:
        text = (STATUS + frame("error", {"code": code, "message": "No."})).encode()
        return lambda request, count: Response(body=text) if count == 0 else whole(request, count)

    platform, open_run = open_platform(failing("unauthorized"))
    with platform, pytest.raises(AuthenticationError):
        text_of(open_run())
    platform, open_run = open_platform(failing("internal"))
    with platform:
        assert text_of(open_run()) == "".join(WORDS)
    platform, open_run = open_platform(error_response(404, "run_not_found"))
    with platform, pytest.raises(ConfigurationError):
        open_run().wait()
    assert platform.clock.waits == []


def test_waiting_times_out_after_two_hours() -> None:
    platform, open_run = open_platform(disconnect)
    with platform:
        result = open_run().wait()
    assert result.status == "error" and result.error is not None
    assert result.error.message == "Timed out waiting for the cloud run to finish."
    assert platform.clock.now() >= 2 * 60 * 60


def test_events_can_be_resumed_from_any_offset() -> None:
    with ScriptedPlatform({"POST /v1/agents": json_response({"agent": {"id": AGENT_ID}, "run": wire_run()}), f"GET {RUN_PATH}/stream": whole}) as platform:
        run = platform.client().agents.create(agent_id=AGENT_ID).send("Go")
        events = list(run.events())
        assert [event.offset for event in events] == sorted(event.offset for event in events)
        assert events[-1].result and events[-1].result.status == "finished"
        for last in events:
            rest = [event.offset for event in run.observe(after_offset=last.offset)]
            assert rest == [event.offset for event in events if event.offset > last.offset]
