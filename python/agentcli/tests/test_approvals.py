"""What the sandbox does not allow is asked of the callback, and of nobody else."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from agentcli import (
    ApprovalMode,
    ApprovalRequest,
    CommandApproval,
    CommandExecutionItem,
    Decision,
    FileChangeApproval,
    Sandbox,
    TurnResult,
    accept_all,
)
from desk import Desk, Reply, call, say

MADE = "made outside the sandbox"


def escalated(path: Path) -> Reply:
    return call(
        "exec_command",
        cmd=f"echo {MADE} > {path}",
        sandbox_permissions="require_escalated",
        justification="the test wants it",
    )


def run_escalated(desk: Desk, decision: object) -> tuple[TurnResult, list[ApprovalRequest], Path]:
    target = desk.root / "target.txt"
    desk.answers(escalated(target), say("Done."))
    asked: list[ApprovalRequest] = []

    def decide(request: ApprovalRequest) -> object:
        asked.append(request)
        return decision

    with desk.client(approvals=decide) as client:
        result = client.thread_start(sandbox=Sandbox.read_only).run("write")
    return result, asked, target


def test_a_command_that_is_accepted_runs(desk: Desk) -> None:
    result, asked, target = run_escalated(desk, Decision.accept)
    assert target.read_text().strip() == MADE
    [request] = asked
    assert isinstance(request, CommandApproval)
    assert request.command is not None and MADE in request.command
    assert [item.status for item in result.items if isinstance(item, CommandExecutionItem)] == ["completed"]


def test_a_command_that_is_declined_does_not(desk: Desk) -> None:
    result, asked, target = run_escalated(desk, "decline")
    assert len(asked) == 1
    assert not target.exists()
    assert result.final_response == "Done."
    assert [item.status for item in result.items if isinstance(item, CommandExecutionItem)] == ["declined"]


def test_cancel_also_ends_the_turn(desk: Desk) -> None:
    result, _, target = run_escalated(desk, Decision.cancel)
    assert result.status == "interrupted"
    assert not target.exists()


def test_accepted_for_the_session_is_asked_once(desk: Desk) -> None:
    target = desk.root / "target.txt"
    desk.answers(escalated(target), escalated(target), say("Done."))
    asked: list[ApprovalRequest] = []

    def decide(request: ApprovalRequest) -> Decision:
        asked.append(request)
        return Decision.accept_for_session

    with desk.client(approvals=decide) as client:
        client.thread_start().run("write twice")
    assert len(asked) == 1


def test_a_file_change_shows_its_changes(desk: Desk) -> None:
    patch = "*** Begin Patch\n*** Add File: made.txt\n+made\n*** End Patch"
    desk.answers(call("apply_patch", input=patch), say("Done."))
    asked: list[ApprovalRequest] = []

    def decide(request: ApprovalRequest) -> Decision:
        asked.append(request)
        return Decision.accept

    with desk.client(approvals=decide) as client:
        client.thread_start(sandbox=Sandbox.read_only).run("write")
    [request] = asked
    assert isinstance(request, FileChangeApproval)
    assert [Path(change.path).name for change in request.changes] == ["made.txt"]
    assert (desk.repository / "made.txt").read_text() == "made\n"


@pytest.mark.parametrize("mode", [None, ApprovalMode.deny_all])
def test_without_a_callback_nothing_is_granted(desk: Desk, mode: ApprovalMode | None) -> None:
    target = desk.root / "target.txt"
    desk.answers(escalated(target), say("Done."))
    with desk.client() as client:
        client.thread_start(approval_mode=mode).run("write")
    assert not target.exists()


def test_everything_is_granted_where_that_is_asked_for(desk: Desk) -> None:
    target = desk.root / "target.txt"
    desk.answers(escalated(target), say("Done."))
    with desk.client(approvals=accept_all) as client:
        client.thread_start().run("write")
    assert target.exists()


def test_a_callback_that_raises_has_said_no_and_is_heard(desk: Desk) -> None:
    target = desk.root / "target.txt"
    desk.answers(escalated(target), say("Done."))

    def decide(_request: ApprovalRequest) -> Decision:
        raise LookupError("nobody at home")

    with desk.client(approvals=decide) as client, pytest.raises(LookupError, match="nobody at home"):
        client.thread_start().run("write")
    assert not target.exists()


def test_a_callback_that_takes_long_keeps_nothing_else_waiting(desk: Desk) -> None:
    desk.answers(escalated(desk.root / "target.txt"), say("Done."))
    asked, answered = threading.Event(), threading.Event()

    def decide(_request: ApprovalRequest) -> Decision:
        asked.set()
        answered.wait()
        return Decision.decline

    with desk.client(approvals=decide) as client:
        turn = client.thread_start().turn("write")
        asked.wait()
        assert client.models().data
        answered.set()
        assert turn.run().final_response == "Done."
