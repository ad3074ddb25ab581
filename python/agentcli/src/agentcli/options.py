"""Options of threads and turns, and their wire form."""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import Enum
from typing import Any, Literal, TypedDict

from .wire import Json, camel

Personality = Literal["none", "friendly", "pragmatic"]
ReasoningSummary = Literal["auto", "concise", "detailed", "none"]


class Sandbox(str, Enum):
    """What commands may touch."""

    read_only = "read-only"
    workspace_write = "workspace-write"
    full_access = "full-access"


class ApprovalMode(str, Enum):
    """Who decides about actions that the sandbox does not allow."""

    auto_review = "auto_review"
    """The model may ask; without an approvals callback the request is declined."""
    ask = "ask"
    """The approvals callback of the client decides."""
    deny_all = "deny_all"
    """The model may not ask."""


class ThreadOptions(TypedDict, total=False):
    """Options of `thread_start`, `thread_resume` and `thread_fork`."""

    approval_mode: ApprovalMode | None
    base_instructions: str | None
    config: Mapping[str, Any] | None
    cwd: str | os.PathLike[str] | None
    developer_instructions: str | None
    ephemeral: bool | None
    model: str | None
    model_provider: str | None
    personality: Personality | None
    sandbox: Sandbox | None
    service_tier: str | None


class TurnOptions(TypedDict, total=False):
    """All but `output_schema` also apply to later turns of the thread."""

    approval_mode: ApprovalMode | None
    cwd: str | os.PathLike[str] | None
    effort: str | None
    model: str | None
    output_schema: Mapping[str, Any] | None
    personality: Personality | None
    sandbox: Sandbox | None
    service_tier: str | None
    summary: ReasoningSummary | None


class ListOptions(TypedDict, total=False):
    """Filters and paging of `thread_list`."""

    archived: bool | None
    cursor: str | None
    cwd: str | os.PathLike[str] | None
    limit: int | None
    model_providers: list[str] | None
    search_term: str | None
    sort_direction: Literal["asc", "desc"] | None
    sort_key: Literal["created_at", "updated_at", "recency_at"] | None
    source_kinds: list[str] | None


_MODES = {
    Sandbox.read_only: "read-only",
    Sandbox.workspace_write: "workspace-write",
    Sandbox.full_access: "danger-full-access",
}
_POLICIES = {
    Sandbox.read_only: {"type": "readOnly"},
    Sandbox.workspace_write: {"type": "workspaceWrite"},
    Sandbox.full_access: {"type": "dangerFullAccess"},
}
_APPROVALS = {
    ApprovalMode.auto_review: {"approval_policy": "on-request", "approvals_reviewer": "auto_review"},
    ApprovalMode.ask: {"approval_policy": "on-request", "approvals_reviewer": "user"},
    ApprovalMode.deny_all: {"approval_policy": "never"},
}


def thread_params(options: ThreadOptions, default_mode: ApprovalMode | None) -> Json:
    """`default_mode` None leaves the mode as the thread has it."""
    values = _validate(options, ThreadOptions)
    mode = values.pop("approval_mode", None) or default_mode
    sandbox = values.pop("sandbox", None)
    return _to_wire(
        {
            **values,
            "cwd": _path(values.get("cwd")),
            **(_APPROVALS[ApprovalMode(mode)] if mode else {}),
            "sandbox": _MODES[Sandbox(sandbox)] if sandbox else None,
        }
    )


def turn_params(options: TurnOptions) -> Json:
    values = _validate(options, TurnOptions)
    mode = values.pop("approval_mode", None)
    sandbox = values.pop("sandbox", None)
    return _to_wire(
        {
            **values,
            "cwd": _path(values.get("cwd")),
            **(_APPROVALS[ApprovalMode(mode)] if mode else {}),
            "sandbox_policy": _POLICIES[Sandbox(sandbox)] if sandbox else None,
        }
    )


def list_params(options: ListOptions) -> Json:
    values = _validate(options, ListOptions)
    return _to_wire({**values, "cwd": _path(values.get("cwd"))})


def _validate(options: Mapping[str, Any], allowed: Any) -> dict[str, Any]:
    unknown = [name for name in options if name not in allowed.__annotations__]
    if unknown:
        names = ", ".join(sorted(allowed.__annotations__))
        raise TypeError(f"Unknown option {unknown[0]}: expected one of {names}.")
    return dict(options)


def _path(path: Any) -> str | None:
    return None if path is None else os.path.abspath(path)


def _to_wire(values: Mapping[str, object]) -> Json:
    """Leaves out members that are None."""
    return {camel(name): value for name, value in values.items() if value is not None}
