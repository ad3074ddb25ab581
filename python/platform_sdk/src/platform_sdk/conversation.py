"""Updates of a run's stream as the turns a person would read."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Literal

from .wire import Json, encode


@dataclass
class ConversationStep:
    """A text for what was said or thought; `tool_call` and `call_id` for what was done."""

    type: Literal["thinkingMessage", "assistantMessage", "toolCall"]
    text: str = ""
    call_id: str | None = None
    tool_call: Json | None = None


@dataclass
class ConversationTurn:
    user_message: str | None = None
    steps: list[ConversationStep] = field(default_factory=list)


def as_json(turns: list[ConversationTurn]) -> str:
    return json.dumps(encode(turns), ensure_ascii=False)


class Conversation:
    """A reply that was begun and given up never completes, and does not count."""

    def __init__(self) -> None:
        self.turns: list[ConversationTurn] = []
        self._reply: list[ConversationStep] = []

    def add(self, update: Json) -> list[ConversationStep]:
        """The steps that are complete with this update."""
        kind = update["type"]
        if kind == "user-message-appended":
            self.turns.append(ConversationTurn(user_message=update["userMessage"]["text"]))
        elif kind == "step-started":
            self._reply = []
        elif kind == "thinking-delta":
            self._extend("thinkingMessage", update["text"])
        elif kind == "text-delta":
            self._extend("assistantMessage", update["text"])
        elif kind == "step-completed":
            reply, self._reply = self._reply, []
            return self._complete(reply)
        elif kind == "tool-call-completed":
            step = ConversationStep(type="toolCall", call_id=update["callId"], tool_call=update["toolCall"])
            return self._complete([step])
        return []

    def _complete(self, steps: list[ConversationStep]) -> list[ConversationStep]:
        if steps and not self.turns:
            self.turns.append(ConversationTurn())
        if steps:
            self.turns[-1].steps += steps
        return steps

    def _extend(self, kind: Literal["thinkingMessage", "assistantMessage"], text: str) -> None:
        if self._reply and self._reply[-1].type == kind:
            self._reply[-1].text += text
        else:
            self._reply.append(ConversationStep(type=kind, text=text))
