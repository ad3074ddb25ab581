"""The callback decides about actions that the sandbox does not allow."""

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
from harness import Harness, Reply, call, message

MARKER = "made outside the sandbox"


def escalated(path: Path) -> Reply:
    return call(
        "exec_command",
        cmd=f"echo {MARKER} > {path}",
        sandbox_permissions="require_escalated",
        justification="the test needs it",
    )


def run_escalated(harness: Harness, decision: object) -> tuple[TurnResult, list[ApprovalRequest], Path]:
    target = harness.root / "target.txt"
    harness.script(escalated(target), message("Done."))
    requests: list[ApprovalRequest] = []

    def decide(request: ApprovalRequest) -> object:
        requests.append(request)
        return decision

    with harness.client(approvals=decide) as client:
        result = client.thread_start(sandbox=Sandbox.read_only).run("write")
    return result, requests, target


def test_an_accepted_command_runs(harness: Harness) -> None:
    result, requests, target = run_escalated(harness, Decision.accept)
    assert target.read_text().strip() == MARKER
    [request] = requests
    assert isinstance(request, CommandApproval)
    assert request.command is not None and MARKER in request.command
    assert [item.status for item in result.items if isinstance(item, CommandExecutionItem)] == ["completed"]


def test_a_declined_command_does_not_run(harness: Harness) -> None:
    result, requests, target = run_escalated(harness, "decline")
    assert len(requests) == 1
    assert not target.exists()
    assert result.final_response == "Done."
    assert [item.status for item in result.items if isinstance(item, CommandExecutionItem)] == ["declined"]


def test_cancel_also_ends_the_turn(harness: Harness) -> None:
    result, _, target = run_escalated(harness, Decision.cancel)
    assert result.status == "interrupted"
    assert not target.exists()


def test_a_command_accepted_for_the_session_is_asked_about_once(harness: Harness) -> None:
    target = harness.root / "target.txt"
    harness.script(escalated(target), escalated(target), message("Done."))
    requests: list[ApprovalRequest] = []

    def decide(request: ApprovalRequest) -> Decision:
        requests.append(request)
        return Decision.accept_for_session

    with harness.client(approvals=decide) as client:
        client.thread_start().run("write twice")
    assert len(requests) == 1


def test_a_file_change_request_has_its_changes(harness: Harness) -> None:
    patch = "*** Begin Patch\n*** Add File: made.txt\n+made\n*** End Patch"
    harness.script(call("apply_patch", input=patch), message("Done."))
    requests: list[ApprovalRequest] = []

    def decide(request: ApprovalRequest) -> Decision:
        requests.append(request)
        return Decision.accept

    with harness.client(approvals=decide) as client:
        client.thread_start(sandbox=Sandbox.read_only).run("write")
    [request] = requests
    assert isinstance(request, FileChangeApproval)
    assert [Path(change.path).name for change in request.changes] == ["made.txt"]
    assert (harness.repository / "made.txt").read_text() == "made\n"


@pytest.mark.parametrize("mode", [None, ApprovalMode.deny_all])
def test_without_a_callback_every_request_is_declined(harness: Harness, mode: ApprovalMode | None) -> None:
    target = harness.root / "target.txt"
    harness.script(escalated(target), message("Done."))
    with harness.client() as client:
        client.thread_start(approval_mode=mode).run("write")
    assert not target.exists()


def test_accept_all_accepts_every_request(harness: Harness) -> None:
    target = harness.root / "target.txt"
    harness.script(escalated(target), message("Done."))
    with harness.client(approvals=accept_all) as client:
        client.thread_start().run("write")
    assert target.exists()


def test_a_callback_that_raises_declines_and_its_error_is_raised(harness: Harness) -> None:
    target = harness.root / "target.txt"
    harness.script(escalated(target), message("Done."))

    def decide(_request: ApprovalRequest) -> Decision:
        raise LookupError("no reviewer")

    with harness.client(approvals=decide) as client, pytest.raises(LookupError, match="no reviewer"):
        client.thread_start().run("write")
    assert not target.exists()


def test_a_slow_callback_does_not_block_other_requests(harness: Harness) -> None:
    harness.script(escalated(harness.root / "target.txt"), message("Done."))
    asked, answered = threading.Event(), threading.Event()

    def decide(_request: ApprovalRequest) -> Decision:
        asked.set()
        answered.wait()
        return Decision.decline

    with harness.client(approvals=decide) as client:
        turn = client.thread_start().turn("write")
        asked.wait()
        assert client.models().data
        answered.set()
        assert turn.run().final_response == "Done."
