"""Requests of the app server during a turn: approvals, questions to the user, elicitations of MCP servers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, Union

from .items import FileChange
from .wire import Json, decode


class Decision(str, Enum):
    accept = "accept"
    accept_for_session = "acceptForSession"
    decline = "decline"
    cancel = "cancel"
    """Decline, and interrupt the turn."""


@dataclass(frozen=True, kw_only=True)
class CommandApproval:
    """The agent wants to run a command that its sandbox does not allow."""

    thread_id: str
    turn_id: str
    item_id: str
    command: str | None = None
    cwd: str | None = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class FileChangeApproval:
    """The agent wants to change files that its sandbox does not allow."""

    thread_id: str
    turn_id: str
    item_id: str
    reason: str | None = None
    changes: list[FileChange] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class PermissionsApproval:
    """The agent wants more permissions for later actions."""

    thread_id: str
    turn_id: str
    item_id: str
    permissions: Json
    cwd: str | None = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Question:
    id: str
    header: str
    question: str
    options: list[Json] | None = None
    is_secret: bool = False


@dataclass(frozen=True, kw_only=True)
class UserInputRequest:
    thread_id: str
    turn_id: str
    item_id: str
    questions: list[Question]


@dataclass(frozen=True, kw_only=True)
class Elicitation:
    """An MCP server asks the user; `mode` is form or url."""

    thread_id: str
    server_name: str
    mode: str
    message: str
    requested_schema: Any = None
    url: str | None = None


@dataclass(frozen=True)
class ElicitationAnswer:
    action: Literal["accept", "decline", "cancel"]
    content: Any = None


ApprovalRequest = Union[CommandApproval, FileChangeApproval, PermissionsApproval]
ApprovalCallback = Callable[[ApprovalRequest], Any]
UserInputCallback = Callable[[UserInputRequest], Any]
ElicitationCallback = Callable[[Elicitation], Any]


def accept_all(_request: ApprovalRequest) -> Decision:
    """For `approvals=`, on machines that are a sandbox themselves."""
    return Decision.accept


@dataclass(frozen=True, kw_only=True)
class Callbacks:
    """A request without a callback is declined. AsyncClient also accepts coroutine functions."""

    approvals: ApprovalCallback | None = None
    user_input: UserInputCallback | None = None
    elicitations: ElicitationCallback | None = None


class ServerRequests:
    """Handles each request in a thread of its own, so that a slow user blocks nothing else."""

    def __init__(self, callbacks: Callbacks, wait_for: Callable[[Any], Any] = lambda value: value) -> None:
        self._callbacks = callbacks
        self._wait_for = wait_for
        self._changes: dict[str, list[Json]] = {}

    def record_changes(self, method: str, params: Json) -> None:
        """An approval request names a file change item and does not repeat its changes."""
        item = params.get("item")
        if not isinstance(item, dict) or item.get("type") != "fileChange":
            return
        if method == "item/started":
            self._changes[item["id"]] = item.get("changes") or []
        elif method == "item/completed":
            self._changes.pop(item["id"], None)

    def handle(
        self,
        method: str,
        params: Json,
        respond: Callable[[Json], None],
        fail: Callable[[str | None, BaseException], None],
    ) -> None:
        """A callback that raises declines the request and stops the turn; `fail` raises its error there."""

        def work() -> None:
            answer, refusal = self._methods().get(method, (None, None))
            if answer is None:
                respond({"error": {"code": -32601, "message": f"This client does not support {method}."}})
                return
            try:
                respond({"result": answer(params)})
            except BaseException as error:
                respond({"result": refusal})
                fail(params.get("turnId"), error)

        threading.Thread(target=work, name=f"agentcli {method}", daemon=True).start()

    def _methods(self) -> Mapping[str, tuple[Callable[[Json], Json] | None, Json | None]]:
        cancel = {"decision": Decision.cancel.value}
        return {
            "item/commandExecution/requestApproval": (self._command, cancel),
            "item/fileChange/requestApproval": (self._file_change, cancel),
            "item/permissions/requestApproval": (self._permissions, {"permissions": {}}),
            "item/tool/requestUserInput": (self._user_input, {"answers": {}}),
            "mcpServer/elicitation/request": (self._elicitation, {"action": "cancel"}),
        }

    def _command(self, params: Json) -> Json:
        return {"decision": self._decide(decode(CommandApproval, params)).value}

    def _file_change(self, params: Json) -> Json:
        changes = self._changes.get(str(params.get("itemId")), [])
        return {"decision": self._decide(decode(FileChangeApproval, {**params, "changes": changes})).value}

    def _permissions(self, params: Json) -> Json:
        request = decode(PermissionsApproval, params)
        decision = self._decide(request)
        if decision not in (Decision.accept, Decision.accept_for_session):
            return {"permissions": {}}
        scope = "session" if decision is Decision.accept_for_session else "turn"
        return {"permissions": request.permissions, "scope": scope}

    def _decide(self, request: ApprovalRequest) -> Decision:
        if self._callbacks.approvals is None:
            return Decision.decline
        return Decision(self._wait_for(self._callbacks.approvals(request)))

    def _user_input(self, params: Json) -> Json:
        if self._callbacks.user_input is None:
            return {"answers": {}}
        answers = self._wait_for(self._callbacks.user_input(decode(UserInputRequest, params)))
        return {"answers": {name: {"answers": _as_list(answer)} for name, answer in answers.items()}}

    def _elicitation(self, params: Json) -> Json:
        if self._callbacks.elicitations is None:
            return {"action": "cancel"}
        answer: ElicitationAnswer = self._wait_for(self._callbacks.elicitations(decode(Elicitation, params)))
        return {"action": answer.action, "content": answer.content}


def _as_list(answer: str | list[str]) -> list[str]:
    return [answer] if isinstance(answer, str) else list(answer)
