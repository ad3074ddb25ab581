"""Turns of a conversation, from the updates of a run's stream."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal

from .encode import encode
from .wire import Json, camel


class InteractionUpdate(dict[str, Any]):
    """An update of the stream, unchanged; its members are also attributes with Python names."""

    def __getattr__(self, name: str) -> Any:
        if camel(name) in self:
            return self[camel(name)]
        raise AttributeError(f"An update {self.get('type')!r} has no {name}.")


@dataclass
class ConversationText:
    text: str
    thinking_duration_ms: int | None = None


@dataclass
class ConversationStep:
    """`message` is a text, a thought or a tool call."""

    type: Literal["thinkingMessage", "assistantMessage", "toolCall"]
    message: ConversationText | Json
    call_id: str | None = None

    @property
    def text(self) -> str:
        """Empty for a tool call."""
        return self.message.text if isinstance(self.message, ConversationText) else ""

    @property
    def tool_call(self) -> Json | None:
        return None if isinstance(self.message, ConversationText) else self.message


@dataclass
class AgentConversationTurn:
    user_message: dict[str, str] | None = None
    """`{"text": …}`."""
    steps: list[ConversationStep] = field(default_factory=list)


@dataclass
class ConversationTurn:
    turn: AgentConversationTurn = field(default_factory=AgentConversationTurn)
    type: Literal["agentConversationTurn"] = "agentConversationTurn"

    @property
    def user_message(self) -> str | None:
        return self.turn.user_message["text"] if self.turn.user_message else None

    @property
    def steps(self) -> list[ConversationStep]:
        return self.turn.steps


def as_json(turns: list[ConversationTurn]) -> str:
    return json.dumps(encode(turns), ensure_ascii=False)


class Conversation:
    """Collects complete replies. One that the model broke off never completes and is left out."""

    def __init__(self) -> None:
        self.turns: list[ConversationTurn] = []
        self._reply: list[ConversationStep] = []

    def add(self, update: Json) -> list[ConversationStep]:
        """Returns the steps that this update completes."""
        kind = update["type"]
        if kind == "user-message-appended":
            message = {"text": update["userMessage"]["text"]}
            self.turns.append(ConversationTurn(AgentConversationTurn(user_message=message)))
        elif kind == "step-started":
            self._reply = []
        elif kind == "thinking-delta":
            self._extend("thinkingMessage", update["text"])
        elif kind == "thinking-completed":
            self._set_duration(update["thinkingDurationMs"])
        elif kind == "text-delta":
            self._extend("assistantMessage", update["text"])
        elif kind == "step-completed":
            reply, self._reply = self._reply, []
            return self._complete(reply)
        elif kind == "tool-call-completed":
            step = ConversationStep(type="toolCall", message=update["toolCall"], call_id=update["callId"])
            return self._complete([step])
        return []

    def _complete(self, steps: list[ConversationStep]) -> list[ConversationStep]:
        if steps and not self.turns:
            self.turns.append(ConversationTurn())
        if steps:
            self.turns[-1].steps.extend(steps)
        return steps

    def _extend(self, kind: Literal["thinkingMessage", "assistantMessage"], text: str) -> None:
        last = self._reply[-1].message if self._reply and self._reply[-1].type == kind else None
        if isinstance(last, ConversationText):
            last.text += text
        else:
            self._reply.append(ConversationStep(type=kind, message=ConversationText(text)))

    def _set_duration(self, duration_ms: int) -> None:
        last = self._reply[-1].message if self._reply else None
        if isinstance(last, ConversationText) and self._reply[-1].type == "thinkingMessage":
            last.thinking_duration_ms = duration_ms
